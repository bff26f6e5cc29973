//! Walks visit everything once, on one thread or many. Listings are in order. Matches state the path and the
//! snapshots.

use crate::support::{init, open, shared_lock, surroundings};
use restic::testing::MemoryStorage;
use restic::tree::{Node, NodeKind, TreeWriter};
use restic::{
    BlobKind, DEPTH_COUNT_MAX, FindFilter, Id, Next, Repository, SaveOptions, Saver, Sharing, Storage,
    VisitedDirectory, Visitor, find, list, node_at, walk,
};
use std::sync::{Arc, Mutex};
use work::{Progress, Silent};

/// Saves directories written as "a/b:file a/c:file".
fn save_tree(saver: &Saver<'_>, files: &str) -> Id {
    let paths: Vec<(&str, &str)> = files.split(' ').map(|path| path.split_once(':').unwrap()).collect();
    save_below(saver, &paths)
}

fn save_below(saver: &Saver<'_>, paths: &[(&str, &str)]) -> Id {
    let mut names: Vec<&str> = paths
        .iter()
        .map(|(directory, file)| if directory.is_empty() { file } else { directory })
        .copied()
        .collect();
    names = names.into_iter().map(|name| name.split('/').next().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    let mut writer = TreeWriter::new();
    for name in names {
        let below: Vec<(&str, &str)> = paths
            .iter()
            .filter(|(directory, _)| directory.split('/').next() == Some(name))
            .map(|(directory, file)| (directory.split_once('/').map_or("", |(_, rest)| rest), *file))
            .collect();
        let node = if below.is_empty() {
            let content = Some(saver.save_file(&mut name.as_bytes()).unwrap().content.into());
            Node { content, ..Node::new(name.as_bytes(), NodeKind::File) }
        } else {
            let subtree = Some(save_below(saver, &below));
            Node { subtree, ..Node::new(name.as_bytes(), NodeKind::Directory) }
        };
        writer.append(&node).unwrap();
    }
    saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id
}

/// A repository with the trees of three snapshots.
fn three() -> (Arc<MemoryStorage>, Repository, Vec<Id>) {
    let memory = MemoryStorage::new();
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let roots = ["a:x a:y b/c:z", "a:x a:y b/c:z b:new", "a:x a:y old/c:z"];
    let roots = roots.iter().map(|files| save_tree(&saver, files)).collect();
    saver.finish().unwrap();
    drop(lock);
    drop(repository);
    (memory, open(&storage), roots)
}

/// Records what it visits, and enters the allowed directories.
struct Notes<'a> {
    seen: Mutex<Vec<String>>,
    enters: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

impl Visitor for Notes<'_> {
    fn enters(&self, place: &VisitedDirectory<'_>, node: &Node<'_>) -> bool {
        (self.enters)(&place.path_of(node))
    }

    fn visit(&self, place: &VisitedDirectory<'_>, node: &Node<'_>) -> restic::Result<()> {
        let roots: Vec<String> = place.roots.iter().map(|root| root.to_string()).collect();
        let line = format!("{} {}", String::from_utf8_lossy(&place.path_of(node)), roots.join(","));
        self.seen.lock().unwrap().push(line);
        Ok(())
    }
}

/// Returns what a walk visits, sorted, and how many trees it read.
fn see(
    repository: &Repository,
    roots: &[Id],
    sharing: Sharing,
    enters: &(dyn Fn(&[u8]) -> bool + Sync),
) -> (Vec<String>, u64) {
    struct Count(Mutex<u64>);
    impl Progress for Count {
        fn add(&self, items: u64, _: u64) {
            *self.0.lock().unwrap() += items;
        }
    }
    let (notes, count) = (Notes { seen: Mutex::default(), enters }, Count(Mutex::new(0)));
    let problems = walk(repository, roots, sharing, &notes, &count).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let mut seen = notes.seen.into_inner().unwrap();
    seen.sort();
    (seen, count.0.into_inner().unwrap())
}

#[test]
fn shared_files_are_visited_once_with_all_their_snapshots() {
    let (_, repository, roots) = three();
    let (seen, tree_count) = see(&repository, &roots, Sharing::ByPath, &|_| true);
    let expected = [
        "/a 0",
        "/a 1",
        "/a 2",
        "/a/x 0,1,2",
        "/a/y 0,1,2",
        "/b 0",
        "/b 1",
        "/b/c 0",
        "/b/c 1",
        "/b/c/z 0,1",
        "/b/new 1",
        "/old 2",
        "/old/c 2",
        "/old/c/z 2",
    ];
    assert_eq!((seen, tree_count), (expected.map(str::to_owned).to_vec(), 9));
}

#[test]
fn a_tree_at_several_paths_is_visited_once() {
    let (_, repository, roots) = three();
    let (seen, tree_count) = see(&repository, &roots, Sharing::ByTree, &|_| true);
    // The directory `c` is at three places. Its parent that contains nothing else is at two of them.
    let count =
        |name: &str| seen.iter().filter(|line| line.split(' ').next().unwrap().ends_with(name)).count();
    assert_eq!((count("/x"), count("/z"), count("/c"), count("/new")), (1, 1, 2, 1), "{seen:?}");
    assert_eq!(tree_count, 7);
    let repeated: Vec<Id> = roots.iter().chain(&roots).copied().collect();
    assert_eq!(see(&repository, &repeated, Sharing::ByTree, &|_| true).1, 7);
}

