//! The profile as a document: `profile.proto` of github.com/google/pprof, compressed.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::mappings::Mapping;

/// What was sampled.
pub struct Samples {
    /// Each stack once.
    pub stacks: Vec<Stack>,
    /// When the profile began.
    pub started: SystemTime,
    /// How long it took.
    pub length: Duration,
    /// Samples in a second of CPU time.
    pub frequency: i32,
}

/// A stack, and how often it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The function that ran, its caller, and so on.
    pub addresses: Vec<u64>,
    /// Samples.
    pub count: i64,
}

impl Samples {
    /// All addresses.
    pub fn addresses(&self) -> BTreeSet<u64> {
        let all = self.stacks.iter().flat_map(|stack| &stack.addresses);
        all.copied().collect()
    }
}

/// Members have the names and numbers of `profile.proto`; those that nothing is put into are left out.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    pub(super) mapping: Vec<MappingMessage>,
    #[prost(message, repeated, tag = "4")]
    pub(super) location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    pub(super) string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    pub(super) duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    pub(super) location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MappingMessage {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    memory_start: u64,
    #[prost(uint64, tag = "3")]
    memory_limit: u64,
    #[prost(uint64, tag = "4")]
    file_offset: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    #[prost(message, repeated, tag = "4")]
    pub(super) line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
}

/// Texts, each once; the first is empty.
struct Texts {
    all: Vec<String>,
    places: HashMap<String, i64>,
}

impl Texts {
    fn new() -> Self {
        let mut texts = Self {
            all: Vec::new(),
            places: HashMap::new(),
        };
        texts.place("");
        texts
    }

    fn place(&mut self, text: &str) -> i64 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = i64::try_from(self.all.len()).unwrap_or_default();
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        place
    }

    fn value_type(&mut self, what: &str, unit: &str) -> ValueType {
        ValueType {
            r#type: self.place(what),
            unit: self.place(unit),
        }
    }
}

/// The document, compressed.
///
/// # Errors
/// When it cannot be compressed.
pub fn compose(
    samples: &Samples,
    mappings: &[Mapping],
    names: &HashMap<u64, String>,
) -> io::Result<Vec<u8>> {
    let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
    compressed.write_all(&profile(samples, mappings, names).encode_to_vec())?;
    compressed.finish()
}

/// The document.
pub(super) fn profile(
    samples: &Samples,
    mappings: &[Mapping],
    names: &HashMap<u64, String>,
) -> Profile {
    let mut texts = Texts::new();
    let period = 1_000_000_000 / i64::from(samples.frequency.max(1));
    let cpu = texts.value_type("cpu", "nanoseconds");
    let sample_type = vec![texts.value_type("samples", "count"), cpu.clone()];
    let mapping = mappings_of(mappings, names, &mut texts);
    let places: HashMap<u64, u64> = samples.addresses().into_iter().zip(1..).collect();
    let mut functions: HashMap<&str, u64> = HashMap::new();
    let mut function = Vec::new();
    let mut location: Vec<Location> = places
        .iter()
        .map(|(address, id)| {
            let of_mapping = mappings.iter().zip(1..);
            let mut of_mapping =
                of_mapping.filter(|(one, _)| (one.start..one.end).contains(address));
            let named = names.get(address).map(|name| {
                let next = functions.len() as u64 + 1;
                *functions.entry(name).or_insert_with(|| {
                    let name = texts.place(name);
                    // Without a system name it is taken as it is: Go's tool cuts what is between `<` and `>` out of names
                    // that it takes for those of C++.
                    function.push(Function { id: next, name });
                    next
                })
            });
            Location {
                id: *id,
                mapping_id: of_mapping.next().map_or(0, |(_, id)| id),
                address: *address,
                line: named
                    .map(|function_id| Line { function_id })
                    .into_iter()
                    .collect(),
            }
        })
        .collect();
    location.sort_by_key(|one| one.id);
    let sample = samples.stacks.iter().map(|stack| Sample {
        location_id: stack.addresses.iter().map(|one| places[one]).collect(),
        value: vec![stack.count, stack.count.saturating_mul(period)],
    });
    let since = samples.started.duration_since(UNIX_EPOCH);
    Profile {
        sample_type,
        sample: sample.collect(),
        mapping,
        location,
        function,
        string_table: texts.all,
        time_nanos: nanoseconds(since.unwrap_or_default()),
        duration_nanos: nanoseconds(samples.length),
        period_type: Some(cpu),
        period,
    }
}

/// Mappings, of which the program's own has its build id. Those without a name are left to Go's tool, which looks for a file of that
/// build where it runs.
fn mappings_of(
    mappings: &[Mapping],
    names: &HashMap<u64, String>,
    texts: &mut Texts,
) -> Vec<MappingMessage> {
    let program = std::env::current_exe().ok();
    let build = crate::build_id::build_id().unwrap_or_default();
    let messages = mappings.iter().zip(1..).map(|(mapping, id)| {
        let is_own = program
            .as_deref()
            .is_some_and(|own| own == std::path::Path::new(&mapping.file));
        MappingMessage {
            id,
            memory_start: mapping.start,
            memory_limit: mapping.end,
            file_offset: mapping.offset,
            filename: texts.place(&mapping.file),
            build_id: if is_own { texts.place(&build) } else { 0 },
            has_functions: names
                .keys()
                .any(|address| (mapping.start..mapping.end).contains(address)),
        }
    });
    messages.collect()
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
