//! Exports all tags as text and imports them, for backups and for people.
//!
//! Input: the store `user/`, or text. Output: text, or one commit that adds the tags in it. A text that the
//! user named is imported whole. Of a text that was found beside some roots, only the tags of messages in
//! those roots are imported. docs/FORMAT.md describes the format: one line per content, ordered by SHA-256,
//! so that two exports of the same tags are the same bytes. Must not know who keeps the text.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::search::{Mailbox, TaggedMessage};
use crate::state::Root;
use crate::tables::message_id_hash;
use crate::user::change::Changes;
use crate::user::tables::{contents, tags};
use crate::user::{Tags, check_tag, merge, snapshot, writer};
use std::collections::{BTreeMap, BTreeSet};
use store::Snapshot;

/// The first line: the kind of the file and the version of the format.
const HEADER: &str = "pneu-tags 1";
/// The beginning of the first line in every version.
const HEADER_START: &str = "pneu-tags ";

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagImport {
    /// Contents that the text names.
    pub contents: u64,
    /// Contents that are new to the store, or that got a tag.
    pub changed: u64,
    /// Further contents in the text, which were not imported.
    pub left_out: u64,
}

/// The tags of one content, and its Message-ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    message_id: String,
    tags: BTreeSet<String>,
}

/// Returns all tags as text. If there are none, it is only the first line.
///
/// # Errors
/// Damage, a newer version.
pub fn export_tags(environment: &Environment) -> Result<String> {
    let entries = match snapshot(&environment.disk, &environment.user_directory())? {
        Some(user) => entries(&user)?,
        None => BTreeMap::new(),
    };
    let mut text = format!("{HEADER}\n");
    for (sha256, entry) in &entries {
        for byte in sha256 {
            text.push_str(&format!("{byte:02x}"));
        }
        text.push('\t');
        escape(&entry.message_id, &mut text);
        for (index, tag) in entry.tags.iter().enumerate() {
            text.push(if index == 0 { '\t' } else { ' ' });
            escape(tag, &mut text);
        }
        text.push('\n');
    }
    Ok(text)
}

/// Returns the Message-ID and the tags of each content that has tags, in the order of their SHA-256.
///
/// # Errors
/// Damage, a newer version.
pub fn tags_by_message(environment: &Environment) -> Result<Vec<(String, BTreeSet<String>)>> {
    let Some(user) = snapshot(&environment.disk, &environment.user_directory())? else {
        return Ok(Vec::new());
    };
    let entries = entries(&user)?.into_values().filter(|entry| !entry.tags.is_empty());
    Ok(entries.map(|entry| (entry.message_id, entry.tags)).collect())
}

/// Returns whether no tag was ever set.
///
/// # Errors
/// Damage, a newer version.
pub fn has_no_tags(environment: &Environment) -> Result<bool> {
    let user = snapshot(&environment.disk, &environment.user_directory())?;
    Ok(user.map(|user| user.table(contents::TABLE)).transpose()?.is_none_or(|table| table.row_count() == 0))
}

/// Adds the tags in a text: all of them in one commit, or none. Existing tags stay.
///
/// # Errors
/// [`Error::TagText`] with the number of the line that is wrong; damage, a full disk: then nothing was
/// changed.
pub fn import_tags(environment: &Environment, text: &str) -> Result<TagImport> {
    let message = |(sha256, Entry { message_id, tags })| {
        let message_id_hash = message_id_hash(&message_id);
        (TaggedMessage { sha256, message_id_hash, message_id }, tags)
    };
    add(environment, parse(text)?.into_iter().map(message).collect())
}

/// Adds the tags that a text has for messages with a file in one of these roots, as [`import_tags`] does.
/// Other lines are left out: the author of a text is trusted only with the mail beside it. Each message is
/// identified by its content and keeps its own Message-ID, whatever the text says.
///
/// # Errors
/// As [`import_tags`]; damage of the index.
pub fn import_tags_of(
    environment: &Environment,
    mailbox: &Mailbox,
    roots: &[Root],
    text: &str,
) -> Result<TagImport> {
    let mut messages = Vec::new();
    let mut left_out = 0;
    for (sha256, entry) in parse(text)? {
        match mailbox.tagged_in(&sha256, roots)? {
            Some(message) => messages.push((message, entry.tags)),
            None => left_out += 1,
        }
    }
    Ok(TagImport { left_out, ..add(environment, messages)? })
}

