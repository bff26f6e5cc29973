//! Sorts by keys other than the date.
//!
//! Input: hits. Output: the same hits, sorted. Text is compared folded, as people sort it; ids and paths byte
//! by byte. All processors read the keys. Must not know queries.

use crate::error::Result;
use crate::record::Contact;
use crate::rows::{self, RecordReader};
use crate::search::mailbox::{Hit, Mailbox};
use crate::search::message::{MessageFile, shown_flags};
use crate::search::order::by_date::Ranked;
use crate::search::order::key::{Direction, SortKey};
use crate::tables::messages;
use mail::ContentFlags;
use query::flags::FLAGS;
use query::fold::fold;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::os::unix::ffi::OsStrExt;
use store::Table;

/// Fewer hits than this are read on the calling thread: waking other threads would take longer.
const PARALLEL_COUNT_MIN: usize = 512;

/// Sorts hits and keeps as many as requested.
pub(super) fn sort(
    mailbox: &Mailbox,
    hits: Vec<Ranked>,
    (key, direction): (SortKey, Direction),
    wanted: usize,
) -> Result<Vec<Hit>> {
    let table = mailbox.message_table();
    let at = |hit: &Hit| -> Result<At<'_>> {
        mailbox.check_cancelled()?;
        Ok(At { mailbox, table, hit: *hit })
    };
    let sorter = Sorter { direction, wanted };
    match key {
        SortKey::Date | SortKey::Relevance => sorter.sort(hits, |hit, _| Ok(hit.date)),
        SortKey::Arrival => sorter.sort(hits, |hit, _| Ok(hit.number)),
        SortKey::Size => sorter.sort(hits, |hit, _| at(hit)?.size()),
        SortKey::Changed => sorter.sort(hits, |hit, _| at(hit)?.changed()),
        SortKey::Priority => sorter.sort(hits, |hit, _| at(hit)?.priority()),
        SortKey::Flags => sorter.sort(hits, |hit, _| at(hit)?.flags()),
        SortKey::Path => {
            sorter.sort(hits, |hit, _| at(hit)?.first_file(|file| file.path.as_os_str().as_bytes().to_vec()))
        }
        SortKey::Maildir => {
            sorter.sort(hits, |hit, _| at(hit)?.first_file(|file| fold(&file.maildir).into_owned()))
        }
        text => sorter.sort(hits, |hit, reader| at(hit)?.text(text, reader)),
    }
}

/// Sorts hits by a key that needs no table, and keeps as many as requested.
pub(super) fn sort_by<K: Ord + Send>(
    hits: Vec<Ranked>,
    direction: Direction,
    wanted: usize,
    key: impl Fn(&Hit) -> K + Sync,
) -> Result<Vec<Hit>> {
    Sorter { direction, wanted }.sort(hits, |hit, _| Ok(key(hit)))
}

/// Sorts hits by several keys, and keeps as many as requested: what is equal by one is sorted by the next.
/// What is equal by all is sorted by date, in the direction of the last.
pub(super) fn sort_by_several(
    mailbox: &Mailbox,
    hits: Vec<Ranked>,
    keys: &[(SortKey, Direction)],
    wanted: usize,
) -> Result<Vec<Hit>> {
    let table = mailbox.message_table();
    let direction = keys.last().map_or(Direction::Descending, |(_, direction)| *direction);
    // The sorter turns all keys around if the last one is: this turns those that are not meant.
    let key = |hit: &Hit, reader: &mut RecordReader| -> Result<Vec<Turned>> {
        mailbox.check_cancelled()?;
        let at = At { mailbox, table, hit: *hit };
        let turned = |(key, own): &(SortKey, Direction)| {
            let part = at.part(*key, reader)?;
            Ok(if *own == direction { Turned::As(part) } else { Turned::Against(Reverse(part)) })
        };
        keys.iter().map(turned).collect()
    };
    Sorter { direction, wanted }.sort(hits, key)
}

/// The value of one of several keys.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(Option<i64>),
    Bytes(Option<Vec<u8>>),
}

/// A value that is compared as it is, or the other way round.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Turned {
    As(Part),
    Against(Reverse<Part>),
}

/// How to sort, for any key.
#[derive(Clone, Copy)]
struct Sorter {
    direction: Direction,
    wanted: usize,
}

impl Sorter {
    fn sort<K: Ord + Send>(
        self,
        hits: Vec<Ranked>,
        key: impl Fn(&Hit, &mut RecordReader) -> Result<K> + Sync,
    ) -> Result<Vec<Hit>> {
        let with_key = |reader: &mut RecordReader, ranked: Ranked| Ok((key(&ranked.hit, reader)?, ranked));
        let mut keyed: Vec<(K, Ranked)> = if hits.len() < PARALLEL_COUNT_MIN {
            let mut reader = RecordReader::new();
            hits.into_iter().map(|ranked| with_key(&mut reader, ranked)).collect::<Result<_>>()?
        } else {
            let hits = hits.into_par_iter().with_min_len(PARALLEL_COUNT_MIN);
            hits.map_init(RecordReader::new, with_key).collect::<Result<_>>()?
        };
        let order = |a: &(K, Ranked), b: &(K, Ranked)| match self.direction {
            Direction::Ascending => a.cmp(b),
            Direction::Descending => b.cmp(a),
        };
        if self.wanted < keyed.len() {
            keyed.select_nth_unstable_by(self.wanted, order);
            keyed.truncate(self.wanted);
        }
        if keyed.len() < PARALLEL_COUNT_MIN {
            keyed.sort_unstable_by(order);
        } else {
            keyed.par_sort_unstable_by(order);
        }
        Ok(keyed.into_iter().map(|(_, ranked)| ranked.hit).collect())
    }
}

