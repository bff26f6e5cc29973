//! Compares two stores, space by space, on all cores.
//!
//! Memory: nothing for what is the same; the lines of the ranges that are being compared, a few at a time.

use super::lines::{Counts, Definition, SpaceLines, ValueWriter};
use super::merge::{Difference, merge};
use super::pairs::{Pair, is_system, pairs};
use super::ranges::{self, ranges};
use super::side::Side;
use crate::error::{Damage, Error, Result};
use crate::space::table::SpaceTable;
use crate::space::{Space, Spaces};
use crate::stored::stored_table;
use std::collections::BTreeMap;
use std::thread;
use store::{Snapshot, Table};
use work::in_order;

/// Rows of each side that are compared in one piece.
const RANGE_ROWS_MAX: usize = 1 << 16;
/// Ranges whose lines may wait for the ones before them, for each thread.
const WAITING_PER_THREAD: usize = 4;

/// What is written of the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffForm {
    /// A line for each.
    Lines,
    /// A line with counts for each space.
    Summary,
}

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// What is written.
    pub form: DiffForm,
    /// The names or numbers of the spaces that are compared; all, if there are none.
    pub spaces: Vec<String>,
    /// Whether Tarantool's own spaces are among all.
    pub shows_system: bool,
    /// How many threads may work: one, or those of the current rayon pool.
    pub thread_count: usize,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffTotals {
    /// Whether anything differs.
    pub is_different: bool,
    /// What could not be compared as usual, a line each.
    pub remarks: Vec<String>,
}

/// A store with its spaces.
type Store<'a> = (&'a Snapshot, &'a Spaces);

/// Compares two stores. Lines go to `put`, in the order of spaces, then of keys.
///
/// # Errors
/// A store is damaged; there is no such space; errors of `put`.
pub fn diff<E: From<Error>>(
    old: Store,
    new: Store,
    options: &DiffOptions,
    put: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
) -> std::result::Result<DiffTotals, E> {
    let is_named = |space: &Space, name: &String| space.name == *name || space.id.to_string() == *name;
    let is_wanted = |space: &Space| match options.spaces.is_empty() {
        true => options.shows_system || !is_system(space),
        false => options.spaces.iter().any(|name| is_named(space, name)),
    };
    let sides = ((old.1, old.0.directory()), (new.1, new.0.directory()));
    let pairs = pairs(sides.0, sides.1, is_wanted)?;
    for name in &options.spaces {
        let is_it = |pair: &Pair| pair.old.iter().chain(&pair.new).any(|space| is_named(space, name));
        if !pairs.iter().any(is_it) {
            let what = format!("it has no space {name}, nor has {}", new.0.directory().display());
            return Err(Error::Unsupported { path: old.0.directory().to_owned(), what }.into());
        }
    }
    let mut totals = DiffTotals::default();
    for pair in &pairs {
        Comparison { old, new, options }.compare(pair, &mut totals, put)?;
    }
    Ok(totals)
}

/// What is compared.
struct Comparison<'a> {
    old: Store<'a>,
    new: Store<'a>,
    options: &'a DiffOptions,
}

impl Comparison<'_> {
    /// Compares two spaces that belong together.
    fn compare<E: From<Error>>(
        &self,
        pair: &Pair,
        totals: &mut DiffTotals,
        put: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let Comparison { old, new, options } = self;
        let shapes = [&pair.old, &pair.new].map(|space| space.as_ref().map(SpaceTable::new));
        let tables = [
            table(old.0, pair.old.as_ref(), shapes[0].as_ref())?,
            table(new.0, pair.new.as_ref(), shapes[1].as_ref())?,
        ];
        let keys = shapes
            .each_ref()
            .map(|shape| shape.as_ref().map(|shape| shape.primary().map(|index| &index.parts)));
        // A side without the space has any key.
        let is_by_key = match &keys {
            [Some(one), Some(two)] => one.is_some() && one == two,
            [one, two] => one.is_none_or(|key| key.is_some()) && two.is_none_or(|key| key.is_some()),
        };
        let lines = SpaceLines::new(pair.space(), is_by_key);
        let mut text = Vec::new();
        let damaged = |damage: Damage| {
            let what =
                format!("space {}: byte {} of a tuple: {}", pair.space().name, damage.offset, damage.what);
            Error::Unsupported { path: new.0.directory().to_owned(), what }
        };
        let is_redefined = put_definitions(pair, old.1, new.1, &lines, &mut text).map_err(damaged)?;
        if options.form == DiffForm::Lines {
            put(&text)?;
        }
        if !is_by_key && tables.iter().flatten().any(|table| table.row_count() > 0) {
            totals.remarks.push(format!(
                "space {} has no primary key that both sides share: its tuples are compared as wholes",
                pair.space().name
            ));
        }
        let side = |number: usize| match (&tables[number], &shapes[number]) {
            (Some(table), Some(shape)) => Side::new(table, shape, !is_by_key),
            _ => Ok(Side::empty()),
        };
        let (one, two) = thread::scope(|scope| {
            let one = scope.spawn(|| side(0));
            let two = side(1);
            (one.join().expect("it does not panic"), two)
        });
        let work = Work { old: &one?, new: &two?, lines: &lines, form: options.form };
        let counts = work.run(options.thread_count, &damaged, put)?;
        if options.form == DiffForm::Summary {
            text.clear();
            lines.put_counts(&counts, is_redefined, &mut text);
            put(&text)?;
        }
        totals.is_different |= is_redefined || !counts.is_same();
        Ok(())
    }
}

