//! Conversations: which messages belong together, and which message answers which.
//!
//! Input: sets of messages. Output: all messages of their threads, as sets or as trees. The roots of all
//! nodes are resolved on first use. If the parents of messages do not connect a thread, its header records
//! are read as well; few threads need this.

mod contents;
mod conversation;
mod members;
mod model;
mod starts;
mod tree;

use crate::edges::Grouping;
use crate::error::Result;
use crate::rows::{self, RecordReader};
use crate::search::commit::Forest;
use crate::search::mailbox::{Duplicates, Hit, Mailbox};
use crate::search::order::is_small;
use crate::set::NumberSet;
use crate::tables::{message_id_hash, messages, threads};
use conversation::{Said, conversation};
pub use members::ThreadOrder;
use members::{Member, Slots, all_members, members, rank};
pub use model::{Origin, Thread, ThreadEntry, Threads};
use rayon::prelude::*;
pub use starts::ThreadStarts;
use store::{Table, Value};
use tree::{Item, TreePosition};

impl Mailbox {
    /// Adds all live messages of the same threads to a set.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn with_related(&self, found: &NumberSet) -> Result<NumberSet> {
        self.contents_related(found, Grouping::Conversations)
    }

    /// Returns the live messages of the conversations that some messages are in, by what each message says of
    /// itself: a message that refers to two threads joins them for [`Mailbox::with_related`], and not here.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn conversations(&self, found: &NumberSet) -> Result<NumberSet> {
        let related = self.with_related(found)?;
        let (table, nodes) = (self.message_table(), self.snapshot().table(threads::TABLE)?);
        let mut reader = RecordReader::new();
        let (mut numbers, mut said, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
        for number in related.iter() {
            self.check_cancelled()?;
            let Some(hit) = self.hit(number)? else { continue };
            let (part, row) = (rows::part_of(table, hit.row), hit.row.row);
            let node = part.u32_at(messages::NODE, row)?;
            let mut references = Vec::new();
            for id in &rows::rest(part, row, &mut reader, self.directory())?.references {
                references.extend(node_of(&nodes, id)?.filter(|other| *other != node));
            }
            if found.contains(number) {
                chosen.push(said.len());
            }
            numbers.push(number);
            said.push(Said { node, references });
        }
        let mut all = self.empty();
        let places = conversation(&said, &chosen);
        places.into_iter().filter_map(|place| numbers.get(place)).for_each(|number| all.insert(*number));
        Ok(all)
    }

    /// Returns the complete conversations of the messages in a set.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn threads(&self, found: &NumberSet, order: &ThreadOrder) -> Result<Threads> {
        let roots = self.forest()?;
        let wanted = self.roots_of(found, roots)?;
        let Gathered { related, shown } = self.gathered(found, &wanted, order.duplicates)?;
        let slots = Slots::of(&wanted);
        let ranks = rank(self, &shown, (roots, &slots), order)?;
        let mut members = members(self, &related, (roots, &slots), &ranks.of_slot)?;
        members.par_sort_unstable_by_key(|member| (member.rank, member.hit.date, member.sha256));
        let groups: Vec<&[Member]> = members.chunk_by(|a, b| a.rank == b.rank).collect();
        let sets = Sets { found, shown: &shown };
        let arranged = groups.par_iter().map(|group| {
            self.check_cancelled()?;
            arrange(self, group, &sets)
        });
        let list = arranged.collect::<Result<_>>()?;
        Ok(Threads { total: ranks.total, list })
    }

    /// Returns the complete conversations of some hits.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn threads_of(&self, hits: &[Hit], order: &ThreadOrder) -> Result<Threads> {
        self.threads(&self.set_of(hits), order)
    }

    /// Returns the first messages of the conversations of some hits, as [`Mailbox::threads`] shows these.
    ///
    /// # Errors
    /// Damage in the store.
    pub fn thread_starts(&self, hits: &[Hit]) -> Result<ThreadStarts> {
        let found = self.set_of(hits);
        let roots = self.forest()?;
        let wanted = self.roots_of(&found, roots)?;
        let Gathered { related, shown } = self.gathered(&found, &wanted, Duplicates::default())?;
        let mut members = all_members(self, &related, roots)?;
        members.par_sort_unstable_by_key(|member| (member.rank, member.hit.date, member.sha256));
        let groups: Vec<&[Member]> =
            members.chunk_by(|a, b| a.rank == b.rank).filter(|group| group.len() > 1).collect();
        let sets = Sets { found: &found, shown: &shown };
        let arranged = groups.par_iter().map(|group| {
            self.check_cancelled()?;
            arrange(self, group, &sets)
        });
        Ok(ThreadStarts::new(&arranged.collect::<Result<Vec<_>>>()?))
    }

    fn set_of(&self, hits: &[Hit]) -> NumberSet {
        let mut found = self.empty();
        hits.iter().for_each(|hit| found.insert(hit.number));
        found
    }

    /// Returns the messages of the threads with these roots.
    fn gathered(&self, found: &NumberSet, wanted: &NumberSet, duplicates: Duplicates) -> Result<Gathered> {
        let mut related = self.of_roots(wanted, self.forest()?)?;
        let live = self.live()?;
        let mut shown = related.clone();
        shown.and(live);
        let shown = self.distinct(&shown, duplicates, Some(found))?;
        // Absent messages are not shown, but still connect the messages that answer each other.
        related.minus(live);
        related.or(&shown);
        Ok(Gathered { related, shown })
    }

    /// Returns the live messages of the thread that a Message-ID belongs to, whether or not there is a
    /// message with that id.
    pub(super) fn thread_of_id(&self, id: &str) -> Result<NumberSet> {
        let table = self.snapshot().table(threads::TABLE)?;
        let roots = self.forest()?;
        let mut wanted = NumberSet::new(roots.bound());
        if let Some(node) = node_of(&table, id)? {
            wanted.insert(roots.of(node));
        }
        self.live_of_roots(&wanted, roots)
    }

    /// Returns the roots of the threads of the messages in a set.
    fn roots_of(&self, found: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut wanted = NumberSet::new(roots.bound());
        let table = self.message_table();
        if is_small(found, table.row_count()) {
            for number in found.iter() {
                let Some(hit) = self.hit(number)? else { continue };
                wanted.insert(roots.of(rows::part_of(table, hit.row).u32_at(messages::NODE, hit.row.row)?));
            }
            return Ok(wanted);
        }
        self.each_node(|number, node| {
            if found.contains(number) {
                wanted.insert(roots.of(node));
            }
        })?;
        Ok(wanted)
    }

    fn of_roots(&self, wanted: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut related = self.empty();
        let members = roots.members(wanted);
        self.each_node(|number, node| {
            if members.contains(node) {
                related.insert(number);
            }
        })?;
        Ok(related)
    }

    fn live_of_roots(&self, wanted: &NumberSet, roots: &Forest) -> Result<NumberSet> {
        let mut related = self.of_roots(wanted, roots)?;
        related.and(self.live()?);
        Ok(related)
    }

    fn each_node(&self, mut visit: impl FnMut(u32, u32)) -> Result<()> {
        for part in self.message_table().parts() {
            self.check_cancelled()?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            let nodes = part.u32s(messages::NODE, 0..part.row_count())?;
            for (_, (number, node)) in part.live_values(numbers.iter().zip(nodes.iter())) {
                visit(*number, *node);
            }
        }
        Ok(())
    }
}

