//! Single cases: damaged index files, other repositories' caches, locks, directories that cannot be written.

use super::*;
use testkit::sim_disk::Refusal;

fn small() -> Twin {
    let packs = [
        (file_id(0), vec![(pack_id(0), vec![data(1, 0), data(2, 100)]), (pack_id(1), vec![tree(3, 0)])]),
        (file_id(1), vec![(pack_id(2), vec![data(2, 0), data(4, 100)])]),
        (file_id(2), vec![]),
    ];
    Twin { files: packs.into_iter().collect(), added: Vec::new() }
}

/// Loads with a cache, and says how many files were read.
fn load_and_check(twin: &Twin, disk: &SimDisk) -> usize {
    let files = twin.files();
    let index = load(&files, Some(&place(disk))).unwrap();
    let count = files.take_read().len();
    check(&index, twin);
    count
}

#[test]
fn index_files_are_read_once() {
    let disk = SimDisk::new(1);
    assert_eq!(load_and_check(&small(), &disk), 3);
    assert_eq!(load_and_check(&small(), &disk), 0);
    let tag = disk::Disk::read(&disk, &Path::new(CACHES).join("CACHEDIR.TAG")).unwrap();
    assert!(tag.starts_with(b"Signature: 8a477f597d28d172789f06886806bc55\n"));
}

#[test]
fn a_damaged_index_file_is_named_and_the_others_can_be_had() {
    let disk = SimDisk::new(1);
    let twin = small();
    let files = twin.files();
    files.files.lock().unwrap().insert(file_id(1), b"{\"packs\":[{}]}".to_vec());
    let error = load(&files, Some(&place(&disk))).unwrap_err();
    let name = format!("index/{}", file_id(1));
    assert!(error.to_string().starts_with(&format!("{name} is damaged: ")), "{error}");

    let as_files: Arc<dyn IndexFiles> = Arc::<TestFiles>::clone(&files);
    let mut damaged = Vec::new();
    let index = BlobIndex::load_sound(&as_files, Some(&place(&disk)), &surroundings(), &Silent, &mut damaged)
        .unwrap();
    assert!(damaged.len() == 1 && damaged[0].to_string().starts_with(&name), "{damaged:?}");
    let mut sound = twin.clone();
    sound.files.remove(&file_id(1));
    check(&index, &sound);

    // It does not count as read: loading still fails, and succeeds once the file is intact again.
    load(&files, Some(&place(&disk))).unwrap_err();
    assert_eq!(load_and_check(&twin, &disk), 1);
}

#[test]
fn a_cache_of_another_repository_is_not_used() {
    let disk = SimDisk::new(1);
    load_and_check(&small(), &disk);
    let other = IndexCache { repository: Id([6; Id::BYTES]), ..place(&disk) };
    let files = small().files();
    load(&files, Some(&other)).unwrap();
    assert_eq!(files.take_read().len(), 3);
    // The cache of one repository is copied over that of the other.
    for path in store_files(&disk) {
        if path.starts_with(Path::new(CACHES).join(other.repository.to_string())) {
            disk::Disk::remove(&disk, &path).unwrap();
        }
    }
    for path in store_files(&disk) {
        let bytes = disk::Disk::read(&disk, &path).unwrap();
        let target = Path::new(CACHES).join(other.repository.to_string()).join(path.file_name().unwrap());
        disk.put(&target, &bytes);
    }
    let index = load(&files, Some(&other)).unwrap();
    assert_eq!(files.take_read().len(), 3);
    check(&index, &small());
}

#[test]
fn nobody_waits_for_a_cache_that_somebody_else_writes() {
    let disk = SimDisk::new(1);
    let mut twin = small();
    let directory = Path::new(CACHES).join(place(&disk).repository.to_string());
    disk::Disk::create_directory(&disk, &directory).unwrap();
    let lock = |disk: &SimDisk| {
        disk::Disk::lock(disk, &directory.join("lock"), "somebody", disk::Wait::Refuse).unwrap()
    };
    // While it is made, and while something is added to it.
    let held = lock(&disk);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (3, 3));
    drop(held);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (3, 0));
    // The second file names a pack that the cache has too.
    twin.files.insert(
        file_id(3),
        vec![(pack_id(0), vec![data(1, 0), data(9, 5000)]), (pack_id(7), vec![data(8, 0)])],
    );
    let held = lock(&disk);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (1, 1));
    drop(held);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (1, 0));
}

#[test]
fn a_directory_that_cannot_be_written_is_read_all_the_same() {
    let disk = SimDisk::new(1);
    let mut twin = small();
    disk.refuse_from(0, Refusal::Full);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (3, 3));
    disk.allow_all();
    assert_eq!(load_and_check(&twin, &disk), 3);
    twin.files.insert(file_id(3), vec![(pack_id(7), vec![data(8, 0)])]);
    disk.refuse_from(disk.operation_count(), Refusal::Full);
    assert_eq!((load_and_check(&twin, &disk), load_and_check(&twin, &disk)), (1, 1));
}

#[test]
fn a_cache_that_turns_out_damaged_is_made_anew_at_once() {
    let disk = SimDisk::new(1);
    let mut twin = small();
    // Enough that a segment has several pieces with a checksum each.
    let blobs = (0..5000).map(|number| data(1000 + number, u32::try_from(number).unwrap() * 100)).collect();
    twin.files.insert(file_id(3), vec![(pack_id(9), blobs)]);
    load(&twin.files(), Some(&place(&disk))).unwrap();
    let largest =
        store_files(&disk).into_iter().max_by_key(|path| disk::Disk::read(&disk, path).unwrap().len());
    disk.flip(&largest.unwrap(), 100_000);
    let files = twin.files();
    let index = load(&files, Some(&place(&disk))).unwrap();
    assert_eq!(files.take_read().len(), 0, "damage is found when somebody comes by");
    let asked: Vec<Id> = (1000..6000).map(blob_id).collect();
    let mut has = Vec::new();
    index.has_batch(BlobKind::Data, &asked, &mut has).unwrap();
    assert!(has.iter().all(|&has| has));
    assert_eq!(files.take_read().len(), 4);
    check(&index, &twin);
    assert_eq!(load_and_check(&twin, &disk), 0);
}

#[test]
fn work_can_be_interrupted() {
    struct Impatient;
    impl Progress for Impatient {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let files: Arc<dyn IndexFiles> = small().files();
    let error = BlobIndex::load(&files, None, &surroundings(), &Impatient).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn memory_is_known() {
    let mut twin = Twin::default();
    let blobs = (0..50_000).map(|number| data(number, u32::try_from(number).unwrap() * 100)).collect();
    twin.files.insert(file_id(0), vec![(pack_id(0), blobs)]);
    let in_memory = load(&twin.files(), None).unwrap().memory_bytes();
    assert!((50_000 * 49..50_000 * 62).contains(&in_memory), "{in_memory}");
    let mapped = load(&twin.files(), Some(&place(&SimDisk::new(1)))).unwrap().memory_bytes();
    assert!(mapped < 1000, "{mapped}");
}
