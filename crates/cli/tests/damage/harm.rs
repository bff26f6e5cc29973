//! A small repository that restic made, and every way in which the tests damage its files.
//!
//! Input: an empty directory. Output: the repository in it, with one damage. Does not depend on what the
//! program reports.

use disk::RealDisk;
use restic::testing::surroundings;
use restic::unpacked::save;
use restic::{
    BlobKind, Cost, FileKind, FileName, Id, LocalStorage, LockKind, Parts, Password, Repository, SaveOptions,
    Saver, Snapshot, Storage, Time, key_file, snapshot,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) const PASSWORD: &str = "pneumatic";
/// Opens at once, where restic's own would take half a second each time.
pub(crate) const CHEAP: Cost = Cost { n: 2, r: 1, p: 1 };

/// The message of the newest snapshot, and the trees above it.
pub(super) const DATA_PACK: &str = "data/ca/ca8b68c6ee7e918cd769a6b0e26d38ed3c9fddf2606ae2cefbae47d174a37fcf";
const TREE_PACK: &str = "data/2c/2c48733b9965d0d38d3664306a1e57f558eb04dbddaaaa0c4211101164e92ba3";
/// What says where these two lie.
const INDEX: &str = "index/8d3ab711828be9c7d7c8f80458cb43d8f7df63a87713b6516aef377bd9fd9a00";
/// The older of the two snapshots.
const SNAPSHOT: &str = "snapshots/e55adc9df597897c7528f41e781a5623e14c6f8b7cc99095b591d3491fcb2cbd";
/// Forgotten, so that there is something to prune.
const FORGOTTEN: &str = "snapshots/f9a451731b4227477fd1bb61e589f2a791bcba9869be461656749c36199c9e1a";
const LOCK: &str = "locks/a51cabd9cfcc3dbd96fa3988ac1382fc0d041629a94d4e85edab2601299d926f";
const KEY: &str = "keys/573deecc5e1e11dd7fcebd092d614c3ee87dca56dbe7bf4ef2a880a47abd6024";
/// The message of the newest snapshot.
const MESSAGE: &str = "5d377b2efbbac593520c766c589f8153d0c6a0b3d4c6e1fb21313a70aec4a2ef";

/// One thing that can befall a repository.
pub(super) struct Harm {
    pub(super) name: &'static str,
    pub(super) act: fn(&Harmed),
}

/// A repository to be harmed.
pub(super) struct Harmed {
    pub(super) root: PathBuf,
}

/// Makes the repository in `root`, and returns the newest snapshot's message.
pub(super) fn make(root: &Path) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/repositories/restic-0.19.1-v2");
    copy(&source, root);
    for name in [FORGOTTEN, LOCK] {
        fs::remove_file(root.join(name)).unwrap();
    }
    let storage = storage(root);
    let (_, key) = key_file::unlock(&*storage, &password()).unwrap();
    fs::remove_file(root.join(KEY)).unwrap();
    key_file::add(&*storage, &surroundings(), &key, (&password(), CHEAP)).unwrap();
    open(root).load_blob(BlobKind::Data, &MESSAGE.parse().unwrap()).unwrap()
}

/// Copies a directory and all below it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), &target).unwrap(),
        }
    }
}

fn password() -> Password {
    Password::new(PASSWORD.as_bytes().to_vec())
}

fn storage(root: &Path) -> Arc<dyn Storage> {
    Arc::new(LocalStorage::new(Arc::new(RealDisk), root.to_owned()))
}

fn open(root: &Path) -> Repository {
    Repository::open(storage(root), &password(), None, surroundings()).unwrap()
}

