//! What questions are put to: a store, or a snapshot or directory of Tarantool, of which a store is made.
//!
//! Input: a path and options. Output: an open store with its spaces. A store that was made is kept in the
//! user's cache for the next question, unless that is not wanted.

use crate::cache::{Cache, Entry, Identity, Kept, identity, size_max, temporary_directory};
use crate::environment::{CacheSurroundings, cache_surroundings};
use crate::open::{self, Content};
use crate::recovery::{Recovery, RecoveryOptions, recover, recover_snapshot};
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use store::{Options, Snapshot, Table};
use tarantool::ORIGIN;
use tarantool::export::snapshot_header;
use tarantool::query::OpenIndex;
use tarantool::space::{Space, Spaces};
use tarantool::table::{SpaceTable, TableIndex};
use terminal::amount::people;
use terminal::environment;
use terminal::exit::{NotFound, Outcome};
use terminal::output::complain;

// Without a doc comment, which would become the help of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct SourceOptions {
    #[command(flatten)]
    pub recovery: RecoveryOptions,
    /// Keep no store of what is read in the user's cache, and use none
    #[arg(long)]
    pub no_cache: bool,
}

/// What questions are put to.
pub(crate) struct Source {
    /// The store.
    pub snapshot: Snapshot,
    /// Its spaces.
    pub spaces: Spaces,
    /// As the user named it.
    path: PathBuf,
    /// What the store lacks compared with the files that it was made of for this question.
    lost: Vec<String>,
    /// Where the store is kept.
    kept: Option<(Cache, Identity)>,
}

/// A space of a source.
pub(crate) struct OpenSpace {
    /// Its definition.
    pub space: Space,
    /// Its rows.
    pub table: Table,
    /// How they are found.
    pub shape: SpaceTable,
    /// The entries of those indexes that have a table for them, by number.
    entries: Vec<(u32, Table)>,
}

impl Source {
    /// Opens what a path names: a store; or a snapshot, or a directory of Tarantool, which is loaded unless
    /// the cache has a store of it.
    ///
    /// # Errors
    /// There is no such thing; it cannot be loaded, or is damaged.
    pub(crate) fn open(session: &Session, path: &Path, options: &SourceOptions) -> Result<Source> {
        let is_store = path.is_dir() && open::content(session, path)? == Content::Store || !path.exists();
        let (snapshot, kept, lost) = if is_store {
            if let Some(option) = options.recovery.given() {
                bail!("{option} is for files of Tarantool, and {} has none", path.display());
            }
            (open_store(session, path)?, None, Vec::new())
        } else {
            let (snapshot, kept) = loaded(session, path, options)?;
            let lost = tarantool::stored_lost(&snapshot);
            (snapshot, kept, lost)
        };
        for line in &lost {
            complain(format!("lost: {line}"));
        }
        let spaces = tarantool::stored_spaces(&snapshot)?;
        Ok(Source { snapshot, spaces, path: path.to_owned(), lost, kept })
    }

    /// Opens a space by its name or number.
    ///
    /// # Errors
    /// There is none, or the store is damaged.
    pub(crate) fn space(&self, name: &str) -> Result<OpenSpace> {
        let Some(space) = named(&self.spaces, name)? else {
            bail!("there is no space {name} in {}; pneu-tarantool info lists them", self.path.display());
        };
        let shape = SpaceTable::new(&space);
        let table = match tarantool::stored_table(&self.snapshot, &shape) {
            Err(tarantool::Error::Store(error)) => Err(error).with_context(|| {
                format!("space {name} is temporary, or has no primary index: no file has its rows")
            })?,
            other => other?,
        };
        let mut entries = Vec::new();
        for index in &shape.indexes {
            if let Some(table) = &index.entries {
                entries.push((index.iid, self.snapshot.table(&table.schema.name)?));
            }
        }
        Ok(OpenSpace { space, table, shape, entries })
    }

    /// Returns how a command ends that ended so: what was lost while loading counts. A kept store that turned
    /// out to be damaged is removed.
    ///
    /// # Errors
    /// That with which it ended.
    pub(crate) fn settle(&self, ended: Result<Outcome>) -> Result<Outcome> {
        match ended {
            Ok(Outcome::Done | Outcome::Nothing) if !self.lost.is_empty() => Ok(Outcome::Partly),
            Err(error) if error.is::<NotFound>() && !self.lost.is_empty() => {
                complain(error);
                Ok(Outcome::Partly)
            }
            Err(error) => {
                if let Some((cache, identity)) = &self.kept
                    && damaged_file(&error).is_some_and(|file| file.starts_with(self.snapshot.directory()))
                {
                    cache.forget(identity);
                    return Err(anyhow!(
                        "{error}; that was a store in the cache, and it is removed: try again"
                    ));
                }
                Err(error)
            }
            other => other,
        }
    }
}

