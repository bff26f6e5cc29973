//! Look-ups of known and unknown ids: in the store, and in two other ways that were candidates for its index.
//!
//! Input: how many ids there are. Output: lines. Does not know who measures.

use super::ids::{self, Hashed};
use super::job::tell_line;
use anyhow::{Result, ensure};
use disk::RealDisk;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use store::{ColumnSlice, Form, Segment, Value, sort_by_primary, write_segment};
use xorf::{BinaryFuse8, Filter};

/// Look-ups of one round.
const LOOKUP_COUNT: u64 = 1_000_000;
/// Rows that are made together.
const BATCH_ROWS: usize = 500_000;

/// Sorted ids, with the position of the first one for each prefix. Prefixes have enough bits for about one id
/// each.
/// about one id.
struct FanOut<'a> {
    ids: &'a [[u8; 32]],
    starts: Vec<u32>,
    shift: u32,
}

fn front(id: &[u8; 32]) -> u64 {
    id.first_chunk().map_or(0, |front| u64::from_be_bytes(*front))
}

impl<'a> FanOut<'a> {
    fn new(ids: &'a [[u8; 32]]) -> FanOut<'a> {
        let shift = 64 - ids.len().ilog2();
        let count = 1_u64 << (64 - shift);
        let starts = (0..=count).map(|begin| {
            let below = |id: &[u8; 32]| front(id) >> shift < begin;
            u32::try_from(ids.partition_point(below)).unwrap_or(u32::MAX)
        });
        FanOut { ids, starts: starts.collect(), shift }
    }

    fn find(&self, id: &[u8; 32]) -> Option<usize> {
        let begin = usize::try_from(front(id) >> self.shift).ok()?;
        let (from, to) = (self.starts[begin] as usize, self.starts[begin + 1] as usize);
        self.ids[from..to].binary_search(id).ok().map(|place| from + place)
    }
}

/// Measures all ways in turn.
pub(super) fn measure(directory: &Path, entry_count: u64, rounds: usize) -> Result<()> {
    let path = directory.join(format!("ids-{entry_count}.seg"));
    let schema = ids::schema(Hashed::Yes);
    if !path.exists() {
        let starts = (0..entry_count).step_by(BATCH_ROWS);
        let batches =
            starts.map(|start| ids::rows(&schema, start..entry_count.min(start + BATCH_ROWS as u64)));
        let batches = batches.collect::<Result<Vec<_>>>()?;
        let sources: Vec<&dyn store::Source> = batches.iter().map(|rows| rows as _).collect();
        let sorted = sort_by_primary(&schema, &sources, &|_| true)?;
        write_segment(&RealDisk, &path, &schema, &sources, (sorted.order(), Form::Plain))?;
    }
    let segment = Segment::open(&RealDisk, &path, &schema)?;
    let ColumnSlice::Id(sorted) = segment.column(0)? else { unreachable!("the first column is the id") };
    let fan_out = FanOut::new(sorted);
    let filter =
        BinaryFuse8::try_from(sorted.iter().map(front).collect::<Vec<_>>()).map_err(anyhow::Error::msg)?;
    // Spread over all ids. Unknown ids come from numbers beyond the last one.
    let step = (entry_count / LOOKUP_COUNT).max(1);
    let known: Vec<_> = (0..LOOKUP_COUNT).map(|number| ids::id(number * step % entry_count)).collect();
    let unknown: Vec<_> = (0..LOOKUP_COUNT).map(|number| ids::id(entry_count + number)).collect();
    for round in 0..=rounds {
        for (keys, which, expected, goal) in
            [(&unknown, "unknown", 0, "<= 50 ns"), (&known, "known", LOOKUP_COUNT, "<= 90 ns")]
        {
            let report = |way: &str, seconds: f64, found: u64| -> Result<()> {
                ensure!(found == expected, "{found} found by {way}, expected {expected}");
                let goal = if way.starts_with("hash") { goal } else { "" };
                let name = format!("{which} id of {entry_count}, {way}");
                if round > 0 { tell_line(&name, goal, seconds, LOOKUP_COUNT, "") } else { Ok(()) }
            };
            let count_of = |way: &str, find: &mut dyn FnMut(&[u8; 32]) -> Result<bool>| -> Result<()> {
                let begin = Instant::now();
                let mut found = 0;
                for key in keys {
                    found += u64::from(find(key)?);
                }
                report(way, begin.elapsed().as_secs_f64(), found)
            };
            let mut rows = Vec::new();
            count_of("hash index, one by one", &mut |key| {
                rows.clear();
                segment.find(0, &[Value::Id(key)], &mut rows)?;
                Ok(!rows.is_empty())
            })?;
            let begin = Instant::now();
            let mut found = Vec::new();
            segment.find_batch(0, &[ColumnSlice::Id(keys)], &mut found)?;
            report("hash index, in batches", begin.elapsed().as_secs_f64(), black_box(&found).len() as u64)?;
            count_of("primary key in order, one by one", &mut |key| {
                Ok(segment.primary_find(&[Value::Id(key)])?.is_some())
            })?;
            count_of("fan-out table, one by one", &mut |key| Ok(fan_out.find(key).is_some()))?;
            count_of("filter, then fan-out table, one by one", &mut |key| {
                Ok(filter.contains(&front(key)) && fan_out.find(key).is_some())
            })?;
        }
    }
    Ok(())
}
