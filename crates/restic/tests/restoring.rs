//! Restored files are written inside the target only, and everything that cannot be restored is reported.

use crate::support::{back_up, describe, init, make_files, open, save_snapshot, shared_lock};
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, Choice, Compression, FileKind, FileName, Id, Location, Overwrite, Repository, RestoreOptions,
    RestoreReport, SaveOptions, Saver, Storage, Time, restore,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use work::Silent;

const SMALL: SaveOptions = SaveOptions { compression: Compression::Auto, pack_bytes_min: 64 << 10 };

fn memory() -> (Arc<MemoryStorage>, Arc<dyn Storage>) {
    let memory = MemoryStorage::new();
    (Arc::clone(&memory), memory)
}

fn run(repository: &Repository, tree: &Id, target: &Path, overwrite: Overwrite) -> RestoreReport {
    let options = RestoreOptions { choose: &|_| Choice::Take, overwrite };
    restore(repository, tree, target, &options, &Silent).unwrap()
}

/// Returns the problems of a report, without the operating system's wording.
fn problems(report: &RestoreReport) -> Vec<(String, String)> {
    let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    report.problems.iter().map(|problem| (text(&problem.path), problem.what.clone())).collect()
}

/// Saves a tree made by hand.
fn save_tree(saver: &Saver<'_>, nodes: Vec<Node<'_>>) -> Id {
    let mut writer = TreeWriter::new();
    for node in &nodes {
        writer.append(node).unwrap();
    }
    saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id
}

