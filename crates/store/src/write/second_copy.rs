//! The second copy of a store that cannot be rebuilt: how the two copies are kept equal, and how each is
//! repaired from the other.
//!
//! Input: a store's directory, with its second copy in `copy/`. Output: a directory that is as new as the
//! newer of the two, or a store that is whole in both. Does not depend on what the rows mean.
//!
//! The newer of the two counts. After a crash they differ by one commit at most, and if the end of one
//! journal is damaged, the other has it. A damaged copy is never the source of a copy, and a file is replaced
//! only by one that was read to its end and is sound.

use crate::commit::journal;
use crate::commit::manifest::Manifest;
use crate::commit::manifest_file::has_manifest;
use crate::error::{Error, Result};
use crate::file::mirror::Mirror;
use crate::file::names;
use crate::file::sealed::Sealed;
use crate::format::{KIND_DEAD, KIND_SEGMENT};
use crate::read::snapshot::Snapshot;
use crate::read::state::State;
use crate::read::verify::{FileDamage, verify};
use crate::schema::Schema;
use crate::write::options::Options;
use disk::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Snapshot {
    /// Opens the newest state of a store that keeps a second copy, from the newer of the two copies. A
    /// damaged store is an error, whatever the copy holds; [`repair`] repairs it.
    ///
    /// # Errors
    /// Same as [`Snapshot::open`].
    pub fn open_newer(disk: &Arc<dyn Disk>, directory: &Path) -> Result<Snapshot> {
        let second = directory.join(names::SECOND);
        match (Snapshot::open(disk, directory), Snapshot::open(disk, &second)) {
            (Ok(own), Ok(second)) => Ok(if second.version() > own.version() { second } else { own }),
            (Err(error), Ok(second)) if error.is_not_found() => Ok(second),
            // An existing file that cannot be read does not mean that there is no store.
            (Err(error), Err(damage)) if error.is_not_found() && has_manifest(&**disk, &second)? => {
                Err(damage)
            }
            (own, _) => own,
        }
    }
}

/// Returns where the second copy of the store in `directory` lies.
pub fn second_copy(directory: &Path) -> PathBuf {
    directory.join(names::SECOND)
}

/// Returns the disk to write a store on, whose lock is held. If the store is to keep a second copy, this
/// disk writes both copies, after the older one was brought up to date. A damaged copy is repaired as
/// [`repair`] does.
///
/// # Errors
/// The store is damaged, or it is missing and the copy is damaged: nothing was changed. Disk errors.
pub(crate) fn writable(disk: &Arc<dyn Disk>, directory: &Path, options: &Options) -> Result<Arc<dyn Disk>> {
    if !options.keeps_copy {
        return Ok(Arc::clone(disk));
    }
    let second = directory.join(names::SECOND);
    disk.create_directory(&second)?;
    match (Snapshot::open(disk, directory), Snapshot::open(disk, &second)) {
        (Ok(own), Ok(other)) if own.version() < other.version() => put(disk, &other.state, directory)?,
        (Ok(own), Ok(other))
            if own.version() == other.version() && own.state.manifest == other.state.manifest => {}
        (Ok(own), Ok(_)) => put(disk, &own.state, &second)?,
        (Ok(own), Err(_)) if !has_manifest(&**disk, &second)? => put(disk, &own.state, &second)?,
        (Ok(_), Err(_)) => {
            // It may hold data that the other lost without a trace.
            mend(disk, directory)?;
            put(disk, &Snapshot::open(disk, directory)?.state, &second)?;
        }
        (Err(error), Ok(other)) if error.is_not_found() => put(disk, &other.state, directory)?,
        (Err(error), other) if other.is_ok() || has_manifest(&**disk, directory)? => return Err(error),
        (Err(_), Err(error)) if has_manifest(&**disk, &second)? => return Err(error),
        (Err(_), _) => {}
    }
    Ok(Arc::new(Mirror::new(disk, directory)))
}

