//! Random sets of index files, added and removed over many rounds, with a cache that is kept, deleted and
//! damaged.

use super::*;
use testkit::Random;

/// A pack with random blobs; its index entries need not be in order.
fn random_pack(random: &mut Random, number: u64) -> Named {
    let count = random.below(12);
    let mut blobs: Vec<PackedBlob> = Vec::new();
    for place in 0..count {
        let offset = u32::try_from(place).unwrap() * 300;
        let id = random.below(150);
        blobs.push(if random.per_mille(700) { data(id, offset) } else { tree(id, offset) });
    }
    if random.per_mille(300) {
        blobs.reverse();
    }
    (pack_id(number), blobs)
}

/// Index files that name new packs, and packs that others name: whole, in part, or otherwise.
fn random_file(random: &mut Random, twin: &Twin, next_pack: &mut u64) -> Vec<Named> {
    let known: Vec<Named> = twin.files.values().flatten().cloned().collect();
    let mut named = Vec::new();
    for _ in 0..random.below(4) {
        named.push(random_pack(random, *next_pack));
        *next_pack += 1;
    }
    if !known.is_empty() && random.per_mille(400) {
        for _ in 0..=random.below(3) {
            let (pack, mut blobs) = random.pick(&known).clone();
            match random.below(4) {
                0 => blobs.truncate(blobs.len() / 2),
                1 => blobs.push(data(random.below(150), 7000)),
                2 if !blobs.is_empty() => blobs[0].id = blob_id(random.below(150)),
                _ => {}
            }
            named.push((pack, blobs));
        }
    }
    if random.per_mille(100) && !named.is_empty() {
        named.push(random.pick(&named).clone());
    }
    named
}

/// Damages the cache in a random way. Returns whether it may still be usable.
fn meddle(random: &mut Random, disk: &SimDisk) -> bool {
    let files = store_files(disk);
    if files.is_empty() {
        return false;
    }
    let path = random.pick(&files);
    let length = disk::Disk::read(disk, path).unwrap().len();
    match random.below(10) {
        0 => files.iter().for_each(|path| disk::Disk::remove(disk, path).unwrap()),
        1 => disk::Disk::remove(disk, path).unwrap(),
        2 => disk.cut(path, random.index(length.max(1))),
        3 | 4 if length > 0 => disk.flip(path, random.index(length)),
        5 if length > 0 => (0..20).for_each(|_| disk.flip(path, random.index(length))),
        _ => return true,
    }
    false
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let disk = SimDisk::new(seed);
    let mut twin = Twin::default();
    let (mut next_pack, mut next_file) = (0, 0);
    let mut cached: Option<BTreeSet<Id>> = None;
    for _ in 0..25 {
        for _ in 0..random.below(4) {
            let file = random_file(&mut random, &twin, &mut next_pack);
            twin.files.insert(file_id(next_file), file);
            next_file += 1;
        }
        while !twin.files.is_empty() && random.per_mille(150) {
            let names: Vec<Id> = twin.files.keys().copied().collect();
            twin.files.remove(random.pick(&names));
        }
        if !meddle(&mut random, &disk) {
            cached = None;
        }
        let files = twin.files();
        let place = random.per_mille(900).then(|| place(&disk));
        let index = load(&files, place.as_ref()).unwrap();
        let names: BTreeSet<Id> = twin.files.keys().copied().collect();
        if let (Some(cached), Some(_)) = (&cached, &place) {
            let expected = if cached.is_subset(&names) { &names - cached } else { names.clone() };
            assert_eq!(files.take_read(), expected);
        }
        files.read.lock().unwrap().clear();
        check(&index, &twin);
        if place.is_some() {
            // A damaged part that was never read may still be damaged.
            cached = cached.is_some().then_some(names).or_else(|| names_if_sound(&twin, &disk));
        }
        add_and_check(&mut random, &index, &twin, &mut next_pack);
    }
}

/// Returns the names of all index files if a cache has them.
fn names_if_sound(twin: &Twin, disk: &SimDisk) -> Option<BTreeSet<Id>> {
    let files = twin.files();
    let index = load(&files, Some(&place(disk))).unwrap();
    index.survey().unwrap();
    files.take_read().is_empty().then(|| twin.files.keys().copied().collect())
}

fn add_and_check(random: &mut Random, index: &BlobIndex, twin: &Twin, next_pack: &mut u64) {
    let mut twin = twin.clone();
    for _ in 0..random.below(4) {
        let (pack, blobs) = random_pack(random, *next_pack);
        *next_pack += 1;
        index.insert(&pack, &blobs).unwrap();
        twin.added.push((pack, blobs));
    }
    check(index, &twin);
}

#[test]
fn any_set_of_index_files_answers_as_maps_do() {
    (0..40).for_each(run);
}

#[test]
fn many_small_additions_are_merged() {
    let disk = SimDisk::new(1);
    let mut twin = Twin::default();
    let mut random = Random::new(1);
    for number in 0..60 {
        twin.files.insert(file_id(number), vec![random_pack(&mut random, number)]);
        let files = twin.files();
        let index = load(&files, Some(&place(&disk))).unwrap();
        assert_eq!(files.take_read(), BTreeSet::from([file_id(number)]));
        if number % 10 == 9 {
            check(&index, &twin);
        }
    }
    let count = store_files(&disk).len();
    assert!(count < 60, "{count} files for 60 additions");
}
