//! The stores that are kept of what was read: when they answer, when they are made again, and that neither a
//! crash nor another process nor another user disturbs them.

use crate::made::{Made, V, log, orders, snapshot, some_orders, tuple};
use crate::support::Home;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

fn home() -> Home {
    let home = Home::new();
    snapshot(&home.path().join("shop"), 4, &[orders(some_orders())]);
    home
}

fn cache(home: &Home) -> PathBuf {
    home.path().join(".cache/pneu-tarantool")
}

/// The names in a directory, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn entries(home: &Home) -> Vec<String> {
    names(&cache(home)).into_iter().filter(|name| name != "lock").collect()
}

/// What tells whether an entry was made again.
fn made(home: &Home, entry: &str) -> (u64, i64, i64) {
    let store = fs::metadata(cache(home).join(entry).join("store")).unwrap();
    (store.ino(), store.ctime(), store.ctime_nsec())
}

fn count(home: &Home, expected: &str) {
    assert_eq!(home.good(&["count", "shop", "orders"]), format!("{expected}\n"));
}

#[test]
fn files_that_did_not_change_are_loaded_once() {
    let home = home();
    count(&home, "5");
    let [entry] = &entries(&home)[..] else { panic!("{:?}", entries(&home)) };
    let first = made(&home, entry);
    assert_eq!(fs::metadata(cache(&home)).unwrap().mode() & 0o777, 0o700);
    count(&home, "5");
    assert_eq!((entries(&home), made(&home, entry)), (vec![entry.clone()], first));
    // A log that comes, and one that grows.
    log(&home.path().join("shop"), 4, &[tuple(&[V::N(9), V::S("new"), V::N(1)])]);
    count(&home, "6");
    let second = entries(&home);
    assert!(second.len() == 1 && second[0] != *entry, "the old one goes: {second:?}");
    fs::remove_file(home.path().join("shop/00000000000000000004.xlog")).unwrap();
    let both = [tuple(&[V::N(9), V::S("new"), V::N(1)]), tuple(&[V::N(10), V::S("new"), V::N(1)])];
    log(&home.path().join("shop"), 4, &both);
    count(&home, "7");
    assert_eq!(entries(&home).len(), 1);
}

#[test]
fn the_source_is_never_written_to_and_no_cache_keeps_nothing() {
    let home = home();
    let shop = home.path().join("shop");
    let before = (names(&shop), fs::metadata(&shop).unwrap().mtime_nsec());
    let temporary = home.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
    command.args(["count", "shop", "orders", "--no-cache"]).env_clear().current_dir(home.path());
    let output = command.env("HOME", home.path()).env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n");
    assert!(names(&temporary).is_empty() && !home.path().join(".cache").exists());
    count(&home, "5");
    assert_eq!((names(&shop), fs::metadata(&shop).unwrap().mtime_nsec()), before);
}