#[test]
fn everything_is_restored_with_few_reads_of_each_pack() {
    let (memory, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    make_files(&place.path().join("mail"));
    let (_, tree, statistics) = back_up(&init(&storage), &place.path().join("mail"), SMALL);
    let repository = open(&storage);
    memory.operations();
    let report = run(&repository, &tree, &place.path().join("new/target"), Overwrite::Never);
    assert_eq!(problems(&report), []);
    let expected = describe(&place.path().join("mail"));
    assert_eq!(describe(&place.path().join("new/target")), expected);
    let reads = memory.operations().iter().filter(|operation| operation.contains(" data/")).count();
    assert!(reads as u64 <= statistics.pack_count + 12, "{reads} reads of {} packs", statistics.pack_count);
}

#[test]
fn existing_files_are_kept_or_replaced_as_requested() {
    let (_, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("mail");
    fs::create_dir(&mail).unwrap();
    let long = vec![7; 2_000_000];
    for (name, text) in [("older", &b"now"[..]), ("newer", b"now"), ("link", b"now"), ("long", &long)] {
        fs::write(mail.join(name), text).unwrap();
    }
    let (_, tree, _) = back_up(&init(&storage), &mail, SMALL);
    let repository = open(&storage);
    for (overwrite, replaced) in [
        (Overwrite::Never, &[][..]),
        (Overwrite::IfNewer, &["older"]),
        (Overwrite::Always, &["link", "long", "newer", "older"]),
    ] {
        let target = tempfile::tempdir().unwrap();
        let elsewhere = target.path().join("elsewhere");
        fs::write(&elsewhere, "precious").unwrap();
        let hour = std::time::Duration::from_secs(3600);
        let now = std::time::SystemTime::now();
        for (name, time) in [("older", now - hour), ("newer", now + hour), ("long", now + hour)] {
            fs::write(target.path().join(name), "then").unwrap();
            fs::File::options()
                .write(true)
                .open(target.path().join(name))
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        std::os::unix::fs::symlink("elsewhere", target.path().join("link")).unwrap();
        let report = run(&repository, &tree, target.path(), overwrite);
        assert_eq!(problems(&report), []);
        // The link is newer, because it was created after the file was saved.
        for (name, text) in [("older", &b"now"[..]), ("newer", b"now"), ("link", b"now"), ("long", &long)] {
            let is_replaced = replaced.contains(&name);
            let old: &[u8] = if name == "link" { b"precious" } else { b"then" };
            let found = fs::read(target.path().join(name)).unwrap();
            assert!(found == if is_replaced { text } else { old }, "{overwrite:?} {name}");
        }
        assert_eq!(fs::read(&elsewhere).unwrap(), b"precious", "never through a link");
        assert_eq!(
            (report.file_count, report.kept_count),
            (replaced.len() as u64, 4 - replaced.len() as u64)
        );
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 5, "nothing unfinished is left");
    }
}

#[test]
fn only_chosen_files_and_their_directories_are_restored() {
    let (_, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("mail");
    for name in ["a/b/c", "a/d", "e"] {
        fs::create_dir_all(mail.join(name)).unwrap();
        fs::write(mail.join(name).join("file"), name).unwrap();
    }
    let (_, tree, _) = back_up(&init(&storage), &mail, SMALL);
    let choose = |path: &[u8]| match path {
        b"/a" | b"/a/b" | b"/a/b/c" | b"/a/d" => Choice::Pass,
        b"/a/b/c/file" => Choice::Take,
        _ => Choice::Skip,
    };
    let target = place.path().join("target");
    let options = RestoreOptions { choose: &choose, overwrite: Overwrite::Never };
    let report = restore(&open(&storage), &tree, &target, &options, &Silent).unwrap();
    assert_eq!((report.file_count, report.directory_count, problems(&report)), (1, 3, vec![]));
    let names: Vec<String> =
        describe(&target).iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["\"a\"", "\"a/b\"", "\"a/b/c\"", "\"a/b/c/file\""]);
}

#[test]
fn nothing_is_written_through_links_or_over_directories() {
    let (_, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("mail");
    fs::create_dir_all(mail.join("folder")).unwrap();
    fs::write(mail.join("folder/file"), "text").unwrap();
    fs::write(mail.join("name"), "text").unwrap();
    let (_, tree, _) = back_up(&init(&storage), &mail, SMALL);
    let target = place.path().join("target");
    fs::create_dir_all(target.join("name")).unwrap();
    fs::create_dir(place.path().join("outside")).unwrap();
    std::os::unix::fs::symlink("../outside", target.join("folder")).unwrap();
    let report = run(&open(&storage), &tree, &target, Overwrite::Always);
    let found = problems(&report);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].0, "/folder");
    assert!(found[0].1.starts_with("cannot be created, so its content was not restored: "), "{found:?}");
    assert_eq!(found[1], ("/name".to_owned(), "a directory with its name exists".to_owned()));
    assert_eq!(fs::read_dir(place.path().join("outside")).unwrap().count(), 0);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let (memory, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let text = saver.save_blob(BlobKind::Data, None, b"text").unwrap().id;
    let node = |name: &str| {
        format!(
            r#"{{"name":"{name}","type":"file","mode":420,"mtime":"2026-11-21T10:02:00Z","atime":"2026-11-21T10:02:00Z","ctime":"2026-11-21T10:02:00Z","uid":0,"gid":0,"content":["{text}"]}}"#
        )
    };
    let nodes = ["../up", "..", "/tmp/pneu-test-outside", "good"].map(node).join(",");
    let tree =
        saver.save_blob(BlobKind::Tree, None, format!("{{\"nodes\":[{nodes}]}}\n").as_bytes()).unwrap().id;
    saver.finish().unwrap();
    drop(memory);
    let place = tempfile::tempdir().unwrap();
    let report = run(&open(&storage), &tree, &place.path().join("target"), Overwrite::Always);
    assert_eq!(report.file_count, 1);
    assert!(report.problems.len() >= 3, "{:?}", report.problems);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    assert!(!Path::new("/tmp/pneu-test-outside").exists());
}

#[test]
fn nobody_acts_as_the_owner_of_a_file_that_has_none() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let text = saver.save_blob(BlobKind::Data, None, b"text").unwrap().id;
    let tool = |name: &'static str, uid, gid| Node {
        // Set-user-id and set-group-id, with Go's bits.
        mode: 0o755 | 1 << 23 | 1 << 22,
        uid,
        gid,
        content: Some(vec![text].into()),
        ..Node::new(name.as_bytes(), NodeKind::File)
    };
    let tree = save_tree(&saver, vec![tool("both", u32::MAX, u32::MAX), tool("group", 0, u32::MAX)]);
    saver.finish().unwrap();
    let target = tempfile::tempdir().unwrap();
    let report = run(&open(&storage), &tree, target.path(), Overwrite::Never);
    assert_eq!(report.file_count, 2);
    for name in ["both", "group"] {
        let mode = fs::metadata(target.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "{name}");
    }
}

