//! Rules in words, as curation and the annotation `armature.azure.com/ignore-paths` write them.
//!
//! ```text
//! PATH [RIGHT] [while TERM [and TERM]…]
//! RIGHT: unsent | or later | in another version | from BOUND to BOUND | autoscaled | exchanged [with PATH [and PATH]…]
//!        | added [like PATTERN [or PATTERN]…] | read-only | told
//! BOUND: a path | a whole number | spec
//! TERM:  [azure] PATH | no PATH | PATH is WORD [or WORD]… | PATH contains WORD | unset
//! ```
//!
//! A pattern may have a star at one end. `unset` alone is about the rule's own path.

use super::steps::{Steps, StepsError};

/// What is known of one value, or of all values with one path in the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// As it was written, for people.
    pub text: String,
    /// Where.
    pub path: Steps,
    /// Whose value counts, and between which bounds.
    pub right: Right,
    /// All of these must hold.
    pub terms: Vec<Term>,
}

/// Whose value counts while a rule holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    /// Azure's, whatever it is.
    Kept,
    /// Azure's, and no PUT carries one.
    Unsent,
    /// Azure's where it is larger, or a later version, than the spec's.
    Later,
    /// Azure's where it has the spec's value but for what stands behind the last slash, the version of a key.
    OtherVersion,
    /// Azure's within what another resource, that scales this one, allows; where there is none, the spec's.
    Autoscaled,
    /// Azure's between two bounds; beyond them the nearer bound.
    Within(Bound, Bound),
    /// Azure's while it has the spec's values of these places in another order.
    Exchanged(Vec<Steps>),
    /// Entries of a map or items of a list that the spec never named; where there are patterns, those that fit one alone.
    Added(Vec<String>),
    /// Only Azure's to say: neither compared nor sent.
    ReadOnly,
    /// Azure's until the next edit, and told: somebody did it on purpose.
    Told,
}

impl Right {
    /// In one word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Unsent => "unsent",
            Self::Later => "later",
            Self::OtherVersion => "in-another-version",
            Self::Autoscaled => "autoscaled",
            Self::Within(..) => "within",
            Self::Exchanged(_) => "exchanged",
            Self::Added(_) => "added",
            Self::ReadOnly => "read-only",
            Self::Told => "told",
        }
    }
}

/// The end of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// The value at a path.
    At(Steps),
    /// A number.
    Fixed(i64),
    /// What the spec says at the rule's own path.
    Spec,
}

/// Something that must hold. It is read from what is desired, and from Azure's answer where desired does not name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether Azure's answer alone counts.
    pub in_azure: bool,
    /// Of what.
    pub path: Steps,
    /// What must be so.
    pub test: Test,
}

/// What must be so of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// It is there, and neither false, zero nor empty.
    On,
    /// The opposite.
    Off,
    /// The spec does not name it.
    Unset,
    /// It is one of these words, in any case.
    Is(Vec<String>),
    /// It has this within it, in any case.
    Contains(String),
}

/// Why a rule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A path is none.
    #[error("`{rule}`: {source}")]
    Path {
        /// The whole rule.
        rule: String,
        /// What is wrong.
        source: StepsError,
    },
    /// Something is missing.
    #[error("`{rule}`: {expected} is missing after `{after}`")]
    Missing {
        /// The whole rule.
        rule: String,
        /// What was expected.
        expected: &'static str,
        /// The word before.
        after: String,
    },
    /// A word that nobody knows.
    #[error("`{rule}`: `{word}` is not known here; expected {expected}")]
    Unknown {
        /// The whole rule.
        rule: String,
        /// The word.
        word: String,
        /// What was expected.
        expected: &'static str,
    },
}

const RIGHTS: &str = "`unsent`, `or later`, `in another version`, `from … to …`, `autoscaled`, `exchanged`, `added`, \
                      `read-only`, `told` or `while`";

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// It is none; the message names the rule, the word and what was expected.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut words = Words::of(&text);
        let path = words.path()?;
        let right = words.right()?;
        let terms = words.terms(&path)?;
        Ok(Self {
            path,
            right,
            terms,
            text,
        })
    }
}

impl Rule {
    /// Whether a text is a rule with more than a path: paths may have spaces, too.
    pub fn is_one(text: &str) -> bool {
        const BEGIN: [&str; 10] = [
            "added",
            "autoscaled",
            "exchanged",
            "from",
            "in",
            "or",
            "read-only",
            "told",
            "unsent",
            "while",
        ];
        let second = text.split_whitespace().nth(1);
        second.is_some_and(|word| BEGIN.contains(&word)) || text.contains(" while ")
    }

