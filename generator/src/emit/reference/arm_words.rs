//! What a kind is in Azure, in words that its ARM type is made of: Azure's own prose is not repeated here.

use crate::naming::singular;

/// Words that people write in capitals.
const CAPITALS: [&str; 13] = [
    "aaaa", "afd", "api", "cname", "ddos", "dns", "ip", "mx", "nat", "ptr", "soa", "sql", "srv",
];

/// Starts of words that begin as in "you".
const LIKE_YOU: [&str; 3] = ["uni", "us", "ut"];

/// `Microsoft.Cdn/profiles/originGroups/origins`: "an origin of an origin group of a profile of `Microsoft.Cdn`".
pub fn what_it_is(arm_type: &str) -> String {
    let mut segments = arm_type.split('/');
    let provider = segments.next().unwrap_or_default();
    let names = segments.map(|segment| with_article(&one_of(segment)));
    let mut names = names.collect::<Vec<_>>();
    names.reverse();
    format!("{} of `{provider}`", names.join(" of "))
}

/// One of a segment: `originGroups` is "origin group".
fn one_of(segment: &str) -> String {
    match segment {
        "apis" => "API".to_owned(),
        // The types of DNS records are no plurals: `NS`.
        _ if segment.chars().all(|letter| letter.is_ascii_uppercase()) => {
            format!("{segment} record")
        }
        _ => words(&singular(segment)),
    }
}

/// The words of a name in camel case, in lower case but for those of capitals.
fn words(name: &str) -> String {
    let letters = name.chars().collect::<Vec<_>>();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let previous = at.checked_sub(1).and_then(|previous| letters.get(previous));
        let next = letters.get(at + 1);
        let is_first = letter.is_ascii_uppercase()
            && previous.is_some_and(|it| {
                !it.is_ascii_uppercase() || next.is_some_and(char::is_ascii_lowercase)
            });
        if is_first {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    let cased = |word: &String| match word.to_ascii_lowercase() {
        lower if lower == "azure" => "Azure".to_owned(),
        lower if CAPITALS.contains(&lower.as_str()) => lower.to_ascii_uppercase(),
        _ if word.len() > 1 && word.chars().all(|it| it.is_ascii_uppercase()) => word.clone(),
        lower => lower,
    };
    let words = words.iter().map(cased).collect::<Vec<_>>();
    words.join(" ")
}

/// "a" or "an" before it, by how it sounds.
fn with_article(words: &str) -> String {
    let first = words.split(' ').next().unwrap_or_default();
    let starts = |letters: &str| first.starts_with(|it| letters.contains(it));
    let is_spelled = first.chars().all(|it| it.is_ascii_uppercase());
    let is_said = matches!(first, "DDOS" | "NAT");
    let has_vowel = match is_spelled && !is_said {
        true => starts("AEFHILMNORSX"),
        false => starts("aeiouA") && !LIKE_YOU.iter().any(|you| first.starts_with(you)),
    };
    format!("{} {words}", if has_vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use super::what_it_is;

    #[test]
    fn an_arm_type_is_said_in_words() {
        let table = [
            (
                "Microsoft.Cdn/profiles/originGroups/origins",
                "an origin of an origin group of a profile of `Microsoft.Cdn`",
            ),
            (
                "Microsoft.Network/publicIPAddresses",
                "a public IP address of `Microsoft.Network`",
            ),
            (
                "Microsoft.Network/FrontDoorWebApplicationFirewallPolicies",
                "a front door web application firewall policy of `Microsoft.Network`",
            ),
            (
                "Microsoft.ManagedIdentity/userAssignedIdentities",
                "a user assigned identity of `Microsoft.ManagedIdentity`",
            ),
            (
                "Microsoft.Network/dnsZones/AAAA",
                "an AAAA record of a DNS zone of `Microsoft.Network`",
            ),
            (
                "Microsoft.ApiManagement/service/apis",
                "an API of a service of `Microsoft.ApiManagement`",
            ),
            (
                "Microsoft.Network/azureFirewalls",
                "an Azure firewall of `Microsoft.Network`",
            ),
            (
                "Microsoft.ContainerService/fleets/updateRuns",
                "an update run of a fleet of `Microsoft.ContainerService`",
            ),
        ];
        for (arm_type, expected) in table {
            assert_eq!(what_it_is(arm_type), expected);
        }
    }
}