/// Makes the store in `to` equal to the one in `from`. Sound files in `to` are kept. The manifest is
/// written last, so that `to` always holds its old state or the new one.
fn put(disk: &Arc<dyn Disk>, from: &State, to: &Path) -> Result<()> {
    let disk = &**disk;
    for file in sealed_files(&from.manifest) {
        if file.open_in(disk, to).is_err() {
            let source = file.sound_in(disk, &from.directory)?;
            disk::publish(disk, to, &file.name, source.map())?;
        }
    }
    let journal = names::journal(from.manifest.number);
    let mut bytes = disk.read(&from.directory.join(&journal))?;
    bytes.truncate(usize::try_from(from.journal_bytes).unwrap_or(usize::MAX));
    disk::publish(disk, to, &journal, &bytes)?;
    let manifest = disk.read(&from.directory.join(names::MANIFEST))?;
    Ok(disk::publish(disk, to, names::MANIFEST, &manifest)?)
}

/// Repairs each file of a store and of its second copy from the other, and returns the remaining damage.
///
/// # Errors
/// Another process holds the lock and `options.wait` says not to wait; disk errors. Damage is not an error.
pub fn repair(disk: &Arc<dyn Disk>, directory: &Path, options: &Options) -> Result<Vec<FileDamage>> {
    let _lock = disk.lock(&directory.join(names::LOCK), &options.holder, options.wait)?;
    mend(disk, directory)?;
    Ok(damage_of(disk, directory))
}

/// Mends both, under the lock.
fn mend(disk: &Arc<dyn Disk>, directory: &Path) -> Result<()> {
    let places = [directory.to_owned(), directory.join(names::SECOND)];
    disk.create_directory(&places[1])?;
    if let Some((manifest, bytes)) = newest_manifest(&**disk, &places)? {
        for file in sealed_files(&manifest) {
            let sound = places.iter().find_map(|place| file.sound_in(&**disk, place).ok());
            if let Some(sound) = sound {
                let is_damaged = |place: &&PathBuf| file.sound_in(&**disk, place).is_err();
                for place in places.iter().filter(is_damaged) {
                    disk::publish(&**disk, place, &file.name, sound.map())?;
                }
            }
        }
        mend_journal(&**disk, &places, &manifest)?;
        for place in &places {
            put_bytes(&**disk, place, names::MANIFEST, &bytes)?;
        }
    }
    Ok(())
}

/// Returns all damage of a store and of its second copy; none if there is no store.
pub fn damage_of(disk: &Arc<dyn Disk>, directory: &Path) -> Vec<FileDamage> {
    damage_in(disk, directory, verify)
}

/// Returns what keeps a store or its second copy from being opened; not every byte is read.
pub fn cannot_open(disk: &Arc<dyn Disk>, directory: &Path) -> Vec<FileDamage> {
    damage_in(disk, directory, |_| Vec::new())
}

