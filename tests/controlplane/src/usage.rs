//! What the kernel counts for a running process, from `/proc`.

use std::time::Duration;

use rustix::param::clock_ticks_per_second;

/// Time and memory of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Time on processors since its start, of all threads, in user and system mode.
    pub cpu: Duration,
    /// Resident memory in bytes, the program's own file included.
    pub resident: u64,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Option<Self> {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).ok();
        Self::parse(&read("stat")?, &read("status")?, clock_ticks_per_second())
    }

    fn parse(stat: &str, status: &str, ticks_per_second: u64) -> Option<Self> {
        // The name in parentheses may hold anything; fields are counted from its end, utime and stime are 14 and 15.
        let (_, fields) = stat.rsplit_once(')')?;
        let ticks: Vec<u64> = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .map_while(|field| field.parse().ok())
            .collect();
        let [user, system] = ticks[..] else {
            return None;
        };
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = resident.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(Self {
            cpu: Duration::from_secs_f64((user + system) as f64 / ticks_per_second as f64),
            resident: kilobytes * 1024,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_and_parentheses_are_no_fields() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 9 0 1";
        let status = "Name:\ta\nVmPeak:\t  900 kB\nVmRSS:\t     40 kB\n";
        let usage = Usage::parse(stat, status, 100).unwrap();
        assert_eq!(usage.cpu, Duration::from_secs(2));
        assert_eq!(usage.resident, 40_960);
        assert_eq!(Usage::parse(stat, "Name:\ta\n", 100), None);
        assert_eq!(Usage::parse("7 (a) Z 1", status, 100), None);
    }
}
