//! Any bytes are nodes or faults with a position. A name that was read never leads outside its directory.
//! Nodes that are written and read again are the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::tree::{Node, TreeReader, TreeWriter};

fuzz_target!(|bytes: &[u8]| {
    let mut reader = TreeReader::new(bytes);
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for node in &mut reader {
        match node {
            Ok(node) => nodes.push(node),
            Err(fault) => assert!(fault.offset <= bytes.len(), "{fault}"),
        }
    }
    assert!(reader.next().is_none(), "the end stays the end");
    for node in &nodes {
        let is_elsewhere = node.name.iter().any(|&byte| byte == b'/' || byte == 0);
        assert!(!is_elsewhere && !matches!(&*node.name, b"" | b"." | b".."), "{:?}", node.name);
    }
    nodes.sort_by(|left, right| left.name.cmp(&right.name));
    nodes.dedup_by(|left, right| left.name == right.name);
    let mut writer = TreeWriter::new();
    for node in &nodes {
        writer.append(node).expect("the names are in order, and were read");
    }
    let tree = writer.finish();
    let again: Vec<Node<'_>> =
        TreeReader::new(&tree).collect::<Result<_, _>>().expect("what is written is sound");
    assert_eq!(again, nodes);
});
