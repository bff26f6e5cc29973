//! Shared by the tests of the blob index: index files in memory, a twin made of maps, and comparisons with
//! it.

mod crash;
mod examples;
mod twin;

use super::*;
use crate::file_name::{FileKind, FileName};
use crate::format::index_file::IndexFileWriter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use testkit::SimDisk;
use work::Context;

/// A pack and its blobs, as an index file names them.
type Named = (Id, Vec<PackedBlob>);

/// Index files in memory, and which of them were read.
#[derive(Debug, Default)]
struct TestFiles {
    files: Mutex<BTreeMap<Id, Vec<u8>>>,
    read: Mutex<Vec<Id>>,
}

impl IndexFiles for TestFiles {
    fn list(&self) -> Result<Vec<(Id, u64)>> {
        let files = self.files.lock().unwrap();
        // In no order.
        Ok(files.iter().rev().map(|(id, json)| (*id, json.len() as u64)).collect())
    }

    fn read(&self, id: Id) -> Result<Vec<u8>> {
        self.read.lock().unwrap().push(id);
        let found = self.files.lock().unwrap().get(&id).cloned();
        let file = FileName { kind: FileKind::Index, id };
        found.ok_or_else(|| Error::Missing { file, address: "memory".to_owned() })
    }
}

impl TestFiles {
    /// Returns the names of the files that were read since the last call.
    fn take_read(&self) -> BTreeSet<Id> {
        let read = std::mem::take(&mut *self.read.lock().unwrap());
        let count = read.len();
        let names: BTreeSet<Id> = read.into_iter().collect();
        assert_eq!(names.len(), count, "a file was read twice");
        names
    }
}

/// The contents of a repository's index files, as maps.
#[derive(Clone, Debug, Default)]
struct Twin {
    files: BTreeMap<Id, Vec<Named>>,
    /// Packs stored in this run.
    added: Vec<Named>,
}

impl Twin {
    fn files(&self) -> Arc<TestFiles> {
        let json = |packs: &Vec<Named>| {
            let mut writer = IndexFileWriter::default();
            packs.iter().for_each(|(pack, blobs)| writer.add(pack, blobs));
            writer.finish()
        };
        let files = self.files.iter().map(|(id, packs)| (*id, json(packs))).collect();
        Arc::new(TestFiles { files: Mutex::new(files), ..TestFiles::default() })
    }

    /// Returns the blobs of each pack, with the pack's name and each blob once.
    fn packs(&self) -> BTreeMap<Id, BTreeSet<PackedBlob>> {
        let mut packs: BTreeMap<Id, BTreeSet<PackedBlob>> = BTreeMap::new();
        for (pack, blobs) in self.files.values().flatten().chain(&self.added) {
            packs.entry(*pack).or_default().extend(blobs);
        }
        packs
    }

    fn locations(&self) -> BTreeMap<(BlobKind, Id), BTreeSet<Location>> {
        let mut locations: BTreeMap<(BlobKind, Id), BTreeSet<Location>> = BTreeMap::new();
        for (pack, blobs) in self.packs() {
            for blob in blobs {
                locations.entry((blob.kind, blob.id)).or_default().insert(blob.location(pack));
            }
        }
        locations
    }
}

fn named(kind: u8, number: u64) -> Id {
    let mut id = Id([kind; Id::BYTES]);
    id.0[..8].copy_from_slice(&testkit::Random::of(7, u64::from(kind), number).next_u64().to_le_bytes());
    id
}

fn blob_id(number: u64) -> Id {
    named(1, number)
}

fn pack_id(number: u64) -> Id {
    named(2, number)
}

fn file_id(number: u64) -> Id {
    named(3, number)
}

fn data(number: u64, offset: u32) -> PackedBlob {
    PackedBlob { kind: BlobKind::Data, id: blob_id(number), offset, length: 100, uncompressed_length: 200 }
}

fn tree(number: u64, offset: u32) -> PackedBlob {
    PackedBlob { kind: BlobKind::Tree, uncompressed_length: 0, ..data(number, offset) }
}

fn surroundings() -> Surroundings {
    Surroundings {
        context: Context::new(|| 0, 2),
        fill_random: |bytes| bytes.fill(9),
        sleep: |_| {},
        hostname: "tower".to_owned(),
        username: "ana".to_owned(),
        uid: 1000,
        gid: 1000,
        process: 12,
        is_alive: |_| true,
        place: None,
        started: |_| None,
    }
}

const CACHES: &str = "/cache/blobs";

fn place(disk: &SimDisk) -> IndexCache {
    IndexCache {
        disk: Arc::new(disk.clone()),
        directory: PathBuf::from(CACHES),
        repository: Id([5; Id::BYTES]),
    }
}

fn load(files: &Arc<TestFiles>, cache: Option<&IndexCache>) -> Result<BlobIndex> {
    let files: Arc<dyn IndexFiles> = Arc::<TestFiles>::clone(files);
    BlobIndex::load(&files, cache, &surroundings(), &Silent)
}

