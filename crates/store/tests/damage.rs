//! A cut and a flipped bit at every place in every kind of file, and files of newer versions.

use crate::support::{
    Change, Meddled, Twin, check, directory, item, key_of, link, options, read_all, schemas, shared,
};
use disk::Disk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::format::{
    MANIFEST_CHECKSUM_BYTES, SECTOR_BYTES, TRAILER_BYTES, TRAILER_CHECKSUM_OFFSET, TRAILER_VERSION_OFFSET,
};
use store::{Error, OwnedValue, Snapshot, Writer, verify};
use testkit::SimDisk;
use xxhash_rust::xxh3::xxh3_64;

/// The effect of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The store cannot be opened, and the error names the file.
    Refused,
    /// The store can be opened. Each read is right or gives an error that names the file, and `verify` names
    /// the file.
    Noticed,
    /// The store opens as if the journal's last record had never been written.
    Shorter,
    /// Nothing is lost: readers do not use the file.
    Unmoved,
}

struct Sample {
    disk: SimDisk,
    /// The rows before and after the journal's last record.
    before: Twin,
    after: Twin,
}

/// A store with two segments in one table, dead rows in one of them, and a journal of two records. One row
/// has `noise_bytes` of text that cannot be compressed.
fn sample(noise_bytes: usize) -> Sample {
    let disk = SimDisk::new(21);
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), options(100)).unwrap();
    let mut before = Twin::default();
    let fill = (0..30).fold(Change::default().attach("state", b"one"), |change, number| {
        change
            .put(0, item(number, number % 4))
            .put(1, link(u64::from(number % 5), "right", u8::try_from(number).unwrap()))
    });
    let mut random = testkit::Random::new(1);
    let noise = (0..noise_bytes / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    let fill = fill.put(0, item(50, 1).into_iter().take(5).chain([OwnedValue::Bytes(noise)]).collect());
    for (change, is_load) in [
        (fill, true),
        (Change::default().put(0, item(3, 9)).delete(0, key_of(0, &item(4, 0))), true),
        (Change::default().put(0, item(40, 1)).attach("state", b"two"), false),
    ] {
        let transaction = change.transaction();
        let version = if is_load { writer.load_transaction(transaction) } else { writer.commit(transaction) };
        version.unwrap();
        before.apply(&change);
    }
    let last = Change::default().put(0, item(5, 8)).delete(1, key_of(1, &link(1, "right", 0)));
    writer.commit(last.transaction()).unwrap();
    let after = before.after(&last);
    Sample { disk, before, after }
}

/// Opens and reads a store in which `file` is damaged, and returns the effect.
fn outcome(disk: &SimDisk, sample: &Sample, file: &Path) -> Outcome {
    let names_file = |text: String| assert!(text.contains(&file.display().to_string()), "{text}");
    let snapshot = match Snapshot::open(&shared(disk), directory()) {
        Err(error) => {
            names_file(error.to_string());
            assert!(Writer::open(&shared(disk), directory(), options(100)).is_err(), "nor for writing");
            return Outcome::Refused;
        }
        Ok(snapshot) => snapshot,
    };
    let damage = verify(&snapshot);
    damage.iter().for_each(|damage| {
        assert_eq!(damage.file, file);
        names_file(damage.what.clone());
    });
    match read_all(&snapshot, &["state"]) {
        Ok(found) if found == sample.before => {
            check(&snapshot, &sample.before).unwrap();
            assert!(damage.is_empty());
            Outcome::Shorter
        }
        Ok(found) => {
            assert_eq!(found, sample.after, "never a wrong answer");
            // Indexes may be damaged even if rows are not.
            if let Err(error) = check(&snapshot, &sample.after) {
                names_file(error.to_string());
            }
            if damage.is_empty() { Outcome::Unmoved } else { Outcome::Noticed }
        }
        Err(error) => {
            names_file(error.to_string());
            assert!(!damage.is_empty(), "what a reader notices, verify does");
            Outcome::Noticed
        }
    }
}

fn file_of_kind(disk: &SimDisk, ending: &str) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

/// Returns the distinct effects of damage at many places of a file.
fn outcomes(sample: &Sample, file: &Path, damage: fn(&SimDisk, &Path, usize)) -> BTreeSet<Outcome> {
    let length = sample.disk.read(file).unwrap().len();
    // The places in a large file fall everywhere within an aligned structure, and cover all of the file's
    // end.
    let stride = match length {
        0..500 => 1,
        500..10_000 => 13,
        _ => 1_999,
    };
    let places = (0..length).filter(|place| place % stride == 0 || place + 70 > length);
    let outcomes = places.map(|place| {
        let disk = sample.disk.fork();
        damage(&disk, file, place);
        outcome(&disk, sample, file)
    });
    outcomes.collect()
}

