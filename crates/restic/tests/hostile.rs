//! Malicious repositories: every read ends, with limited time and memory.

use crate::support::{init, open, shared_lock};
use restic::index_file::IndexFileWriter;
use restic::pack::PackBuilder;
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, Choice, Compression, Error, FileKind, FileName, FindFilter, Id, LocalStorage, Next, Overwrite,
    Repository, RestoreOptions, SaveOptions, Saver, Storage, Zstd, find, list, restore, unpacked,
};
use std::fs;
use std::sync::Arc;
use work::Silent;

/// Stores any content as a compressed blob, without the checks of a saver. Returns its name.
fn put(repository: &Repository, kind: BlobKind, plain: &[u8]) -> Id {
    let (parts, id) = (repository.parts(), Id::of(plain));
    let (mut compressed, mut sealed) = (Vec::new(), Vec::new());
    Zstd::new(Compression::Auto).compress(plain, &mut compressed);
    parts.key.seal(&parts.surroundings, &compressed, &mut sealed);
    let mut builder = PackBuilder::new(kind);
    builder.add(id, &sealed, u32::try_from(plain.len()).unwrap());
    let (bytes, blobs) = builder.finish(&parts.key, &parts.surroundings).unwrap();
    let pack = Id::of(&bytes);
    parts.storage.write(FileName { kind: FileKind::Pack, id: pack }, &bytes).unwrap();
    let mut index = IndexFileWriter::default();
    index.add(&pack, &blobs);
    unpacked::save(parts, FileKind::Index, &index.finish()).unwrap();
    id
}

fn problems_of(repository: &Repository, tree: &Id) -> Vec<String> {
    let problems = list(repository, tree, &mut |_, _| Ok(Next::Enter)).unwrap();
    problems.iter().map(|problem| problem.error.to_string()).collect()
}

#[test]
fn a_tree_of_spaces_is_not_unpacked() {
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    let repository = init(&storage);
    let spaces = |count: usize| format!("{{\"nodes\":{}[]}}\n", " ".repeat(count)).into_bytes();
    let (short, long) = (spaces(1 << 20), spaces(80 << 20));
    let ids = [&short, &long].map(|tree| put(&repository, BlobKind::Tree, tree));
    let repository = open(&storage);
    assert_eq!(problems_of(&repository, &ids[0]), [""; 0], "it is valid");
    let told = problems_of(&repository, &ids[1]).concat();
    assert!(told.contains(&format!("it has {} bytes", long.len())), "{told}");
    // A saver refuses what no reader would accept.
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let other = [&long[..], b" "].concat();
    assert!(matches!(saver.save_blob(BlobKind::Tree, None, &other), Err(Error::Unsupported { .. })));
}

/// Saves a tree of sixty levels. Each tree names the next one twice.
fn doubling(repository: &Repository) -> Id {
    let lock = shared_lock(repository);
    let saver = Saver::new(repository, &lock, SaveOptions::default()).unwrap();
    let mut tree = saver.save_blob(BlobKind::Tree, None, &TreeWriter::new().finish()).unwrap().id;
    for _ in 0..60 {
        let mut writer = TreeWriter::new();
        for name in ["a", "b"] {
            let node = Node { subtree: Some(tree), ..Node::new(name.as_bytes(), NodeKind::Directory) };
            writer.append(&node).unwrap();
        }
        tree = saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id;
    }
    saver.finish().unwrap();
    tree
}

#[test]
fn multiplying_directories_end_every_walk_over_paths() {
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    let tree = doubling(&init(&storage));
    let repository = open(&storage);
    let endless = |error: &Error| {
        let what = error.to_string();
        assert!(matches!(error, Error::Damage { .. }) && what.contains("repeat in it without end"), "{what}");
    };
    let mut listed_count = 0;
    let listed = list(&repository, &tree, &mut |_, _| {
        listed_count += 1;
        Ok(Next::Enter)
    });
    endless(&listed.err().unwrap());
    assert!((10_000..200_000).contains(&listed_count), "{listed_count}");
    let wish = FindFilter { matches: &|_, _| true, may_hold: &|_| true };
    endless(&find(&repository, &[tree], &wish, &Silent).err().unwrap());
    let target = tempfile::tempdir().unwrap();
    let options = RestoreOptions { choose: &|_| Choice::Take, overwrite: Overwrite::Never };
    let restored = restore(&repository, &tree, &target.path().join("new"), &options, &Silent);
    endless(&restored.err().unwrap());
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0, "nothing is restored of it");
}

#[test]
fn files_over_the_limit_of_their_kind_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("repository");
    let storage = LocalStorage::new(Arc::new(disk::RealDisk), root.clone());
    storage.create().unwrap();
    fs::create_dir_all(root.join("data/07")).unwrap();
    let id = Id([7; Id::BYTES]);
    let names = FileKind::MANY.map(|kind| FileName { kind, id });
    for name in names.into_iter().chain([FileName::CONFIG]) {
        // A sparse file takes no space on the disk.
        let file = fs::File::create(root.join(name.path())).unwrap();
        file.set_len(name.kind.bytes_max() + 1).unwrap();
        let refused = storage.read(name).unwrap_err();
        let what = format!("and no such file has more than {}", name.kind.bytes_max());
        assert!(matches!(refused, Error::Damage { .. }) && refused.to_string().contains(&what), "{refused}");
        let sound = 5.min(name.kind.bytes_max());
        file.set_len(sound).unwrap();
        assert_eq!(storage.read(name).unwrap().len() as u64, sound);
    }
}

#[test]
fn files_that_expand_beyond_their_limit_are_damaged() {
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    let repository = init(&storage);
    let parts = repository.parts();
    // A snapshot may have 64 MiB and a lock 1 MiB. The stored files have a few kilobytes.
    for (kind, limit) in [(FileKind::Snapshot, 64 << 20), (FileKind::Lock, 1 << 20)] {
        let load = |length: usize| {
            let (mut content, mut sealed) = (Vec::new(), Vec::new());
            Zstd::new(Compression::Auto).compress(&vec![b' '; length], &mut content);
            content.insert(0, 2);
            parts.key.seal(&parts.surroundings, &content, &mut sealed);
            let id = Id::of(&sealed);
            storage.write(FileName { kind, id }, &sealed).unwrap();
            unpacked::load(&*storage, &parts.key, kind, id).map(|json| json.len())
        };
        assert_eq!(load(limit).unwrap(), limit);
        let refused = load(limit + 1).unwrap_err().to_string();
        assert!(refused.contains(&format!("the limit is {limit}")), "{refused}");
    }
}
