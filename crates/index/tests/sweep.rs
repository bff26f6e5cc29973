//! Sweeping: it removes messages whose last file was removed long ago, and no query finds them afterwards.

use crate::support::{Fixture, message};
use index::{Archive, CLOCK_SECONDS, Error, NoArchive, Swept};
use std::fs;
use work::Silent;

const DAY: i64 = 86_400;
const MONTH: i64 = 30 * DAY;
const NOW: i64 = 1_900_000_000;

/// A month and a day after the clock of the other tests.
fn later() -> i64 {
    (NOW + MONTH + DAY) * 1_000_000_000
}

/// Messages 0 to 9. The files of 0 to 3 are removed at `NOW`, that of 4 at `later`.
fn filled() -> Fixture {
    let mut fixture = Fixture::new();
    for number in 0..10 {
        let content = message(&format!("m{number}"), &format!("subject {number}"), "words");
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture.update();
    for (range, clock) in [(0..4, fixture.environment.context.clock_ns), (4..5, later as fn() -> i64)] {
        fixture.environment.context.clock_ns = clock;
        for number in range {
            fs::remove_file(fixture.root().join(format!("f/cur/{number}.x:2,S"))).unwrap();
        }
        fixture.update();
    }
    fixture
}

fn sweepable(fixture: &Fixture, age: i64) -> Vec<String> {
    index::sweepable(&fixture.environment, age, &NoArchive)
        .unwrap()
        .into_iter()
        .map(|absent| absent.subject)
        .collect()
}

fn sweep(fixture: &Fixture, age: i64) -> u64 {
    index::sweep(&fixture.environment, age, &NoArchive, &Silent).unwrap().forgotten
}

#[test]
fn messages_absent_for_long_are_forgotten() {
    let fixture = filled();
    let old = ["subject 0", "subject 1", "subject 2", "subject 3"];
    assert_eq!(sweepable(&fixture, MONTH), old);
    assert_eq!(sweepable(&fixture, MONTH + DAY), old, "exactly so old");
    assert!(sweepable(&fixture, MONTH + DAY + 1).is_empty());
    assert_eq!((sweep(&fixture, MONTH), sweep(&fixture, MONTH)), (4, 0));
    let counts = fixture.mailbox().counts().unwrap();
    assert_eq!((counts.messages, counts.absent), (5, 1));
    // Their text may still be in the index, but no query finds it.
    assert_eq!(fixture.find("words").len(), 5);
    assert_eq!(fixture.find("subject:subject and not body:nothing").len(), 5);
    assert!(fixture.mailbox().resolve("id:m1@example.org").is_err());
    fixture.check();
    assert_eq!(sweep(&fixture, 0), 1, "a moment is enough if that is asked for");
    fixture.check();
}

#[test]
fn a_swept_message_that_comes_back_is_a_new_one() {
    let fixture = filled();
    sweep(&fixture, MONTH);
    fixture.put("f", "cur", "99.y:2,S", &message("m1", "subject 1", "words"));
    assert_eq!(fixture.update().new_messages, 1);
    assert_eq!(fixture.find("subject:1"), ["subject 1"]);
    assert_eq!(fixture.find("words").len(), 6);
    fixture.check();
}

#[test]
fn absence_that_starts_in_the_future_is_not_old() {
    let mut fixture = filled();
    fixture.environment.context.clock_ns = || 1_700_000_000 * 1_000_000_000;
    assert!(sweepable(&fixture, 0).is_empty());
    assert_eq!(sweep(&fixture, 0), 0);
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 5);
}

#[test]
fn an_impossible_clock_forgets_nothing() {
    let mut fixture = filled();
    let last = CLOCK_SECONDS.end();
    let clocks: [fn() -> i64; 5] = [
        || i64::MAX,
        || i64::MIN,
        || -14_182_940 * 1_000_000_000,
        || (CLOCK_SECONDS.start() - 1) * 1_000_000_000,
        || (CLOCK_SECONDS.end() + 1) * 1_000_000_000,
    ];
    let days = [
        "2262-04-11 23:47 UTC or later",
        "1677-09-21 00:12 UTC or before",
        "1969-07-20 20:17 UTC",
        "2019-12-31 23:59 UTC",
        "2070-01-01 00:00 UTC",
    ];
    for (clock, shown) in clocks.into_iter().zip(days) {
        fixture.environment.context.clock_ns = clock;
        let listed = index::sweepable(&fixture.environment, MONTH, &NoArchive).map(|list| list.len());
        let swept =
            index::sweep(&fixture.environment, MONTH, &NoArchive, &Silent).map(|swept| swept.forgotten);
        for refused in [listed.map(|count| count as u64), swept] {
            let said = refused.unwrap_err().to_string();
            assert!(said.starts_with(&format!("the clock says {shown}, which cannot be right: ")), "{said}");
        }
        assert_eq!(fixture.mailbox().counts().unwrap().absent, 5);
    }
    fixture.environment.context.clock_ns = || CLOCK_SECONDS.end() * 1_000_000_000;
    assert!(*last > NOW && sweep(&fixture, MONTH) == 5);
}

