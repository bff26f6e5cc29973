//! Tests `pneu export`: what rows hold, that other programs read the same rows, and which files it writes.
//!
//! Input: small mailboxes, and real mail where there is some. Output: tables and files. Does not know how
//! tables are encoded.

use crate::hostile::{self, HARMFUL};
use crate::support::Home;
use jiff::Timestamp;
use printable::sanitise::one_line;
use serde_json::Value;
use std::fs;
use testkit::{real_mail, table_rows};

/// Columns that are not written unless they are named, and one that is.
const NAMED: &str = "message_id,date,from_name,subject,bcc,references,snippet,size,to,thread";

fn home() -> Home {
    let home = Home::new();
    let put = |folder: &str, name: &str, head: &str, body: &str| {
        let text = format!("{head}\n\n{body}\n");
        home.deliver(folder, name, text.as_bytes());
    };
    let first = "From: \"Ana, Ito\" <ana@example.org>\nTo: bo@example.org, Cy <cy@example.org>\n\
        Bcc: dee@example.org\nMessage-ID: <1@x>\nDate: 1 Mar 2024 10:00:00 +0000\n\
        Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=";
    put(".work", "1:2,S", first, "hello");
    put(".copies", "2:2,FS", first, "hello");
    put(
        ".work",
        "3:2,",
        "From: bo@example.org\nMessage-ID: <2@x>\nIn-Reply-To: <1@x>\nReferences: <1@x>\n\
         Date: 2 Mar 2024 10:00:00 +0000\nSubject: =1+1",
        "again",
    );
    home.first_index();
    home
}

#[test]
fn a_row_holds_what_the_message_has() {
    let home = home();
    let mail = home.mail().display().to_string();
    let rows = home.good(&["export", "--format", "ndjson"]);
    let sha256 = home.good(&["find", "--format", "json", "msgid:2@x"]);
    let sha256: Value = serde_json::from_str(&sha256).unwrap();
    let sha256 = sha256["sha256"].as_str().unwrap();
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!(lines.len(), 2, "copies are one row");
    assert_eq!(
        lines[0],
        format!(
            "{{\"message_id\":\"2@x\",\"sha256\":\"{sha256}\",\"date\":\"2024-03-02T10:00:00Z\",\
             \"from_name\":\"\",\"from_address\":\"bo@example.org\",\"to\":[],\"cc\":[],\
             \"subject\":\"=1+1\",\"size\":129,\"flags\":[\"unread\"],\"tags\":[],\"list_id\":\"\",\
             \"language\":\"\",\"attachments\":[],\"thread\":\"1@x\",\"folders\":[\"/.work\"],\
             \"paths\":[\"{mail}/.work/cur/3:2,\"]}}"
        )
    );
    let copies: Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!(copies["folders"], serde_json::json!(["/.copies", "/.work"]));
    assert_eq!(
        (&copies["thread"], &copies["flags"]),
        (&"1@x".into(), &serde_json::json!(["flagged", "seen"]))
    );
    assert_eq!(
        home.good(&["export", "--format", "csv", "--columns", NAMED]),
        "message_id,date,from_name,subject,bcc,references,snippet,size,to,thread\r\n\
         2@x,2024-03-02T10:00:00Z,,\"'=1+1\",[],\"[\"\"1@x\"\"]\",again,129,[],1@x\r\n\
         1@x,2024-03-01T10:00:00Z,\"Ana, Ito\",Grüße,\"[\"\"dee@example.org\"\"]\",[],hello,190,\
         \"[\"\"bo@example.org\"\",\"\"cy@example.org\"\"]\",1@x\r\n"
    );
    assert_eq!(
        home.good(&["export", "--format", "ndjson", "--columns", "size,date", "-n", "1"]),
        "{\"size\":129,\"date\":\"2024-03-02T10:00:00Z\"}\n"
    );
}

#[test]
fn a_column_is_the_same_alone_and_among_others() {
    let home = home();
    let names = render::table::Column::ALL.map(|column| column.field().name);
    let rows = home.good(&["export", "--format", "ndjson", "--columns", &names.join(",")]);
    for name in names {
        let alone = home.good(&["export", "--format", "ndjson", "--columns", name]);
        assert_eq!(alone.lines().count(), 2);
        for (alone, row) in alone.lines().zip(rows.lines()) {
            let row: Value = serde_json::from_str(row).unwrap();
            assert_eq!(alone, serde_json::json!({ name: row[name] }).to_string());
        }
    }
}

/// Returns a row of JSON as readers of Parquet and Arrow see it: times are numbers.
fn with_times(line: &str) -> Value {
    let mut row: Value = serde_json::from_str(line).unwrap();
    if let Some(date) = row.get_mut("date") {
        *date = date.as_str().map(|date| date.parse::<Timestamp>().unwrap().as_millisecond()).into();
    }
    row
}

/// Returns what a spreadsheet shows of a value of JSON.
fn as_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => {
            let text = one_line(text);
            let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
            format!("{}{text}", if is_formula { "'" } else { "" })
        }
        other => other.to_string(),
    }
}

