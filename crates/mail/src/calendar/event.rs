//! Reads the events of an invitation.
//!
//! Input: the text of a calendar part. Output: what is wanted of its events and tasks, as the sender states
//! it: times with the names of their zones. Nothing is checked against other mail: anybody can write an
//! invitation in another's name.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::cut;
use crate::calendar::content_line::{ContentLine, content_lines, digits};
use crate::calendar::zone::Zones;
use crate::limits::{CALENDAR_BYTES_MAX, EVENT_COUNT_MAX, GUEST_COUNT_MAX, NAME_BYTES_MAX};

/// Levels of components that are told apart.
const COMPONENT_DEPTH_MAX: usize = 16;
/// Bytes of a description or a comment.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Properties of calendars and events that say nothing to a person. So do those that begin with `X-`.
const SILENT: [&str; 12] = [
    "CALSCALE",
    "CLASS",
    "CREATED",
    "DTSTAMP",
    "LAST-MODIFIED",
    "PRIORITY",
    "PRODID",
    "REQUEST-STATUS",
    "SEQUENCE",
    "TRANSP",
    "UID",
    "VERSION",
];
/// What programs write into reminders, in lower case.
const REMINDERS: [&str; 4] = ["", "reminder", "this is an event reminder", "default mozilla description"];

/// What was read of calendar data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// How many further events and tasks there are.
    pub left_out_count: usize,
    /// The events and tasks, [`EVENT_COUNT_MAX`] at most.
    pub events: Vec<CalendarEvent>,
    /// Whether they have all that the data says to a person. If not, the data must be shown, too: nobody may
    /// hide something from the reader of a message.
    pub is_whole: bool,
}

/// An event or a task of a calendar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarEvent {
    /// What the sender wants, in lower case: `request`, `reply`, `cancel`. Empty if it is not stated.
    pub method: String,
    /// Its title.
    pub summary: String,
    /// Its place.
    pub location: String,
    /// What else there is to say of it.
    pub description: String,
    /// A remark, such as why somebody cannot come.
    pub comment: String,
    /// Where there is more of it.
    pub url: String,
    /// When it begins.
    pub start: Option<Moment>,
    /// When it ends; of a task, when it is due.
    pub end: Option<Moment>,
    /// How long it lasts in seconds, if that is stated instead of its end.
    pub duration_seconds: Option<i64>,
    /// Its state in lower case, such as `cancelled`.
    pub status: String,
    /// The person who invites.
    pub organizer: Option<Guest>,
    /// The people who are invited.
    pub guests: Vec<Guest>,
    /// How many more people are invited.
    pub guests_left_out: usize,
    /// Its rule of recurrence (RRULE), or empty.
    pub recurrence: String,
    /// The occurrence that is meant, if not all are.
    pub occurrence: Option<Moment>,
}

/// A person of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guest {
    /// The name, or empty.
    pub name: String,
    /// The address, or empty.
    pub address: String,
    /// The answer in lower case, such as `accepted`; empty if it is not stated.
    pub answer: String,
}

/// A date, or a date with a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year, from 0 to 9999.
    pub year: i16,
    /// The month, from 1 to 12.
    pub month: i8,
    /// The day, from 1 to 31.
    pub day: i8,
    /// Hour, minute and second; `None` for a whole day. A leap second is second 59.
    pub time: Option<(i8, i8, i8)>,
    /// The zone of the time.
    pub zone: MomentZone,
}

/// The time zone of a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MomentZone {
    /// None: the time is meant wherever the reader is.
    Floating,
    /// UTC.
    Utc,
    /// A zone by the name that the sender gives it.
    Named {
        /// The name.
        name: String,
        /// The rules that the calendar states for it, as a POSIX `TZ`, if they can be expressed so.
        rules: Option<String>,
    },
}

/// Reads the events and tasks of a calendar part.
#[must_use]
pub fn read_calendar(whole: &str) -> Calendar {
    let text = cut(whole, CALENDAR_BYTES_MAX);
    let zones = Zones::read(text);
    let mut reader = Reader {
        zones: &zones,
        open: Vec::new(),
        method: String::new(),
        events: Vec::new(),
        left_out_count: 0,
        is_whole: text.len() == whole.len(),
    };
    for line in content_lines(text) {
        match line {
            Some(line) => {
                reader.is_whole &= !line.is_cut;
                reader.line(&line);
            }
            None => reader.is_whole = false,
        }
    }
    let Reader { method, mut events, left_out_count, is_whole, .. } = reader;
    events.iter_mut().for_each(|event| event.method.clone_from(&method));
    Calendar { left_out_count, events, is_whole }
}

