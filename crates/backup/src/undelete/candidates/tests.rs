//! Snapshots of other machines, programs and times: which file of a message is chosen, and its folder.

use super::*;
use crate::blobs::writer::BlobWriter;
use crate::testing::memory::{MemoryRepository, id_of};
use crate::testing::snapshots;
use std::collections::BTreeMap;
use work::Silent;

/// Saves a tree with these files. The content of each is the text after the colon.
fn tree(writer: &MemoryRepository, files: &[&str]) -> Id {
    let mut below: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut entries = BTreeMap::new();
    for file in files {
        let (path, content) = file.split_once(" = ").unwrap();
        match path.split_once('/') {
            Some((directory, rest)) => {
                below.entry(directory).or_default().push(format!("{rest} = {content}"));
            }
            None => {
                let piece = id_of(content.as_bytes());
                writer.save_piece(piece, content.as_bytes()).unwrap();
                entries.insert(path.to_owned(), Content::File(vec![piece]));
            }
        }
    }
    for (directory, files) in below {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        entries.insert(directory.to_owned(), Content::Directory(tree(writer, &files)));
    }
    let entry = |(name, content): (String, Content)| Entry {
        name: name.into_bytes(),
        stat: Stat::default(),
        content,
    };
    let entries: Vec<Entry> = entries.into_iter().map(entry).collect();
    writer.save_tree(&entries.iter().map(Entry::view).collect::<Vec<_>>()).unwrap()
}

fn snapshot(host: &str, seconds: i64, paths: &[&str], tags: &[&str], tree: Id) -> Snapshot {
    Snapshot { tree, ..snapshots::snapshot(host, seconds, paths, tags) }
}

fn roots(paths: &[&str]) -> Vec<Root> {
    let root = |(number, path): (usize, &&str)| Root { name: format!("r{number}"), path: path.into() };
    paths.iter().enumerate().map(root).collect()
}

/// Returns the places of these contents as "content: folder name", with brackets for a missing folder.
fn show(writer: &MemoryRepository, search_order: &[SearchedSnapshot], contents: &[&str]) -> Vec<String> {
    let key = |content: &str| id_of(content.as_bytes()).0;
    let wanted: HashSet<[u8; 32]> = contents.iter().map(|content| key(content)).collect();
    let lookup = PieceLookup::new(None, Box::new(|| Ok(Default::default())));
    let found = best_files(writer, &lookup, search_order, &wanted, &Silent).unwrap();
    let line = |content: &&str| match found.get(&key(content)) {
        None => format!("{content}: -"),
        Some(kept) => {
            let lay = format!("[{}]", String::from_utf8_lossy(&kept.folder));
            let folder = kept.here.as_ref().map_or(lay, |here| here.display().to_string());
            format!("{content}: {folder} {}", String::from_utf8_lossy(&kept.name))
        }
    };
    contents.iter().map(line).collect()
}

#[test]
fn files_below_no_root_have_no_folder_here() {
    let writer = MemoryRepository::default();
    let ours = tree(&writer, &["home/ana/Mail/inbox/cur/1:2,S = one", "etc/x/cur/3 = three"]);
    let bob = tree(&writer, &["home/bob/Mail/inbox/cur/1:2, = one", "home/ana/Mail/inbox/new/2 = two"]);
    let copy = tree(&writer, &["mnt/snap/home/ana/Mail/inbox/cur/1:2, = one"]);
    let list = [
        snapshot("tower", 10, &["/home/ana/Mail"], &[], ours),
        snapshot("laptop", 30, &["/home"], &[], bob),
        snapshot("tower", 40, &["/mnt/snap"], &[], copy),
    ];
    let search_order = search_order(&list, &roots(&["/home/ana/Mail"]), "tower", &|_| false);
    assert_eq!(search_order.iter().map(|source| source.tree).collect::<Vec<_>>(), [copy, ours, bob]);
    assert_eq!(
        show(&writer, &search_order, &["one", "two", "three", "four"]),
        ["one: /home/ana/Mail/inbox 1:2,S", "two: /home/ana/Mail/inbox 2", "three: [/etc/x] 3", "four: -"]
    );
}

