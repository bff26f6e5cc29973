//! Trees that restic wrote, also of unusual files, are read and written again byte for byte.

use jiff::tz::TimeZone;
use restic::Id;
use restic::tree::{
    DeviceIds, FileStat, Node, NodeKind, OwnerNames, StatStyle, TreeReader, TreeWriter, extended_attributes,
    stat_node,
};
use rustix::fs::XattrFlags;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use testkit::Restic;

/// Directories with many kinds of files and names, written by the restic version in the name, and an empty
/// one.
const WRITTEN: [&str; 3] = ["odd-0.19.1.json", "odd-0.14.0.json", "empty.json"];

fn written(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/trees");
    fs::read(directory.join(name)).unwrap()
}

/// Reads a tree and writes it again.
fn again(tree: &[u8]) -> Vec<u8> {
    let mut reader = TreeReader::new(tree);
    let mut writer = TreeWriter::new();
    for node in &mut reader {
        writer.append(&node.unwrap()).unwrap();
    }
    assert_eq!(reader.disorder(), None);
    writer.finish()
}

#[test]
fn trees_of_restic_are_rewritten_byte_for_byte() {
    for name in WRITTEN {
        let tree = written(name);
        assert_eq!(String::from_utf8(again(&tree)).unwrap(), String::from_utf8(tree).unwrap(), "{name}");
    }
}

#[test]
fn trees_of_restic_are_understood() {
    let tree = written(WRITTEN[0]);
    let nodes: Vec<Node<'_>> = TreeReader::new(&tree).collect::<Result<_, _>>().unwrap();
    let node = |name: &[u8]| nodes.iter().find(|node| *node.name == *name).unwrap();
    assert_eq!((nodes.len(), node(b"\xff\xfe invalid").size, node(b"quote\"back\\slash").size), (47, 10, 16));
    let link = node(b"link invalid");
    assert_eq!((link.kind, &*link.link_target), (NodeKind::Symlink, &b"\xff\xfe\"<>&"[..]));
    assert_eq!(node(b"big").content.as_ref().unwrap().len(), 2);
    assert_eq!((node(b"empty").content.as_deref(), node(b"fifo").content.as_deref()), (Some(&[][..]), None));
    let attributes = &node(b"attributes").extended_attributes;
    let value = |name: &[u8]| {
        attributes.iter().find(|attribute| *attribute.name == *name).and_then(|found| found.value.as_deref())
    };
    assert_eq!((value(b"user.comment"), value(b"user.empty")), (Some(&b"hello"[..]), Some(&b""[..])));
    assert!(node(b"directory").subtree.is_some() && node(b"char device").device == 259);
}

/// Names that need quoting or are otherwise unusual.
const NAMES: [&[u8]; 30] = [
    b"plain",
    b"1699999999.M1P2.host,S=12,W=13:2,FS",
    b"quote\"back\\slash",
    b"it's `quoted`",
    b"<html>&amp;",
    b" spaces ",
    b"new\nline\r\ttab",
    b"\x07\x08\x0b\x0c\x1b[0m\x7f\x01",
    b"\xff\xfe invalid",
    b"cut \xe2\x82",
    b"latin \xe9t\xe9",
    b"\xed\xa0\x80 surrogate",
    b"\xf4\x90\x80\x80 beyond",
    b"\xc0\xaf overlong",
    b"\x80",
    "é ü 日本語 😀".as_bytes(),
    "combining e\u{301}".as_bytes(),
    "no-break\u{a0}space".as_bytes(),
    "soft\u{ad}hyphen".as_bytes(),
    "zero\u{200b}width\u{feff}".as_bytes(),
    "lines\u{2028}\u{2029}".as_bytes(),
    "replacement\u{fffd}".as_bytes(),
    "private\u{e000}\u{10fffd}".as_bytes(),
    "unassigned\u{378}".as_bytes(),
    "no character\u{ffff}".as_bytes(),
    "tag\u{e0001}".as_bytes(),
    "wide\u{3000}space".as_bytes(),
    b"A",
    b"a",
    b"percent%41",
];

