//! Only a few named files have unsafe code.
//!
//! Input: a [`Tree`]. Output: findings. Does not know what the unsafe code does.

use super::finding::Finding;
use super::source::code_only;
use super::tree::Tree;

/// The files that may hold unsafe code.
const PLACES: [&str; 8] = [
    "crates/disk/src/copy.rs",
    "crates/disk/src/fault.rs",
    "crates/disk/src/huge_pages.rs",
    "crates/disk/src/inherit.rs",
    "crates/disk/src/map.rs",
    "crates/disk/src/prefetch.rs",
    "crates/disk/src/zeroed.rs",
    "crates/terminal/src/allocator.rs",
];

/// Checks that no other file's code has the word `unsafe`.
pub(super) fn places(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| !PLACES.contains(path)) {
        for (place, line) in code_only(text).lines().enumerate() {
            if line
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|word| word == "unsafe")
            {
                let what = format!("has unsafe code, which belongs in one of {}", PLACES.join(", "));
                findings.push(Finding { path: path.to_owned(), line: place + 1, what });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_elsewhere_is_found() {
        let tree = Tree::from_files(&[
            ("crates/disk/src/map.rs", "unsafe { a() }\n"),
            (
                "crates/store/src/map.rs",
                "// unsafe in words\nlet a = \"unsafe\";\n#![deny(unsafe_code)]\nunsafe { a() }\n",
            ),
        ]);
        let found = places(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/store/src/map.rs", 4));
    }
}
