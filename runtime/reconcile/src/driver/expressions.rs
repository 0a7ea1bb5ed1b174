//! `operatorSpec.configMapExpressions` and `operatorSpec.secretExpressions` (ASO behaviour §3.4).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use armature_engine::expression::{Allowance, Expression, Output, Produced, Scope};
use serde_json::{Map, Value};

use super::pass::Pass;
use super::unwritten::{Missing, Unwritten, export_failure};
use crate::export_target::{Place, Targets};
use crate::outcome::Failure;
use crate::port::DataKind;

/// The two lists, and what their entries write.
const LISTS: [(&str, DataKind); 2] = [
    ("configMapExpressions", DataKind::ConfigMap),
    ("secretExpressions", DataKind::Secret),
];

/// Expressions that one object may have, those for labels and annotations included: each of them is evaluated whenever the object
/// is looked at.
const MOST: usize = 200;

/// What the expressions of an object may take, and which of them has taken how much of it.
pub(super) struct Spending {
    allowance: Allowance,
    /// Steps by expression.
    steps: BTreeMap<String, usize>,
}

impl Spending {
    /// For these.
    pub fn of(exports: &[&DynamicExport]) -> Self {
        let count = exports.iter().map(|export| export.count()).sum();
        Self {
            allowance: Allowance::of(count),
            steps: BTreeMap::new(),
        }
    }

    /// Each may take all that is left from now on.
    pub fn without_parts(&mut self) {
        self.allowance.without_parts();
    }

    /// What is left, to be given back to by [`Self::refund`].
    pub fn left(&self) -> Allowance {
        self.allowance.clone()
    }

    /// Gives back what was taken since: it came to nothing, and is computed again. All that parts allow is half of the whole, so
    /// what is computed twice is bounded as well.
    pub fn refund(&mut self, before: Allowance) {
        self.allowance = before;
    }

    /// The expression that has taken most, as the end of a sentence.
    pub fn most(&self) -> String {
        let most = self.steps.iter().rev().max_by_key(|(_, steps)| **steps);
        let most = most.map(|(path, steps)| format!(": {path} takes most of them, {steps}"));
        most.unwrap_or_default()
    }
}

/// The object and the secrets that an expression sees.
type Seen<'s> = (&'s Value, &'s BTreeMap<String, String>);

/// One entry of a list, with its expressions compiled.
pub(super) struct DynamicExport {
    kind: DataKind,
    /// Name of the target.
    name: String,
    /// Key in it; empty when the expression gives a map.
    key: String,
    /// The entry: `spec.operatorSpec.secretExpressions[1]`.
    path: String,
    value: Arc<Expression>,
    labels: BTreeMap<String, Arc<Expression>>,
    annotations: BTreeMap<String, Arc<Expression>>,
}

