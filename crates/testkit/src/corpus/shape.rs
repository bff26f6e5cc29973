//! Decides the properties of each message of a varied corpus before it is written.
//!
//! Input: the options and a message's number. Output: its [`Shape`]: parents, date, people, folder,
//! structure, oddities. Pure: the same seed gives the same shape, whatever else is generated. Does not know
//! how it is written, and uses no disk.

use super::CorpusOptions;
use super::facts::{Marks, marks};
use super::folders::{Folder, Habit, Role};
use super::words::{Language, draw_language};
use crate::random::Random;

/// 1 March 2015: the first message.
const FIRST_SECONDS: i64 = 1_425_168_000;
/// Ten years: the last message is from 1 March 2025.
const SPAN_SECONDS: i64 = 315_619_200;
/// How many people write; a few of them write most.
const PERSON_COUNT: u64 = 4000;
/// The greatest distance between a reply and its parent, in messages.
const PARENT_DISTANCE_MAX: u32 = 60;
/// The most Message-IDs that References names: the root and the latest.
const REFERENCE_COUNT_MAX: usize = 12;
/// Numbers of random streams.
const STREAM_REPLY: u64 = 1;
const STREAM_THREAD: u64 = 2;
const STREAM_MESSAGE: u64 = 3;

/// The properties of a message.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) number: u32,
    /// The first message of its thread.
    pub(super) root: u32,
    /// The messages it refers to, oldest first; the last is the one it answers.
    pub(super) ancestors: Vec<u32>,
    pub(super) date_seconds: i64,
    /// The language of its author.
    pub(super) language: Language,
    /// The language of the thread's subject.
    pub(super) thread_language: Language,
    /// The number of a person, or [`OWNER`].
    pub(super) author: u64,
    /// The number of the folder for the list's mail, which stands for the list.
    pub(super) list: Option<usize>,
    pub(super) folder: usize,
    pub(super) copy: Option<SecondFile>,
    pub(super) structure: Structure,
    pub(super) oddity: Option<Oddity>,
    pub(super) crlf: bool,
    pub(super) flags: &'static str,
    pub(super) is_new: bool,
    pub(super) marks: Marks,
}

/// The person whose mail this is.
pub(super) const OWNER: u64 = u64::MAX;

/// A second file of the same message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecondFile {
    pub(super) folder: usize,
    /// Whether headers of transport differ, so that the bytes are not the same.
    pub(super) travelled: bool,
}

/// The structure of a message's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structure {
    Plain,
    /// Plain text and HTML.
    Alternative,
    Html,
    /// Text and attached files.
    Attachments,
    /// Another message inside.
    Forward,
    /// OpenPGP, signed.
    Signed,
    /// OpenPGP, encrypted.
    Encrypted,
    Invitation,
}

/// A defect of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Oddity {
    NoMessageId,
    NoDate,
    /// A header with raw bytes of a charset.
    RawHeader,
    /// The closing boundary is missing.
    OpenBoundary,
    Nul,
    UnknownCharset,
    /// No recipient except a group.
    Group,
    EmptyBody,
}

/// Returns the properties of message `number`. `folders` are those of the options.
pub(super) fn shape(options: &CorpusOptions, folders: &[Folder], number: u32) -> Shape {
    let ancestors = ancestors(options.seed, number);
    let root = ancestors.first().copied().unwrap_or(number);
    let thread = &mut Random::of(options.seed, STREAM_THREAD, root.into());
    let thread_language = draw_language(thread);
    let home = draw_folder(folders, thread);
    let list = (folders[home].role == Role::List).then_some(home);
    let random = &mut Random::of(options.seed, STREAM_MESSAGE, number.into());
    let marks = marks(options, number);
    let author = if list.is_none() && random.per_mille(180) { OWNER } else { draw_person(random) };
    let folder = place(folders, home, author, random);
    let structure = if marks.attachment { Structure::Attachments } else { draw_structure(random) };
    let oddity = if marks.any() { None } else { draw_oddity(random) };
    Shape {
        number,
        root,
        date_seconds: date(options, number, random),
        language: if marks.any() { Language::English } else { thread_language },
        thread_language,
        author,
        list,
        copy: if marks.any() || oddity.is_some() { None } else { draw_copy(folders, folder, random) },
        structure: if marks.any() && structure != Structure::Attachments {
            Structure::Plain
        } else {
            structure
        },
        oddity,
        crlf: random.per_mille(60),
        is_new: folders[folder].role != Role::Sent && random.per_mille(25),
        flags: draw_flags(folders[folder].role, random),
        folder,
        ancestors,
        marks,
    }
}

