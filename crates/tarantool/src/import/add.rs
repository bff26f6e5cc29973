//! Adds rows to what was recovered, as if Tarantool had inserted them after the last row of its logs.
//!
//! Input: a plan, and tuples. Output: the recovered rows and the new ones. Each new row has the next number
//! (LSN) of the instance, so that the result is another state than the old one to every replica. Does not
//! know where tuples come from.

use super::definition::{NewSpace, check_name};
use crate::error::{Error, Result};
use crate::file::header::uuid_text;
use crate::file::row::{Body, GROUP_LOCAL, Row, RowKind};
use crate::msgpack::{Reader, put_array_len, put_str, put_uint};
use crate::plan::{Mode, Plan};
use crate::recover::{Recovered, recover_and_add};
use crate::space::table::SpaceTable;
use crate::space::{Engine, SPACE_INDEX, SPACE_SPACE, SPACE_SYSTEM_MAX, Space, SpaceIndex};
use crate::state::{ApplyError, State};
use crate::text::{JsonStyle, JsonWriter};
use std::path::Path;
use work::Progress;

/// The spaces with the settings and the members.
const SPACE_SCHEMA: u32 = 272;
const SPACE_CLUSTER: u32 = 320;
/// The space with the constraints of other spaces.
const SPACE_CHECKS: u32 = 364;
/// The largest number of a space.
const SPACE_ID_MAX: u32 = i32::MAX.unsigned_abs();

/// What becomes of a row whose primary key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// It is an error.
    Refuse,
    /// It replaces the old one.
    Replace,
}

/// Rows that are added to a space.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The name of the space.
    pub space: &'a str,
    /// What it is if it does not exist.
    pub new_space: Option<&'a NewSpace>,
    /// What becomes of a row whose primary key is there already.
    pub on_conflict: OnConflict,
    /// When the rows were written, in seconds since 1970.
    pub seconds: f64,
}

/// Gives the tuples of a space one by one: the function that it is called with takes each, and returns what
/// is wrong with it.
pub type EachTuple<'a> =
    dyn FnMut(&Space, &mut dyn FnMut(&[u8]) -> std::result::Result<(), String>) -> Result<()> + Send + 'a;

/// Recovers what a plan names, and adds rows to one of its spaces.
///
/// # Errors
/// As [`recover`](crate::recover()); there is no such space, or it cannot be added to; what `each_tuple`
/// returns; two rows have the same key of a unique index.
pub fn import(
    plan: &Plan,
    mode: Mode,
    (thread_count, progress): (usize, &dyn Progress),
    addition: &Addition,
    each_tuple: &mut EachTuple,
) -> Result<Recovered> {
    let path = directory(plan);
    let (mut found, mut remarks) = (None, Vec::new());
    let mut add = |state: &mut State| {
        let replica = member(state, plan);
        let seconds = addition.seconds;
        let mut adding = Adding { state, plan, replica, is_local: false, field_count: 0, seconds };
        let space = adding.space(addition)?;
        adding.is_local = space.is_local;
        adding.field_count = field_count(adding.state, space.id);
        remarks = unchecked(&space, adding.state);
        found = Some(space.clone());
        each_tuple(&space, &mut |tuple| adding.put(&space, tuple, addition.on_conflict))
    };
    let mut recovered = recover_and_add(plan, mode, thread_count, progress, &mut add)?;
    let space = found.unwrap_or_default();
    let added = recovered.tables.iter().find(|table| table.table.id == space.id);
    match added.map_or(Ok(None), |added| added.double_key(&space.indexes))? {
        Some(index) => {
            let what =
                format!("two rows of space {} have the same key of the unique index {index}", addition.space);
            Err(Error::Unsupported { path: path.to_owned(), what })
        }
        None => {
            recovered.remarks.extend(remarks);
            Ok(recovered)
        }
    }
}

fn directory(plan: &Plan) -> &Path {
    let first = plan.snapshot.iter().chain(&plan.logs).next();
    first.and_then(|file| file.path.parent()).unwrap_or(Path::new(""))
}

