//! XML as text: what says the same in it. Policies hold expressions that make them no XML; then white space alone says
//! nothing.

/// A text that is the same for XML that says the same: attributes in any order, white space between elements, entities
/// written out, and an element that is empty in either form.
pub(super) fn normal(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    well_formed(&text).unwrap_or_else(|| {
        let text = unescaped(&text);
        text.chars()
            .filter(|letter| !letter.is_whitespace())
            .collect()
    })
}

/// One token per line, in a form of our own; nothing where it is no XML.
fn well_formed(text: &str) -> Option<String> {
    let mut rest = text.trim_start_matches('\u{feff}');
    let mut tokens = String::new();
    let mut open = Vec::new();
    while !rest.is_empty() {
        if let Some(skipped) = prolog(rest) {
            rest = skipped;
        } else if let Some(after) = rest.strip_prefix("<![CDATA[") {
            let (data, after) = after.split_once("]]>")?;
            add(&mut tokens, 't', data.trim());
            rest = after;
        } else if let Some(after) = rest.strip_prefix("</") {
            let (name, after) = after.split_once('>')?;
            let name = name.trim_end();
            (open.pop()? == name).then_some(())?;
            add(&mut tokens, 'c', name);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('<') {
            let (name, is_empty, after) = element(after, &mut tokens)?;
            if is_empty {
                add(&mut tokens, 'c', name);
            } else {
                open.push(name);
            }
            rest = after;
        } else {
            let at = rest.find('<').unwrap_or(rest.len());
            let (shown, after) = rest.split_at(at);
            let shown = shown.trim();
            if !shown.is_empty() {
                add(&mut tokens, 't', &unescaped(shown));
            }
            rest = after;
        }
    }
    open.is_empty().then_some(tokens)
}

/// What follows a comment or a declaration.
fn prolog(text: &str) -> Option<&str> {
    let ends = [("<!--", "-->"), ("<?", "?>")];
    let mut ends = ends.iter();
    ends.find_map(|(start, end)| Some(text.strip_prefix(start)?.split_once(end)?.1))
}

/// The name of an element, whether it is empty, and what follows its first tag.
fn element<'t>(text: &'t str, tokens: &mut String) -> Option<(&'t str, bool, &'t str)> {
    let (name, mut rest) = name(text)?;
    let mut attributes = Vec::new();
    loop {
        let after = rest.trim_start();
        if let Some(after) = after.strip_prefix("/>") {
            write_element(name, attributes, tokens);
            return Some((name, true, after));
        }
        if let Some(after) = after.strip_prefix('>') {
            write_element(name, attributes, tokens);
            return Some((name, false, after));
        }
        if after.len() == rest.len() {
            return None;
        }
        let (attribute, after) = self::name(after)?;
        let after = after.trim_start().strip_prefix('=')?.trim_start();
        let quote = after
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        attributes.push((attribute, unescaped(value).replace('\n', " ")));
        rest = after;
    }
}

fn write_element(name: &str, mut attributes: Vec<(&str, String)>, tokens: &mut String) {
    attributes.sort();
    add(tokens, 'o', name);
    for (name, value) in attributes {
        add(tokens, 'a', name);
        add(tokens, 'v', &value);
    }
}

fn name(text: &str) -> Option<(&str, &str)> {
    let is_part =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':');
    let at = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    (at > 0).then(|| text.split_at(at))
}

/// Adds a token with its length, so that no two lists of tokens run together.
fn add(tokens: &mut String, what: char, text: &str) {
    tokens.push(what);
    tokens.push_str(&text.len().to_string());
    tokens.push(' ');
    tokens.push_str(text);
}

/// The text with the entities that XML itself has written out.
fn unescaped(text: &str) -> String {
    let mut rest = text;
    let mut whole = String::with_capacity(text.len());
    while let Some(at) = rest.find('&') {
        whole.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|letter| letter == b';');
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((letter, end)) => {
                whole.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                whole.push('&');
                rest = &rest[1..];
            }
        }
    }
    whole.push_str(rest);
    whole
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        name => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