#[test]
fn damage_affects_only_the_files_that_need_it() {
    let (memory, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("mail");
    fs::create_dir(&mail).unwrap();
    for number in 0..20 {
        fs::write(mail.join(format!("{number:02}")), format!("text {number}")).unwrap();
    }
    let mut long = vec![0; 3_000_000];
    testkit::Random::new(9).fill(&mut long);
    fs::write(mail.join("long"), &long).unwrap();
    let repository = init(&storage);
    let (_, tree, _) = back_up(&repository, &mail, SMALL);
    let index = repository.index().unwrap();
    let location = |id: &Id| -> Location {
        let mut found = Vec::new();
        index.find(BlobKind::Data, id, &mut found).unwrap();
        found[0]
    };
    let damage = |at: Location| {
        let name = FileName { kind: FileKind::Pack, id: at.pack };
        let mut bytes = storage.read(name).unwrap();
        bytes[at.offset as usize + 20] ^= 1;
        memory.put(name, bytes);
    };
    let node = restic::node_at(&repository, &tree, b"/long/").unwrap().unwrap();
    let pieces = node.content.unwrap();
    assert!(pieces.len() > 1);
    damage(location(&Id::of(b"text 7")));
    damage(location(&pieces[1]));
    let target = place.path().join("target");
    let report = run(&open(&storage), &tree, &target, Overwrite::Never);
    let paths: Vec<String> = problems(&report).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/07", "/long"]);
    assert!(report.problems[0].what.starts_with("was not restored: "), "{:?}", report.problems);
    assert_eq!((report.file_count, fs::read_dir(&target).unwrap().count()), (19, 19), "no half files");
}

#[test]
fn missing_and_damaged_trees_are_reported_with_their_paths() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let text = saver.save_blob(BlobKind::Data, None, b"text").unwrap().id;
    let directory = |name: &'static str, tree| Node {
        subtree: Some(tree),
        mode: restic::tree::go_mode(0o040_755),
        ..Node::new(name.as_bytes(), NodeKind::Directory)
    };
    let file = |name: &'static str, content: Id| Node {
        content: Some(vec![content].into()),
        mode: 0o644,
        modified: Time::from_ns(5, 0),
        ..Node::new(name.as_bytes(), NodeKind::File)
    };
    let broken = saver.save_blob(BlobKind::Tree, None, b"{\"nodes\":[{]}\n").unwrap().id;
    let top = save_tree(
        &saver,
        vec![
            directory("broken", broken),
            directory("gone", Id([1; 32])),
            file("here", text),
            file("lost", Id([2; 32])),
        ],
    );
    saver.finish().unwrap();
    save_snapshot(&repository, top);
    let place = tempfile::tempdir().unwrap();
    let report = run(&open(&storage), &top, place.path(), Overwrite::Never);
    let paths: Vec<String> = problems(&report).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/broken", "/gone", "/lost"]);
    assert!(report.problems[1].what.contains(&format!("tree {} is in no index", Id([1; 32]))));
    assert_eq!((report.file_count, report.directory_count), (1, 2));
    assert_eq!(fs::read(place.path().join("here")).unwrap(), b"text");
}

#[test]
fn a_restore_removes_what_a_killed_one_left() {
    let (_, storage) = memory();
    let place = tempfile::tempdir().unwrap();
    let mail = place.path().join("mail");
    fs::create_dir_all(mail.join("cur")).unwrap();
    fs::write(mail.join("cur/1"), "text").unwrap();
    fs::write(mail.join("cur/2"), "text").unwrap();
    let (_, tree, _) = back_up(&init(&storage), &mail, SMALL);
    let target = place.path().join("target");
    fs::create_dir_all(target.join("cur")).unwrap();
    let gone = [".pneu-restore-00000005-0000abcd-0", "cur/.pneu-restore-00000005-0000abcd-7"];
    let alive = format!("cur/.pneu-restore-{:08x}-0000abcd-7", restic::testing::LIVING_PROCESS);
    for name in [gone[0], gone[1], &alive, "cur/.pneu-restore-mine"] {
        fs::write(target.join(name), "half").unwrap();
    }
    // File 1 was being written when the restore was killed. Other files stay.
    for (name, mode) in [("1", 0o1600), ("2", 0o600)] {
        fs::write(target.join("cur").join(name), "te").unwrap();
        let mode = PermissionsExt::from_mode(mode);
        fs::set_permissions(target.join("cur").join(name), mode).unwrap();
    }
    let report = run(&open(&storage), &tree, &target, Overwrite::Never);
    assert_eq!((report.file_count, report.kept_count, problems(&report)), (1, 1, vec![]));
    assert_eq!(fs::read(target.join("cur/2")).unwrap(), b"te");
    assert_eq!(gone.map(|name| target.join(name).exists()), [false, false]);
    assert!(target.join(alive).exists() && target.join("cur/.pneu-restore-mine").exists());
    assert_eq!(fs::read(target.join("cur/1")).unwrap(), b"text");
}

