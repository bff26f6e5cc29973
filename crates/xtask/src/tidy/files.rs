//! How files begin, how long they are, and where tests are listed.
//!
//! Input: a [`Tree`]. Output: findings. Does not know what the files do.

use super::finding::Finding;
use super::tree::Tree;

/// The most lines of a Rust file, without its inline test module.
const LINE_COUNT_MAX: usize = 500;

/// Checks that every Rust file opens with `//!`: its job, its input and output, and what it must not depend
/// on.
pub(super) fn openings(tree: &Tree) -> Vec<Finding> {
    let bare = tree.rust().filter(|(_, text)| !text.starts_with("//! "));
    let what = "does not open with //!: its job, its input and output, what it must not depend on";
    bare.map(|(path, _)| Finding { path: path.to_owned(), line: 1, what: what.to_owned() }).collect()
}

/// Checks that no Rust file is longer than [`LINE_COUNT_MAX`], without its tests.
pub(super) fn lengths(tree: &Tree) -> Vec<Finding> {
    let counted = tree.rust().map(|(path, text)| (path, line_count(text)));
    counted
        .filter(|&(_, count)| count > LINE_COUNT_MAX)
        .map(|(path, count)| Finding {
            path: path.to_owned(),
            line: 0,
            what: format!(
                "has {count} lines besides its tests; split it along a seam, {LINE_COUNT_MAX} are allowed"
            ),
        })
        .collect()
}

/// Returns the number of lines before the inline test module and after it.
fn line_count(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let begins =
        |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{');
    let Some(begin) = lines.windows(2).position(begins) else { return lines.len() };
    let length =
        lines[begin..].iter().position(|&line| line == "}").map_or(lines.len() - begin, |end| end + 1);
    lines.len() - length
}

/// Checks that `tests/main.rs` of each crate names every file beside it: other files would never run.
pub(super) fn test_lists(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, _) in tree.rust() {
        let Some((crate_path, name)) = path.split_once("/tests/") else { continue };
        let Some(name) = name.strip_suffix(".rs").filter(|name| !name.contains('/') && *name != "main")
        else {
            continue;
        };
        let main = format!("{crate_path}/tests/main.rs");
        let listed =
            tree.get(&main).is_some_and(|text| text.lines().any(|line| line == format!("mod {name};")));
        if !listed && !crate_path.contains("/src") {
            findings.push(Finding {
                path: path.to_owned(),
                line: 0,
                what: format!("is not listed in {main}"),
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_opening_is_found() {
        let tree =
            Tree::from_files(&[("a.rs", "//! Job.\n"), ("b.rs", "use a;\n//! Late.\n"), ("c.md", "text")]);
        let found = openings(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "b.rs");
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let lines = "x\n".repeat(LINE_COUNT_MAX);
        let with_tests = format!("{lines}#[cfg(test)]\nmod tests {{\n{lines}}}\n");
        let long = format!("{lines}#[cfg(test)]\nmod tests {{\n{lines}}}\nx\n");
        let declared = format!("{lines}#[cfg(test)]\nmod tests;\n");
        let tree =
            Tree::from_files(&[("a.rs", &with_tests), ("b.rs", &long), ("c.rs", &declared), ("d.md", &long)]);
        let found: Vec<String> = lengths(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["b.rs", "c.rs"]);
    }

    #[test]
    fn an_unlisted_test_file_is_found() {
        let tree = Tree::from_files(&[
            ("crates/a/tests/main.rs", "mod one;\n"),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/two.rs", ""),
            ("crates/a/tests/one/deep.rs", ""),
        ]);
        let found = test_lists(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "crates/a/tests/two.rs: is not listed in crates/a/tests/main.rs");
    }
}