/// A state that gets more rows.
struct Adding<'a, 's> {
    state: &'a mut State<'s>,
    plan: &'a Plan,
    /// The number of this instance among the members.
    replica: u32,
    /// Whether the rows are of a space that is not replicated. Definitions always are.
    is_local: bool,
    /// How many fields every tuple of the space has; 0 for any number.
    field_count: u32,
    seconds: f64,
}

/// Returns the number of fields that each tuple of a space must have, 0 for any number.
fn field_count(state: &State, id: u32) -> u32 {
    let Some(tuple) = state.spaces().space_tuple(id) else { return 0 };
    let mut reader = Reader::new(tuple);
    let count = reader.array_len().and_then(|_| reader.skip_many(4)).and_then(|_| reader.uint());
    count.ok().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

/// Returns the largest number that a space ever had, as Tarantool's settings tell it.
fn max_id(state: &mut State) -> u32 {
    let mut found = 0;
    let seen = state.each_tuple(SPACE_SCHEMA, |tuple| {
        let mut reader = Reader::new(tuple);
        if reader.array_len()? >= 2 && reader.str()? == b"max_id" {
            found = u32::try_from(reader.uint()?).unwrap_or(0);
        }
        Ok(())
    });
    if seen.is_ok() { found } else { 0 }
}

/// Returns a remark for each rule of a space that its new rows were not checked by.
fn unchecked(space: &Space, state: &mut State) -> Vec<String> {
    let index = |index: &SpaceIndex| format!("index {}", index.name);
    let mut rules: Vec<String> =
        space.indexes.iter().filter(|index| index.left_out.is_some()).map(index).collect();
    // What cannot be read is no reason to refuse rows.
    let _ = state.each_tuple(SPACE_CHECKS, |tuple| {
        let mut reader = Reader::new(tuple);
        if reader.array_len()? >= 2 && reader.uint()? == u64::from(space.id) {
            rules.push(format!("constraint {}", String::from_utf8_lossy(reader.str()?)));
        }
        Ok(())
    });
    let remark = |rule| {
        format!(
            "rows were not checked by {rule}: if one does not fit it, Tarantool does not start from the \
             snapshot"
        )
    };
    rules.into_iter().map(remark).collect()
}

/// Returns the number of the instance among the members: from the space with them, or else the first one in
/// the VClock.
fn member(state: &mut State, plan: &Plan) -> u32 {
    let first = plan.snapshot.iter().chain(&plan.logs).next();
    let instance = first.map(|file| uuid_text(&file.header.instance)).unwrap_or_default();
    let mut number = None;
    let listed = state.each_tuple(SPACE_CLUSTER, |tuple| {
        let mut reader = Reader::new(tuple);
        if reader.array_len()? >= 2 {
            let (replica, uuid) = (reader.uint()?, reader.str()?);
            if uuid == instance.as_bytes() {
                number = u32::try_from(replica).ok();
            }
        }
        Ok(())
    });
    let of_clock = || state.vclock().iter().map(|(replica, _)| replica).find(|replica| *replica > 0);
    listed.ok().and(number).or_else(of_clock).unwrap_or(1)
}

impl Adding<'_, '_> {
    /// Returns the space, which is created if it does not exist.
    fn space(&mut self, addition: &Addition) -> Result<Space> {
        let name = addition.space;
        let found = self.state.spaces().named(name).map_err(|damage| self.refused(damage.what))?;
        if let (Some(_), Some(_)) = (&found, addition.new_space) {
            return Err(self.refused(&format!("there is a space {name} already")));
        }
        let space = match (found, addition.new_space) {
            (Some(space), _) => space,
            (None, Some(new)) => self.create(name, new)?,
            (None, None) => return Err(self.refused(&format!("there is no space {name}"))),
        };
        let has_key = SpaceTable::new(&space).primary().is_some();
        let why = match &space.engine {
            _ if space.id <= SPACE_SYSTEM_MAX => "is Tarantool's own",
            _ if space.is_temporary => "is temporary: no file has its rows",
            Engine::Memtx | Engine::Vinyl if space.indexes.is_empty() => {
                "has no primary index, and so no rows"
            }
            Engine::Memtx | Engine::Vinyl if !has_key => "has a primary key that cannot be checked",
            Engine::Memtx | Engine::Vinyl => return Ok(space),
            Engine::Other(_) => "has no rows of its own",
        };
        Err(self.refused(&format!("space {name} {why}")))
    }

    fn create(&mut self, name: &str, new: &NewSpace) -> Result<Space> {
        check_name(name).map_err(|what| self.refused(&what))?;
        let used = self.state.spaces().ids().max().unwrap_or(0).max(SPACE_SYSTEM_MAX).max(max_id(self.state));
        let id = used.saturating_add(1);
        if id > SPACE_ID_MAX {
            return Err(self.refused("no number is left for a new space"));
        }
        let mut tuple = Vec::new();
        new.put_space(id, name, &mut tuple);
        self.row(RowKind::Insert, SPACE_SPACE, &tuple).map_err(|what| self.refused(&what))?;
        tuple.clear();
        new.put_index(id, &mut tuple);
        self.row(RowKind::Insert, SPACE_INDEX, &tuple).map_err(|what| self.refused(&what))?;
        // The next space that Tarantool creates gets the number after this one.
        tuple.clear();
        put_array_len(&mut tuple, 2);
        put_str(&mut tuple, b"max_id");
        put_uint(&mut tuple, u64::from(id));
        self.row(RowKind::Replace, SPACE_SCHEMA, &tuple).map_err(|what| self.refused(&what))?;
        let made = self.state.spaces().get(id).map_err(|damage| self.refused(damage.what))?;
        made.ok_or_else(|| self.refused("the new space is not there"))
    }

    /// Adds a tuple.
    ///
    /// # Errors
    /// Why it cannot be added.
    fn put(
        &mut self,
        space: &Space,
        tuple: &[u8],
        on_conflict: OnConflict,
    ) -> std::result::Result<(), String> {
        let count = Reader::new(tuple).array_len().map_err(|damage| damage.what.to_owned())?;
        if self.field_count > 0 && count != self.field_count {
            return Err(format!("it has {count} fields, and tuples of the space have {}", self.field_count));
        }
        // Also says if the tuple does not fit a key: a row that is left out here would be lost.
        match (self.state.same_key(space.id, tuple)?, on_conflict) {
            (Some(old), OnConflict::Refuse) => {
                Err(format!("the primary key is there already: {}", shown(&old)))
            }
            (None, OnConflict::Refuse) => self.row(RowKind::Insert, space.id, tuple),
            (_, OnConflict::Replace) => self.row(RowKind::Replace, space.id, tuple),
        }
    }

    /// Applies a row with the next number.
    fn row(&mut self, kind: RowKind, space: u32, tuple: &[u8]) -> std::result::Result<(), String> {
        let replica = if self.is_local { 0 } else { self.replica };
        let lsn = self.state.vclock().get(replica).saturating_add(1);
        let row = Row {
            kind,
            replica,
            lsn,
            timestamp: self.seconds,
            group: if self.is_local { GROUP_LOCAL } else { 0 },
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body: Body { space: Some(space), tuple: Some(tuple), ..Body::default() },
        };
        self.state.apply_rows(std::iter::once(Ok(row))).map_err(|error| match error {
            ApplyError::Damage(damage) => damage.what.to_owned(),
            ApplyError::Rejected(rejected) => rejected.what,
        })
    }

    fn refused(&self, what: &str) -> Error {
        Error::Unsupported { path: directory(self.plan).to_owned(), what: what.to_owned() }
    }
}

fn shown(tuple: &[u8]) -> String {
    let mut out = Vec::new();
    match JsonWriter::new(JsonStyle::Readable).put(&mut Reader::new(tuple), &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => "a damaged tuple".to_owned(),
    }
}
