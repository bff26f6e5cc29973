//! Varied mail on disk: the file name of each message, and its second file.
//!
//! Input: the options. Output: a Maildir. Does not know what messages say.

use super::folders::{Folder, Habit, folders};
use super::message::{compose, travelled};
use super::shape::{Shape, shape};
use super::write::{NewFile, Sink, write_all};
use super::{Corpus, CorpusOptions};
use crate::random::Random;
use std::io;
use std::path::Path;

/// The number of a random stream.
const STREAM_NAME: u64 = 0x6e61;

/// Makes the Maildir.
pub(super) fn generate(root: &Path, options: &CorpusOptions) -> io::Result<Corpus> {
    let folders = folders(options.folders);
    write_all(root, &folders, options.messages, options.threads, &|number, sink| {
        put(options, &folders, &shape(options, &folders, number), sink)
    })
}

fn put(options: &CorpusOptions, folders: &[Folder], shape: &Shape, sink: &mut Sink<'_>) -> io::Result<()> {
    let message = compose(options, folders, shape);
    put_file(options, folders, shape, (shape.folder, &message), sink)?;
    match shape.copy {
        Some(copy) if copy.travelled => {
            put_file(options, folders, shape, (copy.folder, &travelled(&message, shape)), sink)
        }
        Some(copy) => put_file(options, folders, shape, (copy.folder, &message), sink),
        None => Ok(()),
    }
}

fn put_file(
    options: &CorpusOptions,
    folders: &[Folder],
    shape: &Shape,
    (folder, message): (usize, &[u8]),
    sink: &mut Sink<'_>,
) -> io::Result<()> {
    let habit = folders[folder].habit;
    let name = file_name(options.seed, shape, habit, message);
    let packed;
    let content = if habit == Habit::Compressed {
        packed = zstd::bulk::compress(message, 1)?;
        &packed
    } else {
        message
    };
    let mtime_seconds = delivered(shape);
    sink.put(&NewFile { folder, is_new: shape.is_new, name: &name, content, mtime_seconds })
}

/// Returns when the file was delivered: a few seconds after it was written.
fn delivered(shape: &Shape) -> i64 {
    shape.date_seconds + i64::from(shape.number % 50)
}

/// Returns a file name that no other message has: the message's number takes the place of the process id.
fn file_name(seed: u64, shape: &Shape, habit: Habit, message: &[u8]) -> String {
    let random = &mut Random::of(seed, STREAM_NAME, shape.number.into());
    let microseconds = random.below(1_000_000);
    let mut name = format!("{}.M{microseconds}P{}.tube", delivered(shape), shape.number);
    match habit {
        Habit::Plain => {}
        Habit::Dovecot | Habit::Compressed => {
            let lines = message.iter().filter(|&&byte| byte == b'\n').count();
            let width = if shape.crlf { message.len() } else { message.len() + lines };
            name.push_str(&format!(",S={},W={width}", message.len()));
        }
        Habit::Mbsync => name.push_str(&format!(",U={}", shape.number % 100_000 + 1)),
    }
    if !shape.is_new {
        name.push_str(":2,");
        name.push_str(shape.flags);
        if habit == Habit::Dovecot && random.per_mille(50) {
            name.push(*random.pick(&['a', 'b', 'c']));
        }
    }
    name
}

#[cfg(test)]
mod tests;
