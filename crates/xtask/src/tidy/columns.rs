//! Lines end at column 110.
//!
//! Input: a [`Tree`]. Output: findings. Checks code, comments of other files, and prose of Markdown. Does not
//! depend on the content of lines.

use super::finding::Finding;
use super::source::raw_string_lines;
use super::tree::Tree;
use std::collections::BTreeSet;

/// The last column, in characters from 1.
const COLUMN_MAX: usize = 110;

/// Files and folders that may still have longer lines.
const EXEMPT: [&str; 0] = [];

/// The marks of a generated Markdown file, and those around a generated part of another file.
const GENERATED_FILE: &str = "<!-- Written by a test";
const GENERATED_BEGINS: [&str; 3] = ["<!-- generated:", "<!-- figures of ", "<!-- main figures of "];
const GENERATED_END: &str = "<!-- end of ";

/// What may come before the first word of a line: marks of comments, lists and quotes.
const MARKS: [&str; 9] = ["//", "///", "//!", "#", "##", "-", "*", ">", "\""];

/// Checks that no line of code and prose is longer than [`COLUMN_MAX`], unless it cannot be broken.
pub(super) fn columns(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_checked = |path: &str| {
        let is_exempt = EXEMPT.iter().any(|exempt| path.starts_with(exempt));
        !is_exempt && !["testdata/", "bench/runs/"].iter().any(|folder| path.contains(folder))
    };
    for (path, text) in tree.files().filter(|(path, _)| is_checked(path)) {
        for (index, line) in breakable_lines(path, text) {
            let count = line.chars().count();
            if count > COLUMN_MAX && can_be_broken(line) {
                let what = format!("ends at column {count}; break it before column {COLUMN_MAX}");
                findings.push(Finding { path: path.to_owned(), line: index + 1, what });
            }
        }
    }
    findings
}

/// Returns the lines of a file that must be checked, each with its index.
fn breakable_lines<'a>(path: &str, text: &'a str) -> Vec<(usize, &'a str)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lines = text.lines().enumerate();
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("rs") => {
            let exempt = raw_string_lines(text);
            lines.filter(|(index, _)| !exempt.contains(index)).collect()
        }
        Some("md") => {
            let prose = prose_lines(text);
            lines.filter(|(index, _)| prose.contains(index)).collect()
        }
        Some("toml" | "sh" | "yml" | "yaml") => comment_lines(text),
        _ if name == "Makefile" || text.starts_with("#!") => comment_lines(text),
        _ => Vec::new(),
    }
}

fn comment_lines(text: &str) -> Vec<(usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with('#')).collect()
}

/// Returns whether the first word of a line ends early enough for a break after it.
fn can_be_broken(line: &str) -> bool {
    let content = line.trim_start().split_once(' ').filter(|(first, _)| is_mark(first));
    let content = content.map_or(line.trim_start(), |(_, content)| content.trim_start());
    let before = line.chars().count() - content.chars().count();
    let first_word = content.split(' ').next().unwrap_or_default();
    before + first_word.chars().count() < COLUMN_MAX
}

fn is_mark(word: &str) -> bool {
    let is_number = word.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    MARKS.contains(&word) || is_number
}

/// Returns the indexes of the lines of Markdown that are prose: not code, tables or generated text.
fn prose_lines(text: &str) -> BTreeSet<usize> {
    let mut prose = BTreeSet::new();
    if text.contains(GENERATED_FILE) {
        return prose;
    }
    let (mut in_fence, mut in_generated, mut in_list) = (false, false, false);
    for (index, line) in text.lines().enumerate() {
        let content = line.trim_start();
        if content.starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        in_generated |= GENERATED_BEGINS.iter().any(|begin| content.starts_with(begin));
        in_generated &= !content.starts_with(GENERATED_END);
        // An indented line continues the list before it. Without a list it is code.
        if content.split(' ').next().is_some_and(is_mark) && !content.starts_with('#') {
            in_list = true;
        } else if !content.is_empty() && content.len() == line.len() {
            in_list = false;
        }
        let is_code = in_fence || (line.starts_with("    ") && !in_list);
        if !in_generated && !is_code && !content.starts_with('|') && !content.starts_with("<!--") {
            prose.insert(index);
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of words, one letter too long.
    fn long() -> String {
        "word ".chars().cycle().take(COLUMN_MAX).chain(['x']).collect()
    }

    fn found(path: &str, text: &str) -> Vec<usize> {
        columns(&Tree::from_files(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_long_line_of_code_is_found_and_characters_count_not_bytes() {
        let (long, umlauts) = (long(), "ä ".repeat(COLUMN_MAX / 2));
        assert_eq!(found("a.rs", &format!("{umlauts}\n// {long}\n\"{long}\"\n{}\n", &long[1..])), [2, 3]);
        assert_eq!(found("testdata/a.rs", &long), [0; 0]);
    }

    #[test]
    fn raw_strings_and_unbreakable_words_may_be_long() {
        let (long, word) = (long(), "w".repeat(COLUMN_MAX));
        let text =
            format!("let a = r#\"\n{long}\n\"#;\n/// {word}\n    \"{word}\"\n// {word} a\n// a {word}\n");
        assert_eq!(found("a.rs", &text), [7]);
    }

    #[test]
    fn prose_of_markdown_is_checked_but_no_code_tables_or_generated_parts() {
        let long = long();
        let text = format!(
            "{long}\n- a\n    {long}\n\n{long}\n\n    {long}\n\n| {long} |\n```\n{long}\n```\n\
             <!-- generated:a -->\n{long}\n<!-- end of generated -->\n{long}\n- https://{}\n",
            "x".repeat(COLUMN_MAX)
        );
        assert_eq!(found("a.md", &text), [1, 3, 5, 16]);
        assert_eq!(found("a.md", &format!("{GENERATED_FILE} -->\n{long}\n")), [0; 0]);
    }

    #[test]
    fn comments_of_other_files_are_checked() {
        let long = long();
        let text = format!("# {long}\na = \"{long}\"\n\t# {long}\n");
        for path in ["a/Makefile", "a/Cargo.toml", "a/run.sh"] {
            assert_eq!(found(path, &text), [1, 3], "{path}");
        }
        assert_eq!(found("a/run", &format!("#!/bin/sh\n{text}")), [2, 4]);
        assert_eq!(found("a.txt", &text), [0; 0]);
    }
}
