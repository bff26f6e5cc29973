//! Files of saved queries that are accepted, and files that are refused.

use super::*;

fn parsed(text: &str) -> std::result::Result<Vec<(String, String)>, String> {
    match parse(text.as_bytes(), "q".into()) {
        Ok(queries) => Ok(queries.into_iter().collect()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_file_has_a_line_for_each_query() {
    let pair = |name: &str, query: &str| (name.to_owned(), query.to_owned());
    assert_eq!(parsed("pneu-queries 1\n"), Ok(vec![]));
    let text = "pneu-queries 1\r\nb\tfrom:ana # x\n\n# a comment\na\tx\ty\r\nc\t\n";
    assert_eq!(parsed(text), Ok(vec![pair("a", "x\ty"), pair("b", "from:ana # x"), pair("c", "")]));
    for (text, part) in [
        ("", "line 1 of the saved queries in q: it does not begin with"),
        ("a\tb\n", "it does not begin with"),
        ("pneu-queries 3\n", "a newer pneu"),
        ("pneu-queries 2\na\tb\n", "line 2 of the saved queries in q: the checksum"),
        ("pneu-queries 1\na b\n", "line 2 of the saved queries in q: there is no tab"),
        ("pneu-queries 1\na b\tc\n", "letters, digits"),
        ("pneu-queries 1\n\na\tb\na\tc\n", "line 4 of the saved queries in q: its name is listed twice"),
    ] {
        let error = parsed(text).unwrap_err();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_told_by_the_checksum() {
    let before = "pneu-queries 2\na\tfrom:ana\n# a comment\n";
    let whole = format!("{before}{CHECKSUM}{:016x}\n", xxh3_64(before.as_bytes()));
    assert_eq!(parsed(&whole), Ok(vec![("a".to_owned(), "from:ana".to_owned())]));
    for length in 0..whole.len() {
        assert!(parsed(&whole[..length]).is_err(), "cut to {length}");
    }
    for offset in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone().into_bytes();
            bytes[offset] ^= 1 << bit;
            assert!(parse(&bytes, "q".into()).is_err(), "bit {bit} of byte {offset}");
        }
    }
}

#[test]
fn names_are_words() {
    for name in ["unread", "größe.1", "a_b-c", "2024", &"x".repeat(QUERY_NAME_BYTES_MAX)] {
        assert_eq!(check_query_name(name), Ok(()), "{name}");
    }
    for name in ["", "a b", "a\tb", "-a", "a*", "/a/", "a:b", "(a)", &"x".repeat(QUERY_NAME_BYTES_MAX + 1)] {
        assert!(check_query_name(name).is_err(), "{name}");
    }
}