/// Compares everything that an index says with the twin.
fn check(index: &BlobIndex, twin: &Twin) {
    let locations = twin.locations();
    // Blobs of either kind that are in no pack, or only as the other kind.
    let asked: BTreeSet<Id> = (0..200).map(blob_id).chain(locations.keys().map(|(_, id)| *id)).collect();
    let asked: Vec<Id> = asked.into_iter().collect();
    for kind in [BlobKind::Data, BlobKind::Tree] {
        let mut batch = Vec::new();
        index.has_batch(kind, &asked, &mut batch).unwrap();
        for (id, in_batch) in asked.iter().zip(batch) {
            let expected: Vec<Location> =
                locations.get(&(kind, *id)).into_iter().flatten().copied().collect();
            let mut found = Vec::new();
            index.find(kind, id, &mut found).unwrap();
            assert_eq!(found, expected, "{kind:?} {id}");
            assert_eq!(
                (index.has(kind, id).unwrap(), in_batch),
                (!expected.is_empty(), !expected.is_empty())
            );
        }
    }
    check_survey(&index.survey().unwrap(), twin);
}

fn check_survey(survey: &Survey, twin: &Twin) {
    let mut entries = Vec::new();
    survey.for_each(|entry| entries.push(entry)).unwrap();
    let numbers: Vec<u32> = entries.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, (0..survey.entry_count()).collect::<Vec<_>>(), "numbers have gaps");
    let mut by_pack: BTreeMap<u32, BTreeSet<Entry>> = BTreeMap::new();
    for entry in &entries {
        assert_eq!(survey.entry(entry.number).unwrap(), *entry);
        assert!(by_pack.entry(entry.pack).or_default().insert(*entry));
        let mut numbers = Vec::new();
        survey.find(entry.blob.kind, &entry.blob.id, &mut numbers).unwrap();
        let same = |other: &&Entry| (other.blob.kind, other.blob.id) == (entry.blob.kind, entry.blob.id);
        numbers.sort_unstable();
        assert_eq!(numbers, entries.iter().filter(same).map(|other| other.number).collect::<Vec<_>>());
    }
    let expected = twin.packs();
    let packs = survey.packs().unwrap();
    assert_eq!(packs.len(), survey.pack_count() as usize);
    assert_eq!(packs.iter().map(|pack| pack.id).collect::<BTreeSet<_>>(), expected.keys().copied().collect());
    assert_eq!(packs.len(), expected.len(), "a pack has two numbers");
    for (number, pack) in (0..).zip(&packs) {
        let blobs = &expected[&pack.id];
        let mut of_pack = Vec::new();
        survey.pack_entries(number, &mut of_pack).unwrap();
        assert!(of_pack.is_sorted_by_key(|entry| entry.blob.offset));
        assert_eq!(of_pack.iter().map(|entry| entry.blob).collect::<BTreeSet<_>>(), *blobs);
        assert_eq!(of_pack.len(), blobs.len());
        assert_eq!(of_pack.into_iter().collect::<BTreeSet<_>>(), by_pack.remove(&number).unwrap_or_default());
        assert_eq!(survey.pack_number(&pack.id).unwrap(), Some(number));
        let of_header = |blob: &PackedBlob| if blob.uncompressed_length == 0 { 37 } else { 41 };
        let size: u64 = blobs.iter().map(|blob| u64::from(blob.length) + of_header(blob)).sum();
        assert_eq!(pack.size_bytes, 36 + size);
        let count = |kind| u32::try_from(blobs.iter().filter(|blob| blob.kind == kind).count()).unwrap();
        assert_eq!((pack.data_count, pack.tree_count), (count(BlobKind::Data), count(BlobKind::Tree)));
    }
    check_mentions(survey, twin, &packs);
    assert_eq!(survey.pack_number(&pack_id(1_000_000)).unwrap(), None);
}

fn check_mentions(survey: &Survey, twin: &Twin, packs: &[PackSummary]) {
    let files = survey.files().unwrap();
    assert_eq!(files.iter().copied().collect::<BTreeSet<_>>(), twin.files.keys().copied().collect());
    assert_eq!(files.len(), twin.files.len());
    let mut expected: BTreeMap<(Id, Id), BTreeSet<PackedBlob>> = BTreeMap::new();
    for (file, named) in &twin.files {
        for (pack, blobs) in named {
            expected.entry((*file, *pack)).or_default().extend(blobs);
        }
    }
    let mentions = survey.mentions().unwrap();
    assert_eq!(mentions.len(), expected.len());
    for mention in &mentions {
        let blobs = &expected[&(files[mention.file as usize], packs[mention.pack as usize].id)];
        assert_eq!(mention.blob_count as usize, blobs.len());
    }
    let all = twin.packs();
    for pack in packs {
        let of_files: Vec<_> = expected.iter().filter(|((_, id), _)| *id == pack.id).collect();
        assert_eq!(pack.file_count as usize, of_files.len());
        let is_whole =
            of_files.is_empty() || of_files.iter().any(|(_, blobs)| blobs.len() == all[&pack.id].len());
        assert_eq!(pack.is_split, !is_whole, "{}", pack.id);
    }
}

/// Returns the files of the cache's store except locks.
fn store_files(disk: &SimDisk) -> Vec<PathBuf> {
    let is_store = |path: &PathBuf| {
        path.starts_with(CACHES) && path.parent() != Some(Path::new(CACHES)) && !path.ends_with("lock")
    };
    disk.files().into_iter().filter(is_store).collect()
}
