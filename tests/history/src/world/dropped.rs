//! Items that edits take out of lists to which other objects may add some.

use jiff::Timestamp;
use serde_json::Value;

use super::subject::Subject;

/// What an item without a name is called.
pub const NAMELESS: &str = "";

/// Items that an edit took out of a list to which other objects may add some.
#[derive(Clone, Debug)]
pub struct Dropped {
    /// The list.
    pub list: &'static [&'static str],
    /// Their names, in lower case; nothing for one that has none.
    pub names: Vec<String>,
    /// When.
    pub at: Timestamp,
}

/// The items that an edit takes out of lists to which other objects may add some.
pub fn drops(subject: &Subject, before: &Value, after: &Value, at: Timestamp) -> Vec<Dropped> {
    let items = |body: &Value, path: &[&str]| -> Vec<Value> {
        let list = path.iter().try_fold(body, |at, name| at.get(name));
        list.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let lists = subject.version.keep_unknown.iter().copied();
    let dropped = lists.map(|list| {
        let after = items(after, list);
        let gone = items(before, list).into_iter();
        let gone = gone.filter(|item| !has(&after, item));
        Dropped {
            list,
            names: gone.map(|item| called(&item)).collect(),
            at,
        }
    });
    dropped.filter(|it| !it.names.is_empty()).collect()
}

/// What an item is called in lower case.
pub fn called(item: &Value) -> String {
    let name = item.get("name").and_then(Value::as_str);
    name.unwrap_or(NAMELESS).to_lowercase()
}

/// Whether a list has an item of this name, or the same where it has none.
pub fn has(items: &[Value], item: &Value) -> bool {
    let name = called(item);
    let mut items = items.iter();
    items.any(|known| called(known) == name && (name != NAMELESS || known == item))
}
