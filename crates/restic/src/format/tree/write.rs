//! Writes trees byte for byte as restic does, so that the same directory is always the same blob.
//!
//! Input: nodes in the order of their names. Output: a tree's content.

use super::node::{Node, name_fault};
use super::quote;
use crate::encoding::decimal::push_decimal;
use crate::encoding::json::JsonWriter;

/// Writes a tree.
#[derive(Debug)]
pub struct TreeWriter {
    out: Vec<u8>,
    last_name: Vec<u8>,
    node_count: usize,
}

/// A node that cannot be appended to a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The name is not greater than the one before it. Names are in strict byte order.
    #[error("\"{}\" cannot follow \"{}\" in a tree", .name.escape_ascii(), .after.escape_ascii())]
    Disorder {
        /// The node's name.
        name: Vec<u8>,
        /// The name before it, which is not less.
        after: Vec<u8>,
    },
    /// No file can have this name.
    #[error("\"{}\" cannot be in a tree: {what}", .name.escape_ascii())]
    Name {
        /// The node's name.
        name: Vec<u8>,
        /// Why not.
        what: &'static str,
    },
}

impl Default for TreeWriter {
    fn default() -> TreeWriter {
        TreeWriter::new()
    }
}

impl TreeWriter {
    /// Begins a tree.
    pub fn new() -> TreeWriter {
        TreeWriter::into(Vec::new())
    }

    /// Begins a tree in a buffer that was used before. The buffer is cleared.
    pub fn into(mut out: Vec<u8>) -> TreeWriter {
        out.clear();
        out.extend_from_slice(b"{\"nodes\":[");
        TreeWriter { out, last_name: Vec::new(), node_count: 0 }
    }

    /// Appends a node. Its name must be greater than all before it.
    ///
    /// # Errors
    /// If it is not, or no file can have it; then nothing is written.
    pub fn append(&mut self, node: &Node<'_>) -> Result<(), Refused> {
        if let Some(what) = name_fault(&node.name) {
            return Err(Refused::Name { name: node.name.to_vec(), what });
        }
        if *node.name <= *self.last_name {
            return Err(Refused::Disorder { name: node.name.to_vec(), after: self.last_name.clone() });
        }
        self.last_name.clear();
        self.last_name.extend_from_slice(&node.name);
        encode_node(node, &mut self.out);
        self.node_count += 1;
        Ok(())
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.node_count
    }

    /// Returns the length in bytes.
    pub fn size_bytes(&self) -> usize {
        self.out.len()
    }

    /// Returns the tree's content. Its SHA-256 is the tree's id.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"]}\n");
        self.out
    }
}

/// Bytes of the fields of most nodes, without name and content.
const FIELDS_BYTES: usize = 320;
/// Bytes of an id in a list of contents.
const CONTENT_BYTES: usize = 67;

/// Appends a node's JSON, with a comma before it unless it is the first.
pub fn encode_node(node: &Node<'_>, out: &mut Vec<u8>) {
    let content_count = node.content.as_ref().map_or(0, |content| content.len());
    out.reserve(node.name.len() + FIELDS_BYTES + content_count * CONTENT_BYTES);
    let mut json = JsonWriter::new(out);
    json.begin_object();
    put_name(&node.name, out);
    put(out, b",\"type\":\"", node.kind.name().as_bytes());
    out.push(b'"');
    put_number(out, b",\"mode\":", u64::from(node.mode));
    out.extend_from_slice(b",\"mtime\":");
    let begin = out.len();
    JsonWriter::new(out).time(&node.modified);
    out.extend_from_slice(b",\"atime\":");
    if node.accessed == node.modified {
        // Nearly always. Copying is faster than writing.
        out.extend_from_within(begin..out.len() - b",\"atime\":".len());
    } else {
        JsonWriter::new(out).time(&node.accessed);
    }
    out.extend_from_slice(b",\"ctime\":");
    JsonWriter::new(out).time(&node.changed);
    for (field, number) in [(&b",\"uid\":"[..], node.uid), (b",\"gid\":", node.gid)] {
        out.extend_from_slice(field);
        push_decimal(out, u64::from(number), 1);
    }
    put_text(&mut JsonWriter::new(out), "user", node.user.as_bytes());
    put_text(&mut JsonWriter::new(out), "group", node.group.as_bytes());
    put_number(out, b",\"inode\":", node.inode);
    put_number(out, b",\"device_id\":", node.device_id);
    put_number(out, b",\"size\":", node.size);
    put_number(out, b",\"links\":", node.links);
    put_link_target(&mut JsonWriter::new(out), &node.link_target);
    put_attributes(node, out);
    put_number(out, b",\"device\":", node.device);
    let mut json = JsonWriter::new(out);
    put_content(&mut json, node);
    put_text(&mut json, "error", node.error.as_bytes());
    json.end_object();
}