impl DynamicExport {
    /// The place that it writes to, as messages name it.
    pub fn place(&self) -> Place<'_> {
        Place {
            kind: self.kind,
            name: &self.name,
            path: &self.path,
        }
    }

    /// Names of the secrets that it uses.
    pub fn secrets(&self) -> BTreeSet<String> {
        let texts = self.labels.values().chain(self.annotations.values());
        let all = texts.chain([&self.value]);
        all.flat_map(|expression| expression.secrets().iter().cloned())
            .collect()
    }

    /// How many expressions it has.
    fn count(&self) -> usize {
        1 + self.labels.len() + self.annotations.len()
    }

    /// Looks at what is known of it before evaluation: its key, and the names of labels and annotations.
    ///
    /// # Errors
    /// When something of it cannot be written.
    pub fn announce(&self, targets: &mut Targets) -> Result<(), String> {
        targets.check(self.place(), self.labels.keys(), self.annotations.keys())?;
        match self.value.output() {
            Output::Text => targets.add(self.place(), &self.key, String::new()),
            _ => Ok(()),
        }
    }

    /// Evaluates it, and puts what it gives into the targets.
    pub fn add_to(
        &self,
        targets: &mut Targets,
        object: &Value,
        secrets: &BTreeMap<String, String>,
        spending: &mut Spending,
    ) -> Result<(), Unwritten> {
        let secrets = match self.kind {
            DataKind::Secret => secrets,
            DataKind::ConfigMap => &BTreeMap::new(),
        };
        let mut texts = |field: &str, expressions: &BTreeMap<String, Arc<Expression>>| {
            let texts = expressions.iter().map(|(name, expression)| {
                let path = format!("{}.{field}.{name}", self.path);
                let text = evaluate_text(expression, &path, (object, secrets), spending)?;
                Ok((name.clone(), text))
            });
            texts.collect::<Result<BTreeMap<_, _>, Unwritten>>()
        };
        let (labels, annotations) = (
            texts("labels", &self.labels)?,
            texts("annotations", &self.annotations)?,
        );
        let place = self.place();
        let path = format!("{}.value", self.path);
        let mut empty = None;
        for (key, value) in self.entries(&path, (object, secrets), spending)? {
            if value.is_empty() {
                empty = Some(key);
                continue;
            }
            targets.add(place, &key, value).map_err(wrong)?;
        }
        targets.label(place, labels).map_err(wrong)?;
        targets.annotate(place, annotations).map_err(wrong)?;
        match empty {
            Some(key) => Err(Unwritten::Missing(format!(
                "{path}: the expression gives an empty text for key {key}; a field that it reads may not be set"
            ))),
            None => Ok(()),
        }
    }

    fn entries(
        &self,
        path: &str,
        seen: Seen<'_>,
        spending: &mut Spending,
    ) -> Result<BTreeMap<String, String>, Unwritten> {
        match evaluate(&self.value, path, seen, spending)? {
            Produced::Text(text) => Ok(BTreeMap::from([(self.key.clone(), text)])),
            Produced::Map(entries) => Ok(entries),
        }
    }
}

