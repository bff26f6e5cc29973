//! docs/FORMAT.md names every magic and every version of files on disk.
//!
//! Input: a [`Tree`]. Output: findings. Does not depend on the formats.

use super::finding::Finding;
use super::tree::Tree;

/// The document.
const DOCUMENT: &str = "docs/FORMAT.md";
/// Files with formats of other programs, which need no description here: compressed files.
const FOREIGN: [&str; 2] = ["GZIP_", "ZSTD_"];
/// The crates that write files with formats of their own.
const WRITERS: [&str; 2] = ["crates/store/src/", "crates/index/src/"];

/// Checks that the document has each constant `..MAGIC` or `..VERSION` of these crates, with name and value
/// on one line.
pub(super) fn constants(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.get(DOCUMENT) else {
        return vec![Finding { path: DOCUMENT.to_owned(), line: 0, what: "is missing".to_owned() }];
    };
    let mut findings = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| WRITERS.iter().any(|writer| path.starts_with(writer)))
    {
        for (place, line) in text.lines().enumerate() {
            let Some((name, value)) = constant(line) else { continue };
            if !document.lines().any(|line| line.contains(name) && line.contains(value)) {
                let what = format!("{name} = {value} stands in no line of {DOCUMENT}");
                findings.push(Finding { path: path.to_owned(), line: place + 1, what });
            }
        }
    }
    findings
}

/// Returns name and value of a magic (its letters) or of a version (its number).
fn constant(line: &str) -> Option<(&str, &str)> {
    let (head, value) = line.trim_start().split_once(" = ")?;
    let (_, declared) = head.split_once("const ")?;
    let name = declared.split(':').next()?;
    let ours = name.ends_with("MAGIC") || name.ends_with("VERSION");
    if !ours || FOREIGN.iter().any(|foreign| name.starts_with(foreign)) {
        return None;
    }
    let value = value.split('"').nth(1).unwrap_or(value.trim_end_matches(';'));
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "pub const A_MAGIC: [u8; 4] = *b\"pneA\";\n    const B_VERSION: u32 = 3;\n\
                          const VERSION_OFFSET: usize = 4;\nconst ZSTD_MAGIC: u32 = 5;\nlet a = 1;\n";

    fn found(document: &str) -> Vec<String> {
        let tree = Tree::from_files(&[
            (DOCUMENT, document),
            ("crates/store/src/format.rs", SOURCE),
            ("crates/mail/src/a.rs", SOURCE),
        ]);
        constants(&tree).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_constant_the_document_does_not_name_is_found() {
        assert_eq!(found("| magic | `A_MAGIC` | `pneA` |\nThe version `B_VERSION` is 3.\n"), [""; 0]);
        assert_eq!(
            found("| magic | `A_MAGIC` | `pneB` |\nThe version `B_VERSION` is 2.\n"),
            [
                "crates/store/src/format.rs:1: A_MAGIC = pneA stands in no line of docs/FORMAT.md",
                "crates/store/src/format.rs:2: B_VERSION = 3 stands in no line of docs/FORMAT.md"
            ]
        );
        assert_eq!(constants(&Tree::from_files(&[("crates/store/src/format.rs", SOURCE)])).len(), 1);
    }
}
