//! Messages that arrive one by one, as a mail server or another program delivers them.
//!
//! Input: a Maildir, how many in a second. Output: files in `new`, and when each got there. Does not know
//! which program notices them.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Messages that arrive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arriving {
    /// Distinguishes these messages from those of other runs and parts.
    pub(super) seed: u64,
    /// How many.
    pub(super) count: u32,
    /// How many in a second.
    pub(super) rate: u32,
}

impl Arriving {
    /// Delivers all messages at their times, and returns when each was renamed into `new`.
    ///
    /// # Errors
    /// If the disk cannot be written.
    pub(super) fn deliver(&self, maildir: &Path) -> Result<Vec<Instant>> {
        let begin = Instant::now();
        let mut arrived = Vec::new();
        for number in 0..self.count {
            let due = begin + Duration::from_secs_f64(f64::from(number) / f64::from(self.rate.max(1)));
            thread::sleep(due.saturating_duration_since(Instant::now()));
            arrived.push(self.deliver_one(maildir, number)?);
        }
        Ok(arrived)
    }

    fn deliver_one(&self, maildir: &Path, number: u32) -> Result<Instant> {
        let name = format!("1800000000.M{}P{number}.arriving", self.seed);
        let (unfinished, new) = (maildir.join("tmp").join(&name), maildir.join("new").join(&name));
        fs::write(&unfinished, self.message(number))
            .with_context(|| format!("cannot write {}", unfinished.display()))?;
        let when = Instant::now();
        fs::rename(&unfinished, &new).with_context(|| format!("cannot make {}", new.display()))?;
        Ok(when)
    }

    /// Returns the query that finds only this message.
    pub(super) fn query(&self, number: usize) -> String {
        format!("msgid:{}", self.message_id(number))
    }

    fn message_id(&self, number: usize) -> String {
        format!("{number}.{}@arriving.example", self.seed)
    }

    fn message(&self, number: u32) -> String {
        let id = self.message_id(number as usize);
        format!(
            "From: Person {} <person{}@arriving.example>\nTo: bo@arriving.example\nSubject: news {number} of \
             the day\nDate: Wed, 05 Mar 2025 10:00:00 +0000\nMessage-ID: <{id}>\n\nWord{number} is the news \
             of the day, with some more words that many messages have.\n",
            number % 500,
            number % 500,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_a_file_in_new_with_its_own_id() {
        let place = tempfile::tempdir().unwrap();
        for directory in ["cur", "new", "tmp"] {
            fs::create_dir(place.path().join(directory)).unwrap();
        }
        let arriving = Arriving { seed: 7, count: 5, rate: 1000 };
        let arrived = arriving.deliver(place.path()).unwrap();
        assert!(arrived.len() == 5 && arrived.is_sorted());
        assert_eq!(fs::read_dir(place.path().join("tmp")).unwrap().count(), 0);
        let files = fs::read_dir(place.path().join("new")).unwrap();
        let texts: Vec<String> =
            files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        for number in 0..5 {
            let id = arriving.query(number).replace("msgid:", "Message-ID: <") + ">\n";
            assert_eq!(texts.iter().filter(|text| text.contains(&id)).count(), 1, "{id}");
        }
        assert!(arriving.deliver(&place.path().join("none")).is_err());
    }
}
