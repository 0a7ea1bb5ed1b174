//! CEL rules: what types and patterns cannot say (ASO behaviour §3.7).
//!
//! The API server estimates the cost of every rule times the number of places it may be evaluated in, and
//! refuses CRDs over its budget. A rule is therefore left out where the lists above it are not bounded well
//! enough; the reconciler reports the same mistakes in a condition.

use serde_json::{Value, json};

use armature_shapes::kind::{KindInfo, NameRule, VersionInfo};
use armature_shapes::resource::{ArbitraryOwnerReference, KnownResourceReference};
use armature_shapes::shape::{ArmPlace, Rules, Semantic, Shaped, StructShape, Type};

/// Most evaluations of one rule: keeps a rule of ours (some dozen units) below a tenth of the API server's
/// limit of ten million units per rule.
const MOST_EVALUATIONS: u64 = 10_000;

/// How often a place in a schema may occur in one object.
#[derive(Clone, Copy)]
pub(super) struct Place {
    occurrences: u64,
}

impl Place {
    /// The top of a spec.
    pub(super) const TOP: Self = Self { occurrences: 1 };

    /// An item of a list of at most this many items, here.
    pub(super) fn repeated(self, max_items: Option<u64>) -> Self {
        Self {
            occurrences: self
                .occurrences
                .saturating_mul(max_items.unwrap_or(u64::MAX)),
        }
    }

    fn affords_rules(self) -> bool {
        self.occurrences <= MOST_EVALUATIONS
    }
}

fn rule(expression: &str, message: &str) -> Value {
    json!({"rule": expression, "message": message})
}

/// Rules of a struct, wherever it stands.
pub(super) fn of_struct(shape: &StructShape, place: Place) -> Vec<Value> {
    if !place.affords_rules() {
        return Vec::new();
    }
    let mut rules = Vec::new();
    rules.extend(one_form(shape));
    rules.extend(one_variant(shape));
    rules.extend(one_source(shape));
    rules
}

/// References and owners take exactly one form.
fn one_form(shape: &StructShape) -> Option<Value> {
    if std::ptr::eq(shape, KnownResourceReference::SHAPE) {
        return Some(rule(
            "has(self.armId) != has(self.name)",
            "set exactly one of name and armId",
        ));
    }
    match shape.semantic {
        Semantic::WellKnownReference => Some(rule(
            "(has(self.armId) ? 1 : 0) + (has(self.wellKnownName) ? 1 : 0) + \
             (has(self.group) || has(self.kind) || has(self.name) ? 1 : 0) == 1 && \
             has(self.group) == has(self.name) && has(self.kind) == has(self.name)",
            "set exactly one of armId, wellKnownName, or group, kind and name together",
        )),
        Semantic::Reference => Some(resource_form()),
        _ if std::ptr::eq(shape, ArbitraryOwnerReference::SHAPE) => Some(resource_form()),
        _ => None,
    }
}

fn resource_form() -> Value {
    rule(
        "has(self.armId) ? !has(self.group) && !has(self.kind) && !has(self.name) : \
         has(self.group) && has(self.kind) && has(self.name)",
        "set either armId, or group, kind and name together",
    )
}

/// A discriminated object has exactly one variant.
fn one_variant(shape: &StructShape) -> Option<Value> {
    let one_of = shape.one_of.as_ref()?;
    let names: Vec<_> = one_of
        .variants
        .iter()
        .map(|variant| variant.field)
        .collect();
    let counted: Option<Vec<_>> = names
        .iter()
        .map(|name| Some(format!("(has(self.{}) ? 1 : 0)", identifier(name)?)))
        .collect();
    Some(rule(
        &format!("{} == 1", counted?.join(" + ")),
        &format!("set exactly one of {}", names.join(", ")),
    ))
}

/// A value comes from the spec or from a ConfigMap or Secret, not from both.
fn one_source(shape: &StructShape) -> Vec<Value> {
    let mut rules = Vec::new();
    for field in shape.fields {
        let Type::Struct(twin) = field.ty else {
            continue;
        };
        let suffix = match twin.semantic {
            Semantic::ConfigMapReference => "FromConfig",
            Semantic::SecretReference => "FromSecret",
            _ => continue,
        };
        let plain = field.name.strip_suffix(suffix);
        let plain = plain.and_then(|plain| shape.field(plain));
        let names =
            plain.and_then(|plain| Some((identifier(plain.name)?, identifier(field.name)?)));
        if let (Some(plain), Some((left, right))) = (plain, names) {
            rules.push(rule(
                &format!("!(has(self.{left}) && has(self.{right}))"),
                &format!("set at most one of {} and {}", plain.name, field.name),
            ));
        }
    }
    rules
}

