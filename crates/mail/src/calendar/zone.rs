//! Reads what a calendar says of its time zones.
//!
//! Input: the text of a calendar. Output: for each zone its present rules as a POSIX `TZ`, so that times can
//! be converted in zones whose names only one program knows. Rules that `TZ` cannot express are left out.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::cut;
use crate::calendar::content_line::{content_lines, digits};

/// Most zones of a calendar.
const ZONE_COUNT_MAX: usize = 32;

/// The zones of a calendar.
#[derive(Debug, Default)]
pub(super) struct Zones(Vec<Zone>);

#[derive(Debug, Default)]
struct Zone {
    name: String,
    standard: Option<Observance>,
    daylight: Option<Observance>,
}

/// One of the offsets of a zone, and when it begins each year.
#[derive(Clone, Debug, Default)]
struct Observance {
    /// The first time that it began, as text that sorts by time.
    since: String,
    /// Whether single days are stated, besides a rule or instead of one.
    has_days: bool,
    /// Seconds east of Greenwich.
    offset: Option<i32>,
    rule: String,
}

impl Zones {
    /// Reads all zones.
    pub(super) fn read(text: &str) -> Zones {
        let mut zones: Vec<Zone> = Vec::new();
        let (mut is_zone, mut open) = (false, None);
        for line in content_lines(text).flatten() {
            let value = line.value.trim();
            match (line.name.as_str(), value.to_ascii_uppercase().as_str(), &mut open) {
                ("BEGIN", "VTIMEZONE", _) => {
                    is_zone = zones.len() < ZONE_COUNT_MAX;
                    if is_zone {
                        zones.push(Zone::default());
                    }
                }
                ("END", "VTIMEZONE", _) => is_zone = false,
                _ if !is_zone => {}
                ("BEGIN", "STANDARD" | "DAYLIGHT", _) => open = Some(Observance::default()),
                ("END", which @ ("STANDARD" | "DAYLIGHT"), _) => {
                    if let (Some(ended), Some(zone)) = (open.take(), zones.last_mut()) {
                        zone.add(ended, which == "DAYLIGHT");
                    }
                }
                ("TZID", _, None) => {
                    if let Some(zone) = zones.last_mut() {
                        zone.name = cut(value, 128).to_owned();
                    }
                }
                ("DTSTART", _, Some(observance)) => observance.since = cut(value, 32).to_owned(),
                ("TZOFFSETTO", _, Some(observance)) => observance.offset = offset(value),
                ("RDATE", _, Some(observance)) => observance.has_days = true,
                ("RRULE", rule, Some(observance)) => observance.rule = cut(rule, 256).to_owned(),
                _ => {}
            }
        }
        Zones(zones)
    }

    /// Returns the rules of the zone with this name, if they are those of this time: `20240305T150000`.
    pub(super) fn rules(&self, name: &str, time: &str) -> Option<String> {
        self.0.iter().find(|zone| zone.name == cut(name, 128)).and_then(|zone| zone.rules(time))
    }
}

impl Zone {
    /// Takes an observance, unless it knows a later one.
    fn add(&mut self, ended: Observance, is_daylight: bool) {
        let place = if is_daylight { &mut self.daylight } else { &mut self.standard };
        if place.as_ref().is_none_or(|known| known.since <= ended.since) {
            *place = Some(ended);
        }
    }

    fn rules(&self, time: &str) -> Option<String> {
        let standard = self.standard.as_ref()?;
        let mut rules = format!("AAA{}", west(standard.offset?));
        let both = [Some(standard), self.daylight.as_ref()];
        // Those known are the latest. A time before them has others, and a rule may have ended since.
        let holds = |observance: &Observance| {
            !observance.has_days && !observance.rule.contains("UNTIL=") && *observance.since <= *time
        };
        both.into_iter().flatten().all(holds).then_some(())?;
        if let Some(daylight) = &self.daylight {
            let (begin, end) = (daylight.change()?, standard.change()?);
            rules.push_str(&format!("BBB{},{begin},{end}", west(daylight.offset?)));
        }
        Some(rules)
    }
}