/// Exports all messages in every format, and compares what other programs read.
fn compare(home: &Home, columns: &[&str]) {
    let lines = home.good(&[&["export", "--format", "ndjson"], columns].concat());
    assert!(lines.lines().count() > 1 && !lines.contains(HARMFUL));
    let csv = home.good(&[&["export", "--format", "csv"], columns].concat());
    assert!(!csv.replace("\r\n", "\n").contains(HARMFUL));
    for name in ["x.parquet", "x.arrow", "x.csv"] {
        home.good(&[&["export", "--quiet", "--force", "--to", name], columns].concat());
        for (reader, rows) in table_rows(&home.path().join(name)) {
            assert_eq!(rows.len(), lines.lines().count(), "{reader} {name}");
            let row = |row: &String| serde_json::from_str::<Value>(row).unwrap();
            if reader != "csv" {
                // These have no particular order.
                let sorted = |mut rows: Vec<Value>| {
                    rows.sort_by_cached_key(Value::to_string);
                    rows
                };
                let (rows, lines) = (rows.iter().map(row).collect(), lines.lines().map(with_times).collect());
                assert_eq!(sorted(rows), sorted(lines), "{reader} {name}");
                continue;
            }
            for (row, line) in rows.iter().map(row).zip(lines.lines()) {
                let line: Value = serde_json::from_str(line).unwrap();
                for (column, value) in line.as_object().unwrap() {
                    let cell = row[column].as_str().unwrap();
                    // Escapes in lists may be written in several ways.
                    match value {
                        Value::Array(_) => {
                            assert_eq!(&serde_json::from_str::<Value>(cell).unwrap(), value, "{line}");
                        }
                        _ => assert_eq!(cell, as_cell(value), "{line}"),
                    }
                }
            }
        }
    }
}

#[test]
fn other_programs_read_the_same_rows() {
    compare(&home(), &[]);
    let hostile = hostile::home();
    hostile.deliver("", "2:2,S", b"Subject: second\n\nmore\n");
    hostile.good(&["index", "--quiet"]);
    compare(&hostile, &[]);
    compare(&home(), &["--columns", NAMED]);
}

#[test]
fn other_programs_read_the_same_rows_of_real_and_odd_mail() {
    let Some(mail) = real_mail() else { return };
    let home = Home::new();
    for (number, path) in mail.edge().iter().enumerate() {
        home.deliver("odd", &format!("{number}:2,S"), &fs::read(path).unwrap());
    }
    let real = format!("real={}", mail.maildir().display());
    home.good(&["index", "--quiet", "--maildir", "odd=Mail", "--maildir", &real]);
    let all = render::table::Column::ALL.map(|column| column.field().name).join(",");
    compare(&home, &["--columns", &all]);
}

#[test]
fn an_mbox_is_that_of_find() {
    let home = home();
    let found = home.good(&["find", "--format", "mbox"]);
    assert_eq!(found.matches("From ").count(), 2);
    assert_eq!(home.good(&["export", "--format", "mbox"]), found);
    assert_eq!(home.good(&["export", "--to", "all.mbox"]), "2 messages in all.mbox\n");
    assert_eq!(fs::read_to_string(home.path().join("all.mbox")).unwrap(), found);
}

#[test]
fn a_file_appears_whole_and_replaces_none_unasked() {
    let home = home();
    let path = home.path().join("x.csv");
    let names = || {
        let entries = fs::read_dir(home.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let before = names();
    let said = |arguments: &[&str]| {
        let run = home.pneu(&[&["export"], arguments].concat());
        assert_eq!(run.out, "", "{arguments:?}");
        (run.code, run.err)
    };
    assert_eq!(said(&["--to", "x.csv", "nowhere"]), (Some(1), "pneu: no message matches\n".into()));
    let full = home.pneu_after("ulimit -f 0", &["export", "--to", "x.csv"]);
    let too_large = "pneu: cannot write x.csv: File too large (os error 27)\n";
    assert_eq!((full.code, full.err.as_str()), (Some(2), too_large));
    assert_eq!(names(), before, "nothing is left of a file that was not finished");
    assert_eq!(
        home.good(&["export", "--to", "x.csv", "subject:again", "or", "again"]),
        "1 message in x.csv\n"
    );
    let one = fs::read_to_string(&path).unwrap();
    assert_eq!(one.lines().count(), 2);
    let refused = "pneu: x.csv exists, and is not replaced; choose another name, or add --force\n";
    assert_eq!(said(&["--to", "x.csv"]), (Some(2), refused.into()));
    assert_eq!(fs::read_to_string(&path).unwrap(), one);
    assert_eq!(said(&["--to", "x.csv", "--force", "--quiet"]), (Some(0), String::new()));
    assert_eq!(fs::read_to_string(&path).unwrap(), home.good(&["export", "--format", "csv"]));
    assert_eq!(home.good(&["export", "--to", "-", "--format", "csv"]), fs::read_to_string(&path).unwrap());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let home = home();
    for (arguments, said) in [
        (&["--to", "x"][..], "say in which format: add --format, or --to FILE with a name"),
        (
            &["--format", "csv", "--columns", "date,x"],
            "there is no such column; the columns are message_id, ",
        ),
        (&["--format", "csv", "--columns", "date,to,date"], "--columns names date twice"),
        (&["--format", "mbox", "--columns", "date"], "an mbox has whole messages"),
        (&["--format", "csv", "--force"], "--to"),
        (&["--format", "csv", "date:nonsense"], "date:nonsense"),
    ] {
        let run = home.pneu(&[&["export"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.err.contains(said), "{arguments:?}: {}", run.err);
    }
    let shown = home.on_terminal(&["export", "--format", "parquet"], &[]);
    assert_eq!(shown.code, Some(2));
    assert!(shown.err.contains("this format is not for terminals"), "{}", shown.err);
}
