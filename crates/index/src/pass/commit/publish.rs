//! Publishes what a batch of a pass has found out, on top of whatever others have committed meanwhile, and
//! while the next batch is read.
//!
//! Input: files with the numbers of their messages, parsed messages, segments of text. Output: a commit. All
//! of it is put together on the newest commit without the writer's lock. If another process commits before
//! us, it is put together anew; the files are not read and the messages are not parsed again. Must not know
//! how files are read.
//!
//! [`Publisher`] publishes one batch after another. [`Publishing`] has it do so on a thread of its own, as
//! soon as the pipeline has parsed the last message of a batch.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::first;
use crate::open;
use crate::pass::commit::batch::{Batch, Made};
use crate::pass::commit::findings::{Counts, Findings, Unread};
use crate::pass::commit::holder::Holder;
use crate::pass::commit::link::{Joins, Linked, Linker, Links};
use crate::pass::commit::number::number_of;
use crate::pass::commit::parse::Parsed;
use crate::pass::commit::people::People;
use crate::pass::commit::pipeline::Pipeline;
use crate::pass::commit::planned::{Planned, RootChange, folders_of, stat_of};
use crate::pass::options::UpdateOptions;
use crate::pass::plan::{Candidate, PlannedFolder};
use crate::record::decode_correspondents;
use crate::rows;
use crate::state::TextSegment;
use crate::tables::{NO_DATE, absent, contacts, copies, messages, threads};
use crate::text;
use disk::Wait;
use mail::{FileStat, Stamp};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use store::{Committed, Rows, Snapshot, Transaction, Value, Version, Writer};
use work::{Progress, on_threads};

/// How often the coordinator looks whether a batch is published, or why not.
const LOOK: Duration = Duration::from_millis(5);

/// Publishes a batch while the next one is read.
pub(in crate::pass) struct Publishing<'scope, 'env, 'a> {
    pub(in crate::pass) scope: &'scope Scope<'scope, 'env>,
    pub(in crate::pass) observer: &'scope dyn Progress,
    pub(in crate::pass) holder: &'scope Holder,
    pub(in crate::pass) thread_count: usize,
    pub(in crate::pass) pipeline: &'scope Pipeline<'scope>,
    /// Who publishes, when there is nothing to publish.
    pub(in crate::pass) idle: Option<Publisher<'a>>,
    pub(in crate::pass) busy: Option<Busy<'scope, 'a>>,
}

/// A batch that is being published.
pub(in crate::pass) enum Busy<'scope, 'a> {
    /// By a thread.
    Thread(ScopedJoinHandle<'scope, Done<'a>>),
    /// By nobody yet: whoever waits for it does it. Without workers there is nothing else to do meanwhile.
    Waiter(Box<dyn FnOnce() -> Done<'a> + 'scope>),
}

/// Who has published a batch, and what.
pub(in crate::pass) type Done<'a> = (Publisher<'a>, Result<Option<Published>>);

/// A batch that is published.
pub(in crate::pass) struct Published {
    /// The commit.
    pub(in crate::pass) snapshot: Snapshot,
    /// Numbers that were set aside.
    pub(in crate::pass) granted: Range<u32>,
    pub(in crate::pass) counts: Counts,
    /// The writer, if there was something to write, and files are removed afterwards.
    pub(in crate::pass) writer: Option<Writer>,
}

/// Publishes the batches of one pass.
pub(in crate::pass) struct Publisher<'a> {
    environment: &'a Environment,
    options: &'a UpdateOptions,
    plan: Planned<'a>,
    /// The plan's commit, or our own last one.
    last: Snapshot,
    /// The commit that the plan or our own last batch is based on. Newer commits come from other processes.
    trusted: Version,
    /// Messages of which others added the content while we read it: our number, and theirs.
    aliases: HashMap<u32, u32>,
    /// Folders with files whose message others removed while we read them.
    unreadable: HashSet<usize>,
}

/// A commit to be made.
struct Draft {
    /// `None` if there is nothing to write.
    transaction: Option<Transaction>,
    granted: Range<u32>,
    counts: Counts,
    is_trusted: bool,
    aliases: HashMap<u32, u32>,
    unreadable: HashSet<usize>,
}

