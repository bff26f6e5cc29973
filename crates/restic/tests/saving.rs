//! Each content is saved once, and counts as saved only when it is durable.

use crate::support::{back_up, init, open, save_snapshot, shared_lock};
use restic::testing::MemoryStorage;
use restic::{
    BlobKind, Compression, Error, FileKind, FileName, Id, SaveOptions, SaveStatistics, Saved, Saver, Storage,
};
use std::sync::Arc;
use testkit::Random;

/// Packs small enough for a test to fill many.
const SMALL: SaveOptions = SaveOptions { compression: Compression::Auto, pack_bytes_min: 4096 };

fn memory() -> (Arc<MemoryStorage>, Arc<dyn Storage>) {
    let memory = MemoryStorage::new();
    (Arc::clone(&memory), memory)
}

fn message(number: usize) -> Vec<u8> {
    let mut random = Random::of(1, 2, number as u64);
    let mut text = format!("Subject: {number}\n\n").into_bytes();
    text.extend((0..random.below(900)).map(|_| *random.pick(b"abcdefghij klmno\n")));
    text
}

#[test]
fn data_that_many_threads_save_is_stored_once() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let new: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let saved = (0..500)
                        .map(|number| saver.save_blob(BlobKind::Data, None, &message(number)).unwrap());
                    saved.filter(Saved::is_new).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(new, 500);
    let statistics = saver.finish().unwrap();
    let plain_bytes = (0..500).map(|number| message(number).len() as u64).sum();
    assert_eq!((statistics.data_blob_count, statistics.plain_bytes), (500, plain_bytes));
    let packs = storage.list(FileKind::Pack).unwrap();
    assert_eq!(statistics.pack_count, packs.len() as u64);
    assert!(packs.len() > 20, "{} packs", packs.len());
    let stored: u64 = packs.iter().map(|(_, size)| size).sum();
    assert_eq!(statistics.packed_bytes, stored - 36 * packs.len() as u64, "all but the headers' own frames");
    assert_eq!(memory.ids(FileKind::Index).len(), 1);
    for repository in [&repository, &open(&storage)] {
        for number in 0..500 {
            let text = message(number);
            assert_eq!(repository.load_blob(BlobKind::Data, &Id::of(&text)).unwrap(), text);
        }
    }
}

#[test]
fn stored_data_is_not_saved_again() {
    let (memory, storage) = memory();
    let text = message(1);
    for round in 0..2 {
        let repository = if round == 0 { init(&storage) } else { open(&storage) };
        let lock = shared_lock(&repository);
        let saver = Saver::new(&repository, &lock, SMALL).unwrap();
        let saved = saver.save_blob(BlobKind::Data, Some(Id::of(&text)), &text).unwrap();
        assert_eq!(saved.is_new(), round == 0);
        let statistics = saver.finish().unwrap();
        assert_eq!(statistics == SaveStatistics::default(), round == 1);
        assert_eq!([memory.ids(FileKind::Pack).len(), memory.ids(FileKind::Index).len()], [1, 1]);
    }
}

#[test]
fn small_packs_are_joined_at_the_end_but_never_data_with_trees() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    for number in 0..40 {
        saver.save_blob(BlobKind::Data, None, &message(number)).unwrap();
        saver.save_blob(BlobKind::Tree, None, &message(number)).unwrap();
    }
    let statistics = saver.finish().unwrap();
    let counts = (statistics.data_blob_count, statistics.tree_blob_count, memory.ids(FileKind::Pack).len());
    assert_eq!(counts, (40, 40, 2));
    let repository = open(&storage);
    for number in 0..40 {
        for kind in [BlobKind::Data, BlobKind::Tree] {
            let text = message(number);
            assert_eq!(repository.load_blob(kind, &Id::of(&text)).unwrap(), text);
        }
    }
}

#[test]
fn a_failed_write_ends_all_saving() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    for refused in ["write data/", "write index/"] {
        memory.refuse(move |operation| operation.starts_with(refused));
        let saver = Saver::new(&repository, &lock, SMALL).unwrap();
        let mut saved = 0;
        let failure = (0..200).find_map(|number| {
            let result = saver.save_blob(BlobKind::Data, None, &message(number));
            saved += usize::from(result.is_ok());
            result.err()
        });
        memory.refuse_nothing();
        if refused == "write data/" {
            assert!(matches!(failure, Some(Error::Storage { .. })), "{failure:?}");
            let again = saver.save_blob(BlobKind::Data, None, b"more").unwrap_err();
            assert!(matches!(&again, Error::SavingEnded { first } if first.contains("refused")), "{again}");
            assert!(saved < 200);
            assert!(matches!(saver.finish(), Err(Error::SavingEnded { .. })));
            assert_eq!(memory.ids(FileKind::Index), []);
        } else {
            assert!(failure.is_none());
            memory.refuse(move |operation| operation.starts_with(refused));
            assert!(matches!(saver.finish(), Err(Error::Storage { .. })));
        }
        memory.refuse_nothing();
    }
}

#[test]
fn content_that_contradicts_its_name_is_refused() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let (text, id) = (message(1), Id::of(&message(1)));
    let refused = saver.save_blob(BlobKind::Data, Some(id), b"changed meanwhile").unwrap_err();
    assert!(matches!(refused, Error::NotItsName { id: named } if named == id), "{refused}");
    saver.save_blob(BlobKind::Data, None, b"").unwrap_err();
    assert!(saver.save_blob(BlobKind::Data, Some(id), &text).unwrap().is_new());
    saver.finish().unwrap();
    assert_eq!(open(&storage).load_blob(BlobKind::Data, &id).unwrap(), text);
}