/// Creates a directory of unusual files. Links whose target is not UTF-8 are left out, because only new
/// versions of restic keep them.
fn make_odd(directory: &Path) {
    fs::create_dir(directory).unwrap();
    let place = |name: &[u8]| directory.join(OsStr::from_bytes(name));
    for (number, name) in NAMES.iter().enumerate() {
        fs::write(place(name), &name[..number % 3 * name.len() / 2]).unwrap();
    }
    fs::write(place(&[b'x'; 255]), "long").unwrap();
    fs::write(place(b"empty"), "").unwrap();
    for (name, mode) in [("all bits", 0o7777), ("setuid", 0o4755), ("sticky", 0o1644), ("no rights", 0)] {
        fs::write(place(name.as_bytes()), name).unwrap();
        fs::set_permissions(place(name.as_bytes()), PermissionsExt::from_mode(mode)).unwrap();
    }
    fs::hard_link(place(b"plain"), place(b"plain too")).unwrap();
    symlink("no/such", place(b"link")).unwrap();
    symlink("日本\u{2028}", place(b"link unicode")).unwrap();
    for name in ["directory", "directory sticky"] {
        fs::create_dir(place(name.as_bytes())).unwrap();
        fs::write(place(name.as_bytes()).join("inside"), name).unwrap();
    }
    fs::set_permissions(place(b"directory sticky"), PermissionsExt::from_mode(0o3777)).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, place(b"fifo"), rustix::fs::FileType::Fifo, 0o644.into(), 0)
        .unwrap();
    let times = [("old", -631_152_000, 7), ("epoch", 0, 0), ("tenths", 1_700_000_000, 100_000_000)];
    for (name, seconds, nanoseconds) in times {
        fs::write(place(name.as_bytes()), name).unwrap();
        let time = rustix::fs::Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
        let flags = rustix::fs::AtFlags::empty();
        rustix::fs::utimensat(rustix::fs::CWD, place(name.as_bytes()), &times, flags).unwrap();
    }
    fs::write(place(b"attributes"), "").unwrap();
    for (name, value) in [("user.comment", &b"hello"[..]), ("user.empty", b""), ("user.<&>", b"\xff\0")] {
        // If the file system has no attributes, the test compares one property less.
        let _ = rustix::fs::setxattr(place(b"attributes"), name, value, XattrFlags::empty());
    }
}

/// Returns a blob that restic has.
fn blob(restic: &Restic, id: &str) -> Vec<u8> {
    restic.succeed(&["cat", "blob", id])
}

/// A time zone for the test: one with summer time, if the machine knows it.
fn zone() -> (&'static str, TimeZone) {
    const NAME: &str = "Europe/Berlin";
    TimeZone::get(NAME).map_or(("UTC", TimeZone::UTC), |zone| (NAME, zone))
}

#[test]
fn a_directory_gives_the_same_tree_as_with_restic() {
    let place = tempfile::tempdir().unwrap();
    let (zone_name, zone) = zone();
    let Some(restic) = testkit::restic(place.path(), "repository", "geheim") else { return };
    let restic = restic.with("TZ", zone_name);
    let odd = place.path().join("odd");
    make_odd(&odd);
    restic.succeed(&["init"]);
    restic.succeed(&["backup", "odd"]);
    let snapshots: serde_json::Value =
        serde_json::from_slice(&restic.succeed(&["snapshots", "--json"])).unwrap();
    let top = blob(&restic, snapshots[0]["tree"].as_str().unwrap());
    assert_eq!(again(&top), top);
    let node = TreeReader::new(&top).next().unwrap().unwrap();
    let expected = blob(&restic, &node.subtree.unwrap().to_string());
    assert_eq!(String::from_utf8(again(&expected)).unwrap(), String::from_utf8(expected.clone()).unwrap());

    let theirs: Vec<Node<'_>> = TreeReader::new(&expected).collect::<Result<_, _>>().unwrap();
    let mut writer = TreeWriter::new();
    let style = StatStyle { zone, device_ids: DeviceIds::OfAll };
    for path in sorted(&odd) {
        let name = path.file_name().unwrap().as_bytes();
        let node = theirs.iter().find(|node| *node.name == *name).unwrap();
        append(&path, (node.content.as_deref(), node.subtree), &style, &mut writer);
    }
    assert_eq!(writer.node_count(), theirs.len());
    assert_eq!(String::from_utf8(writer.finish()).unwrap(), String::from_utf8(expected).unwrap());
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Appends the node of a file whose content is already known.
fn append(
    path: &Path,
    (content, subtree): (Option<&[Id]>, Option<Id>),
    style: &StatStyle,
    writer: &mut TreeWriter,
) {
    let names = |file: &str| OwnerNames::of_text(&fs::read_to_string(file).unwrap_or_default());
    let stat = FileStat::of(&fs::symlink_metadata(path).unwrap());
    let (user, group) = (names("/etc/passwd").name(stat.uid), names("/etc/group").name(stat.gid));
    let name = path.file_name().unwrap().as_bytes();
    let mut node = stat_node(name, &stat, (&user, &group), style).unwrap();
    if node.kind == NodeKind::Symlink {
        node.link_target = Cow::Owned(fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec());
    }
    node.extended_attributes = extended_attributes(path).unwrap();
    node.content = content.map(Cow::Borrowed);
    node.subtree = subtree;
    writer.append(&node).unwrap();
}
