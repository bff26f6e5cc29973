//! Snapshots and logs of Tarantool to recover: tuples {unsigned, unsigned, text of 1 to 100 letters}, with
//! indexes on both numbers.
//!
//! Input: the number of tuples, and their order. Output: directories that both Tarantool and pneu load. Does
//! not know what is measured.
//!
//! Tarantool's own system data is copied from a snapshot that it made; the tuples are written with the crate
//! `tarantool`. A child process makes the files, so that this process stays small. Without Tarantool, the
//! files have only the definition of the space. pneu loads these, Tarantool does not, so they have a
//! directory of their own.

use super::bare::{self, SPACE_ID};
use crate::peer::Installed;
use crate::peers::tarantool::{self, Space};
use ::tarantool::msgpack::{put_array_len, put_str, put_uint};
use ::tarantool::{
    Body, FileKind, Header, LogWriter, Row, RowKind, SnapWriter, Unpacker, blocks, put_body, rows,
};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use disk::{Disk, RealDisk};
use measure::say;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The space.
pub(super) const SPACE: &str = "bench";
/// Its indexes, over the first field and over the second.
pub(super) const INDEXES: [&str; 2] = ["first", "second"];
/// Letters of a tuple's text, at most.
const TEXT_BYTES_MAX: usize = 100;
/// So many tuples are looked at, about.
const TUPLE_COUNT: u64 = 20;
/// When all rows were written.
const SECONDS: f64 = 1.7e9;

/// How both indexes are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// As trees.
    Tree,
    /// As hash tables.
    Hash,
}

/// In which order the numbers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Both ascend.
    Ascending,
    /// Both are in orders of their own that look random.
    Shuffled,
}

/// Where the tuples are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rows {
    /// In the snapshot.
    Snapshot,
    /// In a log, each a transaction.
    OneByOne,
    /// In a log, a thousand in a transaction.
    ByThousands,
}

/// What the child is to make.
#[derive(Debug, Args)]
pub(crate) struct MakeArguments {
    /// Where; a snapshot with the definition of the space is there.
    directory: PathBuf,
    #[arg(long)]
    count: u64,
    #[arg(long, value_enum)]
    order: Order,
    #[arg(long, value_enum)]
    rows: Rows,
}

/// A directory of Tarantool's.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
    content: Content,
}

/// What a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) count: u64,
    pub(super) order: Order,
    pub(super) kind: Kind,
    pub(super) rows: Rows,
}

impl Content {
    /// Returns the space.
    pub(super) fn space(&self) -> Space {
        let index_type = match self.kind {
            Kind::Tree => "tree",
            Kind::Hash => "hash",
        };
        Space { name: SPACE, indexes: INDEXES, index_type }
    }
}

impl Files {
    /// Makes the files below `parent`, if they are not there: a snapshot, or an empty one and a log.
    pub(super) fn kept(parent: &Path, content: Content, tarantool: Option<&Installed>) -> Result<Files> {
        let words = format!("{:?}-{:?}-{:?}-{}", content.rows, content.kind, content.order, content.count);
        let whose = if tarantool.is_some() { "" } else { "-bare" };
        let files = Files { directory: parent.join(words.to_lowercase() + whose), content };
        let is_made = files.directory.with_extension("made");
        if is_made.exists() {
            return Ok(files);
        }
        if files.directory.exists() {
            fs::remove_dir_all(&files.directory)?;
        }
        say(&format!("making {}", files.directory.display()));
        fs::create_dir_all(&files.directory)?;
        match tarantool {
            Some(tarantool) => tarantool::define(tarantool, &files.directory, content.space())?,
            None => bare::define(&files.directory, content.space())?,
        }
        let word = |value: &dyn ValueEnumWord| value.word();
        let status = Command::new(std::env::current_exe()?)
            .arg("make-tuples")
            .arg(&files.directory)
            .args([
                "--count",
                &content.count.to_string(),
                "--order",
                &word(&content.order),
                "--rows",
                &word(&content.rows),
            ])
            .status()?;
        if !status.success() {
            bail!("tuples could not be made: {status}");
        }
        fs::write(is_made, "")?;
        Ok(files)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn content(&self) -> Content {
        self.content
    }

    /// Returns how many bytes all tuples have, as msgpack, and some of them, spread over all.
    pub(super) fn tuples(&self) -> (u64, Vec<Tuple>) {
        let mut letters = Letters(1);
        let (mut packed, mut bytes, mut some) = (Vec::new(), 0, Vec::new());
        let Content { count, order, .. } = self.content;
        let step = count.div_ceil(TUPLE_COUNT).max(1);
        for number in 0..count {
            let tuple = Tuple::new(number, count, order, &mut letters);
            tuple.put(&mut packed);
            bytes += packed.len() as u64;
            if number % step == step - 1 || number + 1 == count {
                some.push(tuple);
            }
        }
        (bytes, some)
    }

    /// Removes all files.
    pub(super) fn remove(&self) -> Result<()> {
        fs::remove_file(self.directory.with_extension("made"))?;
        fs::remove_dir_all(&self.directory)
            .with_context(|| format!("cannot remove {}", self.directory.display()))
    }

    /// Reads all files once, so that the cache has them.
    pub(super) fn warm(&self) -> Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let mut file =
                fs::File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
            std::io::copy(&mut file, &mut std::io::sink())?;
        }
        Ok(())
    }
}

