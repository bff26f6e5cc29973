//! The bytes of rows, and the errors for broken rows.

use tarantool::msgpack::{put_array_len, put_str, put_uint};
use tarantool::{Body, Damage, Row, RowKind, put_body, put_row, rows};

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn only(payload: &[u8]) -> Row<'_> {
    let all: Vec<Row> = rows(payload).map(Result::unwrap).collect();
    let [row] = all[..] else { panic!("there are {} rows", all.len()) };
    row
}

fn damage(payload: &[u8]) -> (usize, &'static str) {
    let mut rows = rows(payload);
    let Damage { offset, what } = rows.find_map(Result::err).unwrap();
    assert!(rows.next().is_none(), "after damage there is nothing more");
    (offset, what)
}

/// The row of a snapshot, as the format's description shows it.
#[test]
fn a_snapshots_row_is_read() {
    let payload = bytes("83 00 02 03 cd012c 04 cb 41d9000000000000  82 10 ce 00000200 21 92 01 a2 6162");
    let row = only(&payload);
    assert_eq!((row.kind, row.lsn, row.timestamp), (RowKind::Insert, 300, 1_677_721_600.0));
    assert_eq!((row.replica, row.group, row.tsn, row.is_commit), (0, 0, 300, true));
    assert_eq!(row.body.space, Some(512));
    assert_eq!(row.body.tuple, Some(&bytes("92 01 a2 6162")[..]));
    assert_eq!(row.body.bytes, &payload[17..]);
    // The first row of a file has number 0, which is left out.
    let row_first = bytes("82 00 02 04 cb 41d9000000000000  82 10 ce 00000118 21 90");
    assert_eq!((only(&row_first).lsn, only(&row_first).body.space), (0, Some(280)));
}

/// The rows of one transaction: the distance to its first row, and the commit flag on the last.
#[test]
fn a_transaction_of_a_log_is_read_and_written() {
    let payload = bytes(
        "85 00 03 02 01 03 0b 04 cb 41d9000000000000 08 00  82 10 cd 0200 21 91 01
         86 00 05 02 01 03 0c 04 cb 41d9000000000000 08 01 09 01  83 10 cd 0200 11 00 20 91 01
         84 00 0c 02 01 03 0d 04 cb 41d9000000000000
         84 00 03 02 01 03 0e 04 cb 41d9000000000000  82 10 cd 0200 21 91 02",
    );
    let all: Vec<Row> = rows(&payload).map(Result::unwrap).collect();
    let told: Vec<_> = all.iter().map(|row| (row.kind, row.lsn, row.tsn, row.is_commit)).collect();
    assert_eq!(
        told,
        [
            (RowKind::Replace, 11, 11, false),
            (RowKind::Delete, 12, 11, true),
            (RowKind::Nop, 13, 13, true),
            (RowKind::Replace, 14, 14, true)
        ]
    );
    assert_eq!(all[1].body.key, Some(&[0x91, 1][..]));
    assert_eq!(all[1].body.index, Some(0));
    assert_eq!(all[2].body, Body::default());
    let mut written = Vec::new();
    all.iter().for_each(|row| put_row(&mut written, row));
    assert_eq!(written, payload);
}

/// A row of a space that is not replicated, inside a transaction that began with row 8 of a replica. Its own
/// number is 3.
#[test]
fn a_local_row_within_a_transaction_is_read_and_written() {
    let payload = bytes(
        "85 00 02 07 01 03 03 04 cb 41dac07c80d759a0 08 cf fffffffffffffffb  82 10 cd 0200 21 92 02 a1 7a",
    );
    let row = only(&payload);
    assert_eq!((row.replica, row.group, row.lsn, row.tsn, row.is_commit), (0, 1, 3, 8, false));
    let mut written = Vec::new();
    put_row(&mut written, &row);
    assert_eq!(written, payload);
}

