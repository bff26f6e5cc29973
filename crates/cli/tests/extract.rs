//! Tests `extract` and the parts of `view`: what is listed, and where files appear.
//!
//! Input: messages with parts of all kinds, some of them hostile. Output: lists, files, exit codes. Does not
//! depend on how parts are found.

use crate::support::{Home, Run, run_with_input};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Text, a PDF, a message with a picture that has the PDF's name, and HTML with a link.
const MESSAGE: &str = "From: Ana <ana@example.org>\nSubject: Papers\nMessage-ID: <1@example.org>\n\
    X-Odd: =?utf-8?q?caf=C3=A9?=\nContent-Type: multipart/mixed; boundary=b\n\n\
    --b\nContent-Type: text/plain; charset=latin1\n\nsee https://plain.example/\n\
    --b\nContent-Type: application/pdf; name=report.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n\
    --b\nContent-Type: message/rfc822\n\nSubject: Inner\nContent-Type: multipart/mixed; boundary=c\n\n\
    --c\n\ninner words\n\
    --c\nContent-Type: image/png\nContent-Disposition: attachment; filename=\"REPORT.pdf\"\n\n\
    picture\n--c--\n\
    --b\nContent-Type: text/html\n\n<p>Go <a href=\"https://html.example/\">here</a></p>\n--b--\n";

fn home(message: &str) -> Home {
    let home = Home::new();
    home.deliver("", "1:2,S", message.as_bytes());
    home.first_index();
    home
}

