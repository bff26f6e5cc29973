//! What is kept of folders: ids of renamed folders, texts that are accepted and refused, and random changes
//! beside a slow and obvious twin.

use super::kept::{Entry, id_of};
use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

fn key(path: &str) -> FolderKey {
    FolderKey { root: "mail".to_owned(), path: path.as_bytes().to_vec() }
}

fn keys(paths: &str) -> Vec<FolderKey> {
    paths.split(' ').filter(|path| !path.is_empty()).map(key).collect()
}

/// Makes a change as it is committed, and reads it back.
fn changed(kept: &KeptFolders, folders: &str, change: &dyn Fn(&mut KeptFolders)) -> KeptFolders {
    let mut after = kept.clone();
    change(&mut after);
    let folders = keys(folders);
    after.settle(&folders);
    after.keep_ids(kept, &folders);
    after.simplify();
    assert_eq!(text::parse(text::encode(&after).as_bytes()), Ok(after.clone()));
    after
}

fn followed(kept: &KeptFolders, folders: &str, pairs: &[(&str, &str)]) -> KeptFolders {
    let pairs: Vec<(FolderKey, FolderKey)> = pairs.iter().map(|(old, new)| (key(old), key(new))).collect();
    changed(kept, folders, &|kept| kept.follow(&keys(folders), &pairs))
}

fn settled(kept: &KeptFolders, folders: &str) -> KeptFolders {
    changed(kept, folders, &|_| {})
}

/// Returns the ids of folders.
fn ids(kept: &KeptFolders, folders: &str) -> Vec<FolderId> {
    kept.of(&keys(folders)).iter().map(|kept| kept.id).collect()
}

fn first(path: &str) -> FolderId {
    id_of(&key(path), 0)
}