#[test]
fn directories_that_are_not_entered_are_not_read() {
    let (_, repository, roots) = three();
    let (seen, tree_count) = see(&repository, &roots[..1], Sharing::ByPath, &|path| path == b"/a");
    assert_eq!(seen, ["/a 0", "/a/x 0", "/a/y 0", "/b 0"]);
    assert_eq!(tree_count, 2);
}

#[test]
fn one_thread_visits_the_same_as_many() {
    let (memory, repository, roots) = three();
    let one = Repository::open(memory, &crate::support::password(), None, surroundings(1)).unwrap();
    for sharing in [Sharing::ByPath, Sharing::ByTree] {
        let trees = |repository| see(repository, &roots, sharing, &|_| true).1;
        assert_eq!(trees(&one), trees(&repository));
    }
    let all = |repository| see(repository, &roots, Sharing::ByPath, &|_| true);
    assert_eq!(all(&one), all(&repository));
}

#[test]
fn matches_have_paths_and_snapshots() {
    let (_, repository, roots) = three();
    let wish = FindFilter { matches: &|_, node| node.name.ends_with(b"z"), may_hold: &|path| path != b"/a" };
    let (found, problems) = find(&repository, &roots, &wish, &Silent).unwrap();
    assert!(problems.is_empty());
    let told: Vec<(String, Vec<usize>)> = found
        .iter()
        .map(|found| (String::from_utf8(found.path.clone()).unwrap(), found.roots.iter().collect()))
        .collect();
    assert_eq!(told, [("/b/c/z".to_owned(), vec![0, 1]), ("/old/c/z".to_owned(), vec![2])]);
    assert_eq!(found[0].node.name, &b"z"[..]);
    // The second snapshot has another tree of /b. A file that all of them have is still found once.
    let wish =
        FindFilter { matches: &|path, node| path == b"/a" || &*node.name == b"a", may_hold: &|_| true };
    let (found, _) = find(&repository, &[&roots[..], &roots[..1]].concat(), &wish, &Silent).unwrap();
    let told: Vec<(&[u8], usize)> =
        found.iter().map(|found| (&*found.path, found.roots.iter().count())).collect();
    assert_eq!(told, [(&b"/a"[..], 4), (b"/a/x", 4), (b"/a/y", 4)]);
}

#[test]
fn a_listing_is_in_order_and_stops_on_request() {
    let (_, repository, roots) = three();
    let listing = |next: &dyn Fn(&[u8]) -> Next| {
        let mut paths = Vec::new();
        let problems = list(&repository, &roots[1], &mut |path, _| {
            paths.push(String::from_utf8(path.to_vec()).unwrap());
            Ok(next(path))
        });
        assert!(problems.unwrap().is_empty());
        paths
    };
    assert_eq!(listing(&|_| Next::Enter), ["/a", "/a/x", "/a/y", "/b", "/b/c", "/b/c/z", "/b/new"]);
    let pass = |path: &[u8]| if path == b"/b/c" { Next::Pass } else { Next::Enter };
    assert_eq!(listing(&pass), ["/a", "/a/x", "/a/y", "/b", "/b/c", "/b/new"]);
    let end = |path: &[u8]| if path == b"/a/y" { Next::End } else { Next::Enter };
    assert_eq!(listing(&end), ["/a", "/a/x", "/a/y"]);
    let name =
        |path: &[u8]| node_at(&repository, &roots[1], path).unwrap().map(|node| node.name.into_owned());
    assert_eq!(name(b"/b/c/z"), Some(b"z".to_vec()));
    assert_eq!(name(b"b/c/"), Some(b"c".to_vec()));
    assert_eq!([name(b"/b/q"), name(b"/a/x/y"), name(b"/")], [None, None, None]);
}

#[test]
fn impossibly_deep_trees_are_reported_and_not_entered() {
    let memory = MemoryStorage::new();
    let storage: Arc<dyn Storage> = memory;
    let repository = init(&storage);
    let lock = shared_lock(&repository);
    let saver = Saver::new(&repository, &lock, SaveOptions::default()).unwrap();
    let mut tree = saver.save_blob(BlobKind::Tree, None, b"{\"nodes\":[]}\n").unwrap().id;
    for _ in 0..DEPTH_COUNT_MAX {
        let mut writer = TreeWriter::new();
        writer.append(&Node { subtree: Some(tree), ..Node::new(&b"d"[..], NodeKind::Directory) }).unwrap();
        tree = saver.save_blob(BlobKind::Tree, None, &writer.finish()).unwrap().id;
    }
    saver.finish().unwrap();
    let notes = Notes { seen: Mutex::default(), enters: &|_| true };
    let walked = walk(&repository, &[tree], Sharing::ByTree, &notes, &Silent).unwrap();
    let listed = list(&repository, &tree, &mut |_, _| Ok(Next::Enter)).unwrap();
    for problems in [walked, listed] {
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path.len(), 2 * DEPTH_COUNT_MAX);
        let sentence = problems[0].error.to_string();
        assert!(sentence.contains("it lies deeper than 2048 directories"), "{sentence}");
    }
}