impl Pass<'_> {
    /// The entries of both lists, compiled.
    pub(super) fn dynamic_exports(&self) -> Result<Vec<DynamicExport>, Failure> {
        let mut exports = Vec::new();
        self.check_count()?;
        for (list, kind) in LISTS {
            let entries = self.forms.spec().pointer(&format!("/operatorSpec/{list}"));
            let entries = entries.and_then(Value::as_array).into_iter().flatten();
            for (at, entry) in entries.enumerate() {
                let path = format!("spec.operatorSpec.{list}[{at}]");
                exports.push(self.dynamic_export(kind, path, entry)?);
            }
        }
        Ok(exports)
    }

    /// Refuses more expressions than one object may have, before any of them is read.
    fn check_count(&self) -> Result<(), Failure> {
        let operator = &self.forms.spec()["operatorSpec"];
        let entries = LISTS
            .iter()
            .filter_map(|(list, _)| operator[list].as_array());
        let of_entry = |entry: &Value| {
            let texts = ["labels", "annotations"].map(|field| entry[field].as_object());
            1 + texts.into_iter().flatten().map(Map::len).sum::<usize>()
        };
        let count: usize = entries.flatten().map(of_entry).sum();
        if count <= MOST {
            return Ok(());
        }
        Err(export_failure(format!(
            "spec.operatorSpec: configMapExpressions and secretExpressions have {count} expressions with those of labels and \
             annotations, and one object may have {MOST}; use one expression that gives a map for several keys, or another object"
        )))
    }

    /// Whether the expressions take more together than those of one object may. What values of Azure they would read is not known: those
    /// that use one are left out.
    pub(super) async fn check_allowance(&self) -> Result<(), Failure> {
        let expressions = self.dynamic_exports()?;
        if expressions.is_empty() {
            return Ok(());
        }
        let without = expressions.iter().filter(|it| it.secrets().is_empty());
        let none = BTreeMap::new();
        let mut targets = self.targets();
        let unwritten = self
            .evaluate(without.collect(), Some(&none), &mut targets)
            .await?;
        let mut missing = Missing::default();
        for (_, why) in unwritten {
            if matches!(why, Unwritten::Short(_)) {
                missing.add(why.into_message());
            }
        }
        missing.outcome()
    }

    fn dynamic_export(
        &self,
        kind: DataKind,
        path: String,
        entry: &Value,
    ) -> Result<DynamicExport, Failure> {
        let text = |name: &str| entry[name].as_str().unwrap_or("").to_owned();
        let value = self.compile(kind, &format!("{path}.value"), &text("value"))?;
        let key = text("key");
        match (value.output(), key.is_empty()) {
            (Output::Text, true) => {
                let message = format!("{path}.key: set it, because the expression gives one text");
                return Err(export_failure(message));
            }
            (Output::Map, false) => {
                let message = format!(
                    "{path}.key: leave it out, because the expression gives a map and its keys are used"
                );
                return Err(export_failure(message));
            }
            _ => {}
        }
        Ok(DynamicExport {
            labels: self.compile_texts(kind, &format!("{path}.labels"), &entry["labels"])?,
            annotations: self.compile_texts(
                kind,
                &format!("{path}.annotations"),
                &entry["annotations"],
            )?,
            name: text("name"),
            kind,
            key,
            path,
            value,
        })
    }

    /// Expressions for the values of labels or annotations.
    fn compile_texts(
        &self,
        kind: DataKind,
        path: &str,
        sources: &Value,
    ) -> Result<BTreeMap<String, Arc<Expression>>, Failure> {
        let mut expressions = BTreeMap::new();
        for (name, source) in sources.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let expression = self.compile(kind, &path, source.as_str().unwrap_or(""))?;
            if expression.output() != Output::Text {
                let message = format!("{path}: the expression gives a map, expected string");
                return Err(export_failure(message));
            }
            expressions.insert(name.clone(), expression);
        }
        Ok(expressions)
    }

    fn compile(
        &self,
        kind: DataKind,
        path: &str,
        source: &str,
    ) -> Result<Arc<Expression>, Failure> {
        let scope = Scope {
            version: self.version(),
            secrets: (kind == DataKind::Secret).then_some(self.kind().secrets),
        };
        let compiled = self.reconciler.expressions.compile(source, scope);
        compiled.map_err(|error| export_failure(format!("{path}: {error}")))
    }

    /// The object as expressions see it: in the version that the user wrote, with the status of this pass.
    pub(super) fn served(&self) -> Result<Value, Failure> {
        let metadata = serde_json::to_value(&self.object.metadata).unwrap_or_default();
        let served = self.forms.served(metadata);
        served.map_err(|error| export_failure(error.to_string()))
    }
}

/// What an expression gives. What it cannot compute depends on values, which may change.
fn evaluate(
    expression: &Expression,
    path: &str,
    (object, secrets): Seen<'_>,
    spending: &mut Spending,
) -> Result<Produced, Unwritten> {
    let before = spending.allowance.left();
    let produced = expression.evaluate(object, secrets, &mut spending.allowance);
    let steps = before - spending.allowance.left();
    spending.steps.insert(path.to_owned(), steps);
    produced.map_err(|error| match spending.allowance.was_too_small() {
        true => Unwritten::Short(format!("{path}: {error}")),
        false => Unwritten::Missing(format!("{path}: {error}")),
    })
}

fn evaluate_text(
    expression: &Expression,
    path: &str,
    seen: Seen<'_>,
    spending: &mut Spending,
) -> Result<String, Unwritten> {
    match evaluate(expression, path, seen, spending)? {
        Produced::Text(text) => Ok(text),
        Produced::Map(_) => {
            let message = format!("{path}: the expression gives a map, expected string");
            Err(wrong(message))
        }
    }
}

fn wrong(message: String) -> Unwritten {
    Unwritten::Wrong(export_failure(message))
}
