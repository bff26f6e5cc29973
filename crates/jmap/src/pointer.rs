//! The tokens of JSON Pointers (RFC 6901).
//!
//! Input: a pointer. Output: its tokens, unescaped. Does not know what they point into.

/// Returns the tokens of `pointer`, which has a slash before each, or `None` if it is no pointer (RFC 6901,
/// section 3).
pub(crate) fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    tokens_after_slash(pointer.strip_prefix('/')?)
}

/// Returns the tokens of a pointer whose first slash is left out, as in a PatchObject (RFC 8620, section
/// 5.3).
pub(crate) fn tokens_after_slash(pointer: &str) -> Option<Vec<String>> {
    pointer.split('/').map(unescaped).collect()
}

/// Returns the place in an array that `token` names (RFC 6901, section 4), or `None` if it names none.
pub(crate) fn index(token: &str) -> Option<usize> {
    let is_number = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    let is_normal = token == "0" || !token.starts_with('0');
    if is_number && is_normal { token.parse().ok() } else { None }
}

/// Returns `token` with `~1` as a slash and `~0` as a tilde, or `None` if a tilde is followed by anything
/// else.
fn unescaped(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (letter, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        text.push(letter);
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_unescaped() {
        assert_eq!(tokens("").unwrap(), [""; 0]);
        assert_eq!(tokens("/").unwrap(), [""]);
        assert_eq!(tokens("/a//b~1c~0~01").unwrap(), ["a", "", "b/c~~1"]);
        assert_eq!(tokens_after_slash("a/b").unwrap(), ["a", "b"]);
        assert_eq!(tokens_after_slash("").unwrap(), [""]);
    }

    #[test]
    fn a_pointer_without_a_slash_or_with_a_wrong_escape_is_none() {
        for text in ["a", "a/b", "/~", "/~2", "/a/b~", "/~~0"] {
            assert_eq!(tokens(text), None, "{text}");
        }
    }

    #[test]
    fn a_place_in_an_array_is_a_number_without_leading_zeros() {
        assert_eq!(["0", "7", "10"].map(index), [Some(0), Some(7), Some(10)]);
        for token in ["", "-", "-1", "+1", "01", "00", "1e1", " 1", "١", "99999999999999999999999999"] {
            assert_eq!(index(token), None, "{token:?}");
        }
    }
}
