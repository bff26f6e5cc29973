//! Trees as restic writes them, as others write them, and damaged ones.

use super::*;
use crate::format::tree::{TreeWriter, encode_node};
use serde_json::Value;
use testkit::Random;

const TIMES: &str = r#""mtime":"2023-11-14T23:13:20.1+01:00","atime":"2023-11-14T22:13:20Z","ctime":"1950-01-06T00:00:00.000000007Z""#;

/// Returns what a reader gives: names, or what is wrong; and the disorder.
fn names(tree: &str) -> (Vec<String>, Option<String>) {
    let mut reader = TreeReader::new(tree.as_bytes());
    let mut names = Vec::new();
    for node in &mut reader {
        names.push(node.map_or_else(|fault| fault.to_string(), |node| node.name.escape_ascii().to_string()));
    }
    assert!(reader.next().is_none(), "the end stays the end");
    (names, reader.disorder().map(ToString::to_string))
}

fn one(members: &str) -> std::result::Result<Node<'static>, String> {
    let tree = format!(r#"{{"nodes":[{{"name":"a","type":"file"{members}}}]}}"#);
    let mut reader = TreeReader::new(tree.as_bytes());
    let node = reader.next().expect("there is a node").map(Node::into_owned).map_err(|fault| fault.what);
    assert!(reader.next().is_none());
    node
}

