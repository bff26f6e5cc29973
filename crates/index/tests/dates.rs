//! Messages without a date, and the dates that their file names give them.
//!
//! Input: messages with and without a date, in files with all kinds of names. Output: their dates, their
//! order, and what `date:` finds. Does not depend on how dates are read.

use crate::support::{Fixture, message, query};
use index::{Archive, Order, PeopleQuestion, RecordReader, Scope};
use std::collections::BTreeMap;
use std::fs;

const UNDATED: &str = "From: Ana <ana@example.org>\nSubject: undated\n\nno date\n";

/// An archive that holds every message.
struct Everything;

impl Archive for Everything {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        Ok(vec![true; sha256.len()])
    }
}

/// Returns the dates in the index, by subject.
fn dates(fixture: &Fixture) -> BTreeMap<String, Option<i64>> {
    let mailbox = fixture.mailbox();
    let hits = mailbox.find(&query::Query::All, &Order::default()).unwrap();
    let lines = hits.list.iter().map(|hit| mailbox.line(hit, &mut RecordReader::new()).unwrap());
    lines.map(|line| (line.subject, line.date)).collect()
}

/// Returns the date of the message without one. Fails unless a new index gives the same date.
fn date(fixture: &Fixture) -> Option<i64> {
    fixture.update();
    fixture.check();
    let mut anew = Fixture::new();
    anew.roots.clone_from(&fixture.roots);
    anew.update();
    assert_eq!(dates(&anew), dates(fixture), "an index that is made anew says the same");
    dates(fixture)["undated"]
}

#[test]
fn an_undated_message_is_the_oldest_and_no_date_finds_it() {
    let fixture = Fixture::new();
    fixture.put("a", "cur", "1.x:2,", &message("1", "dated", "x"));
    fixture.put("a", "cur", "5.x:2,", UNDATED);
    fixture.put("a", "cur", "1104580800.x.host:2,", &UNDATED.replace("undated", "named"));
    let received = "Received: from a by b; Sat, 1 Jan 2000 12:00:00 +0000\nSubject: received\n\nx\n";
    fixture.put("a", "cur", "1104580800.y.host:2,", received);
    fixture.put("a", "cur", "6.x:2,", "Date: 29-04-2017 23:34\nSubject: digits\n\nx\n");
    fixture.update();
    assert_eq!(fixture.find(""), ["dated", "digits", "named", "received", "undated"]);
    for (text, expected) in [
        ("date:1970..", &["dated", "digits", "named", "received"][..]),
        ("date:..now", &["dated", "digits", "named", "received"]),
        ("date:7d..", &[]),
        ("date:..1999", &[]),
        ("date:2005-01-01", &["named"]),
        ("date:2017-04-29", &["digits"]),
        ("not date:1970..", &["undated"]),
    ] {
        assert_eq!(fixture.find(text), expected, "{text}");
    }
    let expected = [("named", Some(1_104_580_800)), ("received", Some(946_728_000)), ("undated", None)];
    let dates = dates(&fixture);
    expected.into_iter().for_each(|(subject, date)| assert_eq!(dates[subject], date, "{subject}"));
}

#[test]
fn the_earliest_file_name_counts_in_any_order() {
    for names in [["1500000000.x:2,", "1400000000.y:2,"], ["1400000000.y:2,", "1500000000.x:2,"]] {
        let fixture = Fixture::new();
        fixture.put("a", "cur", "5.x:2,", UNDATED);
        assert_eq!(date(&fixture), None);
        let first = fixture.put("a", "cur", names[0], UNDATED);
        date(&fixture);
        let second = fixture.put("b", "new", names[1], UNDATED);
        assert_eq!(date(&fixture), Some(1_400_000_000));
        // One name changes, then the files are removed, the earliest first.
        let (early, late) = if names[0].starts_with("14") { (first, second) } else { (second, first) };
        fs::rename(&early, early.with_file_name("1300000000.y:2,S")).unwrap();
        assert_eq!(date(&fixture), Some(1_300_000_000));
        fs::remove_file(early.with_file_name("1300000000.y:2,S")).unwrap();
        assert_eq!(date(&fixture), Some(1_500_000_000));
        fs::rename(&late, late.with_file_name("7.x:2,")).unwrap();
        assert_eq!(date(&fixture), None);
    }
}

#[test]
fn an_absent_message_keeps_its_date() {
    let fixture = Fixture::new();
    let path = fixture.put("a", "cur", "1400000000.y:2,", UNDATED);
    fixture.put("a", "cur", "1.x:2,", &message("1", "dated", "x"));
    fixture.update();
    fs::remove_file(path).unwrap();
    fixture.update();
    let mailbox = fixture.mailbox().with_scope(Scope::WithAbsent(&Everything)).unwrap();
    let hits = mailbox.find(&query("subject:undated"), &Order::default()).unwrap();
    assert_eq!(hits.list.iter().map(index::Hit::date_seconds).collect::<Vec<_>>(), [Some(1_400_000_000)]);
}

#[test]
fn people_are_dated_by_the_dates_in_messages() {
    let fixture = Fixture::new();
    fixture.put("a", "cur", "1400000000.y:2,", UNDATED);
    fixture.update();
    let person = |fixture: &Fixture| {
        let words = vec!["ana".to_owned()];
        fixture.mailbox().people(&PeopleQuestion { words, ..PeopleQuestion::default() }).unwrap().remove(0)
    };
    assert_eq!((person(&fixture).first, person(&fixture).last), (None, None));
    fixture.put("a", "cur", "1.x:2,", &message("1", "dated", "x"));
    fixture.update();
    let seconds = Some(1_741_082_400);
    assert_eq!((person(&fixture).first, person(&fixture).last), (seconds, seconds));
    assert_eq!(person(&fixture).sent_count, 2);
}
