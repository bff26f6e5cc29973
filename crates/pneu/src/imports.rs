//! Takes over tags and saved queries that lie in files: those of a restore beside the mail, and those that
//! the user names.
//!
//! Writes through the host, one writer after the other. The front end tells what came of it.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::tag_lines::{self, TagLine, Wanted};
use crate::tagging::{Tagged, without_flags};
use index::{Order, Root, TagChange, TagEdit, TagImport};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// What lines of tags did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagsRead {
    /// The messages that they name, and how many changed.
    pub summary: Tagged,
    /// Lines.
    pub line_count: u64,
    /// Lines that name no message of the index.
    pub unknown_count: u64,
}

impl Host {
    /// Adds tags that are written as text, as backups have them. Tags that are there stay.
    ///
    /// # Errors
    /// A line that is no tag; damage, a full disk: then nothing was changed.
    pub fn import_tags(&self, text: &str) -> Result<TagImport> {
        self.write_user(|environment| index::import_tags(environment, text))
    }

    /// Returns all tags of the user in notmuch's format: a line for each message, `+work +later -- id:1@x`.
    /// Tags that stand for flags are left out: their files have them.
    /// Also returns how many messages are left out, because they have no Message-ID.
    ///
    /// # Errors
    /// The tags are damaged.
    pub fn dump_tags(&self) -> Result<(Vec<String>, u64)> {
        let mut left_out = 0;
        let mut lines = Vec::new();
        let kind = self.settings().configuration.flag_tags;
        for (message_id, tags) in index::tags_by_message(&self.settings().environment)? {
            let tags = without_flags(&tags, kind);
            match (tags.is_empty(), message_id.is_empty()) {
                (true, _) => {}
                (false, true) => left_out += 1,
                (false, false) => lines.push(tag_lines::line(&message_id, tags)),
            }
        }
        lines.sort();
        lines.dedup();
        Ok((lines, left_out))
    }

    /// Gives each message that a dump names exactly the tags that are in its line: one of this program, of
    /// notmuch, or the labels of mu. Tags that notmuch sets by itself are left out of its dumps. Other
    /// messages keep their tags.
    ///
    /// # Errors
    /// [`Error::TagLine`]; as [`Host::tag`]. Nothing was changed then.
    pub fn restore_tags(&self, text: &str) -> Result<TagsRead> {
        // A Message-ID may stand there twice: anybody can send mail with that of another message. Which line
        // is of which is not known, so that no tag is lost only if each gets all of them.
        let mut of_id: HashMap<String, BTreeSet<String>> = HashMap::new();
        for line in tag_lines::parse(text).unwrap_or_default() {
            if let Wanted::MessageId(id) = line.wanted {
                of_id.entry(id).or_default().extend(line.add);
            }
        }
        self.read_tags(text, |line| match (&line.wanted, line.remove.is_empty()) {
            (Wanted::MessageId(id), true) => Ok(TagEdit::Exactly(of_id.get(id).unwrap_or(&line.add).clone())),
            (Wanted::Path(_) | Wanted::Content { .. }, true) => Ok(TagEdit::Exactly(line.add.clone())),
            _ => Err("a line of a dump has tags to add, and names a message by id:"),
        })
    }

    /// Does what each line says: adds and removes tags of the messages that a query matches, or that have a
    /// Message-ID. All queries are answered from the state before.
    ///
    /// # Errors
    /// As [`Host::restore_tags`].
    pub fn apply_tags(&self, text: &str) -> Result<TagsRead> {
        self.read_tags(text, |line| {
            Ok(TagEdit::Change(TagChange { add: line.add.clone(), remove: line.remove.clone() }))
        })
    }

    fn read_tags(
        &self,
        text: &str,
        edit: impl Fn(&TagLine) -> std::result::Result<TagEdit, &'static str>,
    ) -> Result<TagsRead> {
        let refused = |line: usize, what: String| Error::TagLine { line, what };
        let lines = tag_lines::parse(text).map_err(|(line, what)| refused(line, what.to_owned()))?;
        let view = self.newest_view()?;
        let (mut edits, mut unknown_count) = (Vec::new(), 0);
        for line in &lines {
            let edit = edit(line).map_err(|what| refused(line.number, what.to_owned()))?;
            let hits = match &line.wanted {
                Wanted::MessageId(id) => view.mailbox().by_message_id(id)?,
                Wanted::Path(path) => view.mailbox().by_path(Path::new(path))?,
                Wanted::Content { sha256, id, path } => match view.by_sha256(sha256)? {
                    Some(hit) => vec![hit],
                    None => match view.mailbox().by_message_id(id)? {
                        none if none.is_empty() => view.mailbox().by_path(Path::new(path))?,
                        hits => hits,
                    },
                },
                Wanted::Query(text) => {
                    let query = view.query(text).map_err(|error| refused(line.number, error.to_string()))?;
                    view.find(&query, &Order::default())?.list
                }
            };
            unknown_count += u64::from(hits.is_empty());
            edits.push((hits, edit));
        }
        Ok(TagsRead {
            summary: self.edit_tags(&view, &edits)?,
            line_count: lines.len() as u64,
            unknown_count,
        })
    }

    /// Takes over the saved queries that a restore left beside the roots, unless the user has any. Returns
    /// the file, and how many queries it has; `None` if nothing was taken.
    ///
    /// # Errors
    /// The file cannot be read or is no file of saved queries; they cannot be written.
    pub fn import_restored_queries(&self, roots: &[Root]) -> Result<Option<(PathBuf, usize)>> {
        self.write_user(|environment| backup::import_restored_queries(environment, roots))
    }

    /// Takes over the tags that a restore left beside the roots, unless the user has any. Returns the files,
    /// each with what was taken from it.
    ///
    /// # Errors
    /// A file cannot be read or is no file of tags; they cannot be written.
    pub fn import_restored_tags(&self, roots: &[Root]) -> Result<Vec<(PathBuf, TagImport)>> {
        self.write_user(|environment| backup::import_restored_tags(environment, roots))
    }
}