#[test]
fn unknown_members_are_stepped_over() {
    let tree = r#" { "a" : [{"nodes":1}] , "nodes" : [ {"x":{},"name":"a","type":"fifo","y":[1]} , {"type":"fifo","name":"b"} ] , "c":null }"#;
    assert_eq!(names(tree), (vec!["a".to_owned(), "b".to_owned()], None));
    assert_eq!(names(r#"{"nodes":[]}"#), (vec![], None));
}

#[test]
fn disorder_is_reported_and_read() {
    let (found, disorder) = names(
        r#"{"nodes":[{"name":"b","type":"fifo"},{"name":"a","type":"fifo"},{"name":"c","type":"fifo"},{"name":"c","type":"fifo"}]}"#,
    );
    assert_eq!(found, ["b", "a", "c", "c"]);
    assert_eq!(disorder.unwrap(), "\"a\" cannot follow \"b\" in a tree");
    let (_, disorder) = names(r#"{"nodes":[{"name":"c","type":"fifo"},{"name":"c","type":"fifo"}]}"#);
    assert_eq!(disorder.unwrap(), "\"c\" cannot follow \"c\" in a tree");
}

#[test]
fn a_node_that_is_not_sound_hides_no_other() {
    let faults = [
        (r#""name":"x","type":"door""#, "there is no type \"door\""),
        (r#""name":"x""#, "a node is of no type"),
        (r#""type":"fifo""#, "the name is empty: \"\""),
        (r#""name":"..","type":"fifo""#, "the name stands for another directory: \"..\""),
        (r#""name":"a/b","type":"fifo""#, "the name holds a slash: \"a/b\""),
        (r#""name":"\\x00","type":"fifo""#, "the name holds a zero byte: \"\\x00\""),
        (r#""name":"\\q","type":"fifo""#, "a name is not quoted as names are"),
        (r#""name":"x","type":"fifo","mode":4294967296"#, "a number is above 4294967295"),
        (r#""name":"x","type":"fifo","mtime":"now""#, "\"now\" is not a time"),
        (r#""name":"x","type":"file","content":["12"]"#, "an id has 64 hexadecimal digits, in lower case"),
        (r#""name":"x","type":"file","content":[null]"#, "expected text, found 'n'"),
        (r#""name":"x","type":"fifo","linktarget_raw":"?""#, "a value is not base64"),
        (r#""name":"x","type":"fifo","generic_attributes":[]"#, "expected '{', found '['"),
    ];
    for (members, what) in faults {
        let tree = format!(r#"{{"nodes":[{{{members}}},{{"name":"z","type":"fifo"}}]}}"#);
        let (found, disorder) = names(&tree);
        let fault = found[0].split_once(": ").unwrap().1;
        assert_eq!((fault, found[1].as_str(), found.len(), disorder), (what, "z", 2, None), "{members}");
    }
}

#[test]
fn behind_broken_json_comes_nothing() {
    let node = r#"{"name":"a","type":"fifo"}"#;
    let cases = [
        ("", "at byte 0: expected '{', found the end"),
        ("[]", "at byte 0: expected '{', found '['"),
        ("{}", "at byte 1: expected text, found '}'"),
        (r#"{"nodes":null}"#, "at byte 9: expected '[', found 'n'"),
        (r#"{"node":[]}"#, "at byte 10: expected ',', found '}'"),
        (r#"{"nodes":[{"name":"a"x}]}"#, "at byte 21: expected ',' or '}', found 'x'"),
        (r#"{"nodes":[,]}"#, "at byte 10: expected '{', found ','"),
    ];
    for (tree, fault) in cases {
        assert_eq!(names(tree).0, [fault], "{tree}");
    }
    for (tree, fault) in [
        (format!(r#"{{"nodes":[{node}"#), "at byte 36: expected ',', found the end"),
        (format!(r#"{{"nodes":[{node},]}}"#), "at byte 37: expected '{', found ']'"),
        (format!(r#"{{"nodes":[{node}]"#), "at byte 37: expected ',', found the end"),
    ] {
        assert_eq!(names(&tree).0, ["a", fault], "{tree}");
    }
}

#[test]
fn content_of_null_is_none_and_of_nothing_is_empty() {
    assert_eq!(one("").unwrap().content, None);
    assert_eq!(one(r#","content":null"#).unwrap().content, None);
    assert_eq!(one(r#","content":[]"#).unwrap().content.unwrap().len(), 0);
    let ids = format!(r#","content":["{}","{}"]"#, Id([1; 32]), Id([0xef; 32]));
    assert_eq!(*one(&ids).unwrap().content.unwrap(), [Id([1; 32]), Id([0xef; 32])]);
}

#[test]
fn a_link_is_what_its_bytes_are() {
    let target = |members: &str| one(members).unwrap().link_target.into_owned();
    assert_eq!(target(r#","linktarget":"a\ufffd","linktarget_raw":"Yf8=""#), b"a\xff");
    assert_eq!(target(r#","linktarget_raw":"Yf8=","linktarget":"a\ufffd""#), b"a\xff");
    assert_eq!(target(r#","linktarget":"a\u003c""#), b"a<");
}

#[test]
fn attributes_have_a_limit() {
    let many = |count: usize| one(&format!(r#","extended_attributes":[{}]"#, vec!["{}"; count].join(",")));
    assert_eq!(many(ATTRIBUTES_MAX).unwrap().extended_attributes.len(), ATTRIBUTES_MAX);
    assert_eq!(many(ATTRIBUTES_MAX + 1).unwrap_err(), "a file has over 65536 extended attributes");
}

#[test]
fn what_is_read_is_written_again() {
    let members = [
        "",
        r#","mode":2147484141"#,
        r#","user":"ana","group":"\u003cé\u003e""#,
        r#","inode":18446744073709551615,"device_id":1,"size":2,"links":3"#,
        r#","linktarget":"\u2028\"""#,
        r#","linktarget":"\ufffd","linktarget_raw":"/w==""#,
        r#","extended_attributes":[{"name":"user.a","value":"AAEC"},{"name":"b","value":""},{"name":"c","value":null}]"#,
        r#","generic_attributes":{"windows.creation_time":"AA==","x":[1,{}]},"device":259"#,
    ];
    for more in members {
        // Numbers of owners stand between times and names.
        let (before, behind) = if more.starts_with(",\"mode") { (more, "") } else { ("", more) };
        let expected = format!(
            r#"{{"name":"a\\xff","type":"file"{before},{TIMES},"uid":0,"gid":4294967295{behind},"content":[]}}"#
        );
        let node = node(&mut Scanner::new(expected.as_bytes())).unwrap();
        let mut written = Vec::new();
        encode_node(&node, &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
        let mut owned = Vec::new();
        encode_node(&node.clone().into_owned(), &mut owned);
        assert_eq!(String::from_utf8(owned).unwrap(), expected);
    }
}

/// The slow twin: what another parser finds in the same member.
fn twin(tree: &[u8]) -> Option<Vec<(String, u64, String)>> {
    let tree: Value = serde_json::from_slice(tree).ok()?;
    let nodes = tree.get("nodes")?.as_array()?;
    let text = |node: &Value, name: &str| node.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
    let size = |node: &Value| node.get("size").and_then(Value::as_u64).unwrap_or(0);
    Some(nodes.iter().map(|node| (text(node, "name"), size(node), text(node, "user"))).collect())
}

#[test]
fn another_parser_finds_the_same() {
    let mut random = Random::new(3);
    let letters = ["a", "\u{e9}", "\"", "<", "\u{2028}", "\u{1f600}", "\n", "/"];
    for _ in 0..200 {
        let mut writer = TreeWriter::new();
        for number in 0..random.below(5) {
            let user: String = (0..random.below(4)).map(|_| *random.pick(&letters)).collect();
            let node = Node {
                size: random.next_u64() >> random.below(64),
                user: Cow::Owned(user),
                ..Node::new(format!("{number}").into_bytes(), NodeKind::File)
            };
            writer.append(&node).unwrap();
        }
        let mut tree = writer.finish();
        if random.per_mille(700) {
            let place = random.index(tree.len());
            tree[place] = *random.pick(b"\"{}[],:x0 \\u");
        }
        let read: std::result::Result<Vec<Node<'_>>, Fault> = TreeReader::new(&tree).collect();
        let Ok(read) = read else { continue };
        let read: Vec<_> = read
            .into_iter()
            .map(|node| {
                (String::from_utf8(node.name.into_owned()).unwrap(), node.size, node.user.into_owned())
            })
            .collect();
        // The reader ignores bytes after the tree's end.
        if let Some(twin) = twin(&tree) {
            assert_eq!(read, twin, "{}", tree.escape_ascii());
        }
    }
}