/// The word by which a choice is given on the command line.
trait ValueEnumWord {
    fn word(&self) -> String;
}

impl<T: ValueEnum> ValueEnumWord for T {
    fn word(&self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Makes the tuples.
pub(crate) fn make(arguments: &MakeArguments) -> Result<()> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let directory = &arguments.directory;
    let (path, header, system) = read_definition(directory)?;
    let header = Header { program: ::tarantool::PROGRAM.to_owned(), ..header };
    match arguments.rows {
        Rows::Snapshot => {
            for name in disk.list(directory)? {
                disk.remove(&directory.join(name))?;
            }
            write_snapshot(&disk, arguments, &header, &system)
        }
        Rows::OneByOne => write_log(&disk, arguments, &path, &header, 1),
        Rows::ByThousands => write_log(&disk, arguments, &path, &header, 1000),
    }
}

/// A tuple of a system space: the space, its group, and the tuple.
type SystemTuple = (u32, u64, Vec<u8>);

/// Reads the newest snapshot in a directory, which has only what Tarantool keeps about itself.
fn read_definition(directory: &Path) -> Result<(PathBuf, Header, Vec<SystemTuple>)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == FileKind::Snapshot.extension()));
    let path = paths.into_iter().max().context("tarantool made no snapshot")?;
    let bytes = fs::read(&path)?;
    let damaged = |damage: ::tarantool::Damage| damage.in_file(&path, 0);
    let (header, header_bytes) = Header::parse(&bytes).map_err(damaged)?;
    let mut tuples = Vec::new();
    let mut unpacker = Unpacker::default();
    for block in blocks(&path, &bytes, header_bytes)? {
        for row in rows(unpacker.unpack(&bytes, &block).map_err(damaged)?) {
            let row = row.map_err(damaged)?;
            if let (Some(space @ ..SPACE_ID), Some(tuple)) = (row.body.space, row.body.tuple) {
                tuples.push((space, row.group, tuple.to_vec()));
            }
        }
    }
    Ok((path, header, tuples))
}

fn write_snapshot(
    disk: &Arc<dyn Disk>,
    arguments: &MakeArguments,
    header: &Header,
    system: &[SystemTuple],
) -> Result<()> {
    let mut writer = SnapWriter::create(disk, &arguments.directory, header, SECONDS)?;
    for (space, group, tuple) in system {
        writer.insert(*space, *group, tuple)?;
    }
    let mut letters = Letters(1);
    let mut tuple = Vec::new();
    for number in 0..arguments.count {
        Tuple::new(number, arguments.count, arguments.order, &mut letters).put(&mut tuple);
        writer.insert(SPACE_ID, 0, &tuple)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a log after the snapshot; all other logs are removed.
fn write_log(
    disk: &Arc<dyn Disk>,
    arguments: &MakeArguments,
    snapshot: &Path,
    header: &Header,
    rows_per_transaction: u64,
) -> Result<()> {
    for name in disk.list(&arguments.directory)? {
        let path = arguments.directory.join(name);
        if path != snapshot {
            disk.remove(&path)?;
        }
    }
    let header = Header { kind: FileKind::Log, previous: None, ..header.clone() };
    let mut writer = LogWriter::create(disk, &arguments.directory, &header)?;
    let first_lsn = header.vclock.signature() + 1;
    let (mut letters, mut tuple, mut body) = (Letters(1), Vec::new(), Vec::new());
    for number in 0..arguments.count {
        Tuple::new(number, arguments.count, arguments.order, &mut letters).put(&mut tuple);
        body.clear();
        put_body(&mut body, &Body { space: Some(SPACE_ID), tuple: Some(&tuple), ..Body::default() });
        let within = number % rows_per_transaction;
        let lsn = first_lsn + i64::try_from(number)?;
        let is_commit = within + 1 == rows_per_transaction || number + 1 == arguments.count;
        writer.row(&Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: SECONDS,
            group: 0,
            tsn: lsn - i64::try_from(within)?,
            is_commit,
            flags: 0,
            body: Body { bytes: &body, ..Body::default() },
        })?;
    }
    writer.finish()?;
    Ok(())
}

/// One tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tuple {
    /// Its keys, in the order of the indexes.
    pub(super) keys: [u64; 2],
    text: [u8; TEXT_BYTES_MAX],
    text_bytes: usize,
}

