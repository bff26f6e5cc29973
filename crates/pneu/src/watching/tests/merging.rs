//! What a watch merges, and what it does if nothing can be merged.

use super::{Fixture, LONG, Teller};
use crate::Summary;
use crate::watching::{FollowNote, FollowObserver};
use std::fs;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

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
        if let FollowNote::MergeFailed(error) = note {
            let _ = self.0.send(error.to_string());
        }
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
        let mut is_told = false;
        for number in 0..50 {
            is_told |= said.recv_timeout(LONG).unwrap().contains("merger.lock");
            if is_told {
                break;
            }
            fixture.put(&format!("inbox/new/{number}.b"), "another");
        }
        assert!(is_told && fixture.files().len() > 2);
    });
}