#[test]
fn data_is_compressed_as_requested_and_trees_always() {
    for (compression, is_plain) in
        [(Compression::Off, true), (Compression::Auto, false), (Compression::Max, false)]
    {
        let (_, storage) = memory();
        let repository = init(&storage);
        let lock = shared_lock(&repository);
        let options = SaveOptions { compression, ..SaveOptions::default() };
        let saver = Saver::new(&repository, &lock, options).unwrap();
        let text = b"again and ".repeat(100);
        saver.save_blob(BlobKind::Data, None, &text).unwrap();
        saver.save_blob(BlobKind::Tree, None, &text).unwrap();
        saver.finish().unwrap();
        for (kind, is_plain) in [(BlobKind::Data, is_plain), (BlobKind::Tree, false)] {
            let mut found = Vec::new();
            repository.index().unwrap().find(kind, &Id::of(&text), &mut found).unwrap();
            let expected = if is_plain { 0 } else { text.len() };
            assert_eq!(found[0].uncompressed_length as usize, expected, "{compression:?} {kind:?}");
            assert_eq!(found[0].length as usize == text.len() + 32, is_plain);
        }
    }
}

#[test]
fn a_damaged_copy_is_skipped_and_the_last_one_is_named() {
    let (memory, storage) = memory();
    let first = init(&storage);
    let second = open(&storage);
    let text = message(3);
    let id = Id::of(&text);
    // Both were opened before either saved anything, so each saves its own copy.
    for repository in [&first, &second] {
        repository.index().unwrap();
    }
    for repository in [&first, &second] {
        let lock = shared_lock(repository);
        let saver = Saver::new(repository, &lock, SMALL).unwrap();
        saver.save_blob(BlobKind::Data, None, &text).unwrap();
        saver.finish().unwrap();
    }
    let packs = memory.ids(FileKind::Pack);
    assert_eq!(packs.len(), 2);
    let damage = |pack: Id| {
        let name = FileName { kind: FileKind::Pack, id: pack };
        let mut bytes = storage.read(name).unwrap();
        bytes[20] ^= 1;
        memory.put(name, bytes);
    };
    for (place, &pack) in packs.iter().enumerate() {
        assert_eq!(open(&storage).load_blob(BlobKind::Data, &id).unwrap(), text, "{place} damaged");
        damage(pack);
    }
    let error = open(&storage).load_blob(BlobKind::Data, &id).unwrap_err();
    assert!(matches!(error, Error::Damage { .. }), "{error}");
    assert!(packs.iter().all(|pack| error.to_string().contains(&pack.to_string())), "{error}");
    let missing = open(&storage).load_blob(BlobKind::Tree, &id).unwrap_err();
    assert_eq!(missing.to_string(), format!("tree {id} is in no index"));
}

#[test]
fn a_large_file_is_cut_and_a_small_one_is_one_blob() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let mut large = vec![0; 6_000_000];
    Random::new(3).fill(&mut large);
    let saved = saver.save_file(&mut &*large).unwrap();
    assert_eq!(saved.byte_count, 6_000_000);
    assert!((1..=12).contains(&saved.content.len()), "{} blobs", saved.content.len());
    assert!(saved.packed_bytes > 6_000_000);
    let again = saver.save_file(&mut &*large).unwrap();
    assert_eq!((again.content == saved.content, again.packed_bytes), (true, 0));
    let small = saver.save_file(&mut &*message(1)).unwrap();
    assert_eq!(small.content, [Id::of(&message(1))]);
    assert_eq!(saver.save_file(&mut &b""[..]).unwrap(), restic::SavedFile::default());
    saver.finish().unwrap();
    let repository = open(&storage);
    let blobs = saved.content.iter().map(|id| repository.load_blob(BlobKind::Data, id).unwrap());
    assert_eq!(blobs.collect::<Vec<_>>().concat(), large);
}

#[test]
fn a_source_that_cannot_be_read_does_not_end_the_saver() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("torn cable"))
        }
    }
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let error = saver.save_file(&mut Broken).unwrap_err();
    assert!(matches!(error, Error::Source(_)), "{error}");
    saver.save_file(&mut &b"text"[..]).unwrap();
    saver.finish().unwrap();
}

#[test]
fn init_refuses_where_files_of_a_repository_exist() {
    let (memory, storage) = memory();
    let init = |password: &[u8]| {
        let password = restic::Password::new(password.to_vec());
        let (cost, surroundings) = (crate::support::COST, crate::support::surroundings(1));
        restic::Repository::init(Arc::clone(&storage), &password, cost, None, surroundings)
    };
    let snapshot = FileName { kind: FileKind::Snapshot, id: Id([9; 32]) };
    memory.put(snapshot, b"anything".to_vec());
    assert!(matches!(init(b"one"), Err(Error::NoConfig { .. })));
    memory.take(snapshot);
    // As if it had ended between writing the key and the config.
    memory.refuse(|operation| operation == "write config");
    assert!(matches!(init(b"one"), Err(Error::Storage { .. })));
    memory.refuse_nothing();
    let said = init(b"two").unwrap_err();
    assert!(
        matches!(said, Error::Begun { .. }) && said.to_string().contains("it used another password"),
        "{said}"
    );
    let made = init(b"one").unwrap();
    assert_eq!((memory.ids(FileKind::Key), memory.ids(FileKind::Key).len()), (vec![made.key_id()], 1));
    assert!(matches!(init(b"one"), Err(Error::Exists { .. })));
}

#[test]
fn a_snapshot_is_listed_after_it_was_saved() {
    let (memory, storage) = memory();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "text").unwrap();
    let repository = init(&storage);
    let (snapshot, tree, _) = back_up(&repository, directory.path(), SMALL);
    assert_eq!(memory.ids(FileKind::Snapshot), [snapshot]);
    let again = save_snapshot(&repository, tree);
    assert_ne!(again, snapshot, "sealed with another nonce");
}