/// The messages of some threads.
struct Gathered {
    /// Those that are shown, and those that only connect them.
    related: NumberSet,
    shown: NumberSet,
}

/// Which messages were found, and which are shown.
struct Sets<'a> {
    found: &'a NumberSet,
    shown: &'a NumberSet,
}

/// Makes a tree of the messages of one thread, which come sorted by date.
fn arrange(mailbox: &Mailbox, members: &[Member], sets: &Sets<'_>) -> Result<Thread> {
    let item = |member: &Member| {
        let is_shown = sets.shown.contains(member.hit.number);
        Item { node: member.node, parent: member.parent, is_shown }
    };
    let items: Vec<Item> = members.iter().map(item).collect();
    let mut places = tree::by_parents(&items);
    // If several messages have no parent here, the references of the other messages may connect them.
    if places.iter().filter(|place| place.depth == 0).count() > 1 {
        let chains = members.iter().map(|member| chain(mailbox, member)).collect::<Result<Vec<_>>>()?;
        places = tree::by_chains(&items, &chains);
    }
    let entry = |place: &TreePosition| {
        let hit = members[place.index].hit;
        let origin = if sets.found.contains(hit.number) { Origin::Found } else { Origin::Related };
        ThreadEntry { hit, depth: place.depth, origin }
    };
    Ok(Thread { entries: places.iter().map(entry).collect() })
}

/// Returns the nodes that a message refers to, oldest first. The last one is the message that it answers.
fn chain(mailbox: &Mailbox, member: &Member) -> Result<Vec<u32>> {
    let table = mailbox.message_table();
    let part = rows::part_of(table, member.hit.row);
    let rest = rows::rest(part, member.hit.row.row, &mut RecordReader::new(), mailbox.directory())?;
    let nodes = mailbox.snapshot().table(threads::TABLE)?;
    let mut chain = Vec::with_capacity(rest.references.len());
    for id in &rest.references {
        chain.extend(node_of(&nodes, id)?);
    }
    Ok(chain)
}

fn node_of(table: &Table, id: &str) -> Result<Option<u32>> {
    let row = table.get(threads::BY_MESSAGE_ID, &[Value::U64(message_id_hash(id))])?;
    row.map(|row| Ok(rows::part_of(table, row).u32_at(threads::NODE, row.row)?)).transpose()
}
