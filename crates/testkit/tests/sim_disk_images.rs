//! The disks that may be found after a crash: every case of the rules is among the images, and nothing that
//! the rules forbid.

use disk::{Disk, File};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use testkit::{Random, SimDisk};

/// Everything on a disk.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(disk: &SimDisk) -> Files {
    disk.files().into_iter().map(|path| (path.clone(), disk.read(&path).unwrap())).collect()
}

fn all_files(disk: &SimDisk) -> Vec<Files> {
    disk.images().iter().map(|image| files(&image.disk)).collect()
}

/// Collects what the images of many seeds show of the file `path`: `None` if it is absent.
fn outcomes(path: &str, prepare: impl Fn(&SimDisk)) -> BTreeSet<Option<Vec<u8>>> {
    let mut outcomes = BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        prepare(&disk);
        assert!((1..=12).contains(&disk.images().len()));
        outcomes.extend(all_files(&disk).into_iter().map(|mut files| files.remove(Path::new(path))));
    }
    outcomes
}

fn write(disk: &SimDisk, path: &str, bytes: &[u8]) -> Box<dyn File> {
    let mut file = disk.create(Path::new(path)).unwrap();
    file.write(bytes).unwrap();
    file
}

fn write_durably(disk: &SimDisk, path: &str, bytes: &[u8]) -> Box<dyn File> {
    let mut file = write(disk, path, bytes);
    file.sync().unwrap();
    disk.sync_directory(Path::new(path).parent().unwrap()).unwrap();
    file
}

#[test]
fn what_is_durable_is_all_that_can_be_found() {
    let disk = SimDisk::new(1);
    assert_eq!(all_files(&disk), [Files::new()]);
    write_durably(&disk, "/a", b"1");
    disk.create_directory(Path::new("/deep/er")).unwrap();
    disk::publish(&disk, Path::new("/deep/er"), "b", b"2").unwrap();
    disk::publish(&disk, Path::new("/deep/er"), "b", b"3").unwrap();
    disk.remove(Path::new("/a")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    assert_eq!(all_files(&disk), [files(&disk)]);
    assert_eq!(files(&disk), Files::from([("/deep/er/b".into(), b"3".to_vec())]));
}

#[test]
fn a_synced_file_may_have_no_name_and_a_named_one_no_bytes() {
    let synced = outcomes("/a", |disk| write(disk, "/a", b"new").sync().unwrap());
    assert_eq!(synced, BTreeSet::from([None, Some(b"new".to_vec())]));
    let named = outcomes("/a", |disk| {
        write(disk, "/a", b"new");
        disk.sync_directory(Path::new("/")).unwrap();
    });
    for expected in [&b""[..], b"new", b"\0\0\0"] {
        assert!(named.contains(&Some(expected.to_vec())), "{named:?}");
    }
    assert!(!named.contains(&None));
}

#[test]
fn a_write_is_torn_at_sectors_cut_zeroed_and_holed() {
    let new: Vec<u8> = (0..2500_u32).map(|index| u8::try_from(index % 255 + 1).unwrap()).collect();
    let outcomes = outcomes("/a", |disk| {
        let mut file = write_durably(disk, "/a", &new[..700]);
        file.write(&new[700..]).unwrap();
    });
    let found: Vec<&Vec<u8>> = outcomes.iter().flatten().collect();
    assert_eq!(found.len(), outcomes.len(), "the name is durable");
    assert!(found.iter().all(|bytes| bytes[..700] == new[..700]), "what was synced is never touched");
    assert!(found.contains(&&new[..700].to_vec()));
    assert!(found.contains(&&new));
    for tear in [1024, 1536, 2048] {
        assert!(found.contains(&&new[..tear].to_vec()), "cut at {tear}");
        let zeros = [&new[..tear], &vec![0; 2500 - tear]].concat();
        assert!(found.contains(&&zeros), "zeros from {tear}");
    }
    assert!(found.contains(&&[&new[..700], &[0; 1800]].concat()), "size grown, nothing written");
    let has_hole = |bytes: &&&Vec<u8>| {
        bytes.len() == 2500 && bytes[700..1024] == [0; 324] && bytes[2048..] == new[2048..]
    };
    assert!(found.iter().any(|bytes| has_hole(&bytes)), "later sectors written, the first not");
    assert!(found.iter().any(|bytes| bytes.len() % 512 != 0 && bytes.len() != 700), "any length");
}

#[test]
fn a_rename_is_lost_or_durable_before_the_bytes_but_never_half() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        write_durably(&disk, "/manifest", b"old");
        write(&disk, "/manifest.new", b"new");
        disk.rename(Path::new("/manifest.new"), Path::new("/manifest")).unwrap();
        for mut files in all_files(&disk) {
            let manifest = files.remove(Path::new("/manifest")).expect("one or the other is always there");
            seen.insert((manifest, files.remove(Path::new("/manifest.new"))));
            assert!(files.is_empty());
        }
    }
    let cases: [(&[u8], Option<&[u8]>); 5] =
        [(b"old", None), (b"old", Some(b"new")), (b"old", Some(b"")), (b"new", None), (b"", None)];
    for (manifest, beside) in cases {
        assert!(seen.contains(&(manifest.to_vec(), beside.map(<[u8]>::to_vec))), "{manifest:?} {beside:?}");
    }
}

