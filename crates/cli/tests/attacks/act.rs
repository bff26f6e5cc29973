//! What can happen to a file: chosen by a seed, carried out on a stage.
//!
//! Input: random numbers, a stage. Output: the act as text, and changed files. Does not depend on how the
//! program reacts.

use super::stage::Stage;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use testkit::Random;

/// The unit in which disks lose what was not synced.
const SECTOR_BYTES: usize = 512;

/// What happens, and to which file.
#[derive(Debug)]
pub(super) struct Act {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// What happens to a file.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    /// It and this one exchange their names.
    Swap(PathBuf),
    /// It is what it was once.
    RollBack(Vec<u8>),
    /// Only so many bytes are left.
    Cut(usize),
    /// These bits of this byte change.
    Flip(usize, u8),
    /// A sector is zero.
    Zero(usize),
    /// Something is appended.
    Grow,
    /// It is gone.
    Remove,
    /// A directory has its name.
    Directory,
}

impl fmt::Display for Act {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            Kind::RollBack(content) => write!(formatter, "{path}: rolled back to {} bytes", content.len()),
            kind => write!(formatter, "{path}: {kind:?}"),
        }
    }
}

/// Chooses what happens to which file of a part of the home. Each kind of file is as likely as any other,
/// however many there are of it.
pub(super) fn choose(random: &mut Random, stage: &Stage, part: &str) -> Act {
    let files = stage.files(part);
    let mut kinds: Vec<String> = files.iter().map(|path| kind_of(path)).collect();
    kinds.sort();
    kinds.dedup();
    loop {
        let kind = random.pick(&kinds);
        let alike: Vec<&PathBuf> = files.iter().filter(|path| kind_of(path) == *kind).collect();
        let path = (*random.pick(&alike)).clone();
        let act = Act { kind: choose_kind(random, stage, &path, &files), path };
        if changes(&act, stage) {
            return act;
        }
    }
}

fn choose_kind(random: &mut Random, stage: &Stage, path: &Path, files: &[PathBuf]) -> Kind {
    let length = fs::read(stage.path(path)).unwrap().len();
    let earlier = stage.earlier(path);
    match random.below(12) {
        0..=2 => Kind::Swap(random.pick(files).clone()),
        3 | 4 if !earlier.is_empty() => Kind::RollBack(random.pick(&earlier).to_vec()),
        5 if length > 0 => Kind::Cut(*random.pick(&[
            0,
            1,
            length / 2,
            length - 1,
            (length - 1) / SECTOR_BYTES * SECTOR_BYTES,
        ])),
        6 if length > 0 => Kind::Flip(length - 1 - random.index(length.min(SECTOR_BYTES)), bit(random)),
        7 if length > 0 => Kind::Flip(random.index(length), bit(random)),
        8 if length > 0 => Kind::Zero(random.index(length.div_ceil(SECTOR_BYTES))),
        9 => Kind::Remove,
        10 => Kind::Directory,
        _ => Kind::Grow,
    }
}

fn bit(random: &mut Random) -> u8 {
    1 << random.index(8)
}

/// Says whether an act would change any file's content.
fn changes(act: &Act, stage: &Stage) -> bool {
    let read = |path: &Path| fs::read(stage.path(path)).unwrap();
    match &act.kind {
        Kind::Swap(other) => read(&act.path) != read(other),
        Kind::Zero(sector) => sector_of(&mut read(&act.path), *sector).iter().any(|byte| *byte != 0),
        _ => true,
    }
}

fn sector_of(bytes: &mut [u8], sector: usize) -> &mut [u8] {
    bytes.chunks_mut(SECTOR_BYTES).nth(sector).unwrap()
}

/// Carries an act out.
pub(super) fn carry_out(act: &Act, stage: &Stage) {
    let place = stage.path(&act.path);
    let mut bytes = fs::read(&place).unwrap();
    match &act.kind {
        Kind::Swap(other) => {
            let other = stage.path(other);
            bytes = fs::read(&other).unwrap();
            fs::rename(&place, &other).unwrap();
        }
        Kind::RollBack(content) => bytes.clone_from(content),
        Kind::Cut(length) => bytes.truncate(*length),
        Kind::Flip(offset, bits) => bytes[*offset] ^= bits,
        Kind::Zero(sector) => sector_of(&mut bytes, *sector).fill(0),
        Kind::Grow => bytes.extend_from_slice(b"and more"),
        Kind::Remove => return fs::remove_file(&place).unwrap(),
        Kind::Directory => {
            fs::remove_file(&place).unwrap();
            return fs::create_dir(&place).unwrap();
        }
    }
    fs::write(&place, bytes).unwrap();
}

/// Returns what kind of file this is: its directory, and its name without what names one of many.
pub(super) fn kind_of(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let directory = path.parent().unwrap().to_string_lossy().into_owned();
    let short = |text: &str| -> String {
        text.split('/')
            .map(|word| if word.len() >= 16 && is_hex(word) { "ID" } else { word })
            .collect::<Vec<_>>()
            .join("/")
    };
    let name = match name.split_once(['.', '-']) {
        Some((begin, end)) if is_hex(begin) => format!("ID.{end}"),
        Some((begin, end)) if end.bytes().all(|byte| byte.is_ascii_digit()) => format!("{begin}-N"),
        _ => short(&name),
    };
    let directory = short(&directory);
    // Packs lie in directories of their own beginnings.
    let directory = match directory.rsplit_once('/') {
        Some((above, last)) if last.len() == 2 && is_hex(last) => above.to_owned(),
        _ => directory,
    };
    format!("{directory}/{name}")
}

fn is_hex(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}
