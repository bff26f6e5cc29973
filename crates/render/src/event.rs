//! An event of an invitation for a person to read, and as JSON.
//!
//! Input: an event as its sender states it, and the reader's time zone. Output: lines with labels, and an
//! object. Times are shown in the sender's zone, and in the reader's if that differs. A zone is looked up by
//! its name, or else computed by the rules that the invitation states.

use crate::recurrence::in_words;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan, Zoned};
use mail::{CalendarEvent, Guest, Moment, MomentZone};
use serde::Serialize;
use std::num::NonZeroUsize;

const DAY_SECONDS: i64 = 86_400;
/// The form of a date.
const DAY: &str = "%a, %d %b %Y";

/// An event or a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event<'a> {
    method: &'a str,
    summary: &'a str,
    location: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    comment: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    url: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<When<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<When<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrence: Option<When<'a>>,
    recurrence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    organizer: Option<Person<'a>>,
    guests: Vec<Person<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guests_left_out: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Person<'a> {
    name: &'a str,
    address: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    answer: &'a str,
}

/// A moment, with its place in time if its zone is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct When<'a> {
    /// As the sender states it.
    stated: String,
    /// The name of its zone; empty for a whole day, and for a time without a zone.
    #[serde(skip_serializing_if = "str::is_empty")]
    zone: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unix: Option<i64>,
    #[serde(skip)]
    civil: DateTime,
    #[serde(skip)]
    is_day: bool,
    #[serde(skip)]
    zoned: Option<Zoned>,
}

impl<'a> Event<'a> {
    /// Takes an event.
    pub fn new(event: &'a CalendarEvent) -> Event<'a> {
        let start = event.start.as_ref().and_then(When::new);
        let lasting = |seconds: i64| start.as_ref().and_then(|start| start.later(seconds));
        let end = event.end.as_ref().and_then(When::new);
        let end = end.or_else(|| event.duration_seconds.and_then(lasting));
        Event {
            method: &event.method,
            summary: &event.summary,
            location: &event.location,
            description: &event.description,
            comment: &event.comment,
            url: &event.url,
            status: &event.status,
            start,
            end,
            occurrence: event.occurrence.as_ref().and_then(When::new),
            recurrence: &event.recurrence,
            organizer: event.organizer.as_ref().map(person),
            guests: event.guests.iter().map(person).collect(),
            guests_left_out: NonZeroUsize::new(event.guests_left_out),
        }
    }

    /// Returns its lines, each with its label. The values are as the sender wrote them: the caller makes them
    /// safe.
    pub fn lines(&self, zone: &TimeZone) -> Vec<(&'static str, String)> {
        let status = if self.status == "cancelled" { "cancelled" } else { "" };
        let method: Vec<&str> = [self.method, status].into_iter().filter(|word| !word.is_empty()).collect();
        let when = |when: &Option<When<'_>>| when.as_ref().map(|when| when.shown(zone)).unwrap_or_default();
        let mut lines = vec![
            ("Invitation", method.join(", ")),
            ("Event", self.summary.to_owned()),
            ("When", self.when(zone)),
            ("Repeats", in_words(self.recurrence)),
            ("Occurrence", when(&self.occurrence)),
            ("Where", self.location.to_owned()),
            ("Organizer", self.organizer.as_ref().map(Person::shown).unwrap_or_default()),
        ];
        lines.extend(self.guests.iter().map(|guest| ("Guest", guest.shown())));
        lines.extend(self.guests_left_out.map(|count| ("Guest", format!("and {count} more"))));
        let texts = [("Link", self.url), ("Comment", self.comment), ("Description", self.description)];
        lines.extend(texts.map(|(label, text)| (label, text.to_owned())));
        lines
    }

    /// Returns when it is: as stated, and in the reader's zone if that is another.
    fn when(&self, zone: &TimeZone) -> String {
        let Some(start) = &self.start else {
            return self.end.as_ref().map(|end| format!("until {}", end.shown(zone))).unwrap_or_default();
        };
        let Some(end) = self.end.as_ref().filter(|end| !end.is_before(start)) else {
            return start.shown(zone);
        };
        if !start.is_day && end.zone != start.zone {
            return format!("{} to {}", start.shown(zone), end.shown(zone));
        }
        if start.is_day {
            // The end is the day after the last one.
            let last = end.civil.date().checked_sub(1.day()).unwrap_or(end.civil.date());
            return days(start.civil.date(), last);
        }
        let stated = format!("{} {}", span(start.civil, end.civil), start.zone_shown());
        let (Some(begin), Some(end)) = (start.elsewhere(zone), &end.zoned) else { return stated };
        let end = end.with_time_zone(zone.clone());
        format!("{stated}, here {}", span(begin.datetime(), end.datetime()))
    }
}

impl Person<'_> {
    fn shown(&self) -> String {
        let who = match (self.name, self.address) {
            ("", address) => address.to_owned(),
            (name, "") => name.to_owned(),
            (name, address) if name == address => address.to_owned(),
            (name, address) => format!("{name} <{address}>"),
        };
        match self.answer {
            "" => who,
            "needs-action" => format!("{who} (no answer)"),
            answer => format!("{who} ({answer})"),
        }
    }
}