impl Harmed {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Changes the bytes of a file, which keeps its name.
    fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        change(&mut bytes);
        fs::write(self.path(name), bytes).unwrap();
    }

    fn flip(&self, name: &str, place: usize) {
        self.change(name, |bytes| bytes[place] ^= 4);
    }

    fn cut(&self, name: &str, length: usize) {
        self.change(name, |bytes| bytes.truncate(length));
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    fn parts(&self) -> Parts {
        open(&self.root).parts().clone()
    }

    /// Puts a file there that is sealed as it should be, whatever its content is; returns its name.
    fn seal(&self, kind: FileKind, json: &str) -> String {
        let id = save(&self.parts(), kind, json.as_bytes()).unwrap();
        FileName { kind, id }.path()
    }

    /// Leaves the lock of somebody else.
    fn lock(&self, year: &str, exclusive: &str) {
        let json = format!(
            r#"{{"time":"{year}-11-22T00:08:32+01:00","exclusive":{exclusive},"hostname":"tower","username":"ana","pid":77}}"#
        );
        self.seal(FileKind::Lock, &json);
    }

    /// Puts another content into an index file.
    fn reindex(&self, change: impl FnOnce(String) -> String) {
        let id: Id = INDEX.trim_start_matches("index/").parse().unwrap();
        let parts = self.parts();
        let json = restic::unpacked::load(&*parts.storage, &parts.key, FileKind::Index, id).unwrap();
        let json = String::from_utf8(json).unwrap();
        let changed = change(json.clone());
        assert_ne!(changed, json);
        self.remove(INDEX);
        self.seal(FileKind::Index, &changed);
    }

    /// Puts another content into the config.
    fn reconfigure(&self, change: impl FnOnce(String) -> String) {
        let parts = self.parts();
        let json = open(&self.root).config().to_json();
        let json = String::from_utf8(json).unwrap();
        let changed = change(json.clone());
        assert_ne!(changed, json);
        self.remove("config");
        save(&parts, FileKind::Config, changed.as_bytes()).unwrap();
    }

    /// Puts another content into the key's file, which has its own name then.
    fn rekey(&self, change: impl FnOnce(String) -> String) {
        let entry = fs::read_dir(self.path("keys")).unwrap().next().unwrap().unwrap();
        let json = fs::read_to_string(entry.path()).unwrap();
        let changed = change(json.clone());
        assert_ne!(changed, json);
        fs::remove_file(entry.path()).unwrap();
        fs::write(self.path("keys").join(Id::of(changed.as_bytes()).to_string()), changed).unwrap();
    }

    /// Returns the name of the key's file.
    fn key(&self) -> String {
        let entry = fs::read_dir(self.path("keys")).unwrap().next().unwrap().unwrap();
        format!("keys/{}", entry.file_name().to_str().unwrap())
    }

    /// Adds a snapshot, the newest, of a tree with any content.
    fn plant(&self, tree: &str) {
        let repository = open(&self.root);
        let lock = repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(())).unwrap();
        let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
        let tree = saver.save_blob(BlobKind::Tree, None, tree.as_bytes()).unwrap().id;
        saver.finish().unwrap();
        self.name(&repository, tree);
    }

    /// Adds a snapshot, the newest, of a tree that need not be there.
    fn name(&self, repository: &Repository, tree: Id) {
        let newest = Snapshot {
            time: Time::new(1_798_000_000, 0, 0),
            tree,
            paths: vec!["/mail".to_owned()],
            hostname: "tower".to_owned(),
            ..Snapshot::default()
        };
        snapshot::save(repository.parts(), &newest).unwrap();
    }
}

/// A tree with files of these names, each the one message.
fn tree(names: &[&str]) -> String {
    let nodes: Vec<String> = names
        .iter()
        .map(|name| {
            format!(
                r#"{{"name":"{name}","type":"file","mode":420,"mtime":"2026-11-22T00:00:00Z","uid":0,"gid":0,"size":52,"content":["{MESSAGE}"]}}"#
            )
        })
        .collect();
    format!("{{\"nodes\":[{}]}}\n", nodes.join(","))
}

const GONE: &str = "00000000000000000000000000000000000000000000000000000000000000ff";

