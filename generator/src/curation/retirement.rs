//! api-versions that Azure retires: when, and on which public page that is told.

use serde::Deserialize;
use toml::Spanned;

/// When Azure retires an api-version, and who says so.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RetirementRules {
    /// The day from which requests at the api-version may fail: `2027-02-27`.
    pub date: Spanned<String>,
    /// The public page that has the date.
    pub page: Spanned<String>,
}

/// The API server takes at most 256 characters of a warning, and the page is only a part of it.
const LONGEST_PAGE: usize = 120;

impl RetirementRules {
    /// What is wrong with the values in themselves, each with its place.
    pub(super) fn faults(&self) -> Vec<(&Spanned<String>, String)> {
        let mut faults = Vec::new();
        let date = self.date.get_ref();
        if !is_date(date) {
            let message = format!(
                "`{date}` is no day of the calendar; expected year, month and day: `2027-02-27`"
            );
            faults.push((&self.date, message));
        }
        let page = self.page.get_ref();
        if !is_page(page) {
            let message = format!(
                "`{page}` is no address of a public page; expected `https://` with a host and no space, {LONGEST_PAGE} \
                 characters at most"
            );
            faults.push((&self.page, message));
        }
        faults
    }
}

/// Whether a text is a day as ISO 8601 writes it.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let number = |part: &str, digits: usize| {
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Whether a text is the address of a page that anybody can open.
fn is_page(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://") else {
        return false;
    };
    let host = rest.split('/').next().unwrap_or_default();
    let is_host = host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    is_host && is_plain && text.len() <= LONGEST_PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        for (text, expected) in [
            ("2027-02-27", true),
            ("2028-02-29", true),
            ("2000-02-29", true),
            ("2027-02-29", false),
            ("2100-02-29", false),
            ("2027-04-31", false),
            ("2027-13-01", false),
            ("2027-00-01", false),
            ("2027-01-00", false),
            ("2027-2-27", false),
            ("27-02-2027", false),
            ("2027-02", false),
            ("2027-02-27-preview", false),
            ("+027-02-27", false),
            ("early 2027", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
    }

    #[test]
    fn a_page_is_one_that_a_browser_opens() {
        let long = format!("https://a.b/{}", "c".repeat(LONGEST_PAGE));
        for (text, expected) in [
            ("https://learn.microsoft.com/azure/key-vault", true),
            ("https://azure.microsoft.com", true),
            ("http://learn.microsoft.com/azure", false),
            ("learn.microsoft.com/azure", false),
            ("https://", false),
            ("https://localhost/a", false),
            ("https://a.b/c d", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_page(text), expected, "{text}");
        }
    }
}
