//! Tests `pneu stats`: its table, its formats, and names that strangers chose.
//!
//! Input: a small mailbox. Output: what is printed. Does not depend on how figures are made.

use crate::support::Home;

fn home() -> Home {
    let home = Home::new();
    let put = |name: &str, from: &str, id: &str, rest: &str| {
        let text = format!("From: {from}\nMessage-ID: <{id}@x>\n{rest}Subject: s\n\nwords {id}\n");
        home.deliver(".work", name, text.as_bytes());
    };
    put("1:2,S", "\"a,b\" <bo@example.org>", "1", "Date: 1 Mar 2024 10:00:00 +0000\n");
    put("2:2,S", "ana@example.org", "2", "Date: 1 Mar 2024 13:00:00 +0000\nIn-Reply-To: <1@x>\n");
    put("3:2,S", "=1+1@x.example", "3", "Date: 1 Mar 2025 10:00:00 +0000\n");
    home.configure("[user]\naddresses = [\"ana@example.org\"]\n");
    home.first_index();
    home
}

#[test]
fn a_table_has_a_line_for_each_group_and_one_for_all() {
    let home = home();
    let lines: Vec<String> = home.good(&["stats"]).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].starts_with("year   messages       size  threads  you replied"), "{lines:?}");
    assert!(
        lines[1].starts_with("2024          2") && lines[1].contains("          3 h  #####"),
        "{lines:?}"
    );
    assert!(lines[2].starts_with("2025          1") && lines[2].ends_with("#"), "{lines:?}");
    assert!(lines[3].starts_with("total         3") && !lines[3].contains('#'), "{lines:?}");
    let of_one = home.good(&["stats", "--by", "folder", "from:bo"]);
    assert!(of_one.contains("\n/.work         1"), "{of_one}");
    let none = home.pneu(&["stats", "nowhere"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no message matches\n"));
    let wrong = home.pneu(&["stats", "date:nonsense"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""));
}

#[test]
fn a_terminal_with_unicode_has_blocks_and_lines_fit() {
    let home = home();
    let shown = home.on_terminal(&["stats"], &[("LC_ALL", "C.UTF-8")]).out;
    assert!(shown.contains('█') && !shown.contains('#'), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let plain = home.on_terminal(&["stats"], &[("LC_ALL", "C")]).out;
    assert!(plain.is_ascii() && plain.contains('#'), "{plain}");
}

#[test]
fn programs_get_json_csv_and_a_picture() {
    let home = home();
    let json = home.good(&["stats", "--by", "year", "--format", "json"]);
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let years: Vec<(&str, u64)> =
        lines.iter().filter_map(|line| Some((line["key"].as_str()?, line["messages"].as_u64()?))).collect();
    assert_eq!(years, [("2024", 2), ("2025", 1)]);
    assert_eq!((lines[2]["type"].as_str(), lines[2]["threads"].as_u64()), (Some("total"), Some(2)));
    assert_eq!(
        (lines[0]["own_replies"].as_u64(), lines[0]["own_reply_seconds"].as_u64()),
        (Some(1), Some(10_800))
    );
    let csv = home.good(&["stats", "--by", "year", "--max", "1", "--format", "csv"]);
    assert!(csv.contains("\r\n2025,1,") && !csv.contains("2024"), "{csv}");
    let senders = home.good(&["stats", "--by", "sender", "--format", "csv"]);
    assert!(senders.contains("\"'=1+1@"), "{senders}");
    let picture = home.good(&["stats", "--by", "sender", "--format", "svg"]);
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "), "{picture}");
    assert!(!picture.contains("<script") && !picture.contains('\u{1b}'), "{picture}");
    assert!(picture.contains(">bo@example.org</text>"), "{picture}");
}