#[test]
fn changes_of_names_are_kept_and_lost_in_any_order() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        write_durably(&disk, "/old", b"1");
        disk.remove(Path::new("/old")).unwrap();
        write(&disk, "/new", b"2").sync().unwrap();
        seen.extend(all_files(&disk).into_iter().map(|files| files.into_keys().collect::<Vec<_>>()));
    }
    let expected = [&[][..], &["/new"], &["/new", "/old"], &["/old"]];
    assert!(
        seen.iter().eq(expected.map(|names| names.iter().map(PathBuf::from).collect::<Vec<_>>()).iter()),
        "{seen:?}"
    );
}

#[test]
fn one_directory_synced_is_not_another() {
    let disk = SimDisk::new(1);
    disk.create_directory(Path::new("/one")).unwrap();
    disk.create_directory(Path::new("/two")).unwrap();
    write(&disk, "/one/a", b"").sync().unwrap();
    write_durably(&disk, "/two/a", b"");
    let found = all_files(&disk);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|files| files.contains_key(Path::new("/two/a"))));
}

/// Returns the disks that may be found after a crash in the middle of the last operation of `work`.
fn crashed(seed: u64, number: usize, work: impl Fn(&SimDisk) -> disk::Result<()>) -> SimDisk {
    let disk = SimDisk::new(seed);
    disk.crash_at(number);
    let error = work(&disk).unwrap_err();
    assert!(SimDisk::is_crash(&error) && disk.has_crashed(), "{error}");
    assert!(SimDisk::is_crash(&disk.list(Path::new("/")).unwrap_err()), "nothing works any more");
    disk
}