#[test]
fn the_root_and_the_path_of_a_folder_are_told_apart() {
    let id = |root: &str, path: &str, number| {
        id_of(&FolderKey { root: root.to_owned(), path: path.as_bytes().to_vec() }, number)
    };
    let all = [id("a", "b/c", 0), id("a/b", "c", 0), id("ab", "c", 0), id("a", "bc", 0), id("a", "bc", 1)];
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn an_id_is_that_of_the_old_place_or_of_the_new_one_as_the_index_has_it() {
    let none = KeptFolders::default();
    let noted = followed(&none, "a x", &[("a", "b")]);
    assert_eq!(ids(&noted, "a x"), [first("a"), first("x")]);
    assert_eq!(ids(&noted, "b x"), [first("a"), first("x")]);
    assert_eq!(followed(&noted, "a x", &[("a", "b")]), noted, "it is noted once");
    let done = settled(&noted, "b x");
    assert_eq!(ids(&done, "b x"), [first("a"), first("x")]);
    // A new folder at the old place, and one at the place of that.
    let new = id_of(&key("a"), 1);
    assert_eq!(ids(&done, "a b x"), [new, first("a"), first("x")]);
    let twice = settled(&followed(&done, "a b x", &[("a", "c")]), "b c x");
    assert_eq!(ids(&twice, "a b c"), [id_of(&key("a"), 2), first("a"), new]);
    // Backwards, nothing is kept.
    assert_eq!(settled(&followed(&done, "b x", &[("b", "a")]), "a x"), none);
    let back = changed(&noted, "a x", &|kept| kept.take_back(&|old, _| *old == key("a")));
    assert_eq!(back, none);
}

#[test]
fn folders_below_go_along() {
    let none = KeptFolders::default();
    let below = settled(&followed(&none, "a a/b ab", &[("a", "c"), ("a/b", "c/b")]), "c c/b ab");
    assert_eq!(ids(&below, "c c/b ab"), ["a", "a/b", "ab"].map(first));
}

#[test]
fn order_and_subscription_go_along_and_other_folders_keep_their_ids() {
    let set = |kept: &mut KeptFolders| {
        kept.0.insert(key("a"), Entry { sort_order: Some(7), is_unsubscribed: true, ..Entry::default() });
    };
    let kept = changed(&KeptFolders::default(), "a", &set);
    let moved = settled(&followed(&kept, "a", &[("a", "b")]), "b");
    let of = |kept: &KeptFolders, path: &str| kept.of(&keys(path)).pop().unwrap();
    assert_eq!(of(&moved, "b"), KeptFolder { id: first("a"), sort_order: Some(7), is_subscribed: false });
    // A new folder at the old place keeps its id when the other one goes.
    let new = of(&moved, "a b a").id;
    assert_ne!(new, first("a"));
    let forgotten = changed(&moved, "a", &|kept| _ = kept.0.remove(&key("b")));
    assert_eq!((of(&forgotten, "a").id, forgotten.0.len()), (new, 1));
    assert_eq!(of(&forgotten, "b").id, first("b"));
}

#[test]
fn texts_are_read_or_refused() {
    let parsed = |text: &str| text::parse(text.as_bytes());
    let line = "mail\ta%20b%ff\t00112233445566778899aabbccddeeff\t7\tno\told%09\tc";
    let kept = parsed(&format!("pneu-folders 1\n# a comment\n\n{line}\n")).unwrap();
    assert_eq!(text::encode(&kept), format!("pneu-folders 1\n{line}\n"));
    assert_eq!(kept.0.first_key_value().unwrap().0.path, b"a b\xff");
    assert_eq!(parsed("pneu-folders 1\n").unwrap(), KeptFolders::default());
    let id = "0123456789abcdef0123456789abcdef";
    for (text, line) in [
        ("".to_owned(), 1),
        ("pneu-folders 2\n".to_owned(), 1),
        ("pneu-folders 1\nmail\ta\t-\t-\n".to_owned(), 2),
        ("pneu-folders 1\nmail\ta\t-\t-\tmaybe\n".to_owned(), 2),
        ("pneu-folders 1\nmail\ta\tabc\t-\tyes\n".to_owned(), 2),
        (format!("pneu-folders 1\nmail\ta\t{}é\t-\tyes\n", "a".repeat(30)), 2),
        ("pneu-folders 1\nmail\ta%\t-\t-\tyes\n".to_owned(), 2),
        ("pneu-folders 1\nmail\ta\t-\t4294967296\tyes\n".to_owned(), 2),
        ("pneu-folders 1\nmail\ta\t-\t-\tyes\tmail\tb\n".to_owned(), 2),
        (format!("pneu-folders 1\nmail\ta\t{id}\t-\tyes\tmail\n"), 2),
        (format!("pneu-folders 1\nmail\ta\t{id}\t-\tyes\nmail\tb\t{id}\t-\tyes\n"), 3),
        ("pneu-folders 1\nmail\ta\t-\t1\tyes\nmail\ta\t-\t2\tyes\n".to_owned(), 3),
    ] {
        assert_eq!(parsed(&text).unwrap_err().0, line, "{text:?}");
    }
    assert_eq!(text::parse(b"pneu-folders 1\n\xff").unwrap_err().0, 1);
}

#[test]
fn a_text_that_is_wrong_is_an_error_that_names_the_place_and_what_to_do() {
    let environment = Environment {
        disk: std::sync::Arc::new(testkit::SimDisk::new(1)),
        data: "/data".into(),
        seed: 7,
        holder: "a test".into(),
        changes_kept_seconds: crate::CHANGES_KEPT_SECONDS,
        text_slots: 2,
        opened: crate::Opened::default(),
        context: work::Context::new(|| 1_900_000_000_000_000_000, 1),
    };
    let to: (&Environment, &dyn Progress) = (&environment, &work::Silent);
    let folders = keys("a");
    change_folder(to, &folders, &folders[0], (Some(7), true)).unwrap();
    assert_eq!(crate::damage_of_user(&environment), []);
    let mut writer = writer_for(&environment, &work::Silent).unwrap();
    let user = writer.snapshot().unwrap();
    let mut transaction = Changes::new(&user).unwrap().transaction(&environment, &user).unwrap();
    transaction.attach(ATTACHMENT, b"pneu-folders 1\nmail\n".to_vec());
    writer.commit(transaction).unwrap();
    drop(writer);
    let error = change_folder(to, &folders, &folders[0], (Some(8), true)).unwrap_err();
    let told = "line 2 of what is kept of folders in /data/user: it is no line of a folder";
    assert_eq!(error.to_string(), told);
    assert_eq!(error.remedy(), Some(crate::Remedy::RestoreUserData));
    let damage = crate::damage_of_user(&environment);
    assert_eq!(damage.iter().map(|damage| damage.what.as_str()).collect::<Vec<_>>(), [told]);
}

/// What happens to folders that are letters.
#[derive(Clone, Debug)]
enum Step {
    /// A folder is made.
    Make(char),
    /// A folder gets another name, and the note before it is written.
    Rename(char, char),
    /// The same, but a crash leaves the old name.
    Crash(char, char),
    /// The same, and the note is never ended.
    Unsettled(char, char),
    /// A folder is destroyed.
    Destroy(char),
    /// A folder gets an order.
    Order(char, u32),
}

fn step() -> impl Strategy<Value = Step> {
    let letter = || prop::sample::select(vec!['a', 'b', 'c', 'd']);
    let two = move || (letter(), letter());
    prop_oneof![
        letter().prop_map(Step::Make),
        two().prop_map(|(old, new)| Step::Rename(old, new)),
        two().prop_map(|(old, new)| Step::Crash(old, new)),
        two().prop_map(|(old, new)| Step::Unsettled(old, new)),
        letter().prop_map(Step::Destroy),
        (letter(), 1_u32..9).prop_map(|(letter, order)| Step::Order(letter, order)),
    ]
}

proptest! {
    /// The twin remembers the id that each folder had when it was made.
    #[test]
    fn ids_stay_and_are_different(steps in prop::collection::vec(step(), 1..30)) {
        let mut kept = KeptFolders::default();
        let mut twin: BTreeMap<char, (FolderId, Option<u32>)> = BTreeMap::new();
        let names = |twin: &BTreeMap<char, (FolderId, Option<u32>)>| {
            twin.keys().map(char::to_string).collect::<Vec<_>>().join(" ")
        };
        for step in steps {
            let before = names(&twin);
            match step {
                Step::Make(new) if !twin.contains_key(&new) => {
                    twin.insert(new, (FolderId::default(), None));
                    let now = kept.of(&keys(&names(&twin)));
                    let place = twin.keys().position(|name| *name == new).unwrap();
                    twin.insert(new, (now[place].id, now[place].sort_order));
                }
                Step::Rename(old, new) | Step::Crash(old, new) | Step::Unsettled(old, new)
                    if twin.contains_key(&old) && !twin.contains_key(&new) =>
                {
                    kept = followed(&kept, &before, &[(&old.to_string(), &new.to_string())]);
                    if matches!(step, Step::Crash(..)) {
                        let stays = |other: &FolderKey, place: &FolderKey| {
                            (other, place) == (&key(&old.to_string()), &key(&new.to_string()))
                        };
                        kept = changed(&kept, &before, &|kept| kept.take_back(&stays));
                    } else {
                        let folder = twin.remove(&old).unwrap();
                        twin.insert(new, folder);
                    }
                    if matches!(step, Step::Rename(..)) {
                        kept = settled(&kept, &names(&twin));
                    }
                }
                Step::Destroy(old) if twin.remove(&old).is_some() => {
                    let others = names(&twin);
                    kept = settled(&kept, &old.to_string());
                    kept = changed(&kept, &others, &|kept| _ = kept.0.remove(&key(&old.to_string())));
                }
                Step::Order(name, order) if twin.contains_key(&name) => {
                    let folder = key(&name.to_string());
                    kept = changed(&kept, &before, &|kept| {
                        let place = kept.place_of(&folder, &keys(&before));
                        kept.0.entry(place).or_default().sort_order = Some(order);
                    });
                    twin.get_mut(&name).unwrap().1 = Some(order);
                }
                _ => {}
            }
            let now = kept.of(&keys(&names(&twin)));
            let found: Vec<_> = now.iter().map(|kept| (kept.id, kept.sort_order)).collect();
            prop_assert_eq!(&found, &twin.values().copied().collect::<Vec<_>>());
            prop_assert_eq!(now.iter().map(|kept| kept.id).collect::<HashSet<_>>().len(), now.len());
        }
        if twin.is_empty() {
            prop_assert!(settled(&kept, "").0.is_empty(), "nothing is left of folders that are gone");
        }
    }
}
