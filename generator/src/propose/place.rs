//! Where a table goes in a curation file: among those of its sort, by name.

/// The text with the tables of `tail` in it, each before the first one of its sort that has a later name; those of a new sort
/// at the end.
pub fn with_tables(text: &str, tail: &str) -> String {
    let mut text = format!("{}\n", text.trim_end());
    for table in tail.trim().split("\n\n") {
        let at = place(&text, header(table));
        let (before, after) = text.split_at(at);
        let (before, after) = (before.trim_end(), after.trim_start());
        let gap = if after.is_empty() { "" } else { "\n" };
        text = format!("{before}\n\n{table}\n{gap}{after}");
    }
    text
}

/// `[kinds.Album]`, of a table that is only a remark, too.
fn header(table: &str) -> &str {
    let first = table.lines().next().unwrap_or_default();
    first.trim_start_matches(['#', ' '])
}

/// `[kinds.` of `[kinds.Album]`.
fn sort(header: &str) -> &str {
    header.find('.').map_or(header, |dot| &header[..=dot])
}

fn place(text: &str, header: &str) -> usize {
    let mut offset = 0;
    // Where the remarks begin that stand directly above a line.
    let mut remarks = None;
    let mut is_behind = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            let at = remarks.unwrap_or(offset);
            let is_same = line.starts_with(sort(header));
            if (is_same && line.trim_end() > header) || (is_behind && !is_same) {
                return at;
            }
            is_behind |= is_same;
        }
        if line.starts_with('#') {
            remarks.get_or_insert(offset);
        } else {
            remarks = None;
        }
        offset += line.len();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::with_tables;

    #[test]
    fn tables_stand_by_name() {
        let text = "group = \"g\"\n\n[kinds.B]\ntype = \"b\"\n\n# Of D.\n[kinds.D]\ntype = \"d\"\n\n[types.B]\nx = 1\n";
        let tail = "\n[kinds.A]\ntype = \"a\"\n\n[kinds.C]\ntype = \"c\"\n\n[kinds.E]\ntype = \"e\"\n\n# [types.C]\n# y = 1\n";
        let expected = "group = \"g\"\n\n[kinds.A]\ntype = \"a\"\n\n[kinds.B]\ntype = \"b\"\n\n[kinds.C]\ntype = \"c\"\n\n\
                        # Of D.\n[kinds.D]\ntype = \"d\"\n\n[kinds.E]\ntype = \"e\"\n\n[types.B]\nx = 1\n\n\
                        # [types.C]\n# y = 1\n";
        assert_eq!(with_tables(text, tail), expected);
        assert_eq!(
            with_tables("group = \"g\"", "\n[kinds.A]\n"),
            "group = \"g\"\n\n[kinds.A]\n"
        );
    }
}