impl<'scope, 'a: 'scope> Publishing<'scope, '_, 'a> {
    /// Returns whether the last batch is published.
    pub(in crate::pass) fn is_idle(&self) -> bool {
        match &self.busy {
            Some(Busy::Thread(thread)) => thread.is_finished(),
            Some(Busy::Waiter(_)) => false,
            None => true,
        }
    }

    /// Begins to publish a batch as soon as it is whole. The one before must be published.
    pub(in crate::pass) fn begin(&mut self, batch: u64, findings: Findings) {
        let Some(mut publisher) = self.idle.take() else { unreachable!("the batch before is published") };
        let (pipeline, is_last) = (self.pipeline, findings.is_last());
        let publish = move |observer: &dyn Progress| {
            let mut findings = findings;
            let published = match pipeline.take_batch(batch) {
                Some((messages, text)) => {
                    (findings.messages, findings.text) = (messages, text);
                    publisher.publish(&findings, observer)
                }
                // The pipeline says why.
                None => Ok(None),
            };
            if !matches!(published, Ok(Some(_))) {
                pipeline.give_up();
            }
            (publisher, published)
        };
        self.busy = Some(if is_last || !pipeline.has_workers() {
            let observer = self.observer;
            Busy::Waiter(Box::new(move || publish(observer)))
        } else {
            let (holder, thread_count) = (self.holder, self.thread_count);
            Busy::Thread(self.scope.spawn(move || on_threads(thread_count, || publish(holder))))
        });
    }

    /// Waits until the batch is published. Returns `None` if the pass must begin again.
    pub(in crate::pass) fn wait(&mut self) -> Result<Option<Published>> {
        let (publisher, published) = match self.busy.take() {
            Some(Busy::Thread(thread)) => {
                while !thread.is_finished() {
                    if let Some(holder) = self.holder.take() {
                        self.observer.waiting(&holder);
                    }
                    std::thread::sleep(LOOK);
                }
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
            Some(Busy::Waiter(publish)) => publish(),
            None => return Ok(None),
        };
        self.idle = Some(publisher);
        let published = published?;
        if published.is_none() {
            self.pipeline.check()?;
        }
        Ok(published)
    }
}

impl<'a> Publisher<'a> {
    /// Returns a publisher for a plan that was made on `snapshot`.
    pub(in crate::pass) fn new(
        environment: &'a Environment,
        options: &'a UpdateOptions,
        plan: Planned<'a>,
        snapshot: &Snapshot,
    ) -> Publisher<'a> {
        Publisher {
            environment,
            options,
            plan,
            last: snapshot.clone(),
            trusted: snapshot.version(),
            aliases: HashMap::new(),
            unreadable: HashSet::new(),
        }
    }

    /// Publishes a batch. Its files of text must be synced, but not their names. The observer is told if
    /// another process has the lock. Returns `None` if the pass must begin again, as its numbers, or the last
    /// places for small text, were given to others or the index was replaced.
    ///
    /// # Errors
    /// Damage, a full disk. Nothing of the batch is then published.
    pub(in crate::pass) fn publish(
        &mut self,
        findings: &Findings,
        observer: &dyn Progress,
    ) -> Result<Option<Published>> {
        let newest = || Ok(self.last.newest()?);
        let known = open::state(&newest()?, &self.environment.index_directory())?;
        let text = text::settle(self.environment, &known, &findings.text)?;
        let make = |snapshot: &Snapshot| {
            let mut draft = self.draft(snapshot, findings, &text)?;
            Ok((draft.as_mut().and_then(|draft| draft.transaction.take()), draft))
        };
        let options = open::options(self.environment, Wait::Block);
        let take_writer = || open::writer(self.environment, observer);
        let Committed { snapshot, writer, made } =
            store::commit_on_newest(&options, newest, make, take_writer)?;
        let Some(draft) = made else { return Ok(None) };
        // The plan does not include what another process committed. After such a commit, our own ones are not
        // trusted either.
        if draft.is_trusted {
            self.trusted = snapshot.version();
        }
        self.aliases = draft.aliases;
        self.unreadable = draft.unreadable;
        self.plan.roots = RootChange::NONE;
        self.last = snapshot.clone();
        // Nobody shall wait for us while the next batch is read.
        let writer = writer.filter(|_| findings.cleans_up);
        Ok(Some(Published { snapshot, granted: draft.granted, counts: draft.counts, writer }))
    }

