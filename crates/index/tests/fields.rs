//! Less common fields: priority, language, attached text, configured headers, keywords; and regular
//! expressions on whole values.
//!
//! Input: a small mailbox. Output: the subjects found.

use crate::support::{Fixture, message, query, query_with};
use index::{Error, Order, RecordReader, UpdateOptions};

/// Returns options with the header fields that a configuration names.
fn with_headers(names: &[&str]) -> UpdateOptions {
    let headers = names.iter().map(|name| (*name).to_owned()).collect();
    UpdateOptions { headers, ..UpdateOptions::default() }
}

/// Puts a message with more header lines into the root's `cur`. Each line ends in a newline.
fn put(fixture: &Fixture, id: &str, header: &str, body: &str) {
    let whole = message(id, id, body).replacen("\n\n", &format!("\n{header}\n"), 1);
    fixture.put("", "cur", &format!("{id}.x:2,"), &whole);
}

fn assert_found(fixture: &Fixture, cases: &[(&str, &[&str])]) {
    for (query, expected) in cases {
        let mut found = fixture.find_with(query, &["X-Mailer", "X-Spam-Score", "X-New"]);
        found.sort();
        assert_eq!(found, *expected, "{query}");
    }
}

#[test]
fn priorities_are_found() {
    let fixture = Fixture::new();
    put(&fixture, "plain", "", "x");
    put(&fixture, "urgent", "X-Priority: 1\n", "x");
    put(&fixture, "bulk", "Precedence: bulk\n", "x");
    fixture.update();
    assert_found(
        &fixture,
        &[
            ("prio:high", &["urgent"]),
            ("prio:low", &["bulk"]),
            ("prio:normal", &["plain"]),
            ("not prio:normal", &["bulk", "urgent"]),
            ("p:high or p:low", &["bulk", "urgent"]),
        ],
    );
}

#[test]
fn languages_are_found() {
    let fixture = Fixture::new();
    put(
        &fixture,
        "de",
        "",
        "Die Sitzung am Donnerstag ist leider auf die naechste Woche verschoben, weil der Raum nicht frei \
         ist.",
    );
    put(
        &fixture,
        "en",
        "",
        "The meeting on Thursday has been moved to next week, because the room is not free on that day.",
    );
    put(&fixture, "short", "", "ok");
    fixture.update();
    assert_found(
        &fixture,
        &[
            ("lang:de", &["de"]),
            ("lang:EN", &["en"]),
            ("lang:*", &["de", "en"]),
            ("lang:nl", &[]),
            ("lang:/^[de]/", &["de", "en"]),
            ("lang:/^d/", &["de"]),
            ("not lang:*", &["short"]),
        ],
    );
}

#[test]
fn problems_are_found_by_kind_and_by_group() {
    let fixture = Fixture::new();
    put(&fixture, "sound", "", "x");
    put(&fixture, "charset", "Content-Type: text/plain; charset=x-klingon\n", "gr\u{fc}n");
    put(&fixture, "nul", "", "x\0y");
    let no_date = message("no-date", "no-date", "x").replacen("Date:", "X-Date:", 1);
    fixture.put("", "cur", "no-date.x:2,", &no_date);
    let old = message("old", "old", "x").replacen(
        "\nDate: ",
        "\nDate: Mon, 1 Jan 1900 00:00:00 +0000\nX-Date: ",
        1,
    );
    fixture.put("", "cur", "old.x:2,", &old);
    fixture.update();
    assert_found(
        &fixture,
        &[
            ("problem:charset-unknown", &["charset"]),
            ("problem:charset", &["charset"]),
            ("problem:nul", &["nul"]),
            ("problem:date", &["no-date", "old"]),
            ("problem:Date-Missing", &["no-date"]),
            ("problem:date-*", &["no-date", "old"]),
            ("problem:*", &["charset", "no-date", "nul", "old"]),
            ("not problem:*", &["sound"]),
            ("problem:/miss/", &["no-date"]),
            ("problem:cut-message", &[]),
        ],
    );
    let wrong = fixture.mailbox().evaluate(&query("problem:chraset")).unwrap_err().to_string();
    assert!(wrong.contains("problem: takes ") && wrong.contains("charset, cut, date"), "{wrong}");
}

