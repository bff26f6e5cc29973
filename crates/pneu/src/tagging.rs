//! Changes tags of messages. Tags that stand for flags are changed in the names of files, by an action that
//! can be undone like any other; all others in what the user saved.
//!
//! Input: messages and changes. Output: what was done. Nothing can get out of step: a flag is stored once.

use crate::action::{ImportNotes, LeftAlone, with_flags};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{FlagTags, Hit, MUTED, NumberSet, Order, TagChange, TagEdit, TagEdits, TagSummary};
use mail::Flags;
use query::Query;
use std::collections::{BTreeMap, BTreeSet};
use work::Progress;

/// Returns the change that mutes messages. Those that come later and answer one of them are muted, too.
pub fn muting() -> TagChange {
    TagChange { add: [MUTED.to_owned()].into(), ..TagChange::default() }
}

/// Returns the change that ends what [`muting`] began.
pub fn unmuting() -> TagChange {
    TagChange { remove: [MUTED.to_owned()].into(), ..TagChange::default() }
}

/// What a change of tags did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tagged {
    /// Messages that were selected; copies count once.
    pub messages: u64,
    /// Messages whose tags changed, those that are flags included; copies count once.
    pub changed: u64,
    /// Files whose flags could not be changed.
    pub left: Vec<LeftAlone>,
}

/// A change of flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FlagChange {
    add: Flags,
    remove: Flags,
}

impl FlagChange {
    const NONE: FlagChange = FlagChange { add: Flags::NONE, remove: Flags::NONE };

    /// Returns this change and then another one, as one change.
    fn then(self, next: FlagChange) -> FlagChange {
        FlagChange {
            add: (self.add - next.remove) | next.add,
            remove: (self.remove - next.add) | next.remove,
        }
    }
}

impl Host {
    /// Changes the tags of all messages that a query matches now, and of their copies. Tags that stand for
    /// flags are changed by an action on the files: see [`Host::act`].
    ///
    /// # Errors
    /// A text that cannot be a tag; the query cannot be answered; damage, a full disk: then no tag was
    /// changed. As [`Host::act`]: then only flags were not.
    pub fn tag(&self, query: &Query, change: &TagChange) -> Result<Tagged> {
        if self.split(change).1.is_some() {
            let view = self.newest_view()?;
            return self.tag_found((&view, &view.matching(query)?), change);
        }
        let summary = self.write_user(|environment| {
            let view = self.newest_view()?;
            let found = view.matching(query)?;
            index::change_tags(environment, view.mailbox(), &found, change).map_err(Error::from)
        })?;
        Ok(summary.into())
    }

    /// Changes the tags of messages that a view found, and of their copies.
    ///
    /// # Errors
    /// As [`Host::tag`].
    pub fn tag_found(&self, (view, found): (&View, &NumberSet), change: &TagChange) -> Result<Tagged> {
        if self.split(change).1.is_some() {
            let hits = view.sorted(found, &Order::default())?.list;
            return self.edit_tags(view, &[(hits, TagEdit::Change(change.clone()))]);
        }
        let summary = self.write_user(|environment| {
            index::change_tags(environment, view.mailbox(), found, change).map_err(Error::from)
        })?;
        Ok(summary.into())
    }

    /// Edits the tags of many messages that a view found, each in its own way, and of their copies. Exact
    /// tags say nothing of flags. However many edits change flags, they are one action.
    ///
    /// # Errors
    /// As [`Host::tag`].
    pub fn edit_tags(&self, view: &View, edits: &[(Vec<Hit>, TagEdit)]) -> Result<Tagged> {
        self.edit_tags_for(view, edits, &view.settings().environment.context.cancel)
    }

    /// Edits tags as [`Host::edit_tags`] does. `progress` may end a wait for another process that writes
    /// tags.
    ///
    /// # Errors
    /// As [`Host::tag`]; [`Error::Cancelled`].
    pub fn edit_tags_for(
        &self,
        view: &View,
        edits: &[(Vec<Hit>, TagEdit)],
        progress: &dyn Progress,
    ) -> Result<Tagged> {
        self.edit_tags_of((None, progress), view, edits)
    }

    /// Edits tags as [`Host::edit_tags`] does. What an import changes of flags is a part of it.
    ///
    /// # Errors
    /// As [`Host::tag`].
    pub(crate) fn edit_tags_of(
        &self,
        (import, progress): (Option<&ImportNotes>, &dyn Progress),
        view: &View,
        edits: &[(Vec<Hit>, TagEdit)],
    ) -> Result<Tagged> {
        let kind = self.settings().configuration.flag_tags;
        let mut flags: BTreeMap<u32, FlagChange> = BTreeMap::new();
        let mut tags = Vec::with_capacity(edits.len());
        for (hits, edit) in edits {
            let edit = match edit {
                TagEdit::Exactly(tags) => TagEdit::Exactly(without_flags(tags, kind)),
                TagEdit::Change(change) => {
                    let (change, flag_change) = self.split(change);
                    if let Some(wanted) = flag_change {
                        for number in numbers(view, hits)? {
                            let before = flags.entry(number).or_insert(FlagChange::NONE);
                            *before = before.then(wanted);
                        }
                    }
                    TagEdit::Change(change)
                }
            };
            tags.push((hits.clone(), edit));
        }
        let TagEdits { messages, mut changed } = self.write_user_for(progress, |environment| {
            index::edit_tags(environment, view.mailbox(), &tags, progress)
        })?;
        let mut left = Vec::new();
        if !flags.is_empty() {
            let acted = self.flag_found(&by_change(&flags), import)?;
            left = acted.left;
            for sha256 in acted.contents {
                let hits = view.by_sha256(&sha256)?;
                changed.extend(numbers(view, hits.as_slice())?.first());
            }
        }
        Ok(Tagged { messages, changed: changed.len() as u64, left })
    }