/// Returns whether a byte stands in a name and in JSON as it is.
fn is_simple(byte: u8) -> bool {
    // Without shortcuts, so that a processor compares many at once.
    (b' '..=b'~').contains(&byte) & !matches!(byte, b'"' | b'&' | b'<' | b'>' | b'\\')
}

fn put_name(name: &[u8], out: &mut Vec<u8>) {
    if name.iter().fold(true, |is_plain, byte| is_plain & is_simple(*byte)) {
        put(out, b"\"name\":\"", name);
        return out.push(b'"');
    }
    let mut json = JsonWriter::new(out);
    json.field("name");
    if quote::is_plain(name) {
        json.string(name);
    } else {
        json.string(quote::quote(name).as_bytes());
    }
}

fn put(out: &mut Vec<u8>, field: &[u8], value: &[u8]) {
    out.extend_from_slice(field);
    out.extend_from_slice(value);
}

/// Like Go, leaves a number out that is 0.
fn put_number(out: &mut Vec<u8>, field: &[u8], number: u64) {
    if number > 0 {
        out.extend_from_slice(field);
        push_decimal(out, number, 1);
    }
}

/// Like Go, leaves text out that is empty.
fn put_text(json: &mut JsonWriter<'_>, name: &str, text: &[u8]) {
    if !text.is_empty() {
        json.field(name);
        json.string(text);
    }
}

/// What is no UTF-8 cannot stand in JSON: then it comes once for people and once as it is.
fn put_link_target(json: &mut JsonWriter<'_>, target: &[u8]) {
    put_text(json, "linktarget", target);
    if str::from_utf8(target).is_err() {
        json.field("linktarget_raw");
        json.base64(target);
    }
}

fn put_attributes(node: &Node<'_>, out: &mut Vec<u8>) {
    let mut json = JsonWriter::new(out);
    if !node.extended_attributes.is_empty() {
        json.field("extended_attributes");
        json.begin_array();
        for attribute in &node.extended_attributes {
            json.begin_object();
            json.field("name");
            json.string(&attribute.name);
            json.field("value");
            match &attribute.value {
                Some(value) => json.base64(value),
                None => json.null(),
            }
            json.end_object();
        }
        json.end_array();
    }
    if !node.generic_attributes.is_empty() {
        json.field("generic_attributes");
        out.extend_from_slice(node.generic_attributes.as_bytes());
    }
}