#[test]
fn attached_text_is_found_apart_from_the_rest() {
    let fixture = Fixture::new();
    let parts = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n";
    let body = "--b\n\nown words here\n--b\nContent-Type: text/plain; name=a.txt\nContent-Disposition: \
        attachment\n\n\
        capsule list\n--b\nContent-Type: message/rfc822\n\nSubject: inner topic\n\ninner body\n--b--";
    put(&fixture, "both", parts, body);
    put(&fixture, "plain", "", "capsule and inner topic");
    fixture.update();
    assert_found(
        &fixture,
        &[
            ("embed:capsule", &["both"]),
            ("embed:\"inner topic\"", &["both"]),
            ("embed:\"topic inner\"", &[]),
            ("embed:\"list inner\"", &[]),
            ("embed:own", &[]),
            ("embed:*apsu*", &["both"]),
            ("embed:/^caps/", &["both"]),
            ("body:capsule", &["both", "plain"]),
            ("body:own", &["both"]),
            ("capsule", &["both", "plain"]),
            ("not embed:*", &["plain"]),
        ],
    );
}

#[test]
fn configured_headers_are_found_by_word_and_by_value() {
    let fixture = Fixture::new();
    put(&fixture, "one", "X-Mailer: Rohrpost =?utf-8?q?D=C3=A9p=C3=AAche?= 7.1\nX-Spam-Score: -1.2\n", "x");
    put(&fixture, "two", "X-Mailer: Tube Mail\nX-Mailer: Rohr 7\nX-Spam-Score: 12.5\n", "rohrpost");
    put(&fixture, "none", "X-Other: Rohrpost\n", "x");
    fixture.update_with(&with_headers(&["X-Mailer", "X-Spam-Score"]));
    assert_found(
        &fixture,
        &[
            ("x-mailer:rohrpost", &["one"]),
            ("X-MAILER:depeche", &["one"]),
            ("X-Mailer:\"rohrpost depeche\"", &["one"]),
            ("X-Mailer:\"rohrpost 7\"", &[]),
            ("X-Mailer:\"mail rohr\"", &[]),
            ("X-Mailer:rohr*", &["one", "two"]),
            ("X-Mailer:\"tube ma*\"", &["two"]),
            ("X-Mailer:*ohr*", &["one", "two"]),
            ("X-Mailer:*ohr", &["two"]),
            ("X-Mailer:*", &["one", "two"]),
            ("not X-Mailer:*", &["none"]),
            ("X-Mailer:\"/^rohr.* dépê/\"", &["one"]),
            ("X-Mailer:/mail$/", &["two"]),
            ("X-Spam-Score:/^-/", &["one"]),
            ("X-Spam-Score:/mail/", &[]),
            ("X-Spam-Score:12.5", &["two"]),
            ("X-Mailer:12.5", &[]),
            ("X-Mailer:(tube or depeche)", &["one", "two"]),
        ],
    );
    let mailbox = fixture.mailbox();
    let hits = mailbox.find(&query("subject:two"), &Order::default()).unwrap();
    let rest = mailbox.message(&hits.list[0], &mut RecordReader::new()).unwrap().rest;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected = [pair("X-Mailer", "Tube Mail"), pair("X-Mailer", "Rohr 7"), pair("X-Spam-Score", "12.5")];
    assert_eq!(rest.headers, expected);
}

#[test]
fn a_header_that_was_not_indexed_from_the_start_is_reported() {
    let fixture = Fixture::new();
    put(&fixture, "old", "X-New: word\n", "x");
    fixture.update_with(&with_headers(&["X-Mailer"]));
    put(&fixture, "new", "X-New: word\nX-Mailer: word\n", "x");
    fixture.update_with(&with_headers(&["X-Mailer", "X-New"]));
    assert_found(&fixture, &[("x-mailer:word", &["new"])]);
    let query = query_with("a or x-new:word", &["X-New"]);
    let error = fixture.mailbox().find(&query, &Order::default()).unwrap_err();
    let Error::Query { span, what, remedy } = error else { panic!("{error}") };
    assert_eq!(&"a or x-new:word"[span], "x-new");
    assert_eq!(what, "header X-New is configured but not indexed yet");
    assert_eq!(remedy, Some(index::Remedy::AddHeaders));
}