    /// Whether it holds only while the spec does not name the value.
    pub(super) fn is_of_unset(&self) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| term.test == Test::Unset && term.path == self.path)
    }

    /// The paths beside its own: of bounds, of values it is exchanged with, and of conditions. Azure may have them to itself.
    pub fn others(&self) -> impl Iterator<Item = &Steps> {
        let bounds = match &self.right {
            Right::Within(least, most) => vec![least, most],
            _ => Vec::new(),
        };
        let bounds = bounds.into_iter().filter_map(|bound| match bound {
            Bound::At(path) => Some(path),
            Bound::Fixed(_) | Bound::Spec => None,
        });
        let exchanged = match &self.right {
            Right::Exchanged(paths) => paths.as_slice(),
            _ => &[],
        };
        let terms = self.terms.iter().map(|term| &term.path);
        bounds.chain(exchanged).chain(terms)
    }
}

/// The words of a rule that are still to be read.
struct Words<'t> {
    rule: &'t str,
    rest: std::iter::Peekable<std::str::Split<'t, char>>,
    last: &'t str,
}

impl<'t> Words<'t> {
    fn of(rule: &'t str) -> Self {
        Self {
            rule,
            rest: rule.split(' ').peekable(),
            last: "",
        }
    }

    fn next(&mut self, expected: &'static str) -> Result<&'t str, RuleError> {
        let word = self.rest.next().filter(|word| !word.is_empty());
        let word = word.ok_or_else(|| RuleError::Missing {
            rule: self.rule.to_owned(),
            expected,
            after: self.last.to_owned(),
        })?;
        self.last = word;
        Ok(word)
    }

    /// Takes the next word if it is this one.
    fn takes(&mut self, wanted: &str) -> bool {
        let is_next = self.rest.peek() == Some(&wanted);
        if is_next {
            self.last = self.rest.next().unwrap_or_default();
        }
        is_next
    }

    fn unknown<T>(&self, word: &str, expected: &'static str) -> Result<T, RuleError> {
        Err(RuleError::Unknown {
            rule: self.rule.to_owned(),
            word: word.to_owned(),
            expected,
        })
    }

    fn steps(&self, word: &str) -> Result<Steps, RuleError> {
        Steps::parse(word).map_err(|source| RuleError::Path {
            rule: self.rule.to_owned(),
            source,
        })
    }

    fn path(&mut self) -> Result<Steps, RuleError> {
        let word = self.next("a path")?;
        self.steps(word)
    }

    fn right(&mut self) -> Result<Right, RuleError> {
        let Some(word) = self.rest.peek().copied() else {
            return Ok(Right::Kept);
        };
        if word == "while" {
            return Ok(Right::Kept);
        }
        self.last = self.rest.next().unwrap_or_default();
        match word {
            "unsent" => Ok(Right::Unsent),
            "read-only" => Ok(Right::ReadOnly),
            "told" => Ok(Right::Told),
            "autoscaled" => Ok(Right::Autoscaled),
            "in" => {
                for wanted in ["another", "version"] {
                    match self.next("`another version`")? {
                        word if word == wanted => {}
                        word => return self.unknown(word, "`another version`"),
                    }
                }
                Ok(Right::OtherVersion)
            }
            "or" => match self.next("`later`")? {
                "later" => Ok(Right::Later),
                other => self.unknown(other, "`later`"),
            },
            "from" => {
                let least = self.bound()?;
                match self.next("`to`")? {
                    "to" => Ok(Right::Within(least, self.bound()?)),
                    other => self.unknown(other, "`to`"),
                }
            }
            "exchanged" => {
                let mut others = Vec::new();
                if self.takes("with") {
                    others.push(self.path()?);
                    while self.takes("and") {
                        others.push(self.path()?);
                    }
                }
                Ok(Right::Exchanged(others))
            }
            "added" if self.takes("like") => self.alternatives("a pattern").map(Right::Added),
            "added" => Ok(Right::Added(Vec::new())),
            other => self.unknown(other, RIGHTS),
        }
    }

    /// Words with `or` between them.
    fn alternatives(&mut self, expected: &'static str) -> Result<Vec<String>, RuleError> {
        let mut words = vec![self.next(expected)?.to_owned()];
        while self.takes("or") {
            words.push(self.next(expected)?.to_owned());
        }
        Ok(words)
    }

    fn bound(&mut self) -> Result<Bound, RuleError> {
        let word = self.next("a path, a number or `spec`")?;
        match word.parse() {
            Ok(number) => Ok(Bound::Fixed(number)),
            Err(_) if word == "spec" => Ok(Bound::Spec),
            Err(_) => self.steps(word).map(Bound::At),
        }
    }

    fn terms(&mut self, own: &Steps) -> Result<Vec<Term>, RuleError> {
        let mut terms = Vec::new();
        let Some(word) = self.rest.next() else {
            return Ok(terms);
        };
        if word != "while" {
            return self.unknown(word, "`while` or the end");
        }
        self.last = word;
        loop {
            terms.push(self.term(own)?);
            match self.rest.next() {
                None => return Ok(terms),
                Some("and") => self.last = "and",
                Some(other) => {
                    return self.unknown(other, "`is`, `contains`, `and` or the end");
                }
            }
        }
    }

    fn term(&mut self, own: &Steps) -> Result<Term, RuleError> {
        let word = self.next("a condition")?;
        let in_azure = word == "azure";
        let (path, test) = match word {
            "unset" => (own.clone(), Test::Unset),
            "no" => (self.path()?, Test::Off),
            first => {
                let path = match in_azure {
                    true => self.path()?,
                    false => self.steps(first)?,
                };
                let test = if self.takes("is") {
                    Test::Is(self.alternatives("a word")?)
                } else if self.takes("contains") {
                    Test::Contains(self.next("a word")?.to_owned())
                } else if self.takes("unset") {
                    Test::Unset
                } else {
                    Test::On
                };
                (path, test)
            }
        };
        if !path.is_within_items_of(own) {
            return self.unknown(
                word,
                "a path that has `[]` only where the rule's own path has it",
            );
        }
        Ok(Term {
            in_azure,
            path,
            test,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Steps {
        Steps::parse(text).unwrap()
    }

    #[test]
    fn rules_are_read() {
        let term = |path: &str, test: Test| Term {
            in_azure: path == "p.tier",
            path: steps(path),
            test,
        };
        let within = Right::Within(Bound::At(steps("p.min")), Bound::Fixed(9));
        let words = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let table = [
            ("p.count", Right::Kept, vec![]),
            (
                "p.count while p.auto",
                Right::Kept,
                vec![term("p.auto", Test::On)],
            ),
            (
                "p.count  from p.min to 9 while p.auto and no p.manual",
                within,
                vec![term("p.auto", Test::On), term("p.manual", Test::Off)],
            ),
            (
                "p.version or later while p.channel is patch or stable",
                Right::Later,
                vec![term("p.channel", Test::Is(words(&["patch", "stable"])))],
            ),
            (
                "p.zone exchanged with p.standby and p.third while p.mode contains Zone",
                Right::Exchanged(vec![steps("p.standby"), steps("p.third")]),
                vec![term("p.mode", Test::Contains("Zone".to_owned()))],
            ),
            (
                "p.labels added like a/* or b*",
                Right::Added(words(&["a/*", "b*"])),
                vec![],
            ),
            (
                "p.size unsent while unset",
                Right::Unsent,
                vec![term("p.size", Test::Unset)],
            ),
            (
                "p.capacity from spec to p.most",
                Right::Within(Bound::Spec, Bound::At(steps("p.most"))),
                vec![],
            ),
            (
                "p.key in another version while azure p.tier is a",
                Right::OtherVersion,
                vec![term("p.tier", Test::Is(words(&["a"])))],
            ),
            ("p.capacity autoscaled", Right::Autoscaled, vec![]),
            ("p.role told", Right::Told, vec![]),
            ("p.items[].image read-only", Right::ReadOnly, vec![]),
        ];
        for (text, right, terms) in table {
            let rule = Rule::parse(text).unwrap();
            assert_eq!((rule.right, rule.terms), (right, terms), "{text}");
        }
    }

    #[test]
    fn what_is_no_rule_says_what_was_expected() {
        let table = [
            ("", "``: a path is missing after ``"),
            (
                "p.a when p.b",
                "`p.a when p.b`: `when` is not known here; expected `unsent`, `or later`, `in another version`, `from … to …`, `autoscaled`, `exchanged`, `added`, `read-only`, `told` or `while`",
            ),
            (
                "p.a while",
                "`p.a while`: a condition is missing after `while`",
            ),
            (
                "p.a while p.b = c",
                "`p.a while p.b = c`: `=` is not known here; expected `is`, `contains`, `and` or the end",
            ),
            ("p.a from 1", "`p.a from 1`: `to` is missing after `1`"),
            (
                "p.a or larger",
                "`p.a or larger`: `larger` is not known here; expected `later`",
            ),
            (
                "p.a told p.b",
                "`p.a told p.b`: `p.b` is not known here; expected `while` or the end",
            ),
            ("p..a", "`p..a`: the path `p..a` has an empty step"),
            (
                "p.a while p.b[].c",
                "`p.a while p.b[].c`: `p.b[].c` is not known here; expected a path that has `[]` only where the rule's own path has it",
            ),
        ];
        for (text, message) in table {
            assert_eq!(Rule::parse(text).unwrap_err().to_string(), message);
        }
    }
}