/// Returns the table of a space, if its rows last.
fn table(snapshot: &Snapshot, space: Option<&Space>, shape: Option<&SpaceTable>) -> Result<Option<Table>> {
    let has_rows = space.is_some_and(Space::has_rows);
    shape.filter(|_| has_rows).map(|shape| stored_table(snapshot, shape)).transpose()
}

/// The names of the fields of `_space`.
const SPACE_FIELDS: &[&str] = &["id", "owner", "name", "engine", "field_count", "flags", "format"];
/// The names of the fields of `_index`.
const INDEX_FIELDS: &[&str] = &["id", "iid", "name", "type", "opts", "parts"];

/// Appends lines about definitions that differ. Returns whether any does.
fn put_definitions(
    pair: &Pair,
    old: &Spaces,
    new: &Spaces,
    lines: &SpaceLines,
    out: &mut Vec<u8>,
) -> std::result::Result<bool, Damage> {
    let mut values = ValueWriter::new();
    let ids = [&pair.old, &pair.new].map(|space| space.as_ref().map(|space| space.id));
    let sides = [old, new];
    let tuple = |number: usize| ids[number].and_then(|id| sides[number].space_tuple(id));
    let space = Definition { what: "space", names: SPACE_FIELDS, index: None, old: tuple(0), new: tuple(1) };
    let mut is_different = lines.put_definition(&space, &mut values, out)?;
    let mut indexes = BTreeMap::new();
    for (space, spaces) in [(&pair.old, old), (&pair.new, new)] {
        let Some(space) = space else { continue };
        for iid in spaces.index_ids(space.id) {
            let name = space.indexes.iter().find(|index| index.iid == iid);
            indexes.insert(iid, name.map(|index| index.name.clone()).unwrap_or_default());
        }
    }
    for (iid, name) in indexes {
        let tuple = |number: usize| ids[number].and_then(|id| sides[number].index_tuple(id, iid));
        let index = Some((iid, name));
        let index = Definition { what: "index", names: INDEX_FIELDS, index, old: tuple(0), new: tuple(1) };
        is_different |= lines.put_definition(&index, &mut values, out)?;
    }
    Ok(is_different)
}

/// The comparison of two tables.
#[derive(Clone, Copy)]
struct Work<'a> {
    old: &'a Side<'a>,
    new: &'a Side<'a>,
    lines: &'a SpaceLines,
    form: DiffForm,
}

/// Lines and counts of a range.
type Compared = (Vec<u8>, Counts);

impl Work<'_> {
    /// Compares all ranges, and passes their lines on in order.
    fn run<E: From<Error>>(
        self,
        thread_count: usize,
        damaged: &dyn Fn(Damage) -> Error,
        put: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Counts, E> {
        let ranges = ranges(self.old, self.new, RANGE_ROWS_MAX);
        let mut total = Counts::default();
        let mut take = |compared: std::result::Result<Compared, Damage>| -> std::result::Result<(), E> {
            let (text, counts) = compared.map_err(damaged)?;
            total.add(&counts);
            if text.is_empty() { Ok(()) } else { put(&text) }
        };
        if ranges.len() < 2 || thread_count < 2 {
            for range in &ranges {
                take(self.compare(range))?;
            }
            return Ok(total);
        }
        let ahead = thread_count.saturating_mul(WAITING_PER_THREAD);
        in_order(ranges.iter(), ahead, &|range| self.compare(range), &mut take)?;
        Ok(total)
    }

    fn compare(self, range: &ranges::Pair) -> std::result::Result<Compared, Damage> {
        let (mut text, mut counts) = (Vec::new(), Counts::default());
        let mut values = ValueWriter::new();
        counts.same = merge((self.old, self.new), range, |difference| {
            let is_wanted = self.form == DiffForm::Lines;
            if !is_wanted {
                text.clear();
            }
            let is_different = match difference {
                Difference::Added(_) | Difference::Removed(_) if !is_wanted => true,
                _ => self.lines.put_difference(difference, &mut values, &mut text)?,
            };
            let count = match difference {
                Difference::Added(_) => &mut counts.added,
                Difference::Removed(_) => &mut counts.removed,
                Difference::Changed(..) => &mut counts.changed,
            };
            *count += u64::from(is_different);
            Ok(is_different)
        })?;
        if self.form == DiffForm::Summary {
            text.clear();
        }
        Ok((text, counts))
    }
}
