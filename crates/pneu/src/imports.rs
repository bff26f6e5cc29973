//! Takes over tags and saved queries that lie in files: those of a restore beside the mail, and those that
//! the user names.
//!
//! Writes through the host, one writer after the other. The front end tells what came of it.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::tag_lines::{self, TagLine, Wanted};
use crate::tagging::{Tagged, without_flags};
use crate::view::View;
use index::{Hit, MUTED, NumberSet, Order, Root, TagChange, TagEdit, TagImport};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Tags that stand for flags are left out: their files have them. Also returns how many messages are left
    /// out: they have no Message-ID, or one that no line can hold, with control characters.
    ///
    /// # Errors
    /// The tags are damaged.
    pub fn dump_tags(&self) -> Result<(Vec<String>, u64)> {
        let mut left_out = 0;
        let mut lines = Vec::new();
        let kind = self.settings().configuration.flag_tags;
        for (message_id, tags) in index::tags_by_message(&self.settings().environment)? {
            let tags = without_flags(&tags, kind);
            match (tags.is_empty(), message_id.is_empty() || is_breaking(&message_id)) {
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
        let lines = parsed(text)?;
        let mut dump = Dump::of(&lines);
        let keeps = if tag_lines::is_of_mu(text) { Some(MUTED) } else { None };
        self.do_lines(&lines, keeps, |line| dump.edit(line))
    }

    /// Does what each line says: adds and removes tags of the messages that a query matches, or that have a
    /// Message-ID. All queries are answered from the state before.
    ///
    /// # Errors
    /// As [`Host::restore_tags`].
    pub fn apply_tags(&self, text: &str) -> Result<TagsRead> {
        self.do_lines(&parsed(text)?, None, |line| {
            Ok(Some(TagEdit::Change(TagChange { add: line.add.clone(), remove: line.remove.clone() })))
        })
    }

    /// Returns the messages whose tags [`Host::apply_tags`] would change, newest first, each with what would
    /// be added and removed; copies once. The view shows them.
    ///
    /// # Errors
    /// As [`Host::apply_tags`].
    pub fn plan_tags(&self, text: &str) -> Result<(View, Vec<(Hit, TagChange)>)> {
        let view = self.newest_view()?;
        let mut changes: BTreeMap<u32, TagChange> = BTreeMap::new();
        for line in parsed(text)? {
            for tag in line.add.iter().chain(&line.remove) {
                index::check_tag(tag).map_err(|what| index::Error::Tag { tag: tag.clone(), what })?;
            }
            for hit in hits_of(&view, &line)? {
                let copies = view.mailbox().copies_of_hit(&hit)?;
                let first = copies.iter().map(|copy| copy.number).min().unwrap_or(hit.number);
                let change = changes.entry(first).or_default();
                change.add = &(&change.add - &line.remove) | &line.add;
                change.remove = &(&change.remove | &line.remove) - &line.add;
            }
        }
        let mut by_change: BTreeMap<_, NumberSet> = BTreeMap::new();
        let bound = changes.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        for (number, TagChange { add, remove }) in changes {
            by_change.entry((add, remove)).or_insert_with(|| NumberSet::new(bound)).insert(number);
        }
        let mut planned = Vec::new();
        for ((add, remove), numbers) in by_change {
            let change = TagChange { add, remove };
            let hits = view.to_tag(&numbers, &change)?;
            planned.extend(hits.into_iter().map(|hit| (hit, change.clone())));
        }
        planned.sort_by_key(|(hit, _)| (Reverse(hit.date), hit.number));
        Ok((view, planned))
    }

    /// Edits tags as lines say, unless a line has no edit of its own. Exact tags leave the tag `keeps` as
    /// it is.
    fn do_lines(
        &self,
        lines: &[TagLine],
        keeps: Option<&str>,
        mut edit: impl FnMut(&TagLine) -> std::result::Result<Option<TagEdit>, &'static str>,
    ) -> Result<TagsRead> {
        let view = self.newest_view()?;
        let (mut edits, mut unknown_count) = (Vec::new(), 0);
        for line in lines {
            let edit = edit(line).map_err(|what| refused(line.number, what.to_owned()))?;
            let hits = hits_of(&view, line)?;
            unknown_count += u64::from(hits.is_empty());
            let Some(edit) = edit else { continue };
            match (keeps, &edit) {
                (Some(tag), TagEdit::Exactly(tags)) if !tags.contains(tag) => {
                    let (mut with, mut without) = (Vec::new(), Vec::new());
                    for hit in hits {
                        let has_it = view.mailbox().tags_of(&hit)?.contains(tag);
                        if has_it { with.push(hit) } else { without.push(hit) }
                    }
                    let kept = tags.iter().cloned().chain([tag.to_owned()]).collect();
                    edits.extend([(with, TagEdit::Exactly(kept)), (without, edit)]);
                }
                _ => edits.push((hits, edit)),
            }
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

    /// Takes over what a restore left beside the roots of the ids, order and subscription of folders, unless
    /// any is kept. Returns the files, and of how many folders each has something.
    ///
    /// # Errors
    /// A file cannot be read or is no such file; it cannot be written.
    pub fn import_restored_folders(&self, roots: &[Root]) -> Result<Vec<(PathBuf, u64)>> {
        self.write_user(|environment| backup::import_restored_folders(environment, roots))
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

/// What the lines of a dump say of each Message-ID.
///
/// One may stand there many times: anybody can send mail with the Message-ID of another message. Which line
/// is of which message is not known, so that no tag is lost only if each gets all of them.
struct Dump {
    /// The tags of all its lines, until the first of them took them: an edit for each line would take memory
    /// for the square of their count.
    of_id: HashMap<String, Option<BTreeSet<String>>>,
}

impl Dump {
    fn of(lines: &[TagLine]) -> Dump {
        let mut of_id: HashMap<String, Option<BTreeSet<String>>> = HashMap::new();
        for line in lines {
            if let Wanted::MessageId(id) = &line.wanted {
                let tags = of_id.entry(id.clone()).or_default().get_or_insert_default();
                tags.extend(line.add.iter().cloned());
            }
        }
        Dump { of_id }
    }

    /// Returns what to do for a line; nothing if an earlier one has the same Message-ID.
    fn edit(&mut self, line: &TagLine) -> std::result::Result<Option<TagEdit>, &'static str> {
        match (&line.wanted, line.remove.is_empty()) {
            (Wanted::MessageId(id), true) => {
                Ok(self.of_id.get_mut(id).and_then(Option::take).map(TagEdit::Exactly))
            }
            (Wanted::Path(_) | Wanted::Content { .. }, true) => Ok(Some(TagEdit::Exactly(line.add.clone()))),
            _ => Err("a line of a dump has tags to add, and names a message by id:"),
        }
    }
}

/// Returns whether an id has what cannot be printed as it is. notmuch cannot read it either.
fn is_breaking(message_id: &str) -> bool {
    printable::sanitise::one_line(message_id) != message_id
}

fn parsed(text: &str) -> Result<Vec<TagLine>> {
    tag_lines::parse(text).map_err(|(line, what)| refused(line, what.to_owned()))
}

fn refused(line: usize, what: String) -> Error {
    Error::TagLine { line, what }
}

/// Returns the messages that a line names.
fn hits_of(view: &View, line: &TagLine) -> Result<Vec<Hit>> {
    Ok(match &line.wanted {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_id_with_many_lines_gets_the_tags_of_all_in_one_edit() {
        let text: String = (0..2000).map(|number| format!("+t{number} -- id:a@b\n")).collect();
        let lines = parsed(&text).unwrap();
        let mut dump = Dump::of(&lines);
        let edits: Vec<TagEdit> = lines.iter().filter_map(|line| dump.edit(line).unwrap()).collect();
        assert_eq!(edits.len(), 1);
        assert_eq!(edits, [TagEdit::Exactly((0..2000).map(|number| format!("t{number}")).collect())]);
    }
}