fn damage_in(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    verify: impl Fn(&Snapshot) -> Vec<FileDamage>,
) -> Vec<FileDamage> {
    let mut damage = Vec::new();
    for place in [directory.to_owned(), directory.join(names::SECOND)] {
        match Snapshot::open(disk, &place) {
            Ok(snapshot) => {
                let manifest = &snapshot.state.manifest;
                damage.extend(verify(&snapshot).into_iter().map(|found| with_loss(manifest, found)));
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => {
                let file = error.file().unwrap_or(&place).to_owned();
                let found = FileDamage { file, what: error.to_string() };
                let path = place.join(names::MANIFEST);
                let manifest = disk.read(&path).map_err(Error::from);
                damage.push(match manifest.and_then(|bytes| Manifest::decode(&path, &bytes)) {
                    Ok(manifest) => with_loss(&manifest, found),
                    Err(_) => found,
                });
            }
        }
    }
    damage
}

/// Adds the number of rows in a damaged file.
fn with_loss(manifest: &Manifest, damage: FileDamage) -> FileDamage {
    let name = damage.file.file_name().unwrap_or_default();
    let found = manifest.tables.iter().find_map(|table| {
        let segment = table.segments.iter().find(|segment| *name == *segment.number.segment())?;
        Some((segment.row_count.saturating_sub(segment.dead_count()), &table.schema.name))
    });
    match found {
        Some((row_count, table)) => {
            let what = format!("{}; it holds {row_count} rows of {table}", damage.what);
            FileDamage { what, ..damage }
        }
        None => damage,
    }
}

/// Returns the newest readable manifest, with its bytes. A manifest of which nothing else is there may have
/// come from another store, and counts only if there is no other. If one copy can be read, a newer version in
/// the other counts as damage: the same program writes both.
fn newest_manifest(disk: &dyn Disk, places: &[PathBuf]) -> Result<Option<(Manifest, Vec<u8>)>> {
    let mut found = Vec::new();
    let mut refused = None;
    for place in places {
        let path = place.join(names::MANIFEST);
        let Ok(bytes) = disk.read(&path) else { continue };
        match Manifest::decode(&path, &bytes) {
            Ok(manifest) => found.push((manifest, bytes)),
            Err(error @ Error::Version { .. }) => refused = Some(error),
            Err(_) => {}
        }
    }
    let rank = |(manifest, _): &(Manifest, Vec<u8>)| (is_own(disk, places, manifest), manifest.number);
    match (found.into_iter().max_by_key(rank), refused) {
        (None, Some(error)) => Err(error),
        (newest, _) => Ok(newest),
    }
}

/// Returns whether anything that a manifest names is there: its journal, damaged or not, or a sealed file.
fn is_own(disk: &dyn Disk, places: &[PathBuf], manifest: &Manifest) -> bool {
    let journal = names::journal(manifest.number);
    let begins = |bytes: Vec<u8>| journal::begins_as(&bytes, &manifest.journal_identity());
    let files = sealed_files(manifest);
    places.iter().any(|place| {
        disk.read(&place.join(&journal)).is_ok_and(begins)
            || files.iter().any(|file| disk.size(&place.join(&file.name)).is_ok())
    })
}

/// Returns the valid bytes of what may be the journal of a manifest.
fn valid_journal(manifest: &Manifest, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let schemas: Vec<Arc<Schema>> = manifest.tables.iter().map(|table| Arc::clone(&table.schema)).collect();
    let name = names::journal(manifest.number);
    let contents =
        journal::read(Path::new(&name), &bytes, &manifest.journal_identity(), &schemas, &mut |_| Ok(()))
            .ok()?;
    bytes.truncate(usize::try_from(contents.valid_bytes).ok()?);
    Some(bytes)
}

/// Gives both copies the journal with the most records: that of one copy, or both combined.
fn mend_journal(disk: &dyn Disk, places: &[PathBuf], manifest: &Manifest) -> Result<()> {
    let name = names::journal(manifest.number);
    let found: Vec<Vec<u8>> = places.iter().filter_map(|place| disk.read(&place.join(&name)).ok()).collect();
    let together = match &found[..] {
        [one, other] => Some(journal::together(one, other, &manifest.journal_identity())),
        _ => None,
    };
    let sound = found.into_iter().chain(together).filter_map(|bytes| valid_journal(manifest, bytes));
    if let Some(bytes) = sound.max_by_key(Vec::len) {
        for place in places {
            put_bytes(disk, place, &name, &bytes)?;
        }
    }
    Ok(())
}

/// Publishes a file unless it is as it should be.
fn put_bytes(disk: &dyn Disk, directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    if disk.read(&directory.join(name)).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    Ok(disk::publish(disk, directory, name, bytes)?)
}

/// A sealed file that a manifest names.
struct SealedFile {
    name: String,
    kind: u32,
    /// None in manifests that know none.
    digest: Option<u64>,
}

impl SealedFile {
    /// Opens it in a directory.
    fn open_in(&self, disk: &dyn Disk, directory: &Path) -> Result<Sealed> {
        let sealed = Sealed::open(disk, &directory.join(&self.name), self.kind)?;
        self.digest.map_or(Ok(()), |digest| sealed.expect_digest(digest))?;
        Ok(sealed)
    }

    /// Opens it in a directory and reads it to its end.
    fn sound_in(&self, disk: &dyn Disk, directory: &Path) -> Result<Sealed> {
        let sealed = self.open_in(disk, directory)?;
        match sealed.verify_all().into_iter().next() {
            Some(damage) => Err(damage),
            None => Ok(sealed),
        }
    }
}

fn sealed_files(manifest: &Manifest) -> Vec<SealedFile> {
    let known = |digest: u64| manifest.has_digests().then_some(digest);
    let mut files = Vec::new();
    for segment in manifest.tables.iter().flat_map(|table| &table.segments) {
        let (name, digest) = (segment.number.segment(), known(segment.digest));
        files.push(SealedFile { name, kind: KIND_SEGMENT, digest });
        files.extend(segment.dead.map(|dead| SealedFile {
            name: dead.number.dead(),
            kind: KIND_DEAD,
            digest: known(dead.digest),
        }));
    }
    files
}