/// Returns the file of a store that turned out to be damaged.
fn damaged_file(error: &anyhow::Error) -> Option<&Path> {
    let error = match error.downcast_ref() {
        Some(tarantool::Error::Store(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    match error {
        Some(store::Error::Corrupt { path, .. }) => Some(path),
        _ => None,
    }
}

fn named(spaces: &Spaces, name: &str) -> Result<Option<Space>> {
    let wrong =
        |damage: tarantool::Damage| anyhow!("the definition of space {name} is damaged: {}", damage.what);
    if let Some(space) = spaces.named(name).map_err(wrong)? {
        return Ok(Some(space));
    }
    match name.parse() {
        Ok(id) => spaces.get(id).map_err(wrong),
        Err(_) => Ok(None),
    }
}

impl OpenSpace {
    /// Returns an index by its name; the primary key if none is named.
    ///
    /// # Errors
    /// There is none; it answers no look-up.
    pub(crate) fn index(&self, name: Option<&str>) -> Result<OpenIndex<'_>> {
        let Some(name) = name else { return Ok(self.open(self.shape.primary())) };
        if let Some(index) = self.shape.index(name) {
            return Ok(self.open(Some(index)));
        }
        if let Some(remark) = self.shape.left_out(name) {
            bail!("{remark}");
        }
        let names: Vec<&str> = self.shape.indexes.iter().map(|index| index.name.as_str()).collect();
        bail!("there is no index {name}; there are: {}", names.join(", "))
    }

    fn open<'s>(&'s self, index: Option<&'s TableIndex>) -> OpenIndex<'s> {
        let is_it = |iid: u32| index.is_some_and(|index| index.iid == iid);
        let entries = self.entries.iter().find(|(iid, _)| is_it(*iid)).map(|(_, table)| table);
        OpenIndex { table: &self.table, entries, index }
    }

    /// Returns whether an index has no order.
    pub(crate) fn is_hash(&self, index: &TableIndex) -> bool {
        let schema = self.table.schema();
        let number = schema.index(&index.store_name).filter(|_| index.store_name != store::PRIMARY);
        number.is_some_and(|number| schema.indexes[number].kind == store::IndexKind::Hash)
    }

    /// Returns the tuple of a row.
    ///
    /// # Errors
    /// A file is damaged.
    pub(crate) fn tuple(&self, row: store::RowId) -> Result<&[u8]> {
        match self.table.value(self.shape.shape.tuple_column(), row)? {
            store::Value::Bytes(tuple) => Ok(tuple),
            other => bail!("the column with tuples holds {other:?}"),
        }
    }
}

/// Opens a store. A directory without one may have been meant as one of Tarantool.
fn open_store(session: &Session, path: &Path) -> Result<Snapshot> {
    if !path.try_exists().with_context(|| format!("cannot find {}", path.display()))? {
        bail!("{} does not exist", path.display());
    }
    Snapshot::open(&session.disk, path).map_err(|error| match error.is_not_found() {
        true => {
            anyhow!("{} has no files of Tarantool, and no store of \"pneu-tarantool load\"", path.display())
        }
        false => error.into(),
    })
}

/// Returns a store of the files at a path: a kept one, or one that is made now.
fn loaded(
    session: &Session,
    path: &Path,
    options: &SourceOptions,
) -> Result<(Snapshot, Option<(Cache, Identity)>)> {
    let surroundings = cache_surroundings();
    let limit = size_max(&surroundings)?;
    let cache = match options.no_cache || limit == 0 {
        true => None,
        false => Cache::open(&session.disk, &surroundings, &session.holder)?,
    };
    let Some(cache) = cache else { return Ok((load_once(session, path, options, &surroundings)?, None)) };
    let recovery = &options.recovery;
    let named = || identity(path, recovery.wal.as_deref(), recovery.vinyl_dir.as_deref(), &recovery.key());
    let before = named()?;
    let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(environment::clock_ns().unsigned_abs());
    if let Some(snapshot) = cache.find(&before, now) {
        return Ok((snapshot, Some((cache, before))));
    }
    let recovery = recovered(session, path, options)?;
    let entry = cache.begin(environment::seed())?;
    let sealed = seal(session, recovery, &entry.store());
    let snapshot = match sealed {
        Ok(snapshot) => snapshot,
        Err(error) => {
            cache.discard(&entry);
            return Err(error);
        }
    };
    // What the store holds is known only if nobody wrote meanwhile.
    match named()? == before && keep(&cache, &entry, &before, limit)? {
        true => Ok((snapshot, Some((cache, before)))),
        false => {
            cache.discard(&entry);
            Ok((snapshot, None))
        }
    }
}

/// Keeps a store. Returns whether it is kept.
fn keep(cache: &Cache, entry: &Entry, identity: &Identity, limit: u64) -> Result<bool> {
    let kept = cache.keep(entry, identity, limit)?;
    if let Kept::TooLarge(size) = kept {
        complain(format!(
            "the store of these files takes {}, and the cache may take {}: it is not kept; \
             PNEU_TARANTOOL_CACHE_MAX allows more",
            people(size),
            people(limit)
        ));
    }
    Ok(kept == Kept::Yes)
}

/// Makes a store that is gone as soon as it is open.
fn load_once(
    session: &Session,
    path: &Path,
    options: &SourceOptions,
    surroundings: &CacheSurroundings,
) -> Result<Snapshot> {
    let recovery = recovered(session, path, options)?;
    let directory = temporary_directory(&surroundings.temporary, environment::seed())?;
    let snapshot = seal(session, recovery, &directory.join("store"));
    let removed = std::fs::remove_dir_all(&directory);
    let snapshot = snapshot?;
    removed.with_context(|| format!("cannot remove {}", directory.display()))?;
    Ok(snapshot)
}

fn recovered(session: &Session, path: &Path, options: &SourceOptions) -> Result<Recovery> {
    let recovery = match path.is_dir() {
        true => recover(session, path, &options.recovery)?,
        false => recover_snapshot(session, path, &options.recovery)?,
    };
    recovery.tell_remarks();
    Ok(recovery)
}

/// Writes the rows into a store, and opens it.
fn seal(session: &Session, recovery: Recovery, directory: &Path) -> Result<Snapshot> {
    let options = Options { holder: session.holder.clone(), seed: environment::seed(), ..Options::default() };
    let mut attachments =
        vec![(ORIGIN.to_owned(), snapshot_header(&recovery.plan, &recovery.recovered).text().into_bytes())];
    attachments.extend(tarantool::lost_attachment(&recovery.lost_lines()));
    recovery.recovered.seal(&session.disk, directory, options, attachments)?;
    Ok(Snapshot::open(&session.disk, directory)?)
}
