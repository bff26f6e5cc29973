//! Tests the order and the formats of `pneu contacts`.
//!
//! Input: mail to and from people with hostile names. Output: what is printed. Does not depend on how people
//! are stored.

use crate::support::Home;

/// Returns a home with mail of three people, a list and the user.
fn home() -> Home {
    let home = Home::new();
    let letters = [
        ("Ana <ana@example.org>", "Bo Berg <bo@example.org>", ""),
        ("News <news@shop.example>", "ana@example.org", ""),
        ("News <news@shop.example>", "ana@example.org", ""),
        (
            "\"=1+1,\\\"x\" <eve@example.com>",
            "tubes@lists.example.org",
            "List-Id: <tubes.lists.example.org>\n",
        ),
    ];
    for (number, (from, to, more)) in letters.iter().enumerate() {
        let text = format!(
            "From: {from}\nTo: {to}\nDate: {} Mar 2025 10:00:00 +0000\nSubject: s\n{more}\nwords\n",
            number + 1
        );
        home.deliver("", &format!("{number}:2,S"), text.as_bytes());
    }
    home.configure("[user]\naddresses = [\"ana@example.org\"]\n");
    home.first_index();
    home
}

#[test]
fn who_was_written_to_comes_first_and_lists_come_last() {
    let home = home();
    let people = "Bo Berg <bo@example.org>\nNews <news@shop.example>\n\"=1+1,\\\"x\" <eve@example.com>\n";
    let list = "tubes@lists.example.org (list)\n";
    assert_eq!(home.good(&["contacts"]), format!("{people}{list}"));
    assert_eq!(home.good(&["contacts", "--max", "3"]), people);
    assert!(home.good(&["contacts", "--own"]).contains("Ana <ana@example.org>\n"));
    // Programs may give all words as one.
    assert_eq!(home.good(&["contacts", "berg example.org"]), "Bo Berg <bo@example.org>\n");
}

#[test]
fn mail_programs_and_address_books_get_their_formats() {
    let home = home();
    let mutt = "4 people\nbo@example.org\tBo Berg\t\nnews@shop.example\tNews\t\n\
                eve@example.com\t=1+1,\"x\t\ntubes@lists.example.org\t\tlist\n";
    assert_eq!(home.good(&["contacts", "--format", "mutt"]), mutt);
    let aerc = "bo@example.org\tBo Berg\n";
    assert_eq!(home.good(&["contacts", "--format", "aerc", "berg"]), aerc);
    let csv = home.good(&["contacts", "--format", "csv", "eve"]);
    let expected = "address,name,kind,sent,received,written,first,last,last_written\r\n\
                    eve@example.com,\"'=1+1,\"\"x\",person,1,0,0,2025-03-04T10:00:00Z,2025-03-04T10:00:00Z,\r\n";
    assert_eq!(csv, expected);
    let vcard = home.good(&["contacts", "--format", "vcard", "eve"]);
    assert!(vcard.contains("\r\nFN:=1+1\\,\"x\r\nEMAIL:eve@example.com\r\n"), "{vcard}");
    let json: serde_json::Value =
        serde_json::from_str(&home.good(&["contacts", "--format", "json", "berg"])).unwrap();
    assert_eq!(
        (json["written"].as_u64(), json["last_written_unix"].as_i64()),
        (Some(1), Some(1_740_823_200))
    );
    // Mutt shows the first line, also of an empty answer, and nothing may disturb its screen.
    let none = home.pneu(&["contacts", "--format", "mutt", "nobody"]);
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (Some(1), "0 people\n", ""));
}
