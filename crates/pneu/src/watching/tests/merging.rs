//! What a watch merges, and what it does if nothing can be merged.

use super::{Fixture, LONG, Teller};
use crate::Summary;
use crate::watching::merging::{End, Means, Merger};
use crate::watching::{FollowNote, FollowObserver};
use index::{Environment, Merging};
use std::fs;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};
use work::Progress;

#[test]
fn when_nothing_happens_the_index_is_merged() {
    const COUNT: usize = 12;
    let fixture = Fixture::new();
    let (sender, passes) = channel();
    fixture.while_followed(Teller(sender), || {
        passes.recv_timeout(LONG).unwrap();
        for number in 0..COUNT {
            let words: Vec<String> = (0..500).map(|word| format!("w{number}x{word}")).collect();
            fixture.put(&format!("inbox/new/{number}.b"), &words.join(" "));
            while fixture.files().len() < number + 3 {
                passes.recv_timeout(LONG).unwrap();
            }
        }
        let counted = || fixture.host.newest_view().unwrap().mailbox().counts().unwrap();
        let journal_bytes = || {
            let entries = fs::read_dir(fixture.host.settings().environment.index_directory()).unwrap();
            let files = entries
                .map(Result::unwrap)
                .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"journal"));
            files.filter_map(|file| Some(file.metadata().ok()?.len())).max().unwrap_or(0)
        };
        let begin = Instant::now();
        while counted().text_segments > 1 || journal_bytes() >= 1 << 16 {
            let said = format!("{} segments, {} bytes", counted().text_segments, journal_bytes());
            assert!(begin.elapsed() < LONG, "{said}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(fixture.files().len(), COUNT + 2);
    });
}

/// Passes on that merges fail.
struct MergeTeller(Sender<String>);

impl FollowObserver for MergeTeller {
    fn updated(&self, summary: &Summary) {
        let _ = self.0.send(format!("{} added", summary.added));
    }

    fn notes(&self, note: FollowNote) {
        let _ = match note {
            FollowNote::MergeFailed(error) => self.0.send(error.to_string()),
            FollowNote::MergedByPasses(why) => self.0.send(format!("by passes, refused: {}", why.is_some())),
            _ => Ok(()),
        };
    }
}

#[test]
fn mail_is_followed_if_nothing_can_be_merged() {
    let fixture = Fixture::new();
    let lock = fixture.host.settings().environment.text_directory().join("merger.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir_all(&lock).unwrap();
    let (sender, said) = channel();
    fixture.while_followed(MergeTeller(sender), || {
        // It is told with a pass after the merge that failed.
        let begin = Instant::now();
        for number in 0.. {
            assert!(begin.elapsed() < LONG, "it was not told");
            fixture.put(&format!("inbox/new/{number}.b"), "another");
            if said.recv_timeout(LONG).unwrap().contains("merger.lock") {
                break;
            }
        }
        assert!(fixture.files().len() > 2);
    });
}

/// Mail is followed, passes merge, and it is told once that nothing else does. From then on passes merge.
fn assert_merged_by_passes(means: Means, told: &str) {
    const COUNT: usize = 20;
    let is_told = |all: &[String]| all.iter().any(|said| !said.ends_with(" added"));
    let fixture = Fixture::new();
    let (sender, said) = channel();
    let mut all = Vec::new();
    fixture.while_followed_by(&Merger::with(means), MergeTeller(sender), || {
        let begin = Instant::now();
        let mut merged_count = 0;
        for number in 0.. {
            assert!(begin.elapsed() < LONG, "{all:?}");
            merged_count += usize::from(is_told(&all));
            fixture.put(&format!("inbox/new/{number}.b"), "another");
            while fixture.files().len() < number + 3 {
                all.push(said.recv_timeout(LONG).unwrap());
            }
            if merged_count == COUNT {
                break;
            }
        }
    });
    all.extend(said);
    let notes: Vec<_> = all.into_iter().filter(|said| !said.ends_with(" added")).collect();
    assert_eq!(notes, [told]);
    let segments = fixture.host.newest_view().unwrap().mailbox().counts().unwrap().text_segments;
    assert!(segments < 10, "{segments}");
}

#[test]
fn passes_merge_if_the_system_refuses_a_thread() {
    // No address space has room for this stack.
    let thread = || Builder::new().stack_size(1 << 60);
    assert_merged_by_passes(Means { thread, ..Means::default() }, "by passes, refused: true");
}

#[test]
fn passes_merge_after_a_fault_of_the_thread() {
    let merge = |_: &Environment, _, _: &dyn Progress| panic!("a fault, on purpose");
    assert_merged_by_passes(Means { merge, ..Means::default() }, "by passes, refused: false");
}

#[test]
fn the_end_stops_the_merge_that_runs() {
    static STATES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let merge = |environment: &Environment, _, _: &dyn Progress| {
        STATES.lock().unwrap().push("begun");
        let begin = Instant::now();
        while !environment.context.cancel.is_cancelled() && begin.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(1));
        }
        STATES.lock().unwrap().push(if begin.elapsed() < LONG { "stopped" } else { "not stopped" });
        Ok(())
    };
    let fixture = Fixture::new();
    let (sender, _said) = channel();
    fixture.while_followed_by(
        &Merger::with(Means { merge, ..Means::default() }),
        MergeTeller(sender),
        || {
            while STATES.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
        },
    );
    assert_eq!(*STATES.lock().unwrap(), ["begun", "stopped"]);
    assert!(!fixture.host.settings().environment.context.cancel.is_cancelled(), "nothing else is stopped");
}

#[test]
fn a_merge_after_one_that_failed_takes_what_both_were_asked_for() {
    static ASKED: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    let merge = |environment: &Environment, merging, _: &dyn Progress| {
        let Merging::Due { new_count } = merging else { return Ok(()) };
        let mut asked = ASKED.lock().unwrap();
        asked.push(new_count);
        let failed = || index::Error::NoIndex { path: environment.data.clone() };
        if asked.len() > 2 { Ok(()) } else { Err(failed()) }
    };
    let merger = Merger::with(Means { merge, idle: LONG, retry: Duration::ZERO, ..Means::default() });
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        let _end = End(&merger);
        merger.start(scope, &fixture.host);
        for (place, new_count) in (1..).zip([3, 4, 5, 6]) {
            merger.ask(new_count);
            while ASKED.lock().unwrap().len() < place {
                std::thread::yield_now();
            }
        }
    });
    assert_eq!(*ASKED.lock().unwrap(), [3, 7, 12, 6]);
}