#[test]
fn a_shared_tree_counts_where_it_has_a_folder() {
    let writer = MemoryRepository::default();
    let other = tree(&writer, &["home/bob/Mail/inbox/cur/1 = one"]);
    let ours = tree(&writer, &["home/ana/Mail/inbox/cur/1 = one"]);
    let source =
        |tree| SearchedSnapshot { tree, roots: vec![(b"/home/ana/Mail".to_vec(), "/home/ana/Mail".into())] };
    assert_eq!(show(&writer, &[source(other)], &["one"]), ["one: [/home/bob/Mail/inbox] 1"]);
    assert_eq!(show(&writer, &[source(other), source(ours)], &["one"]), ["one: /home/ana/Mail/inbox 1"]);
}

#[test]
fn places_in_trash_and_flags_of_deletion_come_last() {
    let writer = MemoryRepository::default();
    let first =
        tree(&writer, &["m/inbox/cur/1:2,S = one", "m/inbox/cur/2:2,ST = two", "m/inbox/cur/3:2, = three"]);
    let second = tree(
        &writer,
        &["m/.INBOX.Trash/cur/1:2,S = one", "m/Deleted Items/cur/2:2,S = two", "m/a/cur/3:2,T = three"],
    );
    let source = |tree| SearchedSnapshot { tree, roots: vec![(b"/m".to_vec(), "/m".into())] };
    assert_eq!(
        show(&writer, &[source(second), source(first)], &["one", "two", "three"]),
        ["one: /m/inbox 1:2,S", "two: /m/Deleted Items 2:2,S", "three: /m/inbox 3:2,"]
    );
    assert!(!is_trash(Path::new("/m/Trashcan")) && is_trash(Path::new("/m/TRASH")));
}

#[test]
fn kept_messages_come_last_and_know_their_folders() {
    let writer = MemoryRepository::default();
    let ours = tree(&writer, &["m/inbox/cur/1:2,S = one"]);
    let kept = tree(
        &writer,
        &[
            "pneu-deleted/m/old/cur/1:2,S = one",
            "pneu-deleted/m/old/cur/2:2,S = two",
            "pneu-deleted/cur/3:2, = three",
        ],
    );
    let list = [
        snapshot("tower", 20, &["/pneu-deleted"], &["pneu-deleted"], kept),
        snapshot("tower", 10, &["/m"], &[], ours),
    ];
    let search_order = search_order(&list, &roots(&["/m"]), "tower", &|_| false);
    assert_eq!(
        show(&writer, &search_order, &["one", "two", "three"]),
        ["one: /m/inbox 1:2,S", "two: /m/old 2:2,S", "three: [/pneu-deleted] 3:2,"]
    );
}

#[test]
fn a_root_that_was_moved_is_known_by_its_name() {
    let none = id_of(b"");
    let moved = |host: &str, paths: &[&str], now: &[&str], there: &str| -> Vec<String> {
        let list = [snapshot(host, 1, paths, &[], none)];
        let search_order = search_order(&list, &roots(now), "tower", &|path| path == Path::new(there));
        let shown = |(path, root): &(Vec<u8>, PathBuf)| {
            format!("{} is {}", String::from_utf8_lossy(path), root.display())
        };
        search_order[0].roots[now.len()..].iter().map(shown).collect()
    };
    assert_eq!(moved("tower", &["/old/Mail"], &["/new/Mail"], ""), ["/old/Mail is /new/Mail"]);
    assert_eq!(moved("tower", &["/old/Mail", "/b"], &["/new/Mail", "/b"], ""), ["/old/Mail is /new/Mail"]);
    // Another machine's snapshot, a root that still exists, another name, two possible roots, the root
    // itself.
    for (host, paths, now, there) in [
        ("laptop", &["/old/Mail"][..], &["/new/Mail"][..], ""),
        ("tower", &["/old/Mail"], &["/new/Mail"], "/old/Mail"),
        ("tower", &["/old/Post"], &["/new/Mail"], ""),
        ("tower", &["/old/Mail", "/older/Mail"], &["/new/Mail"], ""),
        ("tower", &["/old/Mail"], &["/new/Mail", "/other/Mail"], ""),
        ("tower", &["/old/Mail", "/new"], &["/new/Mail"], ""),
    ] {
        assert_eq!(moved(host, paths, now, there), [""; 0], "{host} {paths:?} {now:?} {there}");
    }
}