/// All of it.
pub(super) const HARMS: &[Harm] = &[
    Harm { name: "pack of messages: a bit of a blob is flipped", act: |on| on.flip(DATA_PACK, 40) },
    Harm { name: "pack of messages: a bit of its header is flipped", act: |on| on.flip(DATA_PACK, 120) },
    Harm {
        name: "pack of messages: it says that its header is longer than it",
        act: |on| on.flip(DATA_PACK, 167),
    },
    Harm { name: "pack of messages: cut off", act: |on| on.cut(DATA_PACK, 60) },
    Harm { name: "pack of messages: empty", act: |on| on.cut(DATA_PACK, 0) },
    Harm { name: "pack of messages: missing", act: |on| on.remove(DATA_PACK) },
    Harm { name: "pack of trees: a bit of a blob is flipped", act: |on| on.flip(TREE_PACK, 40) },
    Harm { name: "pack of trees: a bit of its header is flipped", act: |on| on.flip(TREE_PACK, 500) },
    Harm { name: "pack of trees: cut off", act: |on| on.cut(TREE_PACK, 100) },
    Harm { name: "pack of trees: empty", act: |on| on.cut(TREE_PACK, 0) },
    Harm { name: "pack of trees: missing", act: |on| on.remove(TREE_PACK) },
    Harm { name: "index file: a bit is flipped", act: |on| on.flip(INDEX, 40) },
    Harm { name: "index file: cut off", act: |on| on.cut(INDEX, 100) },
    Harm { name: "index file: empty", act: |on| on.cut(INDEX, 0) },
    Harm { name: "index file: missing", act: |on| on.remove(INDEX) },
    Harm {
        name: "index file: sealed, but its JSON ends too early",
        act: |on| on.reindex(|json| json[..200].to_owned()),
    },
    Harm { name: "index file: sealed, but no JSON", act: |on| on.reindex(|_| "{packs}".to_owned()) },
    Harm {
        name: "index file: names a pack that is not there, with what another one has, too",
        act: |on| {
            let json = format!(
                r#"{{"packs":[{{"id":"{GONE}","blobs":[{{"id":"{MESSAGE}","type":"data","offset":0,"length":93,"uncompressed_length":52}}]}}]}}"#
            );
            _ = on.seal(FileKind::Index, &json);
        },
    },
    Harm {
        name: "index file: says that a blob lies where its pack has no bytes",
        act: |on| {
            on.reindex(|json| {
                json.replacen("\"offset\":0,\"length\":93", "\"offset\":4000000000,\"length\":93", 1)
            });
        },
    },
    Harm {
        name: "index file: says that a blob takes 3 GB",
        act: |on| on.reindex(|json| json.replacen("\"length\":93", "\"length\":3000000000", 1)),
    },
    Harm {
        name: "index file: says that a blob is 4 GB long once it is unpacked",
        act: |on| {
            on.reindex(|json| {
                json.replacen("\"uncompressed_length\":52", "\"uncompressed_length\":4000000000", 1)
            });
        },
    },
    Harm {
        name: "index file: says that a blob ends where no number reaches",
        act: |on| {
            on.reindex(|json| {
                json.replacen("\"offset\":0,\"length\":93", "\"offset\":4294967295,\"length\":4294967295", 1)
            });
        },
    },
    Harm {
        name: "index file: says that a blob is shorter than its seal",
        act: |on| {
            on.reindex(|json| json.replacen("\"length\":93,\"uncompressed_length\":52", "\"length\":3", 1));
        },
    },
    Harm { name: "tree: its JSON ends too early", act: |on| on.plant(&tree(&["a", "b"])[..200]) },
    Harm { name: "tree: no JSON", act: |on| on.plant("nodes") },
    Harm { name: "tree: names out of order", act: |on| on.plant(&tree(&["b", "a"])) },
    Harm { name: "tree: a name twice", act: |on| on.plant(&tree(&["a", "a"])) },
    Harm { name: "tree: a name with a slash", act: |on| on.plant(&tree(&["../../escaped"])) },
    Harm { name: "tree: a name that is the directory above", act: |on| on.plant(&tree(&[".."])) },
    Harm {
        name: "tree: a message that is in no index",
        act: |on| on.plant(&tree(&["a"]).replace(MESSAGE, GONE)),
    },
    Harm { name: "tree: in no index", act: |on| on.name(&open(&on.root), GONE.parse().unwrap()) },
    Harm { name: "snapshot: a bit is flipped", act: |on| on.flip(SNAPSHOT, 40) },
    Harm { name: "snapshot: cut off", act: |on| on.cut(SNAPSHOT, 100) },
    Harm { name: "snapshot: empty", act: |on| on.cut(SNAPSHOT, 0) },
    Harm {
        name: "snapshot: sealed, but its JSON ends too early",
        act: |on| _ = on.seal(FileKind::Snapshot, r#"{"time":"2026"#),
    },
    Harm {
        name: "snapshot: sealed, but without a tree",
        act: |on| _ = on.seal(FileKind::Snapshot, r#"{"time":"2026-11-22T00:00:00Z"}"#),
    },
    Harm { name: "lock: of somebody who works alone", act: |on| on.lock("2999", "true") },
    Harm { name: "lock: of somebody who works beside others", act: |on| on.lock("2999", "false") },
    Harm { name: "lock: of somebody who has long been gone", act: |on| on.lock("2020", "true") },
    Harm {
        name: "lock: a bit is flipped",
        act: |on| {
            let lock = on.seal(FileKind::Lock, r#"{"time":"2026-11-22T00:08:32+01:00","exclusive":true}"#);
            on.flip(&lock, 40);
        },
    },
    Harm {
        name: "lock: empty",
        act: |on| {
            let lock = on.seal(FileKind::Lock, r#"{"time":"2026-11-22T00:08:32+01:00","exclusive":true}"#);
            on.cut(&lock, 0);
        },
    },
    Harm {
        name: "lock: sealed, but its JSON ends too early",
        act: |on| _ = on.seal(FileKind::Lock, r#"{"time":"2026"#),
    },
    Harm { name: "key: a bit is flipped", act: |on| on.flip(&on.key(), 40) },
    Harm { name: "key: empty", act: |on| on.cut(&on.key(), 0) },
    Harm { name: "key: missing", act: |on| on.remove(&on.key()) },
    Harm { name: "key: its JSON ends too early", act: |on| on.rekey(|json| json[..100].to_owned()) },
    Harm {
        name: "key: trying a password would take a terabyte",
        act: |on| on.rekey(|json| json.replace("\"N\":2,\"r\":1", "\"N\":1073741824,\"r\":8")),
    },
    Harm {
        name: "key: trying a password would take years",
        act: |on| on.rekey(|json| json.replace("\"p\":1", "\"p\":4294967295")),
    },
    Harm {
        name: "key: scrypt without memory",
        act: |on| on.rekey(|json| json.replace("\"N\":2", "\"N\":0")),
    },
    Harm {
        name: "key: what is sealed in it is cut off",
        act: |on| {
            on.rekey(|json| {
                let data = json.find("\"data\":\"").unwrap() + 8;
                format!("{}AAAA\"}}", &json[..data])
            });
        },
    },
    Harm { name: "config: a bit is flipped", act: |on| on.flip("config", 40) },
    Harm { name: "config: cut off", act: |on| on.cut("config", 20) },
    Harm { name: "config: empty", act: |on| on.cut("config", 0) },
    Harm { name: "config: missing", act: |on| on.remove("config") },
    Harm {
        name: "config: sealed, but its JSON ends too early",
        act: |on| on.reconfigure(|json| json[..40].to_owned()),
    },
    Harm {
        name: "config: of a version that is not known yet",
        act: |on| on.reconfigure(|json| json.replace("\"version\":2", "\"version\":3")),
    },
    Harm {
        name: "config: its polynomial is none",
        act: |on| {
            on.reconfigure(|json| json.replace("\"chunker_polynomial\":\"", "\"chunker_polynomial\":\"f"));
        },
    },
    Harm {
        name: "files of others among those of the repository",
        act: |on| {
            for name in [
                "README",
                "index/README",
                "snapshots/.DS_Store",
                "data/README",
                "data/ca/README",
                "locks/x",
                "keys/x",
            ] {
                fs::write(on.path(name), "not of the repository").unwrap();
            }
            fs::create_dir_all(on.path("data/zz")).unwrap();
        },
    },
    Harm { name: "everything is gone", act: |on| fs::remove_dir_all(&on.root).unwrap() },
];
