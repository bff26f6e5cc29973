//! What a check reports when tables disagree, as after a bug. The tests change rows through the store, so
//! that checksums stay right.

use crate::support::{Fixture, message};
use index::Depth;
use store::{OwnedValue, PayloadReader, Rows, Snapshot, Transaction, Value, Writer};

/// The mark of a late edge.
const LATE: u32 = 1 << 31;

/// A message and its answer, and a copy of the first in another folder.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("a", "cur", "1.x:2,S", &message("m1", "one", "words"));
    let answer =
        message("m2", "two", "other words").replace("Subject", "In-Reply-To: <m1@example.org>\nSubject");
    fixture.put("a", "cur", "2.x:2,S", &answer);
    fixture.put("b", "cur", "3.x:2,S", &format!("Received: by b\n{}", message("m1", "one", "words")));
    fixture.update();
    fixture
}

/// Returns the values of the row of `table` whose primary key starts with `key`.
fn row(snapshot: &Snapshot, table: &str, key: u32) -> Vec<OwnedValue> {
    let table = snapshot.table(table).unwrap();
    let is_it = |id: &store::RowId| table.value(0, *id).unwrap() == Value::U32(key);
    let all = table.range(store::PRIMARY, std::ops::Bound::Unbounded, std::ops::Bound::Unbounded).unwrap();
    let id = all.map(Result::unwrap).find(is_it).unwrap();
    let mut reader = PayloadReader::new();
    let columns = &table.schema().columns;
    (0..columns.len())
        .map(|column| match columns[column].kind {
            store::Kind::Payload(_) => {
                OwnedValue::Bytes(table.part(id).payload(column, id.row, &mut reader).unwrap().to_vec())
            }
            _ => table.value(column, id).unwrap().to_owned(),
        })
        .collect()
}

/// Commits a change to the index's store, and returns what a check then reports.
fn told(change: impl FnOnce(&Snapshot, &mut Transaction)) -> Vec<String> {
    let fixture = fixture();
    let environment = &fixture.environment;
    let options = store::Options { seed: 99, ..store::Options::default() };
    let mut writer = Writer::open(&environment.disk, &environment.index_directory(), options).unwrap();
    let mut transaction = Transaction::default();
    change(&writer.snapshot().unwrap(), &mut transaction);
    writer.commit(transaction).unwrap();
    drop(writer);
    let damage = index::check(environment, Depth::Quick).unwrap();
    assert!(damage.iter().all(|damage| damage.file.starts_with(environment.index_directory())));
    damage.into_iter().map(|damage| damage.what).collect()
}

/// Puts a row with one changed value.
fn changed(table: &str, key: u32, column: &str, value: OwnedValue) -> Vec<String> {
    told(|snapshot, transaction| {
        let mut values = row(snapshot, table, key);
        let schema = snapshot.table(table).unwrap().schema().clone();
        let place = schema.columns.iter().position(|known| known.name == column).unwrap();
        assert_ne!(values[place], value);
        values[place] = value;
        let mut rows = Rows::new(&schema);
        rows.push(&values.iter().map(OwnedValue::as_value).collect::<Vec<_>>()).unwrap();
        transaction.put(rows);
    })
}

#[test]
fn a_row_that_disagrees_with_others_is_reported() {
    assert_eq!(told(|_, _| {}), [""; 0]);
    for (table, key, column, value, expected) in [
        ("messages", 1, "node", 0, "message 1 has node 0, which is not that of its Message-ID"),
        ("messages", 1, "node", 77, "message 1 has node 77, which is not that of its Message-ID"),
        ("messages", 1, "parent", 9, "message 1 answers node 9, which has no row"),
        ("copies", 2, "first", 1, "message 2 is marked a copy of message 1, and is another"),
        ("copies", 2, "number", 9, "message 9 is marked a copy of message 0, and has no row"),
        ("threads", 0, "above", 1, "node 0 of a thread stands below 1, whose number is not lower"),
        ("threads", 0, "above", LATE, "node 0 of a thread stands below 0, whose number is not lower"),
        ("threads", 1, "above", LATE | 2, "node 1 of a thread stands below 2, whose number is not lower"),
        ("files", 1, "message", 9, "file 3.x:2,S has message 9, which has no row"),
    ] {
        let told = changed(table, key, column, OwnedValue::U32(value));
        assert!(told.iter().any(|what| what == expected), "{table}.{column}: {told:?}");
    }
    let told = changed("folders", 1, "cur_fingerprint_low", OwnedValue::U64(7));
    assert_eq!(told, ["the fingerprint of b/cur is not the sum over its files"]);
}

#[test]
fn missing_and_surplus_rows_are_reported() {
    let without = |table: &'static str, key: u32| {
        told(|_, transaction| {
            transaction.delete(table, &[Value::U32(key)]);
        })
    };
    let threads = without("threads", 1);
    assert!(threads.contains(&"node 1 of a thread has no row".to_owned()), "{threads:?}");
    assert_eq!(without("messages", 1), ["file 2.x:2,S has message 1, which has no row"]);
    assert_eq!(without("folders", 1), ["files are in folder 1, which has no row"]);
    let absent = told(|snapshot, transaction| {
        let mut rows = Rows::new(snapshot.table("absent").unwrap().schema());
        rows.push(&[Value::U32(0), Value::I64(5)]).unwrap();
        transaction.put(rows);
    });
    assert_eq!(absent, ["message 0 is marked absent and has a file"]);
    let gone = told(|snapshot, transaction| {
        transaction.deletes.push(("files".into(), row(snapshot, "files", 1)[..3].to_vec()));
    });
    assert_eq!(gone.len(), 2, "{gone:?}");
    assert!(gone.iter().any(|what| what.ends_with("has no file and is not marked absent")), "{gone:?}");
}