impl Observance {
    /// Returns when it begins each year, as `M3.5.0/02:00:00`.
    fn change(&self) -> Option<String> {
        let part = |name: &str| {
            let mut parts = self.rule.split(';');
            parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
        };
        (part("FREQ") == "YEARLY").then_some(())?;
        let month: u32 = part("BYMONTH").parse().ok().filter(|month| (1..=12).contains(month))?;
        let by_day = part("BYDAY");
        let (week, day) = by_day.split_at_checked(by_day.len().checked_sub(2)?)?;
        let day = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"].iter().position(|known| *known == day)?;
        let week = match week.trim_start_matches('+') {
            "-1" => 5,
            week => week.parse().ok().filter(|week| (1..=4).contains(week))?,
        };
        let (_, time) = self.since.split_once('T')?;
        let [hour, minute, second] = digits(time.trim_end_matches('Z'), [2, 2, 2])?;
        Some(format!("M{month}.{week}.{day}/{hour:02}:{minute:02}:{second:02}"))
    }
}

/// Reads `+0100` or `-053000` as seconds.
fn offset(value: &str) -> Option<i32> {
    let (sign, rest) = match value.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let [hours, minutes] = digits(rest.get(..4)?, [2, 2])?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    i32::try_from(minutes).ok().filter(|minutes| *minutes < 24 * 60)?.checked_mul(60)?.checked_mul(sign)
}

/// Returns an offset as `TZ` has it: hours and minutes west of Greenwich.
fn west(offset: i32) -> String {
    let minutes = offset.unsigned_abs().div_euclid(60);
    let sign = if offset > 0 { "-" } else { "" };
    format!("{sign}{:02}:{:02}", minutes.div_euclid(60), minutes.rem_euclid(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(observances: &str) -> Option<String> {
        Zones::read(&format!("BEGIN:VTIMEZONE\nTZID:Z\n{observances}END:VTIMEZONE\n"))
            .rules("Z", "20240705T120000")
    }

    fn observance(kind: &str, since: &str, offset: &str, rule: &str) -> String {
        format!("BEGIN:{kind}\nDTSTART:{since}\nTZOFFSETTO:{offset}\n{rule}\nEND:{kind}\n")
    }

    #[test]
    fn rules_are_those_of_the_latest_observances() {
        let fixed = observance("STANDARD", "19700101T000000", "-0530", "");
        assert_eq!(rules(&fixed).as_deref(), Some("AAA05:30"));
        let summer = "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU";
        let winter = "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU";
        let spring = "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=-1SU";
        let old = observance("DAYLIGHT", "19700426T020000", "-0400", spring);
        let new = observance("DAYLIGHT", "20070311T020000", "-0400", summer);
        let standard = observance("STANDARD", "20071104T020000", "-0500", winter);
        let expected = Some("AAA05:00BBB04:00,M3.2.0/02:00:00,M11.1.0/02:00:00");
        assert_eq!(rules(&[&*new, &*old, &*standard].concat()).as_deref(), expected);
        assert_eq!(rules(&[&*old, &*new, &*standard].concat()).as_deref(), expected);
    }

    #[test]
    fn what_cannot_be_expressed_is_none() {
        let winter = "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU";
        let standard = observance("STANDARD", "20071104T020000", "-0500", winter);
        for rule in ["FREQ=YEARLY", "FREQ=DAILY;BYMONTH=3;BYDAY=1SU", "FREQ=YEARLY;BYMONTH=13;BYDAY=1SU", "é"]
        {
            let daylight = observance("DAYLIGHT", "20070311T020000", "-0400", &format!("RRULE:{rule}"));
            assert_eq!(rules(&[&*daylight, &*standard].concat()), None, "{rule}");
        }
        for offset in ["", "0100", "+1", "+99999", "+2500", "+é000"] {
            assert_eq!(rules(&observance("STANDARD", "19700101T000000", offset, "")), None, "{offset}");
        }
        assert_eq!(Zones::read("BEGIN:VTIMEZONE\nTZID:Z\n").rules("Y", "20240705T120000"), None);
        let summer = "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU";
        for daylight in [
            // One summer only; one that is over; one that is not yet; one with single days.
            observance("DAYLIGHT", "20070311T020000", "-0400", ""),
            observance("DAYLIGHT", "20070311T020000", "-0400", &format!("{summer};UNTIL=20100101T000000Z")),
            observance("DAYLIGHT", "20250311T020000", "-0400", summer),
            observance("DAYLIGHT", "20070311T020000", "-0400", &format!("{summer}\nRDATE:20240310T020000")),
        ] {
            assert_eq!(rules(&[&*daylight, &*standard].concat()), None, "{daylight}");
        }
    }
}