fn add(environment: &Environment, messages: Vec<(TaggedMessage, BTreeSet<String>)>) -> Result<TagImport> {
    let mut summary = TagImport { contents: messages.len() as u64, ..TagImport::default() };
    if messages.is_empty() {
        return Ok(summary);
    }
    let mut writer = writer(environment)?;
    let user = writer.snapshot()?;
    let now = Tags::new(&user)?;
    let mut changes = Changes::new(&user)?;
    for (message, tags) in messages {
        let own = now.own(&message.sha256)?;
        let before = own.clone().unwrap_or_default();
        let mut after = before.clone();
        after.extend(tags);
        if own.as_ref() != Some(&after) {
            changes.write(&message, own, (&before, &after))?;
            summary.changed += 1;
        }
    }
    if summary.changed > 0 {
        writer.commit(changes.transaction(environment, &user)?)?;
        drop(writer);
        merge(environment)?;
    }
    Ok(summary)
}

fn entries(user: &Snapshot) -> Result<BTreeMap<[u8; 32], Entry>> {
    let mut entries: BTreeMap<[u8; 32], Entry> = BTreeMap::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for part in user.table(contents::TABLE)?.parts() {
        for row in part.live_rows() {
            let entry = entries.entry(part.id_at(contents::SHA256, row)?).or_default();
            entry.message_id = text(part.bytes(contents::MESSAGE_ID, row)?);
        }
    }
    for part in user.table(tags::TABLE)?.parts() {
        for row in part.live_rows() {
            let sha256 = part.id_at(tags::SHA256, row)?;
            // Tags whose content has no row are ignored.
            if let Some(entry) = entries.get_mut(&sha256) {
                entry.tags.insert(text(part.bytes(tags::TAG, row)?));
            }
        }
    }
    Ok(entries)
}

fn parse(text: &str) -> Result<BTreeMap<[u8; 32], Entry>> {
    let wrong = |line: usize, what: &str| Error::TagText { line, what: what.to_owned() };
    let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    match lines.next() {
        Some((_, HEADER)) => {}
        Some((_, line)) if line.starts_with(HEADER_START) => {
            return Err(wrong(1, "it was written by a newer pneu, which is needed to read it"));
        }
        _ => return Err(wrong(1, "it does not begin with \"pneu-tags 1\"")),
    }
    let mut entries: BTreeMap<[u8; 32], Entry> = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let sha256 =
            fields.next().and_then(id).ok_or_else(|| wrong(number, "it does not begin with a SHA-256"))?;
        let message_id = fields.next().ok_or_else(|| wrong(number, "it has no Message-ID"))?;
        let message_id =
            unescape(message_id).ok_or_else(|| wrong(number, "an escape in its Message-ID is wrong"))?;
        let entry = entries.entry(sha256).or_default();
        entry.message_id = message_id;
        for tag in fields.next().unwrap_or_default().split(' ').filter(|tag| !tag.is_empty()) {
            let tag = unescape(tag).ok_or_else(|| wrong(number, "an escape in a tag is wrong"))?;
            check_tag(&tag).map_err(|what| wrong(number, &what))?;
            entry.tags.insert(tag);
        }
        if fields.next().is_some() {
            return Err(wrong(number, "it has more than three fields"));
        }
    }
    Ok(entries)
}

/// Appends text, with `%` and every character that separates fields or lines as `%` and two digits.
pub(super) fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        if character == '%' || character.is_ascii_control() || character == ' ' {
            out.push_str(&format!("%{:02x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
}

fn unescape(text: &str) -> Option<String> {
    String::from_utf8(unescape_bytes(text)?).ok()
}

/// Reads what [`escape`] wrote, or any bytes that are written so.
pub(super) fn unescape_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte == b'%' {
            let (digits, tail) = rest.split_at_checked(2)?;
            bytes.push(digit(digits[0])? << 4 | digit(digits[1])?);
            rest = tail;
        } else {
            bytes.push(*byte);
        }
    }
    Some(bytes)
}

fn id(text: &str) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut id = [0; 32];
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(id)
}

pub(super) fn digit(letter: u8) -> Option<u8> {
    u8::try_from(char::from(letter).to_digit(16)?).ok()
}
