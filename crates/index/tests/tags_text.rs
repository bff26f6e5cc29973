//! Tags as text: an export can be imported again. An import merges with the existing tags, and does so
//! completely or not at all.

use crate::support::environment;
use index::{Environment, TagImport, export_tags, import_tags};
use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use testkit::SimDisk;

/// A Message-ID and tags for each content; the key is the first byte of its SHA-256.
type Said = BTreeMap<u8, (String, BTreeSet<String>)>;

fn on(disk: &SimDisk) -> Environment {
    environment(Arc::new(disk.clone()), Path::new("/data"))
}

fn digits(seed: u8) -> String {
    format!("{seed:02x}{}", "5a".repeat(31))
}

/// The canonical form that the format requires of writers, written by independent code.
fn text(said: &Said) -> String {
    let escape = |text: &str| -> String {
        let each = |byte: &u8| match byte {
            b'%' | 0..=32 | 127 => format!("%{byte:02x}").into_bytes(),
            other => vec![*other],
        };
        String::from_utf8(text.as_bytes().iter().flat_map(each).collect()).unwrap()
    };
    let line = |(seed, (id, tags)): (&u8, &(String, BTreeSet<String>))| {
        let tags: Vec<String> = tags.iter().map(|tag| escape(tag)).collect();
        let tags = if tags.is_empty() { String::new() } else { format!("\t{}", tags.join(" ")) };
        format!("{}\t{}{tags}\n", digits(*seed), escape(id))
    };
    format!("pneu-tags 1\n{}", said.iter().map(line).collect::<String>())
}

/// Another form that readers must accept: lines in reverse order, every character escaped, one line for each
/// tag, blank lines and comments.
fn odd_text(said: &Said) -> String {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let mut out = "pneu-tags 1\r\n\n# a comment\n".to_owned();
    for (seed, (id, tags)) in said.iter().rev() {
        let id = escape(id);
        out += &format!("{}\t{id}\r\n", digits(*seed).to_uppercase());
        tags.iter().rev().for_each(|tag| out += &format!("{}\t{id}\t {} \n", digits(*seed), escape(tag)));
    }
    out
}

fn said() -> impl Strategy<Value = Said> {
    let tag = "[a-z%ä/][a-z%=:+-]{0,3}";
    btree_map(0u8..6, ("[ -~\\t\\n\u{e4}\u{2028}]{0,6}", btree_set(tag, 0..3)), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn exports_can_be_imported_and_merged(first in said(), second in said()) {
        let environment = on(&SimDisk::new(1));
        import_tags(&environment, &odd_text(&first)).unwrap();
        prop_assert_eq!(export_tags(&environment).unwrap(), text(&first));
        let again = import_tags(&environment, &text(&first)).unwrap();
        prop_assert_eq!(again, TagImport { contents: first.len() as u64, ..TagImport::default() });
        import_tags(&environment, &text(&second)).unwrap();
        let mut both = first;
        for (seed, (id, tags)) in second {
            both.entry(seed).or_insert((id, BTreeSet::new())).1.extend(tags);
        }
        let whole = export_tags(&environment).unwrap();
        prop_assert_eq!(&whole, &text(&both));
        let other = on(&SimDisk::new(2));
        import_tags(&other, &whole).unwrap();
        prop_assert_eq!(export_tags(&other).unwrap(), whole);
    }
}

#[test]
fn a_mistake_is_reported_with_its_line_and_nothing_is_imported() {
    let id = digits(1);
    for (text, expected) in [
        ("".to_owned(), "line 1 of the tags: it does not begin with \"pneu-tags 1\""),
        (
            "pneu-tags 2\n".to_owned(),
            "line 1 of the tags: it was written by a newer pneu, which is needed to read it",
        ),
        ("pneu-tags 1\nxyz\tm\n".to_owned(), "line 2 of the tags: it does not begin with a SHA-256"),
        (format!("pneu-tags 1\n{id}\n"), "line 2 of the tags: it has no Message-ID"),
        (format!("pneu-tags 1\n{id}\tm%\n"), "line 2 of the tags: an escape in its Message-ID is wrong"),
        (
            format!("pneu-tags 1\n{id}\tm\tgood\n{id}\tm\t%ff\n"),
            "line 3 of the tags: an escape in a tag is wrong",
        ),
        (format!("pneu-tags 1\n{id}\tm\t-a\n"), "line 2 of the tags: a tag does not begin with + or -"),
        (format!("pneu-tags 1\n{id}\tm\ta\tb\n"), "line 2 of the tags: it has more than three fields"),
    ] {
        let environment = on(&SimDisk::new(1));
        assert_eq!(import_tags(&environment, &text).unwrap_err().to_string(), expected);
        assert_eq!(export_tags(&environment).unwrap(), "pneu-tags 1\n");
    }
}

#[test]
fn a_crash_while_importing_leaves_all_of_it_or_nothing() {
    let disk = SimDisk::new(1);
    import_tags(&on(&disk), &format!("pneu-tags 1\n{}\tm\told\n", digits(0))).unwrap();
    let before = export_tags(&on(&disk)).unwrap();
    let new = format!("pneu-tags 1\n{}\tm\tnew\n{}\tn\tnew\n", digits(0), digits(1));
    let whole = disk.fork();
    import_tags(&on(&whole), &new).unwrap();
    let after = export_tags(&on(&whole)).unwrap();
    for number in 0..whole.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_done = import_tags(&on(&crashed), &new).is_ok();
        for image in crashed.images() {
            let found = export_tags(&on(&image.disk)).unwrap();
            assert!(found == after || (found == before && !is_done), "crash at {number}: {found}");
            import_tags(&on(&image.disk), &new).unwrap();
            assert_eq!(export_tags(&on(&image.disk)).unwrap(), after);
        }
    }
}