#[test]
fn regular_expressions_see_whole_header_values() {
    let fixture = Fixture::new();
    fixture.put(
        "",
        "cur",
        "1.x:2,",
        "From: \"=?utf-8?q?=C3=85sa_=C3=96st?=\" <asa@post.example.org>\nTo: Bo <bo@example.org>, \
         cy@example.org\n\
         Subject: Re: =?utf-8?q?Gr=C3=BC=C3=9Fe?= from Malm\nMessage-ID: <Re.1@x>\nReferences: <Ref.0@x>\n\
         MIME-Version: 1.0\nContent-Type: application/pdf; name=\"two words.pdf\"\n\nx\n",
    );
    fixture.put(
        "",
        "cur",
        "2.x:2,",
        "From: bo@example.org\nSubject: other\nMessage-ID: <2@x>\n\ngrass fire\n",
    );
    fixture.update();
    let found = |query: &str| fixture.find(query).len();
    for (query, count) in [
        ("\"subject:/^re: grüße from/\"", 0),
        ("subject:\"/^re: grüße from/\"", 1),
        ("subject:/Grüße$/", 0),
        ("subject:\"/^(re: .*|other)$/\"", 2),
        ("from:\"/^Åsa Öst <asa@/\"", 1),
        ("from:/öst$/", 0),
        ("from:/^bo@example[.]org$/", 1),
        ("to:/^cy@/", 1),
        ("to:/bo.*cy/", 0),
        ("contact:/^bo/", 2),
        ("recip:/^bo/", 1),
        ("file:\"/two words/\"", 1),
        ("mime:/^application.pdf$/", 1),
        ("msgid:/^Re[.]1@/", 1),
        ("ref:/^Ref[.]0/", 1),
        ("related:/[.]0@x$/", 1),
        ("body:/^gra.s$/", 1),
        ("body:\"/grass fire/\"", 0),
        ("/^grass$/", 1),
        ("/malm$/", 1),
        ("not subject:/re/", 1),
        ("subject:/r/ -from:/åsa/", 1),
    ] {
        assert_eq!(found(query), count, "{query}");
    }
}

#[test]
fn a_long_value_is_seen_up_to_its_limit() {
    let fixture = Fixture::new();
    let subject = format!("{} needle {} end", "é".repeat(400), "x".repeat(400));
    fixture.put("", "cur", "1.x:2,", &format!("Subject: {subject}\nMessage-ID: <1@x>\n\nx\n"));
    fixture.update();
    assert_eq!(fixture.find("subject:\"/ needle x/\"").len(), 1);
    assert_eq!(fixture.find("subject:/end$/").len(), 0);
    assert_eq!(fixture.find("subject:end").len(), 1);
}

#[test]
fn keywords_are_found_by_the_names_that_their_folder_gives_them() {
    let fixture = Fixture::new();
    fixture.put("one", "cur", "1.x:2,Sa", &message("1", "work", "x"));
    fixture.put("one", "cur", "2.x:2,b", &message("2", "junk", "x"));
    fixture.put("one", "cur", "3.x:2,c", &message("3", "nameless", "x"));
    fixture.put("two", "cur", "4.x:2,ab", &message("4", "both", "x"));
    fixture.put("two", "cur", "5.x:2,S", &message("5", "none", "x"));
    std::fs::write(fixture.root().join("one/dovecot-keywords"), "0 Work\n1 $Junk\n").unwrap();
    std::fs::write(fixture.root().join("two/dovecot-keywords"), "1 work\n").unwrap();
    fixture.update();
    assert_found(
        &fixture,
        &[
            ("keyword:work", &["both", "work"]),
            ("keyword:$junk", &["junk"]),
            ("keyword:\"$Junk\"", &["junk"]),
            ("keyword:wo*", &["both", "work"]),
            ("keyword:*unk", &["junk"]),
            ("keyword:*or*", &["both", "work"]),
            ("keyword:/^.junk$/", &["junk"]),
            ("keyword:a", &["both"]),
            ("keyword:c", &["nameless"]),
            ("keyword:b", &[]),
            ("keyword:*", &["both", "junk", "nameless", "work"]),
            ("not keyword:*", &["none"]),
        ],
    );
}
