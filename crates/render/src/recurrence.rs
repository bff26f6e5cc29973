//! Says in words how an event repeats.
//!
//! Input: a rule of recurrence (RRULE of RFC 5545). Output: words for the usual rules, or else the rule.

/// Returns a rule in words, or the rule itself if there are no simple words for it.
pub(crate) fn in_words(rule: &str) -> String {
    words(rule).unwrap_or_else(|| rule.to_owned())
}

fn words(rule: &str) -> Option<String> {
    let (mut unit, mut interval, mut days, mut end) = (None, 1_u32, String::new(), String::new());
    for part in rule.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=')?;
        match name.to_ascii_uppercase().as_str() {
            "FREQ" => {
                unit = Some(match value.to_ascii_uppercase().as_str() {
                    "DAILY" => "day",
                    "WEEKLY" => "week",
                    "MONTHLY" => "month",
                    "YEARLY" => "year",
                    _ => return None,
                });
            }
            "INTERVAL" => interval = value.parse().ok()?,
            "COUNT" => end = format!(", {} times", value.parse::<u32>().ok()?),
            "UNTIL" => end = format!(", until {}", date(value)?),
            "BYDAY" => {
                let names: Option<Vec<&str>> = value.split(',').map(day).collect();
                days = format!(" on {}", names?.join(", "));
            }
            // It only matters for rules of several weeks.
            "WKST" if interval == 1 => {}
            _ => return None,
        }
    }
    let unit = unit?;
    let every = match interval {
        1 => format!("every {unit}"),
        interval => format!("every {interval} {unit}s"),
    };
    Some(format!("{every}{days}{end}"))
}

fn day(value: &str) -> Option<&'static str> {
    Some(match value.to_ascii_uppercase().as_str() {
        "MO" => "Monday",
        "TU" => "Tuesday",
        "WE" => "Wednesday",
        "TH" => "Thursday",
        "FR" => "Friday",
        "SA" => "Saturday",
        "SU" => "Sunday",
        _ => return None,
    })
}

/// Returns `20241231T..` as `2024-12-31`.
fn date(value: &str) -> Option<String> {
    let digits = value.get(..8).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let (year, rest) = digits.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    Some(format!("{year}-{month}-{day}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_rules_have_words_and_others_are_shown() {
        for (rule, expected) in [
            ("", ""),
            ("FREQ=DAILY", "every day"),
            (
                "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20241231T225959Z",
                "every week on Monday, Wednesday, until 2024-12-31",
            ),
            ("FREQ=WEEKLY;INTERVAL=2;COUNT=5", "every 2 weeks, 5 times"),
            ("FREQ=WEEKLY;WKST=SU", "every week"),
            ("FREQ=MONTHLY;BYDAY=2TU", "FREQ=MONTHLY;BYDAY=2TU"),
            ("FREQ=HOURLY", "FREQ=HOURLY"),
            ("COUNT=2", "COUNT=2"),
            ("FREQ=DAILY;COUNT=x", "FREQ=DAILY;COUNT=x"),
            ("odd", "odd"),
        ] {
            assert_eq!(in_words(rule), expected, "{rule}");
        }
    }
}