impl Tuple {
    /// Returns the tuple with this number, which has the next letters. Numbers count from 0, keys from 1.
    fn new(number: u64, count: u64, order: Order, letters: &mut Letters) -> Tuple {
        let (first, second) = match order {
            Order::Ascending => (number, number),
            Order::Shuffled => (shuffled(number, count), shuffled(count - 1 - number, count)),
        };
        let mut text = [0; TEXT_BYTES_MAX];
        let text_bytes = letters.text(&mut text).len();
        Tuple { keys: [first + 1, second + 1], text, text_bytes }
    }

    /// Puts it into `out`, which is emptied.
    fn put(&self, out: &mut Vec<u8>) {
        out.clear();
        put_array_len(out, 3);
        self.keys.iter().for_each(|key| put_uint(out, *key));
        put_str(out, &self.text[..self.text_bytes]);
    }

    /// Returns it as JSON.
    pub(super) fn json(&self) -> String {
        let [first, second] = self.keys;
        format!("[{first},{second},\"{}\"]", String::from_utf8_lossy(&self.text[..self.text_bytes]))
    }
}

/// Returns another number below `count` for each number below `count`: each comes once, and their order looks
/// random.
fn shuffled(number: u64, count: u64) -> u64 {
    let bits = 64 - (count - 1).leading_zeros();
    let mask = (1_u64 << bits) - 1;
    let mut mixed = number;
    loop {
        // Each step can be undone, so that no two numbers become one.
        for factor in [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
            mixed = mixed.wrapping_mul(factor) & mask;
            mixed ^= mixed >> (bits / 2).max(1);
        }
        if mixed < count {
            return mixed;
        }
    }
}

/// Letters that look random and are the same each time.
struct Letters(u64);

impl Letters {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a text of 1 to 100 letters and digits.
    fn text<'a>(&mut self, text: &'a mut [u8; TEXT_BYTES_MAX]) -> &'a [u8] {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let length = 1 + usize::try_from(self.next() % 100).unwrap_or(0);
        for letter in &mut text[..length] {
            *letter = ALPHABET[usize::try_from((self.next() >> 20) % 62).unwrap_or(0)];
        }
        &text[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_numbers_are_all_numbers_in_another_order() {
        for count in [1, 2, 3, 1000, 1 << 12, 40_000] {
            let mut numbers: Vec<u64> = (0..count).map(|number| shuffled(number, count)).collect();
            assert!(count < 1000 || !numbers.is_sorted());
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn texts_have_all_lengths_and_only_letters() {
        let mut letters = Letters(1);
        let mut buffer = [0; 100];
        let mut lengths = std::collections::BTreeSet::new();
        for _ in 0..5000 {
            let text = letters.text(&mut buffer);
            assert!(text.iter().all(u8::is_ascii_alphanumeric));
            lengths.insert(text.len());
        }
        assert!(lengths.into_iter().eq(1..=100));
    }

    #[test]
    fn tuples_are_looked_at_from_the_first_to_the_last() {
        let content =
            Content { count: 1000, order: Order::Ascending, kind: Kind::Tree, rows: Rows::Snapshot };
        let (bytes, some) = Files { directory: PathBuf::new(), content }.tuples();
        let keys: Vec<_> = some.iter().map(|tuple| tuple.keys).collect();
        assert_eq!((keys.len(), keys[0], keys[19]), (20, [50, 50], [1000, 1000]));
        assert!((30_000..80_000).contains(&bytes), "{bytes}");
        let mut letters = Letters(1);
        let tuple = Tuple::new(0, 1000, Order::Ascending, &mut letters);
        let mut again = [0; TEXT_BYTES_MAX];
        let text = String::from_utf8(Letters(1).text(&mut again).to_vec()).unwrap();
        assert_eq!(tuple.json(), format!("[1,1,\"{text}\"]"));
        let mut packed = Vec::new();
        tuple.put(&mut packed);
        assert!(packed.starts_with(&[0x93, 1, 1]) && packed.ends_with(text.as_bytes()), "{packed:?}");
    }

    #[test]
    fn a_choice_is_given_by_its_word() {
        assert_eq!(Rows::ByThousands.word(), "by-thousands");
        assert_eq!(Order::Ascending.word(), "ascending");
    }
}
