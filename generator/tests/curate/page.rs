//! `docs/curation.md`: every key of the form is in it, and every example stands in the file that it names.

use armature_generator::curation::{ErrorWord, FILE, Form, GroupConfig, Key, Treatment};
use armature_generator::load::SpecRoot;
use armature_generator::model::{ApiVersion, ObjectType, TypeDef};
use armature_generator::pipeline::curated_group;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn page() -> String {
    std::fs::read_to_string(format!("{ROOT}/docs/curation.md")).expect("page")
}

/// Names of keys and words that a form knows.
fn names(keys: &'static [Key], found: &mut Vec<&'static str>) {
    for key in keys {
        found.push(key.name);
        words(&key.form, found);
    }
}

fn words(form: &'static Form, found: &mut Vec<&'static str>) {
    match form {
        Form::Word(known) | Form::WordOrTexts(known) => found.extend(*known),
        Form::Table(keys) | Form::Tables(keys) => names(keys, found),
        Form::Map(form) => words(form, found),
        Form::WordOrTable(known, keys) => {
            found.extend(*known);
            names(keys, found);
        }
        Form::Text | Form::Flag | Form::Texts => {}
    }
}

/// Examples with the file that each stands in.
fn examples(page: &str) -> Vec<(String, String)> {
    let mut file = String::new();
    let mut example = None::<String>;
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some(name) = line
            .strip_prefix("From `")
            .and_then(|it| it.strip_suffix("`:"))
        {
            name.clone_into(&mut file);
        } else if line == "```toml" {
            example = Some(String::new());
        } else if line == "```" {
            found.extend(example.take().map(|text| (file.clone(), text)));
        } else if let Some(text) = &mut example {
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

#[test]
fn every_key_and_word_is_on_the_page() {
    let page = page();
    let mut known = Vec::new();
    names(&FILE, &mut known);
    assert!(known.len() > 40, "{known:?}");
    for name in known {
        assert!(
            page.contains(&format!("`{name}`")),
            "`{name}` is not explained"
        );
    }
}

/// Rows that the page has for keys.
fn rows(keys: &'static [Key], found: &mut Vec<String>) {
    for key in keys {
        found.push(format!("| `{}` | {} |", key.name, key.meaning));
        rows_below(&key.form, found);
    }
}

fn rows_below(form: &'static Form, found: &mut Vec<String>) {
    match form {
        Form::Table(keys) | Form::Tables(keys) | Form::WordOrTable(_, keys) => rows(keys, found),
        Form::Map(form) => rows_below(form, found),
        Form::Word(_) | Form::WordOrTexts(_) | Form::Text | Form::Flag | Form::Texts => {}
    }
}

#[test]
fn the_page_says_of_each_key_and_word_what_its_table_says() {
    let page = page();
    let mut wanted = Vec::new();
    rows(&FILE, &mut wanted);
    let treatments = Treatment::MEANINGS.iter();
    wanted.extend(treatments.map(|(word, meaning)| format!("| `{word}` | {meaning} |")));
    assert!(wanted.len() > 45, "{wanted:#?}");
    for row in wanted {
        let is_there = page.lines().any(|line| line.starts_with(&row));
        assert!(is_there, "docs/curation.md needs the row: {row}");
    }
    for (word, meaning) in ErrorWord::MEANINGS {
        let is_it = |line: &str| {
            line.starts_with(&format!("| `{word}` |")) && line.ends_with(&format!("| {meaning} |"))
        };
        assert!(page.lines().any(is_it), "`{word}`: {meaning}");
    }
}

#[test]
fn every_key_has_an_example_on_the_page() {
    let examples: String = examples(&page())
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let mut known = Vec::new();
    names(&FILE, &mut known);
    for name in known {
        let shown = [
            format!("{name} = "),
            format!("[{name}."),
            format!("[{name}]"),
            format!(".{name}]"),
            format!("\"{name}\""),
        ];
        let is_word_of_a_list = [
            "legacy",
            "new",
            "boolean",
            "integer",
            "number",
            "json",
            "string-map",
            "json-map",
            "nothing",
            "null",
            "status",
        ];
        assert!(
            is_word_of_a_list.contains(&name) || shown.iter().any(|it| examples.contains(it)),
            "`{name}` has no example"
        );
    }
}

#[test]
fn every_example_stands_in_the_file_it_names() {
    let examples = examples(&page());
    assert!(examples.len() > 15, "{} examples", examples.len());
    for (file, example) in examples {
        let text = std::fs::read_to_string(format!("{ROOT}/{file}")).expect(&file);
        assert!(text.contains(&example), "{file} does not have\n{example}");
        let parsed = example.parse::<toml::Table>();
        assert!(parsed.is_ok_and(|table| !table.is_empty()), "{example}");
    }
}

#[test]
fn the_small_group_can_be_generated() {
    let folder = crate::explain::FOLDER;
    let text = std::fs::read_to_string(format!("{folder}/music.toml")).expect("file");
    let config = GroupConfig::parse("music.toml", text).expect("form");
    let group = curated_group(&SpecRoot::new(folder), &config).expect("group");
    assert_eq!(group.versions.len(), 2);
    let newer = &group.versions[&ApiVersion::new("2024-01-01")];
    let kinds: Vec<&str> = newer.resources.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["Album", "AlbumsTrack", "Singer", "Stage"]);
    let singer = newer.resources.iter().find(|it| it.kind == "Singer");
    let singer = singer.and_then(|it| newer.types.get(&it.spec));
    let Some(TypeDef::Object(singer)) = singer else {
        panic!("no singer");
    };
    let properties = singer.properties.iter().find(|it| it.name == "properties");
    let properties = properties.and_then(|it| newer.types.get(it.ty.named()?));
    let Some(TypeDef::Object(properties)) = properties else {
        panic!("the envelope is kept");
    };
    let is_there = |name: &str| properties.properties.iter().any(|it| it.name == name);
    assert!(is_there("voice") && !is_there("fee"), "{properties:?}");
    let stage = newer.resources.iter().find(|it| it.kind == "Stage");
    let Some(TypeDef::Object(stage)) = stage.and_then(|it| newer.types.get(&it.spec)) else {
        panic!("no stage");
    };
    let below = |object: &ObjectType, name: &str| {
        let property = object.properties.iter().find(|it| it.name == name)?;
        match newer.types.get(property.ty.named()?)? {
            TypeDef::Object(object) => Some(object.properties[0].name.clone()),
            TypeDef::Enum(_) => None,
        }
    };
    assert_eq!(below(properties, "hall").as_deref(), Some("reference"));
    assert_eq!(below(stage, "star").as_deref(), Some("fee"));
    let files: Vec<&str> = newer.sources.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
}
