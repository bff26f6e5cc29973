//! Trees that are rewritten: what stays the same, what is asked once, and what is refused.

use crate::support::{init, open, shared_lock};
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, Depth, Edited, Error, Id, Repository, Rewritten, SaveOptions, Saver, Storage, TreeRewriter,
    load_tree,
};
use std::sync::Arc;

/// The size that files state: more than 32 bits hold.
const SIZE_BYTES: u64 = 5 << 30;

fn tree(saver: &Saver<'_>, nodes: &[Node<'_>]) -> Id {
    let mut writer = TreeWriter::new();
    nodes.iter().for_each(|node| writer.append(node).unwrap());
    saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id
}

fn file(name: &'static str, content: u8) -> Node<'static> {
    let content = Some(vec![Id([content; 32])].into());
    Node { content, size: SIZE_BYTES, ..Node::new(name.as_bytes(), NodeKind::File) }
}

fn directory(name: &'static str, tree: Id) -> Node<'static> {
    Node { subtree: Some(tree), ..Node::new(name.as_bytes(), NodeKind::Directory) }
}

/// Returns the names in a tree, with those below.
fn names(repository: &Repository, tree: Id) -> Vec<String> {
    let mut found = Vec::new();
    for node in load_tree(repository, &mut restic::Reading::default(), &tree).unwrap() {
        let name = String::from_utf8(node.name.to_vec()).unwrap();
        match node.subtree {
            Some(below) => {
                found.push(format!("{name}/"));
                found.extend(names(repository, below).into_iter().map(|below| format!("{name}/{below}")));
            }
            None => found.push(name),
        }
    }
    found
}

#[test]
fn a_tree_changes_only_where_it_must_and_what_is_shared_is_asked_once() {
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let shared = tree(&saver, &[file("1", 1), file("2", 2)]);
    let other = tree(&saver, &[file("3", 3)]);
    let deep = tree(&saver, &[directory("cur", shared), directory("new", shared)]);
    let roots = [
        tree(&saver, &[directory("cur", shared), directory("new", other), file("note", 9)]),
        tree(&saver, &[directory("cur", shared)]),
        tree(&saver, &[directory("new", other)]),
        tree(&saver, &[directory("deep", deep)]),
    ];
    saver.finish().unwrap();
    let repository = open(&storage);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let mut asked = Vec::new();
    let mut rewrite = |saver: Option<&Saver<'_>>| {
        let mut rewriter = TreeRewriter::new(&repository, saver);
        roots.map(|root| {
            rewriter
                .rewrite(&root, &mut |depth, node| {
                    let directory = match depth {
                        Depth::Top => "",
                        Depth::First(name) => str::from_utf8(name).unwrap(),
                        Depth::Deeper => "..",
                    };
                    asked.push(format!("{directory}/{}", str::from_utf8(&node.name).unwrap()));
                    Ok::<_, Error>(if *node.name == *b"1" { Edited::Gone } else { Edited::Same })
                })
                .unwrap()
        })
    };
    let planned = rewrite(None);
    let done = rewrite(Some(&saver));
    assert_eq!(planned, done, "a plan knows the ids");
    saver.finish().unwrap();
    let half = asked.len() / 2;
    assert_eq!(asked[..half], ["cur/1", "cur/2", "new/3", "/note", "../1", "../2"]);
    assert_eq!(asked[..half], asked[half..]);
    assert_eq!(done[2].tree, roots[2]);
    let gone = done.map(|Rewritten { gone_count, gone_bytes, .. }| (gone_count, gone_bytes));
    assert_eq!(gone, [1, 1, 0, 2].map(|count| (count, count * SIZE_BYTES)), "as often as it was there");
    let repository = open(&storage);
    assert_eq!(names(&repository, done[0].tree), ["cur/", "cur/2", "new/", "new/3", "note"]);
    assert_eq!(names(&repository, done[1].tree), ["cur/", "cur/2"]);
    let names = names(&repository, done[3].tree);
    assert_eq!(names, ["deep/", "deep/cur/", "deep/cur/2", "deep/new/", "deep/new/2"]);
}

#[test]
fn a_tree_that_would_lose_something_is_refused_and_one_that_does_not_change_is_not() {
    let storage: Arc<dyn Storage> = MemoryStorage::new();
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let mut writer = TreeWriter::new();
    writer.append(&file("1", 1)).unwrap();
    writer.append(&file("2", 2)).unwrap();
    let text = String::from_utf8(writer.finish()).unwrap();
    // A later restic may know more.
    let text = text.replacen("\"content\":", "\"colour\":\"red\",\"content\":", 1);
    let strange = saver.save_blob(BlobKind::Tree, None, text.as_bytes()).unwrap().id;
    let root = tree(&saver, &[directory("cur", strange)]);
    saver.finish().unwrap();
    let repository = open(&storage);
    let rewrite = |gone: &[u8]| {
        TreeRewriter::new(&repository, None).rewrite(&root, &mut |_, node| {
            Ok::<_, Error>(if *node.name == *gone { Edited::Gone } else { Edited::Same })
        })
    };
    assert_eq!(rewrite(b"3").unwrap().tree, root);
    let error = rewrite(b"2").unwrap_err().to_string();
    assert!(error.contains("it cannot be written again without losing something"), "{error}");
}
