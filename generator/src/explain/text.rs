//! Explanations for a terminal.

use std::fmt::{self, Display, Formatter};

use super::{Explanation, Form, KindExplanation, PropertyExplanation};

impl Display for Explanation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => kind.fmt(formatter),
            Self::Property(property) => property.fmt(formatter),
        }
    }
}

/// A line of a name and a value, in columns.
fn row(formatter: &mut Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    writeln!(formatter, "  {name:<18}{value}")
}

impl Display for KindExplanation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} (group {})", self.kind, self.group)?;
        row(formatter, "ARM type", &self.arm_type)?;
        row(formatter, "exported by", &self.exported_by)?;
        for version in &self.versions {
            let names = version.served_as.join(", ");
            writeln!(formatter, "\n{} served as {names}", version.api_version)?;
            row(formatter, "source", &version.source)?;
            if let Some(inherited) = &version.inherited {
                row(formatter, "inherited", inherited)?;
            }
        }
        for facts in &self.facts {
            writeln!(formatter, "\nin {}", facts.api_versions.join(", "))?;
            for (fact, value) in &facts.facts {
                row(formatter, fact, value)?;
            }
        }
        Ok(())
    }
}

impl Display for PropertyExplanation {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} (group {})", self.path, self.group)?;
        for form in &self.forms {
            writeln!(formatter, "\nin {}", form.api_versions.join(", "))?;
            form.fmt(formatter)?;
        }
        if !self.absent_from.is_empty() {
            writeln!(formatter, "\nnot in {}", self.absent_from.join(", "))?;
        }
        Ok(())
    }
}

impl Display for Form {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        row(formatter, "name", &self.name)?;
        match &self.ty {
            Some(ty) => row(formatter, "type", ty)?,
            None => row(formatter, "type", "none: it is left out")?,
        }
        if self.required {
            row(formatter, "required", "yes")?;
        }
        if !self.arm_path.is_empty() {
            row(formatter, "in ARM", &self.arm_path)?;
        }
        if !self.source.is_empty() {
            row(formatter, "definition", &self.source)?;
        }
        if self.reasons.is_empty() {
            row(formatter, "spec", "as it stands there")?;
        }
        for reason in &self.reasons {
            match &reason.at {
                Some(at) => row(formatter, &reason.by, &format!("{} ({at})", reason.what))?,
                None => row(formatter, &reason.by, &reason.what)?,
            }
        }
        for (title, left_out) in [("properties", false), ("left out", true)] {
            let parts = self.parts.iter().filter(|part| part.left_out == left_out);
            let names: Vec<&str> = parts.map(|part| part.name.as_str()).collect();
            if !names.is_empty() {
                row(formatter, title, &names.join(", "))?;
            }
        }
        Ok(())
    }
}