#[test]
fn what_another_user_could_write_is_not_used() {
    let home = home();
    let path = cache(&home);
    let refused = |what: &str| {
        let run = home.run(&["count", "shop", "orders"]);
        let said =
            format!("pneu-tarantool: {} {what}: it is not used; --no-cache does without\n", path.display());
        assert_eq!((run.code, run.err), (Some(2), said));
        assert_eq!(home.good(&["count", "shop", "orders", "--no-cache"]), "5\n");
    };
    fs::create_dir_all(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
    refused("can be written by other users");
    fs::remove_dir(&path).unwrap();
    fs::create_dir(home.path().join("elsewhere")).unwrap();
    symlink(home.path().join("elsewhere"), &path).unwrap();
    refused("is a link");
    assert!(names(&home.path().join("elsewhere")).is_empty());
}

/// A killed load may stop after each of these steps.
#[test]
fn what_a_killed_load_leaves_does_not_count_and_goes() {
    let home = home();
    count(&home, "5");
    let entry = entries(&home).remove(0);
    let whole = cache(&home).join(&entry);
    let copy = |to: &Path| {
        let status = Command::new("cp").arg("-r").arg(&whole).arg(to).status().unwrap();
        assert!(status.success());
    };
    let fresh = |name: &str| cache(&home).join(name);
    fs::create_dir(fresh("new-0000000000000001")).unwrap();
    copy(&fresh("new-0000000000000002"));
    fs::remove_file(fresh("new-0000000000000002/identity")).unwrap();
    copy(&fresh("new-0000000000000003"));
    copy(&fresh(&format!("old-{entry}")));
    copy(&fresh("new-0000000000000004"));
    // A living process works on this one.
    let living = File::options().write(true).open(fresh("new-0000000000000004/lock")).unwrap();
    living.lock().unwrap();
    count(&home, "5");
    assert_eq!(entries(&home).len(), 6, "they are no entries, and nobody loads");
    fs::rename(home.path().join("shop"), home.path().join("moved")).unwrap();
    assert_eq!(home.good(&["count", "moved", "orders"]), "5\n");
    let left = entries(&home);
    assert!(
        left.len() == 3 && left.contains(&entry) && left.contains(&"new-0000000000000004".to_owned()),
        "{left:?}"
    );
    drop(living);
}

/// An entry without a whole identity or without its store is made again.
#[test]
fn half_an_entry_is_made_again() {
    let home = home();
    count(&home, "5");
    let entry = entries(&home).remove(0);
    let path = cache(&home).join(&entry);
    for (file, change) in [("identity", 5), ("store/manifest", 0), ("store/manifest", 20)] {
        let file = path.join(file);
        assert!(file.exists(), "{file:?}: {:?}", names(&path.join("store")));
        fs::write(&file, &fs::read(&file).unwrap()[..change]).unwrap();
        let before = made(&home, &entry);
        count(&home, "5");
        assert_eq!(entries(&home), std::slice::from_ref(&entry));
        let again = made(&home, &entry);
        assert_ne!(again, before);
        count(&home, "5");
        assert_eq!(made(&home, &entry), again, "it is whole again");
    }
}

/// Damage that shows only when it is read is told, and the next question loads again.
#[test]
fn a_damaged_store_is_told_and_removed() {
    let home = Home::new();
    let more = (10..3000).map(|id| tuple(&[V::N(id), V::S("a customer with a name"), V::N(id)]));
    let tuples: Vec<Vec<u8>> = some_orders().into_iter().chain(more).collect();
    snapshot(&home.path().join("shop"), 4, &[orders(tuples)]);
    count(&home, "2995");
    let entry = entries(&home).remove(0);
    let store = cache(&home).join(&entry).join("store");
    let segments: Vec<PathBuf> = names(&store).into_iter().map(|name| store.join(name)).collect();
    let holds =
        |path: &PathBuf| fs::read(path).is_ok_and(|bytes| bytes.windows(5).any(|part| part == b"Paris"));
    let segment = segments.into_iter().find(holds).unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let at = bytes.windows(5).position(|part| part == b"Paris").unwrap();
    bytes[at] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let run = home.run(&["scan", "shop", "orders"]);
    let end = "that was a store in the cache, and it is removed: try again\n";
    assert!(run.code == Some(2) && run.err.ends_with(end), "{run:?}");
    assert_eq!(
        home.good(&["scan", "shop", "orders", "--where", "more.town = \"Paris\"", "--fields", "id"]),
        "[1]\n"
    );
}

#[test]
fn the_cache_is_bounded_and_the_oldest_use_goes_first() {
    let home = home();
    for name in ["two", "three"] {
        snapshot(&home.path().join(name), 4, &[orders(some_orders())]);
    }
    let run = |source: &str, limit: u64| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
        command.args(["count", source, "orders"]).env_clear().current_dir(home.path());
        let command = command.env("HOME", home.path()).env("PNEU_TARANTOOL_CACHE_MAX", limit.to_string());
        let output = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    run("shop", 0);
    assert!(!cache(&home).exists(), "nothing is kept");
    let said = run("shop", 1);
    assert!(said.ends_with("it is not kept; PNEU_TARANTOOL_CACHE_MAX allows more\n"), "{said}");
    assert!(entries(&home).is_empty());
    run("shop", u64::MAX);
    let shop = entries(&home).remove(0);
    let entry = cache(&home).join(&shop);
    let files = |path: &Path| -> u64 {
        let files = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
        files.filter(fs::Metadata::is_file).map(|file| file.len()).sum()
    };
    // Names have different lengths, so entries differ by some bytes.
    let size = files(&entry) + files(&entry.join("store")) + 100;
    run("two", size * 2);
    let two = entries(&home).into_iter().find(|name| *name != shop).unwrap();
    let used = |entry: &str, seconds: u64| {
        let file = File::open(cache(&home).join(entry).join("identity")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    used(&shop, 1_000);
    used(&two, 2_000);
    // The use counts, not the age.
    run("shop", size * 2);
    run("three", size * 2);
    let left = entries(&home);
    assert!(left.len() == 2 && left.contains(&shop) && !left.contains(&two), "{left:?}");
}

#[test]
fn processes_at_once_all_answer_and_one_store_stays() {
    let home = home();
    for round in 0..3 {
        let mut running = Vec::new();
        for _ in 0..6 {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
            command.args(["get", "shop", "orders", "2"]).env_clear().current_dir(home.path());
            let command = command.env("HOME", home.path()).stdout(std::process::Stdio::piped());
            running.push(command.spawn().unwrap());
        }
        // Some are killed, wherever they are.
        for child in running.iter_mut().skip(4) {
            child.kill().unwrap();
        }
        for (number, child) in running.into_iter().enumerate() {
            let output = child.wait_with_output().unwrap();
            if number < 4 {
                assert_eq!(String::from_utf8_lossy(&output.stdout), "[2,\"bob\",7,false]\n");
            }
        }
        assert_eq!(entries(&home).iter().filter(|name| !name.starts_with("new-")).count(), 1);
        // A new log: all of them load again.
        let tuples = [tuple(&[V::N(100 + round), V::S("new"), V::N(1)])];
        log(&home.path().join("shop"), 4 + round, &tuples);
    }
}

#[test]
fn what_was_lost_is_told_each_time() {
    let home = Home::new();
    let vinyl = Made { id: 600, name: "v", engine: "vinyl", tuples: Vec::new(), ..orders(Vec::new()) };
    snapshot(&home.path().join("shop"), 4, &[orders(some_orders()), vinyl]);
    let lost = "pneu-tarantool: lost: space v (600): all rows from before the snapshot, which vinyl keeps in \
                its own files\n";
    let file = "shop/00000000000000000004.snap";
    for _ in 0..2 {
        let run = home.run(&["get", file, "orders", "2"]);
        assert_eq!((run.code, run.out.as_str()), (Some(3), "[2,\"bob\",7,false]\n"));
        assert!(run.err.ends_with(lost), "{run:?}");
        assert_eq!(home.run(&["get", file, "orders", "77"]).code, Some(3));
        assert_eq!(home.run(&["diff", file, file]).code, Some(3));
        let run = home.run(&["get", "shop", "orders", "2", "--salvage"]);
        assert!(run.code == Some(3) && run.err.ends_with(lost), "{run:?}");
    }
    // With the directory, the files of vinyl may be elsewhere.
    let run = home.run(&["get", "shop", "orders", "2"]);
    let refused = "pneu-tarantool: shop: space v (600) is kept by vinyl, and there is no .vylog that has it: \
                   name the directory of vinyl with --vinyl-dir; use --salvage to load what can be read\n";
    assert_eq!((run.code, run.err.as_str()), (Some(2), refused));
}

#[test]
fn damage_is_refused_or_salvaged_and_kept_apart() {
    let home = home();
    let path = home.path().join("shop/00000000000000000004.snap");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    for source in ["shop", "shop/00000000000000000004.snap"] {
        for _ in 0..2 {
            let run = home.run(&["count", source, "orders"]);
            assert!(run.code == Some(2) && run.err.contains("is damaged at byte"), "{run:?}");
            let run = home.run(&["count", source, "orders", "--salvage"]);
            assert!(
                run.code == Some(2) && run.err.contains("no space orders"),
                "all is in one block: {run:?}"
            );
        }
    }
    fs::write(&path, "").unwrap();
    assert_eq!(home.run(&["count", "shop/00000000000000000004.snap", "orders"]).code, Some(2));
    // A pipe is not waited for.
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(home.run(&["count", "shop", "orders"]).code, Some(2));
    assert_eq!(home.run(&["count", "shop/00000000000000000004.snap", "orders"]).code, Some(2));
}
