//! Scripts as they are sent: browsers need neither comments nor indentation. The build script calls this.
//!
//! Input: a script. Output: the same, shorter. Knows no files.

/// Returns a script without the lines that are comments, and without the spaces that begin lines. The ends of
/// lines stay, so that each line keeps its number.
pub(crate) fn without_comments(script: &[u8]) -> Vec<u8> {
    let (mut left, mut is_inside) = (Vec::with_capacity(script.len()), false);
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        let (opens, closes) = (text.starts_with(b"/**"), text.ends_with(b"*/"));
        // A type that code follows on its line stays there.
        let is_block = opens && (closes || !text.windows(2).any(|two| two == b"*/"));
        let is_comment = is_inside || is_block || text.starts_with(b"//");
        is_inside = (is_inside || is_block) && !closes;
        let space_count = line.iter().take_while(|byte| **byte == b' ').count();
        let code = line.get(space_count..).unwrap_or_default();
        left.extend_from_slice(if is_comment { b"\n" } else { code });
    }
    left
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_and_indentation_are_left_out() {
        let script =
            "// A\n  /** B */\nlet c; // d\n/**\n * E\n */\n/** @type {F} */ (g);\n  h /* i */ + `//j`;\n";
        let left = "\n\nlet c; // d\n\n\n\n/** @type {F} */ (g);\nh /* i */ + `//j`;\n";
        assert_eq!(String::from_utf8(without_comments(script.as_bytes())).unwrap(), left);
    }
}