    /// Puts the commit together on top of `snapshot`. Returns `None` if that cannot be done.
    fn draft(&self, snapshot: &Snapshot, findings: &Findings, text: &[TextSegment]) -> Result<Option<Draft>> {
        let mut batch = Batch::begin(snapshot, self.environment, self.plan, self.trusted)?;
        let is_trusted = batch.is_trusted();
        // An index that was deleted and made again counts its commits from the beginning.
        if !snapshot.continues(&self.last) {
            return Ok(None);
        }
        let mut counts = Counts::default();
        change_unread(&mut batch, self.plan.folders, &findings.unread, &mut counts)?;

        let mut aliases = self.aliases.clone();
        if !is_trusted {
            for message in &findings.messages {
                if let Some(known) = number_of(snapshot, &message.sha256)? {
                    aliases.insert(message.number, known);
                }
            }
        }
        let new: Vec<&Parsed> =
            findings.messages.iter().filter(|message| !aliases.contains_key(&message.number)).collect();
        counts.new_messages = new.len() as u64;
        if !new.is_empty() || findings.wanted_count > 0 {
            batch.read_with_headers(&self.options.headers)?;
        }
        if !batch.claim(&findings.messages, &new, findings.claim) {
            return Ok(None);
        }
        let granted = batch.set_aside(findings.wanted_count)?;

        let mut unreadable = self.unreadable.clone();
        for &(place, number, ref stat) in &findings.files {
            let Some(candidate) = self.plan.files.get(place) else { continue };
            let number = aliases.get(&number).copied().unwrap_or(number);
            if batch.has_message(number)? {
                note(&mut batch, candidate, (number, stat), &mut counts)?;
            } else {
                // It was forgotten while we read the file, which the next pass reads again.
                unreadable.extend(folders_of(candidate, self.plan.folders));
            }
        }
        if let Some(end) = &findings.end {
            for row in self.plan.gone.iter().filter(|_| end.is_complete) {
                counts.gone += u64::from(batch.remove(row)?);
            }
            let all = end.unreadable.union(&unreadable).copied().collect();
            finish_folders(&mut batch, self.plan.folders, &all, end.is_complete)?;
        }
        let mut made = self.rows(snapshot, &batch, &new, findings)?;
        // Without a new message, nobody needs their text.
        made.text = if new.is_empty() { Vec::new() } else { text.to_vec() };
        let Some(transaction) = batch.finish(made)? else { return Ok(None) };
        let transaction = Some(transaction).filter(|transaction| !transaction.is_empty());
        Ok(Some(Draft { transaction, granted, counts, is_trusted, aliases, unreadable }))
    }

    /// Returns the rows of new messages, and of their threads, copies and people.
    fn rows(
        &self,
        snapshot: &Snapshot,
        batch: &Batch<'_>,
        new: &[&Parsed],
        findings: &Findings,
    ) -> Result<Made> {
        // Both take time, and the last batch of a pass has nothing else to wait for.
        let (people, linked) =
            rayon::join(|| people_of(snapshot, new), || self.link(snapshot, batch, new, findings));
        let (mut rows, Linked { threads, copies, next_node, has_joined }) = linked?;
        rows.extend([(threads::TABLE, threads), (copies::TABLE, copies), (contacts::TABLE, people?)]);
        rows.retain(|(_, rows)| !rows.is_empty());
        Ok(Made { rows, text: Vec::new(), next_node, has_joined, are_archived: findings.are_absent })
    }