    fn split(&self, change: &TagChange) -> (TagChange, Option<FlagChange>) {
        split(change, self.settings().configuration.flag_tags)
    }
}

impl View {
    /// Returns those of some messages whose tags a change would change, newest first; copies once.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; damage.
    pub fn to_tag(&self, found: &NumberSet, change: &TagChange) -> Result<Vec<Hit>> {
        let hits = self.mailbox().distinct_hits(self.sorted(found, &Order::default())?.list)?;
        let kind = self.flag_tags();
        // Tags of a message do not tell whether all of its files have a flag.
        let to_flag = to_flag(self, &hits, change, kind)?;
        let (add, remove) = (without_flags(&change.add, kind), without_flags(&change.remove, kind));
        let mut changed = Vec::new();
        for hit in hits {
            self.check()?;
            let tags = self.mailbox().tags_of(&hit)?;
            // A tag that is in both sets is added.
            let loses = remove.difference(&add).any(|tag| tags.contains(tag));
            if loses || !add.is_subset(&tags) || to_flag.contains(&hit.number) {
                changed.push(hit);
            }
        }
        Ok(changed)
    }
}

/// Returns the numbers of those messages of which a change of tags would change the flags of a file.
fn to_flag(view: &View, hits: &[Hit], change: &TagChange, kind: FlagTags) -> Result<BTreeSet<u32>> {
    let Some(FlagChange { add, remove }) = split(change, kind).1 else { return Ok(BTreeSet::new()) };
    let all = numbers(view, hits)?;
    let mut found = NumberSet::new(all.last().map_or(0, |last| last.saturating_add(1)));
    all.iter().for_each(|number| found.insert(*number));
    let files = view.mailbox().found_files(&found)?;
    let changed: BTreeSet<[u8; 32]> =
        files.iter().filter(|file| with_flags(file, add, remove).is_some()).map(|file| file.sha256).collect();
    let mut to_flag = BTreeSet::new();
    for sha256 in changed {
        to_flag.extend(numbers(view, view.by_sha256(&sha256)?.as_slice())?);
    }
    Ok(to_flag)
}

/// Returns a change without the tags that stand for flags, and what it does to flags, if it does.
fn split(change: &TagChange, kind: FlagTags) -> (TagChange, Option<FlagChange>) {
    let (mut add, mut remove) = (Flags::NONE, Flags::NONE);
    for (tags, is_added) in [(&change.remove, false), (&change.add, true)] {
        for tag in tags.iter().filter_map(|tag| kind.find(tag)) {
            let (to, other) =
                if tag.is_set == is_added { (&mut add, &mut remove) } else { (&mut remove, &mut add) };
            *to |= tag.flag;
            *other = *other - tag.flag;
        }
    }
    let rest = |tags| without_flags(tags, kind);
    let rest = TagChange { add: rest(&change.add), remove: rest(&change.remove) };
    (rest, (!(add | remove).is_empty()).then_some(FlagChange { add, remove }))
}

/// Returns flags with those for which some tags stand.
pub(crate) fn with_flags_of(flags: Flags, tags: &BTreeSet<String>, kind: FlagTags) -> Flags {
    let change = TagChange { add: tags.clone(), ..TagChange::default() };
    split(&change, kind).1.map_or(flags, |FlagChange { add, remove }| (flags - remove) | add)
}

/// Returns tags without those that stand for flags.
pub(crate) fn without_flags(tags: &BTreeSet<String>, kind: FlagTags) -> BTreeSet<String> {
    tags.iter().filter(|tag| kind.find(tag).is_none()).cloned().collect()
}

/// Returns each change of flags with its messages.
fn by_change(flags: &BTreeMap<u32, FlagChange>) -> Vec<((Flags, Flags), NumberSet)> {
    let bound = flags.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
    let mut changes: Vec<((Flags, Flags), NumberSet)> = Vec::new();
    for (number, FlagChange { add, remove }) in flags {
        let place = changes.iter().position(|(known, _)| *known == (*add, *remove)).unwrap_or_else(|| {
            changes.push(((*add, *remove), NumberSet::new(bound)));
            changes.len() - 1
        });
        changes.get_mut(place).into_iter().for_each(|(_, found)| found.insert(*number));
    }
    changes
}

/// Returns the numbers of messages and of their copies.
fn numbers(view: &View, hits: &[Hit]) -> Result<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for hit in hits {
        numbers.extend(view.mailbox().copies_of_hit(hit)?.iter().map(|copy| copy.number));
    }
    Ok(numbers)
}

impl From<TagSummary> for Tagged {
    fn from(TagSummary { messages, changed }: TagSummary) -> Tagged {
        Tagged { messages, changed, left: Vec::new() }
    }
}
