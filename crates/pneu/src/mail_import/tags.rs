//! The tags of imported messages: labels that another program noted, and those that the user asks for.
//!
//! Input: labels by content, while messages are read. Output: tags, set in one commit once the messages are
//! indexed; those that stand for flags are set file by file. Messages that were there already get them, too:
//! an import that was stopped has set none, or only some that stand for flags.

use crate::action::{ImportNotes, NewTags};
use crate::error::Result;
use crate::host::Host;
use crate::tag_lines::allowed;
use crate::tagging::without_flags;
use crate::view::View;
use index::{FlagTags, Hit, Inventory, NumberSet, Order, Subdirectory, TagChange, TagEdit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use work::Progress;

/// Contents and their tags.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    /// Each set of tags once.
    sets: BTreeMap<BTreeSet<String>, usize>,
    /// The places of its sets, by content.
    by_content: HashMap<[u8; 32], Vec<usize>>,
}

impl Labelled {
    /// Notes tags of a content.
    pub(super) fn add(&mut self, sha256: [u8; 32], set: BTreeSet<String>) {
        if set.is_empty() {
            return;
        }
        let next = self.sets.len();
        let place = *self.sets.entry(set).or_insert(next);
        let places = self.by_content.entry(sha256).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
}

/// Returns the tags of a message. Labels become tags: characters that no tag has become `_`.
pub(super) fn tags_of(labels: &BTreeSet<String>, tags: &BTreeSet<String>) -> BTreeSet<String> {
    let of_labels = labels.iter().map(|label| allowed(label)).filter(|tag| index::check_tag(tag).is_ok());
    of_labels.chain(tags.iter().cloned()).collect()
}

impl Host {
    /// Sets the tags of messages that are in folders of the index, and notes which of them are new.
    ///
    /// # Errors
    /// Damage, a full disk: tags are set then, or none is; flags for which tags stand may not be.
    pub(super) fn tag_imported(
        &self,
        folders: &[PathBuf],
        labelled: &Labelled,
        (notes, progress): (&ImportNotes, &dyn Progress),
    ) -> Result<()> {
        if labelled.by_content.is_empty() {
            return Ok(());
        }
        let inventory = Inventory::open(&self.settings().environment)?;
        let mut numbers: HashMap<u32, (&[usize], [u8; 32])> = HashMap::new();
        for folder in inventory.folders().iter().filter(|folder| folders.contains(&folder.directory)) {
            for subdirectory in [Subdirectory::Cur, Subdirectory::New] {
                for file in inventory.files(folder, subdirectory)? {
                    if let Some(places) = labelled.by_content.get(&file.sha256) {
                        numbers.insert(file.message, (places, file.sha256));
                    }
                }
            }
        }
        let view = self.newest_view()?;
        let mut found = NumberSet::new(numbers.keys().max().map_or(0, |last| last.saturating_add(1)));
        numbers.keys().for_each(|number| found.insert(*number));
        let mut hits: Vec<Vec<Hit>> = vec![Vec::new(); labelled.sets.len()];
        let mut contents = HashMap::new();
        for hit in view.sorted(&found, &Order::default())?.list {
            let Some((places, sha256)) = numbers.get(&hit.number) else { continue };
            contents.insert(hit.number, *sha256);
            for place in *places {
                hits.get_mut(*place).into_iter().for_each(|hits| hits.push(hit));
            }
        }
        let edit = |(tags, place): (&BTreeSet<String>, &usize)| {
            let change = TagChange { add: tags.clone(), ..TagChange::default() };
            (hits.get(*place).cloned().unwrap_or_default(), TagEdit::Change(change))
        };
        let edits: Vec<(Vec<Hit>, TagEdit)> = labelled.sets.iter().map(edit).collect();
        let new = new_tags(&view, &edits, &contents, self.settings().configuration.flag_tags)?;
        notes.tag(self, new, progress, || {
            self.edit_tags_of((Some(notes), progress), &view, &edits).map(|_| ())
        })
    }
}

/// Returns which tags are new to which contents, those that stand for flags left out.
fn new_tags(
    view: &View,
    edits: &[(Vec<Hit>, TagEdit)],
    contents: &HashMap<u32, [u8; 32]>,
    kind: FlagTags,
) -> Result<NewTags> {
    let mut new = NewTags::new();
    for (hits, edit) in edits {
        let TagEdit::Change(TagChange { add, .. }) = edit else { continue };
        let add = without_flags(add, kind);
        for hit in hits {
            let missing = &add - &view.mailbox().tags_of(hit)?;
            if !missing.is_empty() {
                new.entry(missing).or_default().extend(contents.get(&hit.number));
            }
        }
    }
    Ok(new)
}