fn files(home: &Home, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(home.path().join(directory)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn code_and_out(run: &Run) -> (Option<i32>, &str) {
    (run.code, run.out.as_str())
}

#[test]
fn parts_are_listed() {
    let home = home(MESSAGE);
    let expected = "  1         26 text/plain
  2          5 application/pdf                  report.pdf
  3        172 message/rfc822                   Inner
  4         11   text/plain
  5          7   image/png                      REPORT.pdf
  6         50 text/html
";
    assert_eq!(home.good(&["extract", "id:1@example.org"]), expected);
    assert_eq!(home.good(&["extract", "subject:papers", "from:ana"]), expected);
    let piped = run_with_input(&mut home.command(&["extract", "-"]), MESSAGE.as_bytes());
    assert_eq!(code_and_out(&piped), (Some(0), expected));
    let json = home.good(&["extract", "--format", "json", "Mail/cur/1:2,S"]);
    let fifth: serde_json::Value = serde_json::from_str(json.lines().nth(4).unwrap()).unwrap();
    let expected = serde_json::json!({
        "version": 1, "type": "part", "number": 5, "depth": 1, "mime": "image/png", "name": "REPORT.pdf",
        "size": 7, "role": "attachment", "file_name": "REPORT-2.pdf",
    });
    assert_eq!(fifth, expected);
}

#[test]
fn parts_are_saved_by_number_name_type_and_kind() {
    let home = home(MESSAGE);
    for (number, (options, expected)) in [
        (vec!["--attachments"], vec!["REPORT-2.pdf", "part-3.eml", "report.pdf"]),
        (vec!["--part", "1,4-5"], vec!["REPORT-2.pdf", "part-1.txt", "part-4.txt"]),
        (vec!["--name", "*.PDF"], vec!["REPORT-2.pdf", "report.pdf"]),
        (
            vec!["--type", "text/*", "--part", "2"],
            vec!["part-1.txt", "part-4.txt", "part-6.html", "report.pdf"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let to = format!("to{number}");
        fs::create_dir(home.path().join(&to)).unwrap();
        let out = home.good(&[&["extract", "--to", &to, "id:1@example.org"], &*options].concat());
        assert_eq!(files(&home, &to), expected, "{options:?}");
        assert_eq!(out.lines().count(), expected.len());
        assert!(out.lines().all(|path| home.path().join(path).is_file()), "{out}");
    }
    assert_eq!(fs::read(home.path().join("to0/report.pdf")).unwrap(), b"%PDF-");
    let inner = fs::read_to_string(home.path().join("to0/part-3.eml")).unwrap();
    assert!(inner.starts_with("Subject: Inner\n") && inner.ends_with("picture\n--c--"), "{inner}");
    let mode = fs::metadata(home.path().join("to0/report.pdf")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Without --to, where the user is.
    assert_eq!(home.good(&["extract", "-p2", "id:1@example.org"]), "./report.pdf\n");
}

#[test]
fn one_part_goes_to_a_pipe() {
    let home = home(MESSAGE);
    assert_eq!(home.good(&["extract", "--part", "2", "--to", "-", "id:1@example.org"]), "%PDF-");
    let several = home.pneu(&["extract", "--all", "--to", "-", "id:1@example.org"]);
    assert_eq!(code_and_out(&several), (Some(2), ""));
    assert!(several.err.contains("6 match"), "{}", several.err);
}

#[test]
fn nothing_is_replaced_and_what_is_not_saved_is_told() {
    let home = home(MESSAGE);
    fs::write(home.path().join("report.pdf"), "mine").unwrap();
    let some = home.pneu(&["extract", "--name", "report*", "id:1@example.org"]);
    assert_eq!(code_and_out(&some), (Some(3), "./REPORT-2.pdf\n"));
    assert_eq!(some.err, "pneu: ./report.pdf exists, and is not replaced\n");
    let none = home.pneu(&["extract", "--part", "2", "id:1@example.org"]);
    assert_eq!(code_and_out(&none), (Some(2), ""));
    assert_eq!(fs::read(home.path().join("report.pdf")).unwrap(), b"mine");
    // A link in the place of the file is not followed; one in the place of the directory is the user's.
    fs::create_dir(home.path().join("real")).unwrap();
    symlink("real", home.path().join("alias")).unwrap();
    symlink(home.path().join("elsewhere"), home.path().join("real/report.pdf")).unwrap();
    let linked = home.pneu(&["extract", "-p", "2,1", "--to", "alias", "id:1@example.org"]);
    assert_eq!(code_and_out(&linked), (Some(3), "alias/part-1.txt\n"));
    assert!(!home.path().join("elsewhere").exists());
    assert_eq!(files(&home, "real"), ["part-1.txt", "report.pdf"]);
    let nowhere = home.pneu(&["extract", "--all", "--to", "missing", "id:1@example.org"]);
    assert_eq!(nowhere.code, Some(2));
}

#[test]
fn what_there_is_not_is_told() {
    let home = home(MESSAGE);
    for (arguments, code, words) in [
        (vec!["--part", "7"], 1, "no part 7"),
        (vec!["--name", "*.doc"], 1, "no part matches"),
        (vec!["--part", "0"], 2, "from 1"),
        (vec!["--to", "."], 2, "say which parts"),
    ] {
        let run = home.pneu(&[&["extract", "id:1@example.org"], &*arguments].concat());
        assert_eq!(code_and_out(&run), (Some(code), ""), "{arguments:?}");
        assert!(run.err.contains(words), "{}", run.err);
    }
    let missing = home.pneu(&["extract", "id:nobody@x"]);
    assert_eq!(missing.code, Some(1));
}

#[test]
fn hostile_names_stay_in_the_directory() {
    let names = [
        "../../escape.txt",
        "/tmp/pneu-escape.txt",
        "..\\\\up.txt",
        ".profile",
        "-rf",
        "a%00b%1b%5B2J",
        "gpj.%E2%80%AEexe",
        "con",
        &"x".repeat(300),
        "..",
        "same",
        "SAME",
    ];
    let part = |name: &&str| {
        format!("--b\nContent-Type: a/b\nContent-Disposition: attachment; filename*=utf-8''{name}\n\nx\n")
    };
    let parts: String = names.iter().map(part).collect();
    let home = home(&format!(
        "Message-ID: <1@example.org>\nContent-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n"
    ));
    fs::create_dir_all(home.path().join("one/two")).unwrap();
    let out = home.good(&["extract", "--all", "--to", "one/two", "id:1@example.org"]);
    assert_eq!(out.lines().count(), names.len());
    let found = files(&home, "one/two");
    assert_eq!(found.len(), names.len(), "{found:?}");
    assert!(found.iter().all(|name| !name.starts_with(['.', '-']) && name.len() <= 200), "{found:?}");
    for name in
        ["escape.txt", "pneu-escape.txt", "up.txt", "_profile", "_rf", "_con", "part-10.bin", "SAME-2"]
    {
        assert!(found.iter().any(|other| other == name), "{name}: {found:?}");
    }
    assert_eq!(files(&home, "one"), ["two"]);
    assert!(!home.path().join("escape.txt").exists());
}

#[test]
fn damaged_content_is_saved_as_far_as_it_goes_and_told() {
    let home = home(
        "Message-ID: <1@example.org>\nContent-Type: a/b; name=x\n\
            Content-Transfer-Encoding: base64\n\nQUJD*!*\n",
    );
    let run = home.pneu(&["extract", "--all", "id:1@example.org"]);
    assert_eq!(code_and_out(&run), (Some(3), "./x\n"));
    assert!(run.err.contains("damaged"), "{}", run.err);
}

#[test]
fn parts_are_viewed_by_the_same_numbers() {
    let home = home(MESSAGE);
    let view = |options: &[&str]| home.good(&[&["view", "id:1@example.org"], options].concat());
    assert_eq!(view(&["--part", "4"]), "inner words\n");
    assert_eq!(view(&["--part", "6"]), "Go here[1]\n\nLinks:\n[1] https://html.example/\n");
    assert_eq!(view(&["--part", "6", "--no-links"]), "Go here\n");
    assert_eq!(view(&["--part", "2", "--format", "raw"]), "%PDF-");
    let message = view(&["--part", "3"]);
    assert!(message.starts_with("Subject: Inner\n") && message.contains("inner words"), "{message}");
    let json: serde_json::Value = serde_json::from_str(&view(&["--part", "3", "-o", "json"])).unwrap();
    assert_eq!((&json["subject"], &json["attachments"][0]["size"]), (&"Inner".into(), &7.into()));
    for (options, code, words) in [
        (vec!["--part", "2"], 2, "application/pdf, not text"),
        (vec!["--part", "9"], 1, "no part 9"),
        (vec!["--part", "9", "--format", "raw"], 1, "no part 9"),
        (vec!["--part", "1", "--format", "json"], 2, "without a header"),
    ] {
        let run = home.pneu(&[&["view", "id:1@example.org"], &*options].concat());
        assert_eq!(code_and_out(&run), (Some(code), ""), "{options:?}");
        assert!(run.err.contains(words), "{}", run.err);
    }
}

#[test]
fn all_headers_are_shown_as_the_message_has_them() {
    let home = home(MESSAGE);
    let all = home.good(&["view", "--headers", "all", "id:1@example.org"]);
    let header = "From: Ana <ana@example.org>\nSubject: Papers\nMessage-ID: <1@example.org>\nX-Odd: café\n\
        Content-Type: multipart/mixed; boundary=b\n\nsee https://plain.example/\n";
    assert!(all.starts_with(header), "{all}");
    let json = home.good(&["view", "--headers", "all", "-o", "json", "id:1@example.org"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["headers"][3], serde_json::json!({"name": "X-Odd", "value": "café"}));
    let page = home.good(&["view", "--headers", "all", "-o", "html", "id:1@example.org"]);
    assert!(page.contains("X-Odd: café"), "{page}");
    let main = home.good(&["view", "id:1@example.org"]);
    assert_eq!(home.good(&["view", "--headers", "main", "id:1@example.org"]), main);
    assert!(!main.contains("X-Odd"), "{main}");
}

#[test]
fn links_are_listed() {
    let home = home(MESSAGE);
    let links = "https://plain.example/\nhttps://html.example/\n";
    assert_eq!(home.good(&["view", "--links", "id:1@example.org"]), links);
    let path = home.mail().join("cur/1:2,S");
    assert_eq!(home.good(&["view", "--links", "id:1@example.org", path.to_str().unwrap()]), links);
    let json = home.good(&["view", "--links", "--format", "json", "id:1@example.org"]);
    assert_eq!(
        json.lines().next().unwrap(),
        r#"{"version":1,"type":"link","target":"https://plain.example/"}"#
    );
    let none = run_with_input(&mut home.command(&["view", "--links", "-"]), b"Subject: x\n\nno links\n");
    assert_eq!(code_and_out(&none), (Some(1), ""));
}
