//! What a key of a curation file is.

/// A key that may stand in a table.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub form: Form,
    /// Whether the table is incomplete without it.
    pub is_required: bool,
    /// A line that has it.
    pub example: &'static str,
    /// What it says, as the documentation has it.
    pub meaning: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum Form {
    /// A string.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A list of strings.
    Texts,
    /// A table with these keys.
    Table(&'static [Key]),
    /// Any number of tables with these keys.
    Tables(&'static [Key]),
    /// A table whose keys the author chooses.
    Map(&'static Form),
    /// One of these words, or a list of strings.
    WordOrTexts(&'static [&'static str]),
    /// One of these words, or a table with these keys.
    WordOrTable(&'static [&'static str], &'static [Key]),
}

pub(super) const fn key(
    name: &'static str,
    form: Form,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        name,
        form,
        is_required: false,
        example,
        meaning,
    }
}

pub(super) const fn required(
    name: &'static str,
    form: Form,
    example: &'static str,
    meaning: &'static str,
) -> Key {
    Key {
        is_required: true,
        ..key(name, form, example, meaning)
    }
}
