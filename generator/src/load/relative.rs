//! Paths of files that files name.

/// Path of the file that `relative` names from within `file`, without `.` and `..`; `None` if it leaves the tree.
pub(crate) fn resolve_file(file: &str, relative: &str) -> Option<String> {
    if relative.is_empty() {
        return Some(file.to_owned());
    }
    if relative.contains("://") || relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve_file;

    #[test]
    fn relative_files_resolve_within_the_tree() {
        let table = [
            ("a/b/c.json", "", Some("a/b/c.json")),
            ("a/b/c.json", "./d.json", Some("a/b/d.json")),
            ("a/b/c.json", "../../x/d.json", Some("x/d.json")),
            ("a/c.json", "../../d.json", None),
            ("a/c.json", "https://example.com/d.json", None),
            ("a/c.json", "/etc/d.json", None),
        ];
        for (file, relative, expected) in table {
            assert_eq!(
                resolve_file(file, relative).as_deref(),
                expected,
                "{relative}"
            );
        }
    }
}