/// Returns the numbers of all messages from the thread's root to the parent of `number`. For a long thread,
/// returns only the root and the latest.
fn ancestors(seed: u64, number: u32) -> Vec<u32> {
    let mut line = Vec::new();
    let mut at = number;
    while let Some(parent) = parent(seed, at) {
        line.push(parent);
        at = parent;
    }
    line.reverse();
    if line.len() > REFERENCE_COUNT_MAX {
        line.drain(1..=line.len() - REFERENCE_COUNT_MAX);
    }
    line
}

fn parent(seed: u64, number: u32) -> Option<u32> {
    let random = &mut Random::of(seed, STREAM_REPLY, number.into());
    let reach = number.min(PARENT_DISTANCE_MAX);
    if reach == 0 || !random.per_mille(580) {
        return None;
    }
    // The lower of two draws, because most people answer something recent.
    let distance = random.below(reach.into()).min(random.below(reach.into()));
    Some(number - 1 - u32::try_from(distance).expect("below 60"))
}

/// Dates rise with the numbers, with one or two days of disorder.
fn date(options: &CorpusOptions, number: u32, random: &mut Random) -> i64 {
    let part = i64::from(number) * SPAN_SECONDS / i64::from(options.messages.max(1));
    FIRST_SECONDS + part + i64::try_from(random.below(150_000)).expect("below two days")
}

/// Draws the folder of a thread: a third go to the inbox; among the others, earlier folders get more.
fn draw_folder(folders: &[Folder], random: &mut Random) -> usize {
    if folders.len() == 1 || random.per_mille(330) {
        return 0;
    }
    let others = folders.len() - 1;
    1 + random.index(others).min(random.index(others))
}

/// Returns the folder of one message of a thread. Messages by the owner are in the sent folder, some messages
/// of lists in the inbox.
fn place(folders: &[Folder], home: usize, author: u64, random: &mut Random) -> usize {
    let sent = folders.iter().position(|folder| folder.role == Role::Sent);
    match sent {
        Some(sent) if author == OWNER => sent,
        _ if folders[home].role == Role::List && random.per_mille(100) => 0,
        _ => home,
    }
}

/// Draws a person. A few people write most of the mail.
pub(super) fn draw_person(random: &mut Random) -> u64 {
    let bound = random.between(1, PERSON_COUNT);
    random.below(bound)
}

fn draw_structure(random: &mut Random) -> Structure {
    match random.below(1000) {
        0..690 => Structure::Plain,
        690..830 => Structure::Alternative,
        830..880 => Structure::Html,
        880..960 => Structure::Attachments,
        960..972 => Structure::Forward,
        972..986 => Structure::Signed,
        986..990 => Structure::Encrypted,
        _ => Structure::Invitation,
    }
}

fn draw_oddity(random: &mut Random) -> Option<Oddity> {
    match random.below(1000) {
        0..4 => Some(Oddity::NoMessageId),
        4..7 => Some(Oddity::NoDate),
        7..10 => Some(Oddity::RawHeader),
        10..12 => Some(Oddity::OpenBoundary),
        12..14 => Some(Oddity::Nul),
        14..16 => Some(Oddity::UnknownCharset),
        16..20 => Some(Oddity::Group),
        20..24 => Some(Oddity::EmptyBody),
        _ => None,
    }
}

/// Three in a hundred have a second file with the same bytes, and one in a hundred has one that arrived by
/// another way.
fn draw_copy(folders: &[Folder], folder: usize, random: &mut Random) -> Option<SecondFile> {
    let draw = random.below(100);
    let other = random.index(folders.len());
    if draw >= 4 || other == folder || folders[other].habit == Habit::Compressed {
        return None;
    }
    Some(SecondFile { folder: other, travelled: draw == 3 })
}

fn draw_flags(role: Role, random: &mut Random) -> &'static str {
    let draw = random.below(100);
    match role {
        Role::Sent => "S",
        Role::Drafts => "DS",
        Role::Trash => "ST",
        _ => match draw {
            0..62 => "S",
            62..78 => "RS",
            78..82 => "FS",
            82..84 => "FRS",
            84..86 => "PS",
            86..88 => "F",
            _ => "",
        },
    }
}