#[test]
fn pipes_and_devices_are_restored_where_permitted() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let node = |name: &'static str, kind, device| Node {
        device,
        mode: restic::tree::go_mode(0o640),
        modified: Time::from_ns(7, 0),
        ..Node::new(name.as_bytes(), kind)
    };
    // The null device, and a disk that does not exist.
    let (null, disk) = (rustix::fs::makedev(1, 3), rustix::fs::makedev(240, 77));
    let nodes = vec![
        node("a-null", NodeKind::CharacterDevice, null),
        node("b-disk", NodeKind::BlockDevice, disk),
        node("c-pipe", NodeKind::Fifo, 0),
        node("d-socket", NodeKind::Socket, 0),
        node("e-odd", NodeKind::Irregular, 0),
    ];
    let tree = save_tree(&saver, nodes);
    saver.finish().unwrap();
    let place = tempfile::tempdir().unwrap();
    let target = place.path().join("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("a-null"), "in the way").unwrap();
    let probe = place.path().join("probe");
    let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::RUSR);
    let may_make = rustix::fs::mknodat(rustix::fs::CWD, &probe, kind, mode, null).is_ok();
    let report = run(&open(&storage), &tree, &target, Overwrite::Always);
    let names: Vec<String> = problems(&report).into_iter().map(|(path, _)| path).collect();
    let look = |name: &str| rustix::fs::lstat(target.join(name)).unwrap();
    let kind = |name: &str| rustix::fs::FileType::from_raw_mode(look(name).st_mode);
    assert_eq!((kind("c-pipe"), look("c-pipe").st_mtime_nsec), (rustix::fs::FileType::Fifo, 7));
    assert!(!target.join("d-socket").exists());
    if may_make {
        assert_eq!((names, report.file_count), (vec!["/e-odd".to_owned()], 3));
        assert_eq!((look("a-null").st_rdev, look("b-disk").st_rdev), (null, disk));
        assert_eq!(kind("b-disk"), rustix::fs::FileType::BlockDevice);
        assert_eq!(look("a-null").st_mode & 0o7777, 0o640);
    } else {
        assert_eq!(
            (names, report.file_count),
            (vec!["/a-null".into(), "/b-disk".into(), "/e-odd".into()], 1)
        );
        assert_eq!(fs::read(target.join("a-null")).unwrap(), b"in the way");
    }
    assert_eq!(
        fs::read_dir(&target)
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".pneu") })
            .count(),
        0,
        "nothing unfinished is left"
    );
}

#[test]
fn metadata_that_cannot_be_set_does_not_lose_the_content() {
    let (_, storage) = memory();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SMALL).unwrap();
    let text = saver.save_blob(BlobKind::Data, None, b"text").unwrap().id;
    let (name, value) = (b"no namespace is called so".as_slice().into(), Some(b"x".as_slice().into()));
    // Longer than any system allows for a name.
    let long =
        restic::tree::ExtendedAttribute { name: vec![b'u'; 300].into(), value: Some(b"x".as_slice().into()) };
    let node = Node {
        content: Some(vec![text].into()),
        size: 4,
        mode: 0o640,
        modified: Time::from_ns(7, 0),
        extended_attributes: vec![restic::tree::ExtendedAttribute { name, value }, long],
        ..Node::new(b"file".as_slice(), NodeKind::File)
    };
    let tree = save_tree(&saver, vec![node]);
    saver.finish().unwrap();
    let target = tempfile::tempdir().unwrap();
    let report = run(&open(&storage), &tree, target.path(), Overwrite::Never);
    assert_eq!((report.file_count, report.problems.len()), (1, 1), "{:?}", report.problems);
    assert!(report.problems[0].what.starts_with("is there, but not all"), "{:?}", report.problems);
    assert_eq!(fs::read(target.path().join("file")).unwrap(), b"text");
    let stat = rustix::fs::lstat(target.path().join("file")).unwrap();
    assert_eq!((stat.st_mode & 0o7777, stat.st_mtime_nsec), (0o640, 7));
}
