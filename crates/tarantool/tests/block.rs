//! Blocks made by hand, their checksum compared with a slow twin, and the errors for broken blocks.

use crate::support::{Sequence, raw_block};
use proptest::prelude::*;
use tarantool::{
    BlockPlace, COMPRESSED, Damage, END, HEAD_BYTES, PLAIN, Step, Unpacker, checksum, read_head,
};

/// CRC-32C bit by bit, starting from 0 and not inverted: the format's description in its plainest form.
fn checksum_slowly(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum: u32, _| {
            (sum >> 1) ^ if sum & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

proptest! {
    #[test]
    fn the_checksum_is_the_slow_one(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        prop_assert_eq!(checksum(&bytes), checksum_slowly(&bytes));
    }

    #[test]
    fn no_bytes_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        offset in 0_usize..50,
        magic in 0..4,
    ) {
        let mut bytes = bytes;
        let magics = [PLAIN, COMPRESSED, END];
        if let (Some(head), Some(magic)) = (bytes.first_chunk_mut::<4>(), magics.get(magic as usize)) {
            *head = *magic;
        }
        let offset = if magic < 3 { 0 } else { offset };
        if let Ok(Step::Block(place)) = read_head(&bytes, offset) {
            prop_assert!(place.payload.end <= bytes.len());
            let _ = Unpacker::default().unpack(&bytes, &place);
        }
    }
}

/// A block that Tarantool 2.6.0 wrote.
#[test]
fn a_block_of_tarantool_can_be_read() {
    let bytes = [
        0xd5, 0xba, 0x0b, 0xab, 0x19, 0x00, 0xce, 0xae, 0xab, 0xf9, 0xaf, 0xa7, 0, 0, 0, 0, 0, 0, 0, 0x84,
        0x00, 0x02, 0x02, 0x01, 0x03, 0x07, 0x04, 0xcb, 0x41, 0xda, 0xc0, 0x7c, 0x80, 0xd7, 0x59, 0x49, 0x82,
        0x10, 0xcd, 0x02, 0x01, 0x21, 0x91, 0x01, 0xd5, 0x10, 0xad, 0xed,
    ];
    let Ok(Step::Block(place)) = read_head(&bytes, 0) else { panic!("there is no block") };
    assert_eq!(place, BlockPlace { offset: 0, payload: 19..44, is_compressed: false, checksum: 0xaeab_f9af });
    let mut unpacker = Unpacker::default();
    assert_eq!(unpacker.unpack(&bytes, &place), Ok(&bytes[19..44]));
    assert_eq!(read_head(&bytes, 44), Ok(Step::Eof));
    assert_eq!(read_head(&bytes[..44], 44), Ok(Step::End));
    assert_eq!(read_head(&bytes, 99), Ok(Step::End));
}

/// Numbers in heads may have any width, as long as head and padding have 19 bytes together.
#[test]
fn numbers_of_heads_may_have_any_width() {
    let head = |numbers: &[u8], padding: &[u8]| {
        let mut bytes = [&PLAIN[..], numbers, padding].concat();
        let length = bytes.len();
        bytes.extend([7; 3]);
        (length, read_head(&bytes, 0))
    };
    let sum = checksum(&[7; 3]).to_be_bytes();
    let place =
        |checksum| Ok(Step::Block(BlockPlace { offset: 0, payload: 19..22, is_compressed: false, checksum }));
    let wide = [&[0xce, 0, 0, 0, 3, 0xce, 0, 0, 0, 0, 0xce][..], &sum].concat();
    assert_eq!(head(&wide, &[]), (19, place(u32::from_be_bytes(sum))));
    let wider = [&[0xcd, 0, 3, 0xcf, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0xcc, 9]].concat();
    assert_eq!(head(&wider, &[0xa0]), (19, place(9)));
    let checksum_wide = [&[3, 0, 0xcf, 0, 0, 0, 0][..], &sum].concat();
    assert_eq!(head(&checksum_wide, &[0xa3, 0, 0, 0]), (19, place(u32::from_be_bytes(sum))));
    let smallest = head(&[3, 0, 0], &[0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(smallest, (19, place(0)));
    let broken = Err(Damage::new(0, "the head of a block is broken"));
    assert_eq!(head(&[3, 0, 0], &[0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), (19, broken.clone()));
    assert_eq!(head(&[3, 0, 0], &[0xac, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), (19, broken.clone()));
    assert_eq!(head(&[3, 0, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0], &[0xa3, 0, 0, 0]), (19, broken.clone()));
    assert_eq!(head(&[3, 0xff, 0], &[0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), (19, broken.clone()));
    assert_eq!(head(&[0xce, 0x80, 0, 0, 1, 0, 0], &[0xa7, 0, 0, 0, 0, 0, 0, 0]), (19, broken));
    let cut_off = Err(Damage::new(0, "a block is cut off"));
    assert_eq!(head(&[0xce, 0x80, 0, 0, 0, 0, 0], &[0xa7, 0, 0, 0, 0, 0, 0, 0]), (19, cut_off));
}

/// Every cut and every flipped bit of a block, plain or compressed, is noticed.
#[test]
fn every_flip_and_cut_is_noticed() {
    let rows: Vec<u8> = (0..3000_u32).flat_map(u32::to_be_bytes).collect();
    for (magic, payload) in [(PLAIN, &rows[..900]), (COMPRESSED, &rows[..])] {
        let block = raw_block(magic, payload);
        let whole = |bytes: &[u8]| match read_head(bytes, 0) {
            Ok(Step::Block(place)) => Unpacker::default().unpack(bytes, &place).map(<[u8]>::to_vec),
            Ok(other) => panic!("{other:?} is no block"),
            Err(damage) => Err(damage),
        };
        assert_eq!(whole(&block).unwrap(), payload);
        for cut in 1..block.len() {
            assert!(whole(&block[..cut]).is_err(), "cut at {cut}");
        }
        let mut unchanged = Vec::new();
        for bit in 0..block.len() * 8 {
            let mut bytes = block.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(found) = whole(&bytes) else { continue };
            assert_eq!(found, payload, "bit {bit}");
            unchanged.push(bit / 8);
        }
        // Bytes that no reader uses: the checksum of the block before, and the padding.
        assert!(unchanged.iter().all(|&byte| (5..HEAD_BYTES).contains(&byte)), "{unchanged:?}");
    }
}

#[test]
fn places_of_damage_are_named() {
    let mut bytes = vec![9; 7];
    bytes.extend(raw_block(PLAIN, b"rows"));
    let what = |bytes: &[u8], offset| read_head(bytes, offset).map_err(|damage| (damage.offset, damage.what));
    assert_eq!(what(&bytes, 0), Err((0, "neither a block nor the end mark begins here")));
    assert_eq!(what(&bytes[..10], 7), Err((7, "the head of a block is cut off")));
    assert_eq!(what(&bytes[..25], 7), Err((7, "the head of a block is cut off")));
    assert_eq!(what(&bytes[..29], 7), Err((7, "a block is cut off")));
    assert_eq!(what(&[&END[..], &[0]].concat(), 0), Err((0, "data follows the end mark")));
    let Ok(Step::Block(place)) = read_head(&bytes, 7) else { panic!("there is no block") };
    let mut unpacker = Unpacker::default();
    assert_eq!(unpacker.unpack(&bytes, &place), Ok(&b"rows"[..]));
    bytes[26] ^= 1;
    assert_eq!(unpacker.unpack(&bytes, &place), Err(Damage::new(7, "a block's checksum does not fit")));
    assert_eq!(unpacker.unpack(&bytes[..20], &place), Err(Damage::new(7, "a block is cut off")));
}

/// A checksum can be right for bytes that zstd cannot decompress.
#[test]
fn an_undecompressible_block_is_damage() {
    let mut bytes = raw_block(PLAIN, &[1; 100]);
    bytes[..4].copy_from_slice(&COMPRESSED);
    let Ok(Step::Block(place)) = read_head(&bytes, 0) else { panic!("there is no block") };
    assert_eq!(
        Unpacker::default().unpack(&bytes, &place),
        Err(Damage::new(19, "a block cannot be decompressed"))
    );
}

/// The buffer grows to the size that blocks need and is kept. Only a block larger than all before may move
/// it.
#[test]
fn one_unpacker_reads_blocks_of_any_size() {
    let mut random = Sequence(1);
    let mut unpacker = Unpacker::default();
    let mut places = Vec::new();
    for size in [1, 131_072, 300_000, 5, 2_000_000, 131_100, 0, 1_900_000] {
        let payload: Vec<u8> = (0..size).map(|_| (random.next() % 16) as u8).collect();
        let block = raw_block(COMPRESSED, &payload);
        let Ok(Step::Block(place)) = read_head(&block, 0) else { panic!("there is no block") };
        let found = unpacker.unpack(&block, &place).unwrap();
        assert!(found == payload, "{size} bytes");
        places.push(found.as_ptr());
    }
    assert_eq!(places[0], places[1]);
    assert_eq!(places[4..], [places[4]; 4]);
}