    /// Returns the rows of new messages, and those of their threads and copies.
    fn link(
        &self,
        snapshot: &Snapshot,
        batch: &Batch<'_>,
        new: &[&Parsed],
        findings: &Findings,
    ) -> Result<(Vec<(&'static str, Rows)>, Linked)> {
        let is_first = first::is_incomplete(self.environment)?;
        let joins = if is_first { Joins::Early } else { Joins::Late };
        let mut linker = Linker::new(snapshot, batch.next_node(), joins)?;
        let mut message_rows = rows::empty(snapshot, messages::TABLE)?;
        let mut absent_rows = rows::empty(snapshot, absent::TABLE)?;
        let names = [batch.named_dates(), &findings.named];
        for message in new {
            let links = linker.link(message.number, &message.ids)?;
            let in_names = || names.map(|names| names.date(message.number)).into_iter();
            let named = || in_names().filter(|date| *date != NO_DATE).min().unwrap_or(NO_DATE);
            let date = message.date_seconds.unwrap_or_else(named);
            push_message(&mut message_rows, message, &links, date)?;
            if findings.are_absent {
                rows::push_absent(&mut absent_rows, message.number, self.environment.now_seconds())?;
            }
        }
        let rows = vec![(messages::TABLE, message_rows), (absent::TABLE, absent_rows)];
        Ok((rows, linker.finish()?))
    }
}

/// Returns the rows of the people who wrote and got new messages.
fn people_of(snapshot: &Snapshot, new: &[&Parsed]) -> Result<Rows> {
    let mut people = People::new(snapshot)?;
    for message in new {
        let correspondents = decode_correspondents(&message.rest)
            .ok_or(Error::Inconsistent { what: "a new message has addresses that cannot be read" })?;
        people.note(message.date_seconds, &correspondents);
    }
    people.finish()
}

fn push_message(rows: &mut Rows, message: &Parsed, links: &Links, date: i64) -> Result<()> {
    let [copy_low, copy_high] = message.ids.copy;
    Ok(rows.push(&[
        Value::U32(message.number),
        Value::Id(&message.sha256),
        Value::U64(message.ids.own),
        Value::U64(copy_low),
        Value::U64(copy_high),
        Value::I64(date),
        Value::U64(message.size_bytes),
        Value::U16(message.derived),
        Value::U32(links.node),
        Value::U32(links.parent),
        Value::Bytes(&message.line),
        Value::Bytes(&message.rest),
    ])?)
}

/// Changes the rows of files that need not be read.
fn change_unread(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    unread: &Unread,
    counts: &mut Counts,
) -> Result<()> {
    for entry in &unread.moved {
        counts.moved += u64::from(batch.change(&entry.old, &entry.new, None)?);
    }
    for (row, found, stat) in &unread.restated {
        counts.changed += u64::from(batch.change(row, found, Some(stat))?);
    }
    for candidate in &unread.whole {
        if let (Some(old), stat) = (&candidate.replaces, stat_of(folders, candidate)) {
            counts.moved += u64::from(batch.change(old, &candidate.found, stat.as_ref())?);
        }
    }
    Ok(())
}

/// Records a file that was read.
fn note(
    batch: &mut Batch<'_>,
    candidate: &Candidate,
    read: (u32, &FileStat),
    counts: &mut Counts,
) -> Result<()> {
    let is_done = match &candidate.replaces {
        Some(old) => {
            let is_done = batch.replace(old, &candidate.found, read)?;
            counts.changed += u64::from(is_done);
            is_done
        }
        None => {
            let is_done = batch.add(&candidate.found, read)?;
            counts.added += u64::from(is_done);
            is_done
        }
    };
    if !is_done {
        // Another writer was faster, so the message may have no file.
        batch.left_over(read.0);
    }
    Ok(())
}

/// Stores the state of folders. A stamp means that everything in the directory is done.
fn finish_folders(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    unreadable: &HashSet<usize>,
    is_complete: bool,
) -> Result<()> {
    for (index, folder) in folders.iter().enumerate() {
        let has_rest = unreadable.contains(&index);
        if !folder.is_changed && !has_rest {
            continue;
        }
        // If another writer was faster, its changes and our state may not match.
        let is_whole = is_complete && !has_rest && batch.is_trusted();
        let known = folder.row.directories.map(|directory| Some(directory.stamp).filter(|_| has_rest));
        let stamps = [0, 1].map(|place| folder.stamps[place].or(known[place]));
        let stamps = if is_whole { stamps } else { stamps.map(|stamp| stamp.map(Stamp::without_times)) };
        batch.finish_folder(index, stamps, is_complete && folder.is_gone)?;
    }
    Ok(())
}
