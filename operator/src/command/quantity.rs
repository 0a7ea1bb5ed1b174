//! Amounts on the command line: bytes, and requests to Azure.

use armature_runtime::azure::budget::{Limit, Limits};

/// Azure's own limits, as they are written.
pub const DEFAULT_BUDGET: &str = "reads=250/25,writes=200/10,deletes=200/10";

/// Bytes, as Kubernetes writes quantities: a whole number, or one with `Ki`, `Mi`, `Gi`, `k`, `M` or `G`.
pub fn quantity(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 6] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
    ];
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
    let (number, factor) = match unit {
        Some((unit, factor)) => (&text[..text.len() - unit.len()], *factor),
        None => (text, 1),
    };
    let number = number.parse::<u64>().ok().filter(|number| *number > 0);
    let bytes = number.and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| "expected bytes, such as 256Mi or 268435456".to_owned())
}

/// Limits of requests: `reads=250/25,writes=200/10`, each with how many at once and how many a second. What is not named
/// is as Azure has it.
pub fn budget(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (name, amounts) = part.split_once('=').ok_or_else(|| expected(part))?;
        let limit = limit(amounts).ok_or_else(|| expected(part))?;
        match name.trim() {
            "reads" => limits.reads = limit,
            "writes" => limits.writes = limit,
            "deletes" => limits.deletes = limit,
            _ => return Err(expected(part)),
        }
    }
    Ok(limits)
}

fn limit(text: &str) -> Option<Limit> {
    let (size, per_second) = text.split_once('/')?;
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|number| number.is_finite())
    };
    Some(Limit {
        // With less every pass would wait for itself: it sends some requests, and a part is kept for periodic looks.
        size: number(size).filter(|size| *size >= 10.0)?,
        per_second: number(per_second).filter(|flow| *flow > 0.0)?,
    })
}

fn expected(part: &str) -> String {
    format!(
        "'{part}': expected reads, writes or deletes with how many at once (10 or more) and how many a second, for example \
         {DEFAULT_BUDGET}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, bytes) in [
            ("1", 1),
            ("64Ki", 65_536),
            ("256Mi", crate::config::CONVERSION_MEMORY),
            ("1G", 1_000_000_000),
        ] {
            assert_eq!(quantity(text), Ok(bytes), "{text}");
        }
        for wrong in [
            "",
            "0",
            "Mi",
            "-1Mi",
            "1.5Gi",
            "1 Mi",
            "99999999999Gi",
            "256MB",
        ] {
            assert!(quantity(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn budgets() {
        assert_eq!(budget(DEFAULT_BUDGET), Ok(Limits::default()));
        assert_eq!(budget(""), Ok(Limits::default()));
        let half = budget("writes=100/5, reads=10/0.5").unwrap();
        assert_eq!((half.writes.size, half.writes.per_second), (100.0, 5.0));
        assert_eq!((half.reads.size, half.reads.per_second), (10.0, 0.5));
        assert_eq!(half.deletes, Limits::default().deletes);
        for wrong in [
            "reads",
            "reads=50",
            "reads=9/1",
            "reads=50/0",
            "gets=50/5",
            "reads=50/x",
            "reads=inf/1",
        ] {
            let error = budget(wrong).unwrap_err();
            assert!(error.contains(wrong) && error.contains("writes"), "{error}");
        }
    }
}
