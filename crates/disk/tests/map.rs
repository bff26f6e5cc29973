//! Maps: the same bytes mapped and owned, aligned, at one address, alive after their file.

use disk::{Disk, Map, RealDisk, prefetch};

#[test]
fn an_owned_map_holds_the_bytes_at_an_aligned_address() {
    for length in 0..40 {
        let bytes: Vec<u8> = (1..=length).collect();
        let map = Map::from(bytes.clone());
        assert_eq!(&map[..], &bytes[..]);
        assert_eq!(map.as_ptr().addr() % 8, 0, "also when empty: columns of numbers are used in place");
    }
}

#[test]
fn a_clone_has_the_same_address() {
    let map = Map::from(&b"letters"[..]);
    let start = map.as_ptr();
    let clone = map.clone();
    let moved = Box::new(map);
    assert_eq!((clone.as_ptr(), moved.as_ptr()), (start, start));
    drop(moved);
    assert_eq!(&clone[..], b"letters");
}

#[test]
fn a_mapped_file_stays_readable_after_its_removal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sealed");
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    disk::write_new(&RealDisk, &path, &bytes).unwrap();
    let map = RealDisk.map(&path).unwrap();
    RealDisk.remove(&path).unwrap();
    map.will_need(5_000..9_000);
    map.will_need(0..usize::MAX);
    map.will_need(usize::MAX..usize::MAX);
    assert!(map[..] == bytes[..]);
    assert_eq!(format!("{map:?}"), "Map(400000 bytes, mapped)");
    assert_eq!(map.as_ptr().addr() % 8, 0);
}

#[test]
fn an_empty_file_gives_an_empty_owned_map() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty");
    disk::write_new(&RealDisk, &path, b"").unwrap();
    let map = RealDisk.map(&path).unwrap();
    assert!(map.is_empty());
    assert_eq!(format!("{map:?}"), "Map(0 bytes, owned)");
}

#[test]
fn what_cannot_be_mapped_is_an_error_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let absent = RealDisk.map(&directory.path().join("absent")).unwrap_err();
    assert!(absent.is_not_found());
    assert!(absent.to_string().contains("absent"), "{absent}");
    assert!(RealDisk.map(directory.path()).is_err());
}

#[test]
fn prefetch_takes_any_index() {
    let numbers = [1_u64, 2, 3];
    for index in [0, 2, 3, 1 << 40, usize::MAX] {
        prefetch(&numbers, index);
        prefetch::<u64>(&[], index);
    }
}