#[test]
fn each_kind_of_file_has_its_outcomes() {
    use Outcome::{Noticed, Refused, Unmoved};
    // Long enough for several pieces with a checksum each. Opening reads only the last of them.
    let sample = sample(200_000);
    check(&Snapshot::open(&shared(&sample.disk), directory()).unwrap(), &sample.after).unwrap();
    let table: [(&str, usize, &[Outcome], &[Outcome]); 5] = [
        // File name ending, number of files, outcomes of cuts, outcomes of flips.
        ("/manifest", 1, &[Refused], &[Refused]),
        // `a_cut_journal_reads_as_a_shorter_one` tests cuts.
        ("/journal-3", 1, &[], &[Refused]),
        (".seg", 3, &[Refused], &[Refused, Noticed]),
        (".dead", 1, &[Refused], &[Refused]),
        ("/lock", 1, &[Unmoved], &[Unmoved]),
    ];
    for (ending, count, of_cuts, of_flips) in table {
        let files = file_of_kind(&sample.disk, ending);
        assert_eq!(files.len(), count, "{ending}: {files:?}");
        let of_all = |damage| -> Vec<Outcome> {
            let found: BTreeSet<Outcome> =
                files.iter().flat_map(|file| outcomes(&sample, file, damage)).collect();
            found.into_iter().collect()
        };
        if !of_cuts.is_empty() {
            assert_eq!(of_all(SimDisk::cut), of_cuts, "cuts of {ending}");
        }
        assert_eq!(of_all(SimDisk::flip), of_flips, "flips in {ending}");
    }
}

#[test]
fn a_journal_that_changed_while_it_was_read_is_read_again() {
    let sample = sample(0);
    // Part of a torn record that was then cut off, and what a writer wrote after it.
    let mix = |count: usize| {
        let times = AtomicUsize::new(0);
        let after_read = move |path: &Path, mut bytes: Vec<u8>| {
            if path.ends_with("journal-3") && times.fetch_add(1, Ordering::Relaxed) < count {
                bytes[50 + times.load(Ordering::Relaxed)] ^= 1;
            }
            bytes
        };
        let disk = Meddled { after_read: Box::new(after_read), ..Meddled::new(&sample.disk) };
        Snapshot::open(&(Arc::new(disk) as Arc<dyn Disk>), directory())
    };
    for count in [0, 1, 3] {
        check(&mix(count).unwrap(), &sample.after).unwrap();
    }
    let error = mix(usize::MAX).unwrap_err();
    assert!(error.to_string().contains("journal-3 is damaged"), "{error}");
}

/// Where the head and the two records of the sample end: one sector each.
const RECORD_ENDS: [usize; 3] = [SECTOR_BYTES, 2 * SECTOR_BYTES, 3 * SECTOR_BYTES];

#[test]
fn a_cut_journal_reads_as_a_shorter_one() {
    let sample = sample(0);
    let file = directory().join("journal-3");
    let length = sample.disk.read(&file).unwrap().len();
    let mut counts = Vec::new();
    assert_eq!(length, RECORD_ENDS[2]);
    for length in 0..length {
        let disk = sample.disk.fork();
        disk.cut(&file, length);
        match Snapshot::open(&shared(&disk), directory()) {
            Err(error) => {
                assert!(
                    length < SECTOR_BYTES && error.to_string().contains("journal-3"),
                    "{length}: {error}"
                );
            }
            Ok(snapshot) => {
                counts.push(snapshot.version().sequence);
                // The next writer cuts off the torn record and continues.
                let mut writer = Writer::open(&shared(&disk), directory(), options(100)).unwrap();
                assert_eq!(writer.cut_bytes() > 0, !RECORD_ENDS.contains(&length), "cut to {length}");
                let found = read_all(&writer.snapshot().unwrap(), &["state"]).unwrap();
                let more = Change::default().put(0, item(60, 1));
                writer.commit(more.transaction()).unwrap();
                check(&Snapshot::open(&shared(&disk), directory()).unwrap(), &found.after(&more)).unwrap();
            }
        }
    }
    counts.dedup();
    assert_eq!(counts, [2, 3], "first without both records, then without the last");
}

#[test]
fn a_missing_file_is_named() {
    let sample = sample(0);
    for file in
        sample.disk.files().into_iter().filter(|file| !file.ends_with("lock") && !file.ends_with("manifest"))
    {
        let disk = sample.disk.fork();
        disk.remove(&file).unwrap();
        let error = Snapshot::open(&shared(&disk), directory()).unwrap_err();
        let expected = "the manifest names this file, but it does not exist";
        assert!(
            matches!(&error, Error::Corrupt { path, what, .. } if *path == file && what == expected),
            "{error}"
        );
    }
}

#[test]
fn verify_finds_damage_under_an_open_snapshot() {
    let sample = sample(0);
    for ending in ["/manifest", "/journal-3", ".dead"] {
        let disk = sample.disk.fork();
        let snapshot = Snapshot::open(&shared(&disk), directory()).unwrap();
        let file = file_of_kind(&disk, ending).remove(0);
        disk.flip(&file, 40);
        let files: Vec<PathBuf> = verify(&snapshot).into_iter().map(|damage| damage.file).collect();
        assert!(files.contains(&file), "{ending}: {files:?}");
        check(&snapshot, &sample.after).unwrap();
    }
}