struct Reader<'z> {
    zones: &'z Zones,
    /// The components around the line, the innermost last.
    open: Vec<String>,
    method: String,
    events: Vec<CalendarEvent>,
    left_out_count: usize,
    is_whole: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &ContentLine) {
        let value = line.value.trim();
        match line.name.as_str() {
            "BEGIN" if self.open.len() < COMPONENT_DEPTH_MAX => {
                let component = value.to_ascii_uppercase();
                if is_event(&component) {
                    // The one beyond the limit only takes what is its own.
                    if self.events.len() >= EVENT_COUNT_MAX {
                        self.left_out_count = self.left_out_count.saturating_add(1);
                        self.is_whole = false;
                    }
                    self.events.truncate(EVENT_COUNT_MAX);
                    self.events.push(CalendarEvent::default());
                }
                self.open.push(component);
            }
            "END" => {
                let ended = value.to_ascii_uppercase();
                if let Some(place) = self.open.iter().rposition(|component| *component == ended) {
                    self.open.truncate(place);
                }
                if is_event(&ended) {
                    self.events.truncate(EVENT_COUNT_MAX);
                }
            }
            "METHOD" if self.open.len() <= 1 => self.method = word(value),
            name => {
                let is_said = match self.open.last().map_or("", String::as_str) {
                    component if is_event(component) => self.property(line),
                    "VALARM" => !matches!(name, "SUMMARY" | "DESCRIPTION") || self.is_reminder(line),
                    "VTIMEZONE" | "STANDARD" | "DAYLIGHT" => name != "COMMENT",
                    "VCALENDAR" => false,
                    _ => {
                        self.is_whole = false;
                        true
                    }
                };
                self.is_whole &= is_said || SILENT.contains(&name) || name.starts_with("X-");
            }
        }
    }

    /// Takes what a line says of an event. Returns whether it was taken as a whole.
    fn property(&mut self, line: &ContentLine) -> bool {
        let Some(event) = self.events.last_mut() else { return false };
        let moment = || Moment::read(&line.value, line.parameter("TZID"), self.zones);
        match line.name.as_str() {
            "SUMMARY" => take(&mut event.summary, line, NAME_BYTES_MAX),
            "LOCATION" => take(&mut event.location, line, NAME_BYTES_MAX),
            "DESCRIPTION" => take(&mut event.description, line, TEXT_BYTES_MAX),
            "COMMENT" => take(&mut event.comment, line, TEXT_BYTES_MAX),
            "URL" => take(&mut event.url, line, NAME_BYTES_MAX),
            "STATUS" => {
                event.status = word(&line.value);
                true
            }
            "DTSTART" => set(&mut event.start, moment()),
            "DTEND" | "DUE" => set(&mut event.end, moment()),
            "DURATION" => set(&mut event.duration_seconds, duration(&line.value)),
            "RECURRENCE-ID" => set(&mut event.occurrence, moment()),
            "RRULE" => take(&mut event.recurrence, line, NAME_BYTES_MAX),
            "ORGANIZER" => set(&mut event.organizer, Some(Guest { answer: String::new(), ..guest(line) })),
            "ATTENDEE" if event.guests.len() < GUEST_COUNT_MAX => {
                event.guests.push(guest(line));
                true
            }
            "ATTENDEE" => {
                event.guests_left_out = event.guests_left_out.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    /// Returns whether the text of an alarm is that of a program, or the title of its event.
    fn is_reminder(&self, line: &ContentLine) -> bool {
        let text = line.text(NAME_BYTES_MAX);
        REMINDERS.contains(&text.to_ascii_lowercase().as_str())
            || self.events.last().is_some_and(|event| event.summary == text)
    }
}

/// Takes a text. Returns whether it is whole, and the first of its kind.
fn take(place: &mut String, line: &ContentLine, bytes_max: usize) -> bool {
    let is_first = place.is_empty();
    *place = line.text(bytes_max);
    is_first && line.text(usize::MAX).len() == place.len()
}

/// Sets a value. Returns whether there is one, and it is the first of its kind.
fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_first = place.is_none();
    let is_there = value.is_some();
    *place = value;
    is_first && is_there
}

fn is_event(component: &str) -> bool {
    matches!(component, "VEVENT" | "VTODO")
}

/// Returns a word of the format in lower case.
fn word(value: &str) -> String {
    cut(value.trim(), 64).to_ascii_lowercase()
}

fn guest(line: &ContentLine) -> Guest {
    let value = line.value.trim();
    let is_mail = value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto:"));
    let address = if is_mail { value.get(7..).unwrap_or_default() } else { value };
    Guest {
        name: cut(line.parameter("CN").trim(), NAME_BYTES_MAX).to_owned(),
        address: cut(address, NAME_BYTES_MAX).to_owned(),
        answer: word(line.parameter("PARTSTAT")),
    }
}

impl Moment {
    /// Reads `20240305`, `20240305T150000` or `20240305T150000Z`.
    fn read(value: &str, zone: &str, zones: &Zones) -> Option<Moment> {
        let value = value.trim();
        let split = value.split_once(['T', 't']);
        let (date, time) = split.map_or((value, None), |(date, time)| (date, Some(time)));
        let [year, month, day] = digits(date, [4, 2, 2])?;
        let is_utc = time.is_some_and(|time| time.ends_with(['Z', 'z']));
        let time = match time {
            None => None,
            Some(time) => {
                let [hour, minute, second] = digits(time.trim_end_matches(['Z', 'z']), [2, 2, 2])?;
                (hour < 24 && minute < 60 && second < 61).then_some(())?;
                Some((narrow(hour)?, narrow(minute)?, narrow(second.min(59))?))
            }
        };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(())?;
        let zone = match zone.trim() {
            _ if is_utc => MomentZone::Utc,
            "" => MomentZone::Floating,
            name => MomentZone::Named { name: cut(name, 128).to_owned(), rules: zones.rules(name, value) },
        };
        Some(Moment { year: i16::try_from(year).ok()?, month: narrow(month)?, day: narrow(day)?, time, zone })
    }
}

fn narrow(number: u32) -> Option<i8> {
    i8::try_from(number).ok()
}

/// Reads a duration such as `P1DT2H30M` or `PT45M`, in seconds.
fn duration(value: &str) -> Option<i64> {
    let rest = value.trim().trim_start_matches('+').strip_prefix('P')?;
    let (mut seconds, mut number) = (0_i64, 0_i64);
    for character in rest.chars() {
        let unit = match character {
            '0'..='9' => {
                number = number.checked_mul(10)?.checked_add(i64::from(character.to_digit(10)?))?;
                continue;
            }
            'T' => continue,
            'W' => 604_800,
            'D' => 86_400,
            'H' => 3_600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        number = 0;
    }
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INVITATION: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VTIMEZONE\r\nTZID:Here\r\n\
        BEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\n\
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\n\
        BEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n\
        RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n\
        BEGIN:VEVENT\r\nSUMMARY:Lunch\\, and more\r\n\
        DTSTART;TZID=Here:20240305T123000\r\nDURATION:PT1H30M\r\n\
        LOCATION:Room 7\r\nORGANIZER;CN=Ana:MAILTO:ana@example.org\r\n\
        ATTENDEE;CN=Bo;PARTSTAT=NEEDS-ACTION:mailto:bo@example.org\r\n\
        RRULE:FREQ=WEEKLY;COUNT=3\r\nSTATUS:CONFIRMED\r\n\
        BEGIN:VALARM\r\nSUMMARY:not this\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    #[test]
    fn an_invitation_is_read() {
        let [event] = read_calendar(INVITATION).events.try_into().unwrap();
        assert_eq!((event.method.as_str(), event.summary.as_str()), ("request", "Lunch, and more"));
        let start = event.start.unwrap();
        assert_eq!((start.year, start.month, start.day, start.time), (2024, 3, 5, Some((12, 30, 0))));
        let rules = Some("AAA-01:00BBB-02:00,M3.5.0/02:00:00,M10.5.0/03:00:00".to_owned());
        assert_eq!(start.zone, MomentZone::Named { name: "Here".into(), rules });
        assert_eq!((event.duration_seconds, event.end), (Some(5_400), None));
        let organizer = event.organizer.unwrap();
        assert_eq!((organizer.name.as_str(), organizer.address.as_str()), ("Ana", "ana@example.org"));
        let guest = &event.guests[0];
        assert_eq!((guest.address.as_str(), guest.answer.as_str()), ("bo@example.org", "needs-action"));
        assert_eq!((event.recurrence.as_str(), event.status.as_str()), ("FREQ=WEEKLY;COUNT=3", "confirmed"));
    }

    #[test]
    fn what_is_not_taken_is_told() {
        let is_whole = |lines: &str| {
            let text =
                format!("BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n");
            read_calendar(&text).is_whole
        };
        assert!(read_calendar(&INVITATION.replace("SUMMARY:not this", "DESCRIPTION:REMINDER")).is_whole);
        for lines in [
            "SUMMARY:x\nDESCRIPTION:y\nCOMMENT:z\nURL:https://example.org/\nUID:1\nX-OTHER:2",
            "DTSTART:20240305\nDTEND:20240306\nRRULE:FREQ=DAILY",
            "SUMMARY:x\nBEGIN:VALARM\nDESCRIPTION:x\nEND:VALARM",
        ] {
            assert!(is_whole(lines), "{lines}");
        }
        for lines in [
            "SUMMARY:x\nSUMMARY:y",
            "DTSTART:2024-03-05",
            "DURATION:1H",
            "EXDATE:20240305",
            "BEGIN:VALARM\nDESCRIPTION:the password is 4711\nEND:VALARM",
            "BEGIN:VJOURNAL\nSUMMARY:x\nEND:VJOURNAL",
            "text that is no property",
            &format!("SUMMARY:{}", "x".repeat(NAME_BYTES_MAX + 1)),
        ] {
            assert!(!is_whole(lines), "{lines}");
        }
        let many = "BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n".repeat(EVENT_COUNT_MAX + 1);
        assert!(!read_calendar(&many).is_whole);
        assert!(!read_calendar("BEGIN:VCALENDAR\nNAME:x\n").is_whole);
    }

    #[test]
    fn moments_are_read_or_left_out() {
        let read = |value| Moment::read(value, "", &Zones::default());
        assert_eq!(read("20240305").unwrap().time, None);
        assert_eq!(read("20240305T150000Z").unwrap().zone, MomentZone::Utc);
        assert_eq!(read("20240305T235960").unwrap().time, Some((23, 59, 59)));
        assert_eq!(read("20240305T150000").unwrap().zone, MomentZone::Floating);
        for wrong in ["", "2024", "20241305", "20240332", "20240305T250000", "2024030é", "x"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_are_seconds() {
        for (value, expected) in [
            ("PT45M", Some(2_700)),
            ("P1DT2H3S", Some(93_603)),
            ("P2W", Some(1_209_600)),
            ("1H", None),
            ("PT1X", None),
            ("P99999999999999999999W", None),
        ] {
            assert_eq!(duration(value), expected, "{value}");
        }
    }

    #[test]
    fn everything_has_a_limit() {
        let event = "BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n".repeat(EVENT_COUNT_MAX + 5);
        let read = read_calendar(&event);
        assert_eq!((read.events.len(), read.left_out_count), (EVENT_COUNT_MAX, 5));
        let guests = format!("BEGIN:VEVENT\n{}", "ATTENDEE:mailto:a@b\n".repeat(GUEST_COUNT_MAX + 3));
        let [event] = read_calendar(&guests).events.try_into().unwrap();
        assert_eq!((event.guests.len(), event.guests_left_out), (GUEST_COUNT_MAX, 3));
        let deep = "BEGIN:X\n".repeat(100_000);
        assert_eq!(read_calendar(&deep).events, []);
        let long = format!("BEGIN:VEVENT\nSUMMARY:{}", "ä".repeat(10_000));
        assert!(read_calendar(&long).events[0].summary.len() <= NAME_BYTES_MAX);
    }
}
