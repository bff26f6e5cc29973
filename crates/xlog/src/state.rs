//! What is in all spaces, after a snapshot and the logs behind it.
//!
//! Comes in: spaces and rows of a snapshot, then rows of logs, block after block. Goes out: the rows that count. Must not know files.
//!
//! Whole transactions only: their rows are carried out when the last one is there. Rows that the snapshot has already are left out.
//! Synchronous transactions, and all that come behind them, wait until they are confirmed, and are forgotten if they are rolled back.
//! What logs do to `_space`, `_index` and `_truncate` is done to the spaces, too; a space's rows get their new keys when the space is
//! used the next time, so that several indexes cost one walk.

mod batch;
mod key_table;
mod misfit;
mod open;
mod operate;
mod space_rows;
mod undo;
mod waiting;

use crate::error::Damage;
use crate::msgpack::Reader;
use crate::row::{Row, RowKind, rows};
use crate::space::{SPACE_INDEX, SPACE_SPACE, SPACE_SYSTEM_MAX, SPACE_TRUNCATE, Spaces};
use crate::vclock::VClock;
use misfit::Misfits;
use open::{OpenTransactions, check_whole};
use space_rows::{Before, SpaceRows};
use std::collections::{BTreeMap, BTreeSet};
use store::Loaded;
use waiting::{Limbo, OwnedRow, Verdict, WaitsFor};

pub use misfit::{MISFITS_MAX, Misfit, OnMisfit, Trouble};
pub use space_rows::FinishedSpace;

/// Bytes of memory of rows that wait: for the end of their transaction in a later block, or for a verdict.
pub const WAITING_BYTES_MAX: usize = 1 << 30;

/// What is in all spaces at some time.
pub struct State {
    spaces: Spaces,
    rows: BTreeMap<u32, SpaceRows>,
    /// Spaces whose definition changed since they were used.
    stale: BTreeSet<u32>,
    /// A space that is known not to be stale: the one of the row before.
    fresh: Option<u32>,
    /// Spaces whose transactions wait for replicas. Old logs say so nowhere else.
    synchronous: BTreeSet<u32>,
    vclock: VClock,
    /// Rows of transactions whose end is in a later block.
    open: OpenTransactions,
    limbo: Limbo,
    /// [`WAITING_BYTES_MAX`]; less in tests.
    waiting_bytes_max: usize,
    misfits: Misfits,
    /// How many rows told of terms, votes and leaders.
    election_count: u64,
    /// How many changes of rows without a usable key were left out, by space.
    unkeyed: BTreeMap<u32, u64>,
}

/// What there is when all logs are read.
#[derive(Debug)]
pub struct Finished {
    /// Every space that has rows that last, by number.
    pub spaces: Vec<FinishedSpace>,
    /// How far the rows reach.
    pub vclock: VClock,
    /// What is worth a sentence.
    pub remarks: Vec<String>,
    /// What was not carried out, and is in no way to be mended.
    pub left_out: Vec<String>,
    /// Rows that were left out, at most [`MISFITS_MAX`] of them.
    pub misfits: Vec<Misfit>,
}

impl State {
    /// Begins with the spaces of a snapshot, and with the time it is of.
    pub fn new(spaces: Spaces, vclock: VClock, on_misfit: OnMisfit) -> State {
        let is_synchronous =
            |id: &u32| spaces.get(*id).ok().flatten().is_some_and(|space| space.is_synchronous);
        State {
            stale: spaces.ids().collect(),
            fresh: None,
            synchronous: spaces.ids().filter(is_synchronous).collect(),
            spaces,
            rows: BTreeMap::new(),
            vclock,
            open: OpenTransactions::default(),
            limbo: Limbo::default(),
            waiting_bytes_max: WAITING_BYTES_MAX,
            misfits: Misfits::new(on_misfit),
            election_count: 0,
            unkeyed: BTreeMap::new(),
        }
    }