fn person(guest: &Guest) -> Person<'_> {
    Person { name: &guest.name, address: &guest.address, answer: &guest.answer }
}

impl<'a> When<'a> {
    /// Takes a moment; `None` if no calendar has it.
    fn new(moment: &'a Moment) -> Option<When<'a>> {
        let date = Date::new(moment.year, moment.month, moment.day).ok()?;
        let Some((hour, minute, second)) = moment.time else {
            let civil = date.at(0, 0, 0, 0);
            return Some(When {
                stated: date.to_string(),
                zone: "",
                unix: None,
                civil,
                is_day: true,
                zoned: None,
            });
        };
        // The parser lets no other times through.
        let civil = date.at(hour, minute, second, 0);
        let (name, zone) = match &moment.zone {
            MomentZone::Floating => ("", None),
            MomentZone::Utc => ("UTC", Some(TimeZone::UTC)),
            MomentZone::Named { name, rules } => (name.as_str(), find_zone(name, rules.as_deref())),
        };
        Some(When::at(civil, name, zone.and_then(|zone| civil.to_zoned(zone).ok())))
    }

    fn at(civil: DateTime, zone: &'a str, zoned: Option<Zoned>) -> When<'a> {
        let unix = zoned.as_ref().map(|zoned| zoned.timestamp().as_second());
        When { stated: civil.to_string(), zone, unix, civil, is_day: false, zoned }
    }

    /// Returns whether this is before another moment: of zones that are known, whatever their clocks show.
    fn is_before(&self, other: &When<'_>) -> bool {
        match (self.unix, other.unix) {
            (Some(this), Some(other)) => this < other,
            _ => self.civil < other.civil,
        }
    }

    /// Returns the moment so many seconds later. Whole days are days of the calendar, which may have an hour
    /// more or less.
    fn later(&self, seconds: i64) -> Option<When<'a>> {
        let duration = match (seconds.checked_rem(DAY_SECONDS)?, seconds.checked_div(DAY_SECONDS)?) {
            (0, days) => Span::new().try_days(days).ok()?,
            _ => Span::new().try_seconds(seconds).ok()?,
        };
        if self.is_day {
            let civil = self.civil.checked_add(duration).ok()?;
            return Some(When { stated: civil.date().to_string(), civil, ..self.clone() });
        }
        match &self.zoned {
            Some(zoned) => {
                let zoned = zoned.checked_add(duration).ok()?;
                Some(When::at(zoned.datetime(), self.zone, Some(zoned)))
            }
            None => Some(When::at(self.civil.checked_add(duration).ok()?, self.zone, None)),
        }
    }

    /// Returns the moment in the reader's zone, if its clock shows something else than the sender's.
    fn elsewhere(&self, zone: &TimeZone) -> Option<Zoned> {
        let here = self.zoned.as_ref()?.with_time_zone(zone.clone());
        (here.datetime() != self.civil).then_some(here)
    }

    fn zone_shown(&self) -> String {
        match (self.zone, &self.zoned) {
            ("", _) => "(no time zone)".to_owned(),
            (zone, Some(_)) => format!("({zone})"),
            (zone, None) => format!("({zone}: not a known time zone)"),
        }
    }

    fn shown(&self, zone: &TimeZone) -> String {
        if self.is_day {
            return day(self.civil.date());
        }
        let stated = format!("{} {}", span(self.civil, self.civil), self.zone_shown());
        match self.elsewhere(zone) {
            Some(here) => format!("{stated}, here {}", span(here.datetime(), here.datetime())),
            None => stated,
        }
    }
}

/// Finds a zone by its name, or else by its rules. Some programs put a path before the name.
fn find_zone(name: &str, rules: Option<&str>) -> Option<TimeZone> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_+-/".contains(character);
    let pieces: Vec<&str> = name.rsplit('/').take(2).collect();
    let last_two = pieces.into_iter().rev().collect::<Vec<&str>>().join("/");
    let named = |name: &str| name.chars().all(is_plain).then(|| TimeZone::get(name).ok()).flatten();
    let known = named(name).or_else(|| if name.starts_with('/') { named(&last_two) } else { None });
    known.or_else(|| TimeZone::posix(rules?).ok())
}

