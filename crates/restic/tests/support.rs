//! Shared by tests of whole repositories: creates one, saves a directory, compares directories.

use jiff::tz::TimeZone;
use restic::tree::{DeviceIds, FileStat, NodeKind, OwnerNames, StatStyle, TreeWriter, stat_node};
use restic::{
    BlobKind, CacheDirectory, Cost, HeldLock, Id, LockKind, Password, Repository, SaveOptions,
    SaveStatistics, Saver, Snapshot, Storage, Surroundings, Time, testing,
};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use testkit::Random;

pub(crate) const PASSWORD: &str = "geheim";

/// Keys are opened at once. With restic's cost each takes half a second.
pub(crate) const COST: Cost = Cost { n: 1024, r: 8, p: 1 };

pub(crate) fn password() -> Password {
    Password::new(PASSWORD.as_bytes().to_vec())
}

pub(crate) fn surroundings(thread_count: usize) -> Surroundings {
    let mut surroundings = testing::surroundings();
    surroundings.context.threads = work::Threads::Exactly(thread_count);
    surroundings
}

pub(crate) fn init(storage: &Arc<dyn Storage>) -> Repository {
    Repository::init(Arc::clone(storage), &password(), COST, None, surroundings(2)).unwrap()
}

pub(crate) fn open(storage: &Arc<dyn Storage>) -> Repository {
    open_with(storage, None)
}

pub(crate) fn open_with(storage: &Arc<dyn Storage>, cache: Option<CacheDirectory>) -> Repository {
    Repository::open(Arc::clone(storage), &password(), cache, surroundings(2)).unwrap()
}

pub(crate) fn shared_lock(repository: &Repository) -> HeldLock {
    repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(())).unwrap()
}

/// Saves a directory with everything below it, and returns its tree.
pub(crate) fn save_directory(saver: &Saver<'_>, directory: &Path) -> Id {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let style = StatStyle { zone: TimeZone::UTC, device_ids: DeviceIds::OfAll };
    let names = |path: &str| OwnerNames::of_text(&fs::read_to_string(path).unwrap());
    let (users, groups) = (names("/etc/passwd"), names("/etc/group"));
    let mut writer = TreeWriter::new();
    for path in entries {
        let name = path.file_name().unwrap().as_bytes();
        let stat = FileStat::of(&fs::symlink_metadata(&path).unwrap());
        let (user, group) = (users.name(stat.uid), groups.name(stat.gid));
        let mut node = stat_node(name, &stat, (&user, &group), &style).unwrap();
        match node.kind {
            NodeKind::Directory => node.subtree = Some(save_directory(saver, &path)),
            NodeKind::File => {
                let saved = saver.save_file(&mut fs::File::open(&path).unwrap()).unwrap();
                assert_eq!(saved.byte_count, stat.size);
                node.content = Some(saved.content.into());
            }
            NodeKind::Symlink => {
                node.link_target = fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec().into();
            }
            _ => {}
        }
        writer.append(&node).unwrap();
    }
    saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id
}

/// Saves a directory and a snapshot of it. Returns the snapshot, its tree, and what was new.
pub(crate) fn back_up(
    repository: &Repository,
    directory: &Path,
    options: SaveOptions,
) -> (Id, Id, SaveStatistics) {
    let lock = shared_lock(repository);
    let saver = Saver::new(repository, &lock, options).unwrap();
    let tree = save_directory(&saver, directory);
    let statistics = saver.finish().unwrap();
    (save_snapshot(repository, tree), tree, statistics)
}

pub(crate) fn save_snapshot(repository: &Repository, tree: Id) -> Id {
    let snapshot = Snapshot {
        time: Time::from_ns(repository.surroundings().context.now_ns(), 0),
        tree,
        paths: vec!["/mail".into()],
        hostname: "tower".into(),
        ..Snapshot::default()
    };
    repository.save_snapshot(&snapshot).unwrap()
}

/// Creates files of all kinds and lengths, with all kinds of names.
pub(crate) fn make_files(directory: &Path) {
    let mut random = Random::new(5);
    let mut bytes = |length: usize| {
        let mut bytes = vec![0; length];
        random.fill(&mut bytes);
        bytes
    };
    for name in ["cur", "new", ".Sent/cur", ".Sent/tmp", "empty"] {
        fs::create_dir_all(directory.join(name)).unwrap();
    }
    for number in 0..300 {
        let text = format!("Subject: {number}\n\n").repeat(1 + number % 50);
        fs::write(directory.join(format!("cur/{number}.M1P1.tower,S=9:2,S")), text).unwrap();
    }
    fs::write(directory.join("new/empty"), "").unwrap();
    fs::write(directory.join("new/empty2"), "").unwrap();
    fs::write(directory.join(".Sent/cur/random"), bytes(300_000)).unwrap();
    fs::write(directory.join(".Sent/cur/large"), bytes(5_000_000)).unwrap();
    fs::write(directory.join(".Sent/cur/zeros"), vec![0; 9_000_000]).unwrap();
    fs::write(directory.join(".Sent/cur/limit"), bytes(512 << 10)).unwrap();
    fs::write(directory.join("cur/same"), "twice").unwrap();
    fs::write(directory.join("new/same"), "twice").unwrap();
    for name in [&b"\xff\xfe"[..], b"new\nline", b"quote\"\\", "é日本".as_bytes(), b"<&>", b"\xe2\x80\xa8"]
    {
        fs::write(directory.join(std::ffi::OsStr::from_bytes(name)), name).unwrap();
    }
    std::os::unix::fs::symlink("cur/same", directory.join("link")).unwrap();
    std::os::unix::fs::symlink("/nowhere/\u{e9}", directory.join("dangling")).unwrap();
    fs::hard_link(directory.join("cur/same"), directory.join("cur/other name")).unwrap();
    fs::hard_link(directory.join(".Sent/cur/large"), directory.join("large too")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        directory.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o640),
        0,
    )
    .unwrap();
    let odd = fs::Permissions::from_mode(0o4751);
    fs::set_permissions(directory.join("cur/7.M1P1.tower,S=9:2,S"), odd).unwrap();
    fs::set_permissions(directory.join("new"), fs::Permissions::from_mode(0o1750)).unwrap();
    let past = std::time::SystemTime::UNIX_EPOCH + Duration::new(1_000_000_007, 123_456_789);
    for name in ["cur/3.M1P1.tower,S=9:2,S", "empty"] {
        fs::File::open(directory.join(name)).unwrap().set_modified(past).unwrap();
    }
}

/// Describes a directory: one line for each path, with everything that a restore must bring back.
pub(crate) fn describe(directory: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    describe_into(directory, directory, &mut lines);
    lines
}

fn describe_into(top: &Path, directory: &Path, lines: &mut Vec<String>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let stat = fs::symlink_metadata(&path).unwrap();
        let content = match () {
            () if stat.is_file() => Id::of(&fs::read(&path).unwrap()).to_string(),
            () if stat.is_symlink() => format!("{:?}", fs::read_link(&path).unwrap()),
            () => String::new(),
        };
        let links = if stat.is_dir() { 0 } else { stat.nlink() };
        lines.push(format!(
            "{:?} {:o} {}.{:09} {}:{} {links} {content}",
            path.strip_prefix(top).unwrap(),
            stat.mode(),
            stat.mtime(),
            stat.mtime_nsec(),
            stat.uid(),
            stat.gid(),
        ));
        if stat.is_dir() {
            describe_into(top, &path, lines);
        }
    }
}
