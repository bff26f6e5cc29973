//! Tables of `docs/query.md`. Input: the tables of fields, flags and differences. Output: text. Knows nothing
//! of where the text goes.

use std::fmt::Write;

use crate::differences::DIFFERENCES;
use crate::fields::{FIELDS, FieldInfo};
use crate::flags::FLAGS;

/// Begins a generated part of a document; the part's name follows.
const BEGIN: &str = "<!-- generated:";

/// Ends each generated part.
const END: &str = "<!-- end of generated -->";

/// Returns a document with new text in its generated parts (`fields`, `flags`, `differences`).
pub fn refresh(document: &str) -> String {
    let mut fresh = String::new();
    let mut in_part = false;
    for line in document.lines() {
        in_part &= line != END;
        if !in_part {
            fresh.push_str(line);
            fresh.push('\n');
        }
        let name = line.strip_prefix(BEGIN).and_then(|name| name.strip_suffix(" -->"));
        if let Some(part) = name.and_then(generated) {
            fresh.push_str(&part);
            in_part = true;
        }
    }
    fresh
}

fn generated(name: &str) -> Option<String> {
    match name {
        "fields" => Some(fields_markdown()),
        "flags" => Some(flags_markdown()),
        "differences" => Some(differences_markdown()),
        _ => None,
    }
}

fn fields_markdown() -> String {
    let mut table = "| field | letter | also | holds | example |\n|---|---|---|---|---|\n".to_owned();
    for FieldInfo { name, letter, synonyms, description, example, .. } in FIELDS {
        let letter = letter.map(|letter| format!("`{letter}`")).unwrap_or_default();
        let _ =
            writeln!(table, "| `{name}` | {letter} | {} | {description} | `{example}` |", codes(synonyms));
    }
    table
}

fn flags_markdown() -> String {
    let mut table = "| flag | letter | also | the message |\n|---|---|---|---|\n".to_owned();
    for info in FLAGS {
        let _ = writeln!(
            table,
            "| `{}` | `{}` | {} | {} |",
            info.name,
            info.letter,
            codes(info.synonyms),
            info.description
        );
    }
    table
}

fn differences_markdown() -> String {
    let mut table = "| query | mu | notmuch | pneu |\n|---|---|---|---|\n".to_owned();
    for difference in DIFFERENCES {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} |",
            difference.query, difference.mu, difference.notmuch, difference.here
        );
    }
    table
}

fn codes(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_generated_parts_are_made_anew() {
        let document = format!("a\n{BEGIN}flags -->\nold\n{END}\nb\n{BEGIN}unknown -->\nkept\n{END}\n");
        let fresh = refresh(&document);
        assert!(fresh.starts_with(&format!("a\n{BEGIN}flags -->\n| flag |")), "{fresh}");
        assert!(fresh.ends_with(&format!("|\n{END}\nb\n{BEGIN}unknown -->\nkept\n{END}\n")), "{fresh}");
        assert!(!fresh.contains("old"));
        assert_eq!(refresh(&fresh), fresh);
    }
}
