//! Rules as text.

use super::{NOTHING, Same, Spelling, SpellingError, While, Word};

impl Spelling {
    /// Reads a rule.
    ///
    /// # Errors
    /// Where it is none, with what is wrong.
    pub fn parse(rule: &str) -> Result<Self, SpellingError> {
        parse(rule).map_err(|fault| SpellingError {
            rule: rule.to_owned(),
            fault,
        })
    }
}

fn parse(rule: &str) -> Result<Spelling, String> {
    let (rule, condition) = match rule.split_once(" while ") {
        Some((rule, condition)) => (rule, Some(parse_condition(condition)?)),
        None => (rule, None),
    };
    let (path, what) = rule.split_once(' ').ok_or("says nothing of the path")?;
    let same = parse_same(what)?;
    if same == Same::Counts && condition.is_none() {
        return Err("`counts` needs a condition: `while OTHER is VALUE`".to_owned());
    }
    Ok(Spelling {
        path: parse_path(path)?,
        same,
        condition,
    })
}

fn parse_same(what: &str) -> Result<Same, String> {
    if what == "counts" {
        return Ok(Same::Counts);
    }
    let beginnings = ["unset as", "also as", "also in", "same", "unless", "as"];
    let mut split = beginnings.iter().filter_map(|beginning| {
        let rest = what.strip_prefix(beginning)?.strip_prefix(' ')?;
        Some((*beginning, rest))
    });
    match split.next() {
        Some(("as", word)) => Ok(Same::As(Word::parse(word).ok_or_else(|| {
            format!(
                "no word `{word}`; there are {}",
                Word::NAMES.map(|(name, _)| name).join(", ")
            )
        })?)),
        Some(("unset as", values)) => Ok(Same::Unset(parse_values(values)?)),
        Some(("same", values)) => match parse_values(values)? {
            values if values.len() > 1 => Ok(Same::Values(values)),
            _ => Err("`same` needs two values: `same VALUE or VALUE`".to_owned()),
        },
        Some(("unless", values)) => {
            let mut values = parse_values(values)?;
            let all = values.len();
            values.retain(|value| value != NOTHING);
            Ok(Same::Unless {
                nothing: values.len() < all,
                values,
            })
        }
        Some(("also as", path)) => Ok(Same::AlsoAs(parse_path(path)?)),
        Some((_, path)) => Ok(Same::AlsoIn(parse_path(path)?)),
        None => Err(format!(
            "`{what}` begins with none of {}, counts",
            beginnings.join(", ")
        )),
    }
}

fn parse_condition(text: &str) -> Result<While, String> {
    let (path, values) = text
        .split_once(" is ")
        .ok_or("a condition is `while OTHER is VALUE`")?;
    Ok(While {
        path: parse_path(path)?,
        values: parse_values(values)?,
    })
}

/// Values with ` or ` between them; `""` is the empty text.
fn parse_values(text: &str) -> Result<Vec<String>, String> {
    let values = text.split(" or ").map(|value| match value {
        "\"\"" => Ok(String::new()),
        "" => Err("a value is missing; the empty text is `\"\"`".to_owned()),
        value if value.contains(' ') => Err(format!("`{value}` is no value")),
        value => Ok(value.to_owned()),
    });
    values.collect()
}

fn parse_path(path: &str) -> Result<String, String> {
    let is_name = |name: &str| {
        let name = name.trim_end_matches("[]");
        !name.is_empty() && !name.contains([' ', '[', ']'])
    };
    match path.split('.').all(is_name) {
        true => Ok(path.to_owned()),
        false => Err(format!("`{path}` is no path")),
    }
}