#[test]
fn in_the_middle_of_an_append_the_tail_is_there_or_cut() {
    let lengths: BTreeSet<usize> = (0..40)
        .flat_map(|seed| {
            let disk = crashed(seed, 0, |disk| {
                disk.put(Path::new("/a"), &[7; 2000]);
                disk.append(Path::new("/a"), 1000).map(|_| ())
            });
            all_files(&disk)
                .into_iter()
                .map(|files| {
                    let bytes = &files[Path::new("/a")];
                    assert!(bytes.iter().all(|byte| *byte == 7));
                    bytes.len()
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(lengths.first() == Some(&1000) && lengths.last() == Some(&2000), "{lengths:?}");
}

#[test]
fn in_the_middle_of_a_sync_nothing_is_sure_and_after_it_all_is() {
    let work = |disk: &SimDisk| {
        let mut file = disk.create(Path::new("/a"))?;
        file.write(&[7; 2000])?;
        file.sync()?;
        disk.sync_directory(Path::new("/"))
    };
    let lengths = |number| -> BTreeSet<Option<usize>> {
        all_files(&crashed(1, number, work))
            .iter()
            .map(|files| files.get(Path::new("/a")).map(Vec::len))
            .collect()
    };
    assert!(lengths(2).is_superset(&BTreeSet::from([None, Some(0), Some(2000)])));
    assert_eq!(lengths(3), BTreeSet::from([None, Some(2000)]));
}

#[test]
fn a_directory_may_be_lost_with_its_parents_while_it_is_created_and_not_later() {
    let disk = crashed(3, 0, |disk| disk.create_directory(Path::new("/a/b/c")));
    let depths: BTreeSet<usize> = disk
        .images()
        .iter()
        .map(|image| {
            ["/a", "/a/b", "/a/b/c"].iter().filter(|path| image.disk.list(Path::new(path)).is_ok()).count()
        })
        .collect();
    assert!(depths.contains(&0) && depths.contains(&3), "{depths:?}");
    let is_reachable =
        |disk: &SimDisk| disk.list(Path::new("/a/b")).is_err() || disk.list(Path::new("/a")).is_ok();
    assert!(disk.images().iter().all(|image| is_reachable(&image.disk)), "nothing is without its parent");
    let disk = SimDisk::new(3);
    disk.create_directory(Path::new("/a/b/c")).unwrap();
    assert!(disk.images()[0].disk.list(Path::new("/a/b/c")).is_ok());
}

#[test]
fn a_rename_moves_no_older_file_of_that_name() {
    let mut seen = BTreeSet::new();
    for seed in 0..40 {
        let disk = SimDisk::new(seed);
        write_durably(&disk, "/a", b"old");
        disk.remove(Path::new("/a")).unwrap();
        write(&disk, "/a", b"new").sync().unwrap();
        disk.rename(Path::new("/a"), Path::new("/b")).unwrap();
        seen.extend(all_files(&disk));
    }
    let only_the_rename_happened = [("/a".into(), b"old".to_vec()), ("/b".into(), b"new".to_vec())];
    assert!(seen.contains(&Files::from(only_the_rename_happened)), "{seen:?}");
}

#[test]
fn what_is_appended_after_a_cut_replaces_the_tail_for_good() {
    let disk = SimDisk::new(1);
    disk.put(Path::new("/a"), &[1; 3000]);
    let mut file = disk.append(Path::new("/a"), 1000).unwrap();
    file.write(&[2; 500]).unwrap();
    file.sync().unwrap();
    let expected = [vec![1; 1000], vec![2; 500]].concat();
    assert_eq!(all_files(&disk), [Files::from([("/a".into(), expected)])]);
}

#[test]
fn an_append_makes_durable_what_it_builds_on() {
    let disk = SimDisk::new(1);
    drop(write(&disk, "/a", b"by a writer that was killed"));
    disk.sync_directory(Path::new("/")).unwrap();
    drop(disk.append(Path::new("/a"), 11).unwrap());
    assert_eq!(all_files(&disk), [Files::from([("/a".into(), b"by a writer".to_vec())])]);
}

#[test]
fn where_much_is_unsynced_all_twelve_images_are_different() {
    let disk = SimDisk::new(5);
    write_durably(&disk, "/1", &[1; 5000]);
    write_durably(&disk, "/0", &[1; 5000]).write(&[1; 5000]).unwrap();
    (2..5).for_each(|number| drop(write(&disk, &format!("/{number}"), &[number; 5000])));
    disk.remove(Path::new("/1")).unwrap();
    let descriptions: Vec<_> = disk.images().into_iter().map(|image| image.description).collect();
    assert_eq!(descriptions.len(), 12, "{descriptions:#?}");
}

#[test]
fn the_same_seed_gives_the_same_images_and_another_one_others() {
    let images = |seed| {
        let disk = SimDisk::new(seed);
        (0..5).for_each(|number| drop(write(&disk, &format!("/{number}"), &[7; 5000])));
        all_files(&disk)
    };
    assert!(images(1) == images(1));
    assert!(images(1) != images(2));
}

/// A file whose outcome is certain: its bytes, or its absence.
fn sure_outcome(disk: &SimDisk, random: &mut Random, number: usize) -> (PathBuf, Option<Vec<u8>>) {
    let path = format!("/sure {number}");
    let bytes = vec![7; random.index(3000)];
    write_durably(disk, &path, &bytes);
    if random.per_mille(300) {
        disk.remove(Path::new(&path)).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        return (path.into(), None);
    }
    (path.into(), Some(bytes))
}

#[test]
fn whatever_else_goes_on_what_is_sure_is_found() {
    for seed in 0..100 {
        let disk = SimDisk::new(seed);
        let mut random = Random::new(seed);
        let mut sure = Vec::new();
        for number in 0..8 {
            let open = write(&disk, &format!("/unsure {number}"), &vec![9; random.index(3000)]);
            sure.push(sure_outcome(&disk, &mut random, number));
            drop(open);
            let other = format!("/unsure {}", random.index(8));
            match random.index(3) {
                0 => disk.remove(Path::new(&other)).unwrap(),
                1 => drop(disk.rename(Path::new(&other), Path::new("/unsure"))),
                _ => drop(disk.append(Path::new(&other), 0).map(|mut file| file.write(&[9; 700]))),
            }
        }
        for files in all_files(&disk) {
            assert!(sure.iter().all(|(path, bytes)| files.get(path) == bytes.as_ref()), "seed {seed}");
            let unsure = files.iter().filter(|(path, _)| path.starts_with("/unsure"));
            assert!(unsure.flat_map(|(_, bytes)| bytes).all(|byte| [0, 9].contains(byte)), "seed {seed}");
        }
    }
}
