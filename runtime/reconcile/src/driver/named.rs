//! Many things in one message.

/// Differences and paths named in one message.
pub(super) const SHOWN: usize = 8;

/// The first of many, and how many more there are.
pub(super) fn some(texts: &[String], separator: &str) -> String {
    let mut shown: Vec<String> = texts.iter().take(SHOWN).cloned().collect();
    if texts.len() > SHOWN {
        shown.push(format!("and {} more", texts.len() - SHOWN));
    }
    shown.join(separator)
}
