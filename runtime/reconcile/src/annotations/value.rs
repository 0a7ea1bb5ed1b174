//! What an annotation may ask for, and the texts that mean it. A text that means nothing gives nothing.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Shortest period between two looks at one resource.
const SHORTEST_SYNC: Duration = Duration::from_secs(10);
/// Longest one; whoever wants a longer one wants none.
const LONGEST_SYNC: Duration = Duration::from_secs(366 * 24 * 3600);
/// Most paths in one annotation.
const MOST_PATHS: usize = 100;
/// Longest one, in bytes.
const LONGEST_PATH: usize = 1000;

/// How long nothing is sent to Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until the annotation goes.
    Open,
    /// Until this moment.
    Until(Timestamp),
}

/// How often a resource that is fine is compared with Azure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncPeriod {
    /// Not before something changes.
    Never,
    /// Every so often.
    Every(Duration),
}

/// How often a PUT of `always-put` is sent at most: Azure counts writes of a subscription for all who use it.
const PUT_EVERY: Duration = Duration::from_secs(600);

impl SyncPeriod {
    /// The same where each look sends a PUT.
    pub fn with_put(self) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Every(period) => Self::Every(period.max(PUT_EVERY)),
        }
    }
}

/// What to do with a resource that exists in Azure and that the object has not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adopt {
    /// Take it over, and make it as the spec says.
    #[default]
    Always,
    /// Take it over where it is as the spec says.
    IfEqual,
    /// Leave it alone.
    Never,
}

/// What came of the question whether the object may manage the resource. Kept in the annotation
/// [`names::ADOPTION`], so that it is asked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adoption {
    /// The object's PUT makes the resource, or made it.
    Made,
    /// The resource was there, and is the object's now.
    Adopted,
    /// The resource was there, and is not the object's.
    Refused,
}

impl Adoption {
    /// As the annotation has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Adopted => "adopted",
            Self::Refused => "refused",
        }
    }

    /// From the annotation; another text counts as refused, which deletes nothing and asks again.
    pub fn parse(text: &str) -> Self {
        match text {
            "made" => Self::Made,
            "adopted" => Self::Adopted,
            _ => Self::Refused,
        }
    }
}

/// Words with commas or blanks between them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| letter == ',' || letter.is_whitespace());
    words.filter(|word| !word.is_empty())
}

/// Client ids, or `none`. What becomes of them is up to those who sign in.
pub fn client_ids(text: &str) -> Option<()> {
    let found: Vec<String> = words(text).map(str::to_ascii_lowercase).collect();
    match found.as_slice() {
        [] => None,
        [word] if word == "none" => Some(()),
        ids => ids.iter().all(|id| is_client_id(id)).then_some(()),
    }
}

/// Whether a text is a UUID, as client ids are.
fn is_client_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_hexadecimal = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| is_hexadecimal(group))
}

pub(super) fn flag(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

pub(super) fn pause(text: &str) -> Option<Option<Pause>> {
    match flag(text) {
        Some(true) => Some(Some(Pause::Open)),
        Some(false) => Some(None),
        None => text
            .parse::<Timestamp>()
            .ok()
            .map(|end| Some(Pause::Until(end))),
    }
}

pub(super) fn sync_period(text: &str) -> Option<SyncPeriod> {
    if text == "never" {
        return Some(SyncPeriod::Never);
    }
    let duration = text.parse::<SignedDuration>().ok()?;
    let duration = Duration::try_from(duration).ok()?;
    (SHORTEST_SYNC..=LONGEST_SYNC)
        .contains(&duration)
        .then_some(SyncPeriod::Every(duration))
}

pub(super) fn adopt(text: &str) -> Option<Adopt> {
    match text {
        "always" => Some(Adopt::Always),
        "if-equal" => Some(Adopt::IfEqual),
        "never" => Some(Adopt::Never),
        _ => None,
    }
}

/// Paths with commas between them, whose number and length are bounded: each is looked for in each value of a resource.
pub(super) fn paths(text: &str) -> Option<()> {
    let mut paths = text.split(',').map(str::trim);
    let is_short = paths
        .by_ref()
        .take(MOST_PATHS)
        .all(|path| path.len() <= LONGEST_PATH);
    (is_short && paths.next().is_none()).then_some(())
}

pub(super) fn protect(text: &str) -> Option<bool> {
    match text {
        "delete" => Some(true),
        "none" => Some(false),
        _ => None,
    }
}