#[test]
fn verify_finds_two_rows_with_one_key() {
    let sample = sample(0);
    let dead = file_of_kind(&sample.disk, ".dead").remove(0);
    let number = u64::from_str_radix(dead.file_stem().unwrap().to_str().unwrap(), 16).unwrap();
    let manifest = directory().join("manifest");
    let mut bytes = sample.disk.read(&manifest).unwrap();
    // Makes the dead rows live again: the manifest has no count, name or digest of them.
    let place = bytes.windows(8).position(|window| window == number.to_le_bytes()).unwrap();
    bytes[place - 4..place + 8].fill(0);
    bytes[place + 16..place + 24].fill(0);
    let end = bytes.len() - MANIFEST_CHECKSUM_BYTES;
    let checksum = xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    sample.disk.put(&manifest, &bytes);
    let damage = verify(&Snapshot::open(&shared(&sample.disk), directory()).unwrap());
    assert_eq!(damage.len(), 1);
    assert!(damage[0].what.contains("table items has two rows with the key [U32(3)]"), "{}", damage[0].what);
}

#[test]
fn swapped_files_are_noticed() {
    let sample = sample(0);
    let sealed = [file_of_kind(&sample.disk, ".seg"), file_of_kind(&sample.disk, ".dead")].concat();
    assert_eq!(sealed.len(), 4);
    for (one, other) in (0..4).flat_map(|one| (0..4).map(move |other| (one, other))) {
        if one == other {
            continue;
        }
        let disk = sample.disk.fork();
        disk.put(&sealed[one], &sample.disk.read(&sealed[other]).unwrap());
        let error = Snapshot::open(&shared(&disk), directory()).unwrap_err();
        assert!(error.to_string().contains(&sealed[one].display().to_string()), "{error}");
    }
}

#[test]
fn other_content_under_the_same_name_is_noticed() {
    let sample = sample(0);
    // The same work with other rows: the names, lengths and counts are equal.
    let other = SimDisk::new(21);
    let mut writer = Writer::create(&shared(&other), directory(), &schemas(), options(100)).unwrap();
    let fill = (0..30).fold(Change::default().attach("state", b"one"), |change, number| {
        change
            .put(0, item(number, (number + 1) % 4))
            .put(1, link(u64::from(number % 5), "right", u8::try_from(number).unwrap()))
    });
    let fill = fill.put(0, item(50, 1).into_iter().take(5).chain([OwnedValue::Bytes(Vec::new())]).collect());
    writer.load_transaction(fill.transaction()).unwrap();
    let change = Change::default().put(0, item(5, 9)).delete(0, key_of(0, &item(6, 0)));
    writer.load_transaction(change.transaction()).unwrap();
    let (mut same_count, mut refused_count) = (0, 0);
    for file in [file_of_kind(&sample.disk, ".seg"), file_of_kind(&sample.disk, ".dead")].concat() {
        let Ok(bytes) = other.read(&file) else { continue };
        same_count += usize::from(bytes == sample.disk.read(&file).unwrap());
        let disk = sample.disk.fork();
        disk.put(&file, &bytes);
        if let Err(error) = Snapshot::open(&shared(&disk), directory()) {
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
            refused_count += 1;
        }
    }
    assert_eq!((same_count, refused_count), (1, 3), "only the links are the same");
}

#[test]
fn a_newer_version_of_any_file_is_reported() {
    let sample = sample(0);
    let sealed = |bytes: &mut Vec<u8>| {
        let trailer = bytes.len() - TRAILER_BYTES;
        bytes[trailer + TRAILER_VERSION_OFFSET] += 1;
        let checksum = xxh3_64(&bytes[trailer..trailer + TRAILER_CHECKSUM_OFFSET]);
        bytes[trailer + TRAILER_CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_le_bytes());
    };
    let headed = |bytes: &mut Vec<u8>| bytes[8] += 1;
    type Raise = fn(&mut Vec<u8>);
    let newer: [(&str, Raise); 4] =
        [("/manifest", headed), ("/journal-3", headed), (".seg", sealed), (".dead", sealed)];
    for (ending, raise) in newer {
        let disk = sample.disk.fork();
        let file = file_of_kind(&disk, ending).remove(0);
        let mut bytes = disk.read(&file).unwrap();
        raise(&mut bytes);
        disk.put(&file, &bytes);
        let error = Snapshot::open(&shared(&disk), directory()).unwrap_err();
        assert!(
            matches!(&error, Error::Version { path, found, newest } if *path == file && *found == newest + 1),
            "{ending}: {error}"
        );
        assert!(error.to_string().ends_with("use a newer program"), "{error}");
    }
}