fn put_content(json: &mut JsonWriter<'_>, node: &Node<'_>) {
    json.field("content");
    match &node.content {
        None => json.null(),
        Some(content) => {
            json.begin_array();
            for id in content.iter() {
                json.id(id);
            }
            json.end_array();
        }
    }
    if let Some(subtree) = &node.subtree {
        json.field("subtree");
        json.id(subtree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::id::Id;
    use crate::encoding::time::Time;
    use crate::format::tree::{ExtendedAttribute, NodeKind};
    use std::borrow::Cow;

    fn text(node: &Node<'_>) -> String {
        let mut out = Vec::new();
        encode_node(node, &mut out);
        String::from_utf8(out).unwrap()
    }

    const TIMES: &str =
        r#""mtime":"1970-01-01T00:00:00Z","atime":"1970-01-01T00:00:00Z","ctime":"1970-01-01T00:00:00Z""#;

    #[test]
    fn what_is_nothing_is_left_out() {
        let node = Node::new(&b"a"[..], NodeKind::Fifo);
        let expected = format!(r#"{{"name":"a","type":"fifo",{TIMES},"uid":0,"gid":0,"content":null}}"#);
        assert_eq!(text(&node), expected);
    }

    #[test]
    fn all_fields_in_order() {
        let ids = [Id([0xab; 32]), Id([1; 32])];
        let node = Node {
            mode: 420,
            modified: Time::from_ns(1_700_000_000_100_000_000, 3600),
            uid: 1,
            gid: 2,
            user: Cow::Borrowed("ana"),
            group: Cow::Borrowed("<&>"),
            inode: 3,
            device_id: 4,
            size: u64::MAX,
            links: 5,
            link_target: Cow::Borrowed(b"a\xffb"),
            extended_attributes: vec![
                ExtendedAttribute { name: Cow::Borrowed(b"user.a"), value: Some(Cow::Borrowed(b"\xff")) },
                ExtendedAttribute { name: Cow::Borrowed(b"user.b"), value: None },
            ],
            generic_attributes: Cow::Borrowed("{\"windows.a\":1}"),
            device: 6,
            content: Some(Cow::Borrowed(&ids)),
            subtree: Some(ids[0]),
            error: Cow::Borrowed("odd"),
            ..Node::new(&b"q\"\xff"[..], NodeKind::File)
        };
        let (first, second) = (ids[0], ids[1]);
        let expected = [
            r#"{"name":"q\\\"\\xff","type":"file","mode":420,"mtime":"2023-11-14T23:13:20.1+01:00","#,
            r#""atime":"1970-01-01T00:00:00Z","ctime":"1970-01-01T00:00:00Z","uid":1,"gid":2,"user":"ana","#,
            r#""group":"\u003c\u0026\u003e","inode":3,"device_id":4,"size":18446744073709551615,"links":5,"#,
            r#""linktarget":"a\ufffdb","linktarget_raw":"Yf9i","#,
            r#""extended_attributes":[{"name":"user.a","value":"/w=="},{"name":"user.b","value":null}],"#,
            r#""generic_attributes":{"windows.a":1},"device":6,"#,
            &format!(r#""content":["{first}","{second}"],"subtree":"{first}","error":"odd"}}"#),
        ];
        assert_eq!(text(&node), expected.concat());
    }

    #[test]
    fn an_empty_file_is_not_without_content() {
        let node = Node { content: Some(Cow::Borrowed(&[])), ..Node::new(&b"a"[..], NodeKind::File) };
        assert!(text(&node).ends_with(r#","content":[]}"#), "{}", text(&node));
    }

    #[test]
    fn nodes_come_in_strict_order_of_bytes() {
        let mut writer = TreeWriter::new();
        let mut append =
            |name: &[u8]| writer.append(&Node::new(name, NodeKind::Fifo)).map_err(|error| error.to_string());
        assert_eq!([append(b"B"), append(b"a"), append(b"a\xff")], [Ok(()), Ok(()), Ok(())]);
        let disorder = "\"b\" cannot follow \"b\" in a tree".to_owned();
        assert_eq!((append(b"b"), append(b"b")), (Ok(()), Err(disorder)));
        assert_eq!(append(b"a"), Err("\"a\" cannot follow \"b\" in a tree".to_owned()));
        let name = "\"c/\\xff\" cannot be in a tree: the name holds a slash".to_owned();
        assert_eq!(append(b"c/\xff"), Err(name));
        assert_eq!(writer.node_count(), 4);
        let names: Vec<_> = ["B", "a", "a\\\\xff", "b"]
            .map(|name| {
                format!(r#"{{"name":"{name}","type":"fifo",{TIMES},"uid":0,"gid":0,"content":null}}"#)
            })
            .into();
        let tree = writer.finish();
        assert_eq!(String::from_utf8(tree).unwrap(), format!("{{\"nodes\":[{}]}}\n", names.join(",")));
    }

    #[test]
    fn a_tree_without_nodes() {
        assert_eq!(TreeWriter::default().finish(), b"{\"nodes\":[]}\n");
    }
}