fn day(date: Date) -> String {
    date.strftime(DAY).to_string()
}

fn days(first: Date, last: Date) -> String {
    if last <= first { day(first) } else { format!("{} to {}", day(first), day(last)) }
}

/// Returns a span of time; the second date only if it is another.
fn span(start: DateTime, end: DateTime) -> String {
    let begin = format!("{} {}", day(start.date()), start.strftime("%H:%M"));
    if start == end {
        begin
    } else if start.date() == end.date() {
        format!("{begin} to {}", end.strftime("%H:%M"))
    } else {
        format!("{begin} to {} {}", day(end.date()), end.strftime("%H:%M"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(event: &str, zone: &str) -> String {
        let text = format!("BEGIN:VCALENDAR\nMETHOD:REQUEST\n{ZONE}BEGIN:VEVENT\n{event}\nEND:VEVENT\n");
        let events = mail::read_calendar(&text).events;
        let shown = Event::new(&events[0]).lines(&TimeZone::posix(zone).unwrap());
        let shown: Vec<String> = shown
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(label, value)| format!("{label}: {value}"))
            .collect();
        shown.join("\n")
    }

    /// A zone that only this calendar knows.
    const ZONE: &str = "BEGIN:VTIMEZONE\nTZID:Here and now\nBEGIN:STANDARD\nDTSTART:16010101T030000\n\
        TZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\n\
        DTSTART:16010101T020000\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\n\
        END:VTIMEZONE\n";

    fn when(event: &str, zone: &str) -> String {
        let shown = lines(event, zone);
        shown.lines().find_map(|line| line.strip_prefix("When: ")).unwrap_or_default().to_owned()
    }

    #[test]
    fn an_event_is_readable() {
        let event = "SUMMARY:Lunch\nLOCATION:Room 7\nDTSTART:20240305T113000Z\nDTEND:20240305T130000Z\n\
            ORGANIZER;CN=Ana:mailto:ana@example.org\nATTENDEE;PARTSTAT=ACCEPTED:mailto:bo@example.org\n\
            ATTENDEE;CN=Cy;PARTSTAT=NEEDS-ACTION:mailto:cy@example.org\nSTATUS:CANCELLED\n\
            RRULE:FREQ=WEEKLY;COUNT=3\nDESCRIPTION:Bring\\nthe key\nCOMMENT:late";
        insta::assert_snapshot!(lines(event, "XXX-01:00"), @r"
        Invitation: request, cancelled
        Event: Lunch
        When: Tue, 05 Mar 2024 11:30 to 13:00 (UTC), here Tue, 05 Mar 2024 12:30 to 14:00
        Repeats: every week, 3 times
        Where: Room 7
        Organizer: Ana <ana@example.org>
        Guest: bo@example.org (accepted)
        Guest: Cy <cy@example.org> (no answer)
        Comment: late
        Description: Bring
        the key
        ");
    }

    #[test]
    fn times_are_stated_and_converted() {
        let here = "DTSTART;TZID=Here and now:20240705T120000\nDURATION:PT1H";
        assert_eq!(
            when(here, "UTC0"),
            "Fri, 05 Jul 2024 12:00 to 13:00 (Here and now), here Fri, 05 Jul 2024 10:00 to 11:00"
        );
        assert_eq!(when(here, "XXX-02:00"), "Fri, 05 Jul 2024 12:00 to 13:00 (Here and now)");
        let winter = "DTSTART;TZID=Here and now:20241231T233000\nDURATION:PT1H";
        assert_eq!(
            when(winter, "UTC0"),
            "Tue, 31 Dec 2024 23:30 to Wed, 01 Jan 2025 00:30 (Here and now), \
             here Tue, 31 Dec 2024 22:30 to 23:30"
        );
        assert_eq!(when("DTSTART:20240305T120000", "UTC0"), "Tue, 05 Mar 2024 12:00 (no time zone)");
        let unknown = "DTSTART;TZID=../../etc/passwd:20240305T120000";
        assert_eq!(when(unknown, "UTC0"), "Tue, 05 Mar 2024 12:00 (../../etc/passwd: not a known time zone)");
        assert_eq!(when("SUMMARY:x", "UTC0"), "");
    }

    #[test]
    fn an_end_in_another_zone_is_shown_in_that_zone() {
        let flight = |end: &str| when(&format!("DTSTART;TZID=Europe/Berlin:20240705T100000\n{end}"), "CET-2");
        assert_eq!(
            flight("DTEND;TZID=Europe/London:20240705T110000"),
            "Fri, 05 Jul 2024 10:00 (Europe/Berlin) to Fri, 05 Jul 2024 11:00 (Europe/London), \
             here Fri, 05 Jul 2024 12:00"
        );
        assert_eq!(
            flight("DTEND:20240705T093000Z"),
            "Fri, 05 Jul 2024 10:00 (Europe/Berlin) to Fri, 05 Jul 2024 09:30 (UTC), \
             here Fri, 05 Jul 2024 11:30"
        );
        assert_eq!(flight("DTEND:20240705T070000Z"), "Fri, 05 Jul 2024 10:00 (Europe/Berlin)");
        // The clock is put forward in between.
        let day = when("DTSTART;TZID=Europe/Berlin:20240330T120000\nDURATION:P1D", "CET-1");
        assert!(day.contains("to Sun, 31 Mar 2024 12:00 (Europe/Berlin)"), "{day}");
    }

    #[test]
    fn whole_days_end_before_their_end() {
        let days = |end: &str| when(&format!("DTSTART;VALUE=DATE:20240305\n{end}"), "UTC0");
        assert_eq!(days("DTEND;VALUE=DATE:20240306"), "Tue, 05 Mar 2024");
        assert_eq!(days("DTEND;VALUE=DATE:20240308"), "Tue, 05 Mar 2024 to Thu, 07 Mar 2024");
        assert_eq!(days("DURATION:P2D"), "Tue, 05 Mar 2024 to Wed, 06 Mar 2024");
        assert_eq!(days("DTEND;VALUE=DATE:20240301"), "Tue, 05 Mar 2024");
        assert_eq!(when("DTSTART:20240230", "UTC0"), "", "there is no such day");
    }

    #[test]
    fn an_event_is_an_object() {
        let text = "BEGIN:VEVENT\nSUMMARY:x\nDTSTART:20240305T120000Z\nEND:VEVENT\n";
        let events = mail::read_calendar(text).events;
        assert_eq!(
            serde_json::to_string(&Event::new(&events[0])).unwrap(),
            r#"{"method":"","summary":"x","location":"","status":"","start":{"stated":"2024-03-05T12:00:00","zone":"UTC","unix":1709640000},"recurrence":"","guests":[]}"#
        );
    }
}
