//! Scripts as they are sent: browsers need neither comments, nor types, nor indentation. The build script
//! calls this.
//!
//! Input: a script. Output: the same, shorter. Knows no files.

/// How a type in a line begins.
const TYPE: &[u8] = b"/** @type ";
/// How it ends.
const END: &[u8] = b"*/";

/// Returns a script without the lines that are comments, without types, and without the spaces that begin
/// lines. The ends of lines stay, so that each line keeps its number.
pub(crate) fn without_comments(script: &[u8]) -> Vec<u8> {
    let (mut left, mut is_inside) = (Vec::with_capacity(script.len()), false);
    for line in script.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        let (opens, closes) = (text.starts_with(b"/**"), text.ends_with(b"*/"));
        // A type that code follows on its line is no block.
        let is_block = opens && (closes || !text.windows(2).any(|two| two == b"*/"));
        let is_comment = is_inside || is_block || text.starts_with(b"//");
        is_inside = (is_inside || is_block) && !closes;
        let space_count = line.iter().take_while(|byte| **byte == b' ').count();
        let code = line.get(space_count..).unwrap_or_default();
        if is_comment {
            left.push(b'\n');
        } else {
            push_without_types(code, &mut left);
        }
    }
    left
}

/// Appends a line without types, and without the space after each.
fn push_without_types(line: &[u8], left: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((start, length)) = find(rest, TYPE)
        .and_then(|start| Some((start, find(rest.get(start..)?, END)?.saturating_add(END.len()))))
    {
        left.extend_from_slice(rest.get(..start).unwrap_or_default());
        let after = rest.get(start.saturating_add(length)..).unwrap_or_default();
        rest = after.strip_prefix(b" ").unwrap_or(after);
    }
    left.extend_from_slice(rest);
}

/// Returns where a text begins in another.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|found| found == wanted)
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_types_and_indentation_are_left_out() {
        let script = "// A\n  /** B */\nlet c; // d\n/**\n * E\n */\n/** @type {F} */ (g);\n\x20 \
             h /* i */ + `//j`;\n\
             k(/** @type {A<B>} */ (l), /** @type {M} */ n) /** @type {\n";
        let left = "\n\nlet c; // d\n\n\n\n(g);\nh /* i */ + `//j`;\nk((l), n) /** @type {\n";
        assert_eq!(String::from_utf8(without_comments(script.as_bytes())).unwrap(), left);
    }
}