#[test]
fn every_kind_has_its_number_and_reads_back() {
    let numbers = [2, 3, 4, 5, 9, 12, 17, 18, 30, 31, 32, 40, 41, 1, 14, 200];
    for number in numbers {
        assert_eq!(RowKind::of(number).number(), number);
    }
    let known = numbers.iter().filter(|&&number| RowKind::of(number) != RowKind::Other(number));
    assert_eq!(known.count(), 13);
    for number in numbers {
        let mut body = Vec::new();
        put_body(
            &mut body,
            &Body { space: Some(512), ops: Some(&[0x90]), index_base: Some(1), ..Body::default() },
        );
        let is_nop = number == 12;
        let row = Row {
            kind: RowKind::of(number),
            replica: 7,
            lsn: 1 << 40,
            timestamp: 0.5,
            group: 1,
            tsn: (1 << 40) - 3,
            is_commit: true,
            flags: 3,
            body: Body { bytes: if is_nop { &[] } else { &body }, ..Body::default() },
        };
        let mut written = Vec::new();
        put_row(&mut written, &row);
        let found = only(&written);
        let wanted = if is_nop {
            Body::default()
        } else {
            Body {
                bytes: &body,
                space: Some(512),
                ops: Some(&[0x90]),
                index_base: Some(1),
                ..Body::default()
            }
        };
        assert_eq!(found, Row { body: wanted, ..row });
    }
}

/// Keys in any order and of any width, unknown keys, and keys that are not numbers.
#[test]
fn rows_as_clients_send_them_are_read() {
    let payload = bytes(
        "86 04 cb 41d9000000000000 0a 07 03 cf 0000000000000005 a1 78 93 01 02 03 00 cd 0002 cc 7f c0
         84 21 dc 0001 05 a1 79 c0 ce 00000010 cf 0000000000000200 cc 99 80",
    );
    let row = only(&payload);
    assert_eq!((row.kind, row.lsn, row.body.space), (RowKind::Insert, 5, Some(512)));
    assert_eq!(row.body.tuple, Some(&bytes("dc 0001 05")[..]));
}

#[test]
fn broken_rows_say_where() {
    assert_eq!(damage(&bytes("93 00 02")), (0, "a map is expected"));
    assert_eq!(damage(&bytes("81 00 a1 78")), (2, "a number without a sign is expected"));
    assert_eq!(damage(&bytes("82 00 02 04 05 80")), (4, "a time in 64 bits with a point is expected"));
    assert_eq!(
        damage(&bytes("82 00 02 02 cf 0000000100000000 80")),
        (4, "the number of a replica is over 31")
    );
    assert_eq!(damage(&bytes("81 00 02 81 10 cf 0000000100000000")), (5, "a number is over 32 bits"));
    assert_eq!(damage(&bytes("82 00 02 03 cf 8000000000000000 80")), (4, "a number is over 63 bits"));
    assert_eq!(damage(&bytes("81 00 02 81 10 a1 78")), (5, "a number without a sign is expected"));
    assert_eq!(damage(&bytes("81 00 02 90")), (3, "a map is expected"));
    assert_eq!(damage(&bytes("81 00 02 81 21 c1")), (5, "a byte is here that no value begins with"));
    assert_eq!(damage(&bytes("80 80")), (0, "a row has no type"));
    assert_eq!(damage(&bytes("81 00 0c  82 00 00 03 07 80")), (3, "a row has no type"));
    // Every cut within the second of two rows is damage. The first row is still complete.
    let mut payload = Vec::new();
    for lsn in [1, 2] {
        let mut tuple = Vec::new();
        put_array_len(&mut tuple, 2);
        put_uint(&mut tuple, 70_000);
        put_str(&mut tuple, b"Paris");
        let mut body = Vec::new();
        put_body(&mut body, &Body { space: Some(512), tuple: Some(&tuple), ..Body::default() });
        let row = Row {
            kind: RowKind::Insert,
            replica: 1,
            lsn,
            timestamp: 1.5,
            group: 0,
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body: Body { bytes: &body, ..Body::default() },
        };
        put_row(&mut payload, &row);
    }
    let half = payload.len() / 2;
    let head_length = bytes("84 00 02 02 01 03 01 04 cb 0000000000000000").len();
    for cut in half + 1..payload.len() {
        let found: Vec<bool> = rows(&payload[..cut]).map(|row| row.is_ok()).collect();
        // A row that ends after its head has no body: Tarantool reads it so, too.
        assert_eq!(found, [true, cut == half + head_length], "cut at {cut}");
    }
}

/// Only replicas 0 to 31 exist, so the memory for replicas does not grow with the rows.
#[test]
fn a_row_of_an_impossible_replica_is_damage() {
    let of = |replica: u8| rows(&[0x82, 0x00, 0x0c, 0x02, replica]).next().unwrap().map(|row| row.replica);
    assert_eq!(of(31), Ok(31));
    assert_eq!(of(32).unwrap_err().what, "the number of a replica is over 31");
}
