//! What makes names distinct: each is claimed once, and who comes later gets another one.

use std::collections::BTreeSet;

use super::endings::OTHER;
use super::reserved::is_taken;
use super::words::pascal;

/// Names that are claimed, and those that nothing may claim.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    claimed: BTreeSet<String>,
    reserved: BTreeSet<String>,
}

impl Claims {
    /// No claims yet. These names, and those that Rust needs, are for nobody.
    pub fn reserving(reserved: impl IntoIterator<Item = String>) -> Self {
        Self {
            claimed: BTreeSet::new(),
            reserved: reserved.into_iter().collect(),
        }
    }

    /// Whether a name can be claimed.
    pub fn is_free(&self, name: &str) -> bool {
        !self.claimed.contains(name) && !self.reserved.contains(name) && !is_taken(name)
    }

    /// The name, with an ending where it is not free.
    pub fn free(&self, mut name: String) -> String {
        while !self.is_free(&name) {
            name.push_str(OTHER);
        }
        name
    }

    /// The name with one such ending where it is not free.
    pub fn other(&self, name: String) -> String {
        if self.is_free(&name) {
            name
        } else {
            format!("{name}{OTHER}")
        }
    }

    /// Claims a name.
    pub fn claim(&mut self, name: String) {
        self.claimed.insert(name);
    }

    /// Claims a name for a definition: its own. Where another one of this name was before it, its source's name stands in
    /// front, or a number behind.
    pub fn definition(&mut self, definition: &str, source: &str) -> String {
        // A definition may have a name without a letter of ours.
        let mut name = match pascal(definition) {
            name if name.is_empty() => "Type".to_owned(),
            name => name,
        };
        if self.reserved.contains(&name) || is_taken(&name) {
            name.push_str(OTHER);
        }
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let names = [name.clone(), format!("{source}{name}")];
        let free = names
            .into_iter()
            .chain(numbered)
            .find(|name| self.is_free(name));
        // The numbers above do not end.
        let name = free.unwrap_or(name);
        self.claimed.insert(name.clone());
        name
    }

    /// All names that are claimed.
    pub fn claimed(self) -> BTreeSet<String> {
        self.claimed
    }
}

#[cfg(test)]
mod tests {
    use super::Claims;

    #[test]
    fn who_comes_later_gets_another_name() {
        let mut claims = Claims::reserving(["Kind".to_owned()]);
        for (definition, source, expected) in [
            ("sku", "", "Sku"),
            ("Sku", "", "Sku2"),
            ("Sku", "Dns", "DnsSku"),
            ("Sku", "Dns", "Sku3"),
            ("Kind", "", "KindValue"),
            ("Option", "", "OptionValue"),
            ("日本", "", "Type"),
        ] {
            assert_eq!(claims.definition(definition, source), expected);
        }
        assert_eq!(claims.free("Sku".to_owned()), "SkuValue");
        claims.claim("SkuValue".to_owned());
        assert_eq!(claims.free("Sku".to_owned()), "SkuValueValue");
        assert_eq!(claims.other("Sku".to_owned()), "SkuValue");
        assert_eq!(claims.free("Tier".to_owned()), "Tier");
    }
}