/// A hit, and where to read its fields.
struct At<'a> {
    mailbox: &'a Mailbox,
    table: &'a Table,
    hit: Hit,
}

impl At<'_> {
    fn size(&self) -> Result<u64> {
        Ok(rows::part_of(self.table, self.hit.row).u64_at(messages::SIZE, self.hit.row.row)?)
    }

    fn priority(&self) -> Result<u8> {
        let derived = self.mailbox.derived(&self.hit)?;
        Ok(match (derived.contains(ContentFlags::HIGH), derived.contains(ContentFlags::LOW)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        })
    }

    fn changed(&self) -> Result<Option<i64>> {
        Ok(self.mailbox.files(&self.hit)?.iter().map(|file| file.changed_seconds).max())
    }

    fn part(&self, key: SortKey, reader: &mut RecordReader) -> Result<Part> {
        let path = |file: &MessageFile| file.path.as_os_str().as_bytes().to_vec();
        let folder = |file: &MessageFile| fold(&file.maildir).into_owned().into_bytes();
        Ok(match key {
            SortKey::Date | SortKey::Relevance => Part::Number(Some(self.hit.date)),
            SortKey::Arrival => Part::Number(Some(self.hit.number.into())),
            SortKey::Size => Part::Number(Some(self.size()?.try_into().unwrap_or(i64::MAX))),
            SortKey::Changed => Part::Number(self.changed()?),
            SortKey::Priority => Part::Number(Some(self.priority()?.into())),
            SortKey::Flags => Part::Number(Some(self.flags()?.into())),
            SortKey::Path => Part::Bytes(self.first_file(path)?),
            SortKey::Maildir => Part::Bytes(self.first_file(folder)?),
            text => Part::Bytes(Some(self.text(text, reader)?.into_bytes())),
        })
    }

    fn first_file<K>(&self, key: impl Fn(&MessageFile) -> K) -> Result<Option<K>> {
        Ok(self.mailbox.files(&self.hit)?.first().map(key))
    }

    /// Returns a number whose highest bit is 0 if the message has the first of all flags, and so on for the
    /// others.
    fn flags(&self) -> Result<u32> {
        let derived = self.mailbox.derived(&self.hit)?;
        let files = self.mailbox.files(&self.hit)?;
        let place = |name| FLAGS.iter().position(|info| info.flag == name).unwrap_or(31);
        let shown = shown_flags(files.iter().map(|file| file.flags), derived);
        Ok(shown.fold(u32::MAX, |bits, info| bits & !(1 << (31 - place(info.flag).min(31)))))
    }

    fn text(&self, key: SortKey, reader: &mut RecordReader) -> Result<String> {
        let (part, row) = (rows::part_of(self.table, self.hit.row), self.hit.row.row);
        let directory = self.mailbox.directory();
        if matches!(key, SortKey::Subject | SortKey::From) {
            let line = rows::line(part, row, reader, directory)?;
            return Ok(match key {
                SortKey::Subject => subject_key(&line.subject),
                _ => fold(&line.from).into_owned(),
            });
        }
        let rest = self.mailbox.rest(&self.hit, reader)?;
        Ok(match key {
            SortKey::To => people(&rest.to),
            SortKey::Cc => people(&rest.cc),
            SortKey::Bcc => people(&rest.bcc),
            SortKey::List => fold(&rest.list_id).into_owned(),
            SortKey::Language => rest.language,
            SortKey::Attachment => fold(&rest.attachments.join(", ")).into_owned(),
            _ => rest.message_id,
        })
    }
}

/// Returns a list of people as shown, folded: names, or addresses where there is no name.
fn people(list: &[Contact]) -> String {
    let names = list.iter().map(|one| if one.name.is_empty() { &one.address } else { &one.name });
    names.map(|name| fold(name)).collect::<Vec<_>>().join(", ")
}

/// Returns the sort key of a subject: folded, without the prefixes of replies and forwards.
fn subject_key(subject: &str) -> String {
    let folded = fold(subject);
    let mut rest = folded.trim_start();
    while let Some(shorter) =
        ["re:", "fwd:", "fw:", "aw:", "wg:", "sv:"].iter().find_map(|prefix| rest.strip_prefix(prefix))
    {
        rest = shorter.trim_start();
    }
    rest.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_sort_without_prefixes_of_replies() {
        for subject in ["Grüße", "Re: grusse", "FWD: re: GRÜSSE", "  aw:grüße"] {
            assert!(subject_key(subject).starts_with("gru"), "{subject}");
        }
    }

    #[test]
    fn people_sort_by_name_or_address() {
        let contact = |name: &str, address: &str| Contact { name: name.into(), address: address.into() };
        assert_eq!(people(&[contact("Änne", "z@x"), contact("", "Bo@x")]), "anne, bo@x");
    }
}