#[test]
fn the_next_sweep_corrects_dates_of_an_impossible_clock() {
    let wrong: [fn() -> i64; 3] = [|| 0, || -1_000_000_000, || i64::MAX];
    for clock in wrong {
        let mut fixture = filled();
        fixture.environment.context.clock_ns = clock;
        fs::remove_file(fixture.root().join("f/cur/5.x:2,S")).unwrap();
        fixture.update();
        fixture.environment.context.clock_ns = later;
        assert_eq!(sweepable(&fixture, MONTH).len(), 4);
        let swept = |age| index::sweep(&fixture.environment, age, &NoArchive, &Silent).unwrap();
        assert_eq!(swept(MONTH), Swept { forgotten: 4, held: 0, dated: 1 });
        assert_eq!(swept(1), Swept::default());
        assert_eq!(sweepable(&fixture, 0), ["subject 4", "subject 5"]);
        assert_eq!(swept(0), Swept { forgotten: 2, held: 0, dated: 0 });
        fixture.check();
    }
}

#[test]
fn mail_indexed_under_an_impossible_clock_keeps_its_dates() {
    let wrong: [fn() -> i64; 3] = [|| 0, || -1_000_000_000_000, || i64::MAX];
    for clock in wrong {
        let mut fixture = Fixture::new();
        fixture.environment.context.clock_ns = clock;
        fixture.put("f", "cur", "1.x:2,S", &message("dated", "a date", "words"));
        fixture.update();
        assert_eq!(fixture.find("date:2025-03-04"), ["a date"]);
    }
}

#[test]
fn merging_drops_the_text_of_swept_messages() {
    let fixture = filled();
    sweep(&fixture, MONTH);
    // One pass for each message makes eight text segments, with the first one, which are worth a merge.
    for number in 20..27 {
        let content = message(&format!("m{number}"), &format!("subject {number}"), "words");
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
        fixture.update();
    }
    let mailbox = fixture.mailbox();
    assert!(mailbox.counts().unwrap().text_segments < 8);
    assert_eq!(
        mailbox.counts().unwrap().text_documents,
        13,
        "12 messages, 1 of them absent, and nothing of those swept"
    );
    assert_eq!(fixture.find("words").len(), 12);
    fixture.check();
}

/// Asks to stop at once.
struct Impatient;

impl work::Progress for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupted_sweep_keeps_what_it_did() {
    let fixture = filled();
    let interrupted = index::sweep(&fixture.environment, MONTH, &NoArchive, &Impatient);
    assert!(matches!(interrupted, Err(Error::Interrupted)), "{interrupted:?}");
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 1);
    fixture.check();
}

#[test]
fn messages_that_an_archive_holds_are_never_forgotten() {
    /// Holds messages 1 and 3, or fails.
    struct Odd([[u8; 32]; 2], bool);
    impl Archive for Odd {
        fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
            if self.1 {
                return Err(Error::archive("nobody answers"));
            }
            Ok(sha256.iter().map(|id| self.0.contains(id)).collect())
        }
    }
    let fixture = filled();
    let sha256 = ["m1", "m3"].map(|id| {
        let mailbox = fixture.mailbox();
        let hit = mailbox.resolve(&format!("id:{id}@example.org")).unwrap()[0];
        mailbox.message(&hit, &mut index::RecordReader::new()).unwrap().sha256
    });
    let (environment, odd) = (&fixture.environment, Odd(sha256, false));
    let list = index::sweepable(environment, MONTH, &odd).unwrap();
    assert_eq!(list.iter().map(|one| &*one.subject).collect::<Vec<_>>(), ["subject 0", "subject 2"]);
    // An archive that cannot be asked may hold everything.
    let failed = index::sweep(environment, MONTH, &Odd(sha256, true), &Silent);
    assert_eq!(failed.unwrap_err().to_string(), "nobody answers");
    let swept = index::sweep(environment, MONTH, &odd, &Silent).unwrap();
    assert_eq!(swept, Swept { forgotten: 2, held: 2, dated: 0 });
    assert_eq!(sweepable(&fixture, MONTH), ["subject 1", "subject 3"]);
    fixture.check();
}