    /// Takes the snapshot's rows of a space, made for its table.
    ///
    /// # Errors
    /// If there is no such space, or its table is another.
    pub fn set_base(&mut self, id: u32, base: Loaded) -> Result<(), String> {
        let space = self.spaces.get(id).ok().flatten().ok_or_else(|| format!("there is no space {id}"))?;
        let schema = std::sync::Arc::clone(base.schema());
        let rows = SpaceRows::new(space, Some(base));
        if *rows.schema() != schema {
            return Err(format!("the rows of space {id} were made for another table"));
        }
        self.stale.remove(&id);
        self.rows.insert(id, rows);
        Ok(())
    }

    /// Returns the spaces as they are defined now.
    pub fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// Returns how far the rows reach.
    pub fn vclock(&self) -> &VClock {
        &self.vclock
    }

    /// Carries out the rows of a block. A transaction that does not end in it waits for the next block.
    ///
    /// # Errors
    /// What is damaged; which row does not fit, unless those are to be left out.
    pub fn apply(&mut self, payload: &[u8]) -> Result<(), Trouble> {
        self.apply_rows(rows(payload))
    }

    /// Carries out rows, as [`apply`](State::apply) does.
    ///
    /// # Errors
    /// As there.
    pub fn apply_rows<'r>(
        &mut self,
        rows: impl Iterator<Item = Result<Row<'r>, Damage>>,
    ) -> Result<(), Trouble> {
        let mut open: Vec<Row> = Vec::new();
        for row in rows {
            let row = row?;
            if row.is_commit && open.is_empty() && self.open.is_empty() {
                self.transaction(std::slice::from_ref(&row))?;
                self.check_waiting()?;
                continue;
            }
            if !self.misfits.are_refused() {
                self.mixed(&row)?;
                continue;
            }
            let tsn = open.first().map(|first| first.tsn).or(self.open.tsn());
            if tsn.is_some_and(|tsn| tsn != row.tsn) {
                open.iter().for_each(|row| self.open.push(row));
                open.clear();
                self.drop_open()?;
            }
            open.push(row);
            if row.is_commit {
                self.whole(&open)?;
                open.clear();
                self.check_waiting()?;
            }
        }
        open.iter().for_each(|row| self.open.push(row));
        self.check_waiting()
    }

    /// Takes a row up where transactions of several replicas may lie between each other.
    fn mixed(&mut self, row: &Row) -> Result<(), Trouble> {
        let without_end = self.open.take_others(row);
        self.drop_rows(&without_end)?;
        if row.is_commit {
            let first = self.open.take(row);
            let rows: Vec<Row> = first.iter().map(OwnedRow::as_row).chain([*row]).collect();
            self.transaction(&rows)?;
        } else {
            self.open.push(row);
        }
        self.check_waiting()
    }

    /// Refuses more rows that wait than any replica has let wait.
    fn check_waiting(&self) -> Result<(), Trouble> {
        if self.open.memory_bytes() + self.limbo.memory_bytes() <= self.waiting_bytes_max {
            return Ok(());
        }
        Err(Damage::new(0, "over 1 GiB of rows wait for the end of their transaction or to be confirmed")
            .into())
    }

    /// Leaves out the rows of transactions without an end.
    fn drop_open(&mut self) -> Result<(), Misfit> {
        let without_end = self.open.take_all();
        self.drop_rows(&without_end)
    }

    fn drop_rows(&mut self, without_end: &[OwnedRow]) -> Result<(), Misfit> {
        for row in without_end {
            self.misfits.add(Misfit { lsn: row.lsn(), what: "its transaction has no end".to_owned() })?;
        }
        Ok(())
    }

    /// Carries out the last rows of a transaction, and those before them if they were in blocks before.
    fn whole(&mut self, last: &[Row]) -> Result<(), Misfit> {
        if self.open.is_empty() {
            return self.transaction(last);
        }
        let first = self.open.take_all();
        let rows: Vec<Row> = first.iter().map(OwnedRow::as_row).chain(last.iter().copied()).collect();
        self.transaction(&rows)
    }

    /// Carries out a whole transaction, or lets it wait.
    fn transaction(&mut self, rows: &[Row]) -> Result<(), Misfit> {
        // Of a transaction that the snapshot has, it has all rows.
        let mut is_new = false;
        for row in rows {
            is_new |= self.vclock.follow(row.replica, row.lsn);
        }
        if !is_new {
            return Ok(());
        }
        if let Err(what) = check_whole(rows) {
            return self.leave_out(rows, rows.len() - 1, what);
        }
        self.election_count += rows.iter().filter(|row| row.kind.is_of_election()).count() as u64;
        if let [row] = rows
            && let Some(verdict) = Verdict::of(row)
        {
            return self.decide(verdict);
        }
        if let Some(waits_for) = self.waits_for(rows) {
            self.limbo.push(waits_for, rows);
            return Ok(());
        }
        self.carry_out(rows)
    }

    /// Says whether a transaction waits: by its flags, or in old logs by its spaces; or behind others that do.
    fn waits_for(&self, rows: &[Row]) -> Option<WaitsFor> {
        let is_of_synchronous = |row: &Row| row.body.space.is_some_and(|id| self.synchronous.contains(&id));
        let has_flag = |flag| rows.iter().any(|row| row.flags & flag != 0);
        if has_flag(waiting::FLAG_WAIT_ACK)
            || !self.synchronous.is_empty() && rows.iter().any(is_of_synchronous)
        {
            return Some(WaitsFor::Answer);
        }
        let waits = !self.limbo.is_empty() || has_flag(waiting::FLAG_WAIT_SYNC);
        waits.then_some(WaitsFor::Turn)
    }

    fn decide(&mut self, verdict: Verdict) -> Result<(), Misfit> {
        for transaction in self.limbo.decide(verdict) {
            self.carry_out(&transaction.iter().map(OwnedRow::as_row).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Carries out a transaction that counts: all of its rows, or none if one does not fit. One that changes definitions is carried out row
    /// by row, because what depends on them cannot be taken back.
    fn carry_out(&mut self, rows: &[Row]) -> Result<(), Misfit> {
        let is_of_system = |row: &Row| row.body.space.is_some_and(|id| id <= SPACE_SYSTEM_MAX);
        let can_be_undone = !self.misfits.are_refused() && rows.len() > 1 && !rows.iter().any(is_of_system);
        let mut undo = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            if can_be_undone {
                undo.extend(self.before(row));
            }
            let Err(what) = self.change(row) else { continue };
            if !can_be_undone {
                self.misfits.add(Misfit { lsn: row.lsn, what })?;
                continue;
            }
            undo.into_iter().rev().for_each(|undo| self.take_back(&undo));
            return self.leave_out(rows, place, &what);
        }
        Ok(())
    }

    /// Lists all rows of a transaction as left out, the one at `place` with what is wrong with it.
    fn leave_out(&mut self, rows: &[Row], place: usize, what: &str) -> Result<(), Misfit> {
        for (number, row) in rows.iter().enumerate() {
            let what = if number == place { what } else { "another row of its transaction does not fit" };
            self.misfits.add(Misfit { lsn: row.lsn, what: what.to_owned() })?;
        }
        Ok(())
    }

    fn change(&mut self, row: &Row) -> Result<(), String> {
        let id = match (row.kind, row.body.space) {
            (
                RowKind::Insert | RowKind::Replace | RowKind::Update | RowKind::Delete | RowKind::Upsert,
                Some(id),
            ) => id,
            (RowKind::InsertArrow | RowKind::DeleteRange | RowKind::Other(_), _) => {
                return Err(format!("rows of kind {} cannot be carried out", row.kind.number()));
            }
            _ => return Ok(()),
        };
        if self.fresh != Some(id) {
            self.freshen(id)?;
            self.fresh = Some(id);
        }
        let Some(rows) = self.rows.get_mut(&id) else { return Err(format!("there is no space {id}")) };
        if !rows.space.has_rows() {
            return Ok(());
        }
        let what = |damage: Damage| damage.what.to_owned();
        let missing = || "a row lacks its tuple or its key".to_owned();
        if let (RowKind::Insert | RowKind::Replace, Some(tuple)) = (row.kind, row.body.tuple) {
            // Where rows are missing, one that takes the old tuple out may be among them.
            let is_sure = row.kind == RowKind::Insert && self.misfits.are_refused();
            let before = if is_sure { Before::Nothing } else { Before::Perhaps };
            rows.put(tuple, before).map_err(what)?;
            if row.kind == RowKind::Replace && rows.table.primary().is_none() {
                *self.unkeyed.entry(id).or_default() += 1;
            }
            return if id <= SPACE_SYSTEM_MAX { self.define(id, tuple) } else { Ok(()) };
        }
        rows.settle();
        let Some(primary) = rows.table.primary() else {
            *self.unkeyed.entry(id).or_default() += 1;
            return Ok(());
        };
        // Tarantool writes down the primary key of what a request by another index changes; if that is not what stands here, it found
        // nothing to change.
        if row.body.index.is_some_and(|index| index != 0) {
            return Ok(());
        }
        let new = match row.kind {
            RowKind::Delete => {
                let key = row.body.key.ok_or_else(missing)?;
                let values = rows.read_key(key, primary).map_err(what)?;
                rows.delete(&values);
                return if id <= SPACE_SYSTEM_MAX { self.undefine(id, key) } else { Ok(()) };
            }
            RowKind::Update => {
                let (key, operations) = row.body.key.zip(row.body.tuple).ok_or_else(missing)?;
                let key = rows.read_key(key, primary).map_err(what)?;
                operate::update(rows, &key, operations, row.body.index_base)?
            }
            _ => {
                let (tuple, operations) = row.body.tuple.zip(row.body.ops).ok_or_else(missing)?;
                operate::upsert(rows, tuple, operations, row.body.index_base)?
            }
        };
        match new {
            Some(new) if id <= SPACE_SYSTEM_MAX => self.define(id, &new),
            _ => Ok(()),
        }
    }

    /// Sees to it that a space's rows have the keys of its newest definition.
    fn freshen(&mut self, id: u32) -> Result<(), String> {
        if self.stale.is_empty() || !self.stale.remove(&id) {
            return Ok(());
        }
        let Some(space) = self.spaces.get(id).map_err(|damage| damage.what)? else {
            self.rows.remove(&id);
            return Ok(());
        };
        match self.rows.get_mut(&id) {
            Some(rows) => rows.redefine(space).map_err(|damage| damage.what.to_owned()),
            None => {
                self.rows.insert(id, SpaceRows::new(space, None));
                Ok(())
            }
        }
    }

    /// Takes up what a tuple of a system space says.
    fn define(&mut self, id: u32, tuple: &[u8]) -> Result<(), String> {
        let what = |damage: Damage| damage.what.to_owned();
        let changed = match id {
            SPACE_SPACE => {
                let space = self.spaces.set_space(tuple).map_err(what)?;
                if self.spaces.get(space).map_err(what)?.is_some_and(|space| space.is_synchronous) {
                    self.synchronous.insert(space);
                } else {
                    self.synchronous.remove(&space);
                }
                space
            }
            SPACE_INDEX => self.spaces.set_index(tuple).map_err(what)?,
            SPACE_TRUNCATE => {
                let [truncated, _] = numbers(tuple).map_err(what)?;
                if let Some(rows) = self.rows.get_mut(&truncated) {
                    rows.truncate();
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.stale.insert(changed);
        self.fresh = None;
        Ok(())
    }

    /// Takes up that a tuple of a system space is gone.
    fn undefine(&mut self, id: u32, key: &[u8]) -> Result<(), String> {
        let what = |damage: Damage| damage.what.to_owned();
        let [space, index] = match id {
            SPACE_SPACE | SPACE_INDEX => numbers(key).map_err(what)?,
            _ => return Ok(()),
        };
        if id == SPACE_SPACE {
            self.spaces.remove_space(space);
            self.synchronous.remove(&space);
            self.rows.remove(&space);
        } else {
            self.spaces.remove_index(space, index);
            // Without its first index a space has no rows: another first one begins empty.
            if index == 0 {
                self.rows.get_mut(&space).into_iter().for_each(SpaceRows::truncate);
            }
        }
        self.stale.insert(space);
        self.fresh = None;
        Ok(())
    }

    /// Ends: those that still wait for an answer count.
    ///
    /// # Errors
    /// What the store says of a row that is too large; a definition that is none.
    pub fn finish(mut self) -> Result<Finished, Misfit> {
        let misfit = |what: String| Misfit { lsn: 0, what };
        let mut remarks = Vec::new();
        remarks.extend(elections_line(self.election_count));
        self.drop_open()?;
        let waiting = self.limbo.take_all();
        if !waiting.is_empty() {
            let count = waiting.len();
            remarks.push(format!(
                "{count} synchronous transactions were neither confirmed nor rolled back: they count, as in Tarantool's memory"
            ));
        }
        for transaction in waiting {
            self.carry_out(&transaction.iter().map(OwnedRow::as_row).collect::<Vec<_>>())?;
        }
        for id in self.stale.clone() {
            self.freshen(id).map_err(misfit)?;
        }
        let mut left_out = Vec::new();
        for (id, count) in &self.unkeyed {
            let name = self.rows.get(id).map_or("", |rows| &rows.space.name);
            left_out.push(format!(
                "space {name} ({id}): {count} changes in the logs left the old tuples as they were, because its primary key cannot be represented"
            ));
        }
        left_out.extend(self.misfits.unnamed_line());
        let mut spaces = Vec::new();
        for (_, mut rows) in self.rows {
            if rows.space.has_rows() && (rows.row_count() > 0 || rows.table.primary().is_some()) {
                remarks.extend(rows.table.remarks.iter().cloned());
                spaces.push(rows.finish().map_err(|error| misfit(error.to_string()))?);
            }
        }
        Ok(Finished { spaces, vclock: self.vclock, remarks, left_out, misfits: self.misfits.named })
    }
}

/// Returns what is said of rows that tell of terms, votes and leaders.
pub(crate) fn elections_line(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!(
            "{} of elections (terms, votes, leaders) and {}: what is exported begins without, as a new instance does",
            if count == 1 { "1 row tells".to_owned() } else { format!("{count} rows tell") },
            if count == 1 { "is not kept" } else { "are not kept" }
        )
    })
}

/// Reads the first two numbers of an array; 0 for one that is not there.
fn numbers(array: &[u8]) -> Result<[u32; 2], Damage> {
    let mut reader = Reader::new(array);
    let mut numbers = [0; 2];
    let count = reader.array_len()? as usize;
    for number in numbers.iter_mut().take(count) {
        let damage = reader.damage("a definition's number is over 32 bits");
        *number = u32::try_from(reader.uint()?).map_err(|_| damage)?;
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Body, put_row};

    /// A row of replica 1 that waits with these flags, or for the end of its transaction.
    fn row(lsn: i64, flags: u64, is_commit: bool) -> Vec<u8> {
        let body = [&[0x82, 0x10, 0xcd, 0x02, 0x00, 0x21, 0xc5, 0x03, 0xe8][..], &[7; 1000]].concat();
        let mut out = Vec::new();
        let head = Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 1.0,
            group: 0,
            tsn: if is_commit { lsn } else { 1 },
            is_commit,
            flags,
            body: Body { bytes: &body, ..Body::default() },
        };
        put_row(&mut out, &head);
        out
    }

    /// Returns after how many rows, each a block, no more are taken.
    fn taken(flags: u64, is_commit: bool) -> (i64, Trouble) {
        let mut state = State::new(Spaces::new(), VClock::default(), OnMisfit::LeaveOut);
        state.waiting_bytes_max = 100_000;
        for lsn in 1..1000 {
            if let Err(trouble) = state.apply(&row(lsn, flags, is_commit)) {
                return (lsn, trouble);
            }
        }
        panic!("there is no limit");
    }

    #[test]
    fn rows_that_wait_have_a_limit() {
        let one = 1003 + i64::try_from(size_of::<OwnedRow>()).expect("it is small");
        let wait = "over 1 GiB of rows wait for the end of their transaction or to be confirmed";
        for (flags, is_commit) in [(6, true), (0, false)] {
            let expected = (100_000 / one + 1, Trouble::Damage(Damage::new(0, wait)));
            assert_eq!(taken(flags, is_commit), expected);
        }
    }
}