/// A name of ARM has no slash, and in some kinds something stands for it.
pub(super) fn no_slash(rules: &Rules) -> Option<Value> {
    let slash = rules.slash?;
    let message = format!("ARM has no '/' in a name, and writes '{slash}' for it");
    Some(rule("!self.contains('/')", &message))
}

/// Rules over the whole object: what cannot change once the resource exists in Azure. Existence is told by
/// `status.id`, the only trace of it that CEL can see; discriminated objects have it in their variants.
pub(super) fn of_object(kind: &KindInfo, version: &VersionInfo) -> Vec<Value> {
    let ids = ids(version.status);
    if ids.is_empty() {
        return Vec::new();
    }
    let ends_with_name: Vec<_> = ids
        .iter()
        .map(|id| {
            let name = "self.spec.azureName.lowerAscii()";
            format!("{} && {id}.lowerAscii().endsWith('/' + {name})", exists(id))
        })
        .collect();
    let exists: Vec<_> = ids.iter().map(|id| exists(id)).collect();
    let exists = exists.join(" || ");
    let mut rules = Vec::new();
    if version.spec.field("azureName").is_some() {
        let name = "spec.azureName";
        let unchanged = format!(
            "has(oldSelf.{name}) || !has(self.{name}) ? {} : {}",
            same(name),
            ends_with_name.join(" || ")
        );
        // A manifest need not have the name that the operator made up, and may replace the object all the same.
        let unchanged = match kind.name {
            NameRule::Uuid { .. } => format!("!has(self.{name}) || ({unchanged})"),
            _ => unchanged,
        };
        rules.push(immutable(&unchanged, "azureName", &exists));
    }
    if let Some(Type::Struct(owner)) = version.spec.field("owner").map(|field| field.ty) {
        let members = owner.fields.iter();
        let members: Vec<_> = members
            .filter_map(|field| identifier(field.name))
            .map(|member| format!("({})", same(&format!("spec.owner.{member}"))))
            .collect();
        rules.push(immutable(
            &format!(
                "has(self.spec.owner) && has(oldSelf.spec.owner) ? {} : \
                 has(self.spec.owner) == has(oldSelf.spec.owner)",
                members.join(" && ")
            ),
            "owner",
            &exists,
        ));
    }
    rules
}

/// CEL of the places where a status has the ARM id.
fn ids(status: &StructShape) -> Vec<String> {
    if status.field("id").is_some() {
        return vec!["oldSelf.status.id".to_owned()];
    }
    let variants = status
        .fields
        .iter()
        .filter(|field| field.arm == ArmPlace::Variant);
    variants
        .filter(|field| matches!(field.ty, Type::Struct(variant) if variant.field("id").is_some()))
        .filter_map(|field| Some(format!("oldSelf.status.{}.id", identifier(field.name)?)))
        .collect()
}

/// CEL that tells whether there is an id at this place of a status.
fn exists(id: &str) -> String {
    match id.strip_suffix(".id") {
        Some(above) if above != "oldSelf.status" => format!("has({above}) && has({id})"),
        _ => format!("has({id})"),
    }
}

/// The member is absent on both sides or the same. Optional selection would be shorter, but the API server
/// cannot bound the cost of its results.
fn same(member: &str) -> String {
    format!(
        "has(self.{member}) == has(oldSelf.{member}) && \
         (!has(self.{member}) || self.{member} == oldSelf.{member})"
    )
}

/// A rule on a member of the spec that counts once the resource exists in Azure.
fn immutable(unchanged: &str, member: &str, exists: &str) -> Value {
    json!({
        "rule": format!(
            "!has(oldSelf.status) || !({exists}) || \
             !has(self.spec) || !has(oldSelf.spec) || ({unchanged})"
        ),
        "message": format!("{member} cannot change once the resource exists in Azure"),
        "fieldPath": format!(".spec.{member}"),
    })
}

/// CEL's spelling of a property name (Kubernetes escapes what CEL reserves); `None` when CEL cannot reach it.
fn identifier(name: &str) -> Option<String> {
    const RESERVED: [&str; 21] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::new();
    for letter in name.replace("__", "__underscores__").chars() {
        match letter {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            _ if letter.is_ascii_alphanumeric() || letter == '_' => out.push(letter),
            _ => return None,
        }
    }
    (!out.starts_with(|letter: char| letter.is_ascii_digit())).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn names_are_escaped_as_kubernetes_does() {
        let escaped = |name| identifier(name).unwrap();
        assert_eq!(escaped("blob"), "blob");
        assert_eq!(escaped("namespace"), "__namespace__");
        assert_eq!(escaped("a-b.c/d"), "a__dash__b__dot__c__slash__d");
        assert_eq!(escaped("a__b"), "a__underscores__b");
        assert_eq!(identifier("$schema"), None);
        assert_eq!(identifier("1x"), None);
    }
}
