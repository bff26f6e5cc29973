//! Styles that load nothing. Input: a style sheet or the declarations of an attribute, as a sender wrote
//! them. Output: those written anew, of which nothing is left but properties with plain values. Pure.
//!
//! What is kept is on a list: of functions those that compute, and of rules with `@` only `@media`. So no
//! `url()`, no `image-set()`, no `@import` and no `@font-face` is left, however it is spelled: what has a
//! backslash, which could spell something else, or a `<`, which could end the sheet, is left out.

/// Functions that load nothing.
const FUNCTIONS: [&str; 17] = [
    "rgb",
    "rgba",
    "hsl",
    "hsla",
    "calc",
    "min",
    "max",
    "clamp",
    "linear-gradient",
    "radial-gradient",
    "translate",
    "translatex",
    "translatey",
    "scale",
    "rotate",
    "rect",
    "cubic-bezier",
];
/// How deep rules may lie in `@media`.
const DEPTH_MAX: usize = 4;
/// Units of the height of a frame that is as high as what is in it: it would grow for ever.
const HEIGHTS: [&str; 4] = ["vh", "vmin", "vmax", "vb"];

/// Returns the declarations of a style attribute.
pub(super) fn declarations(text: &str) -> String {
    let mut out = String::new();
    let text = without_comments(text);
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = end_of(rest, &[';', '{', '}']);
        let (piece, after) = rest.split_at(end);
        if after.starts_with('{') {
            // A rule within a rule.
            rest = after.get(block_end(after)..).unwrap_or_default();
            continue;
        }
        if let Some((name, value)) = declaration(piece) {
            out.push_str(&name);
            out.push(':');
            out.push_str(&value);
            out.push(';');
        }
        rest = after.get(1..).unwrap_or_default();
    }
    out
}

/// Returns a style sheet.
pub(super) fn sheet(text: &str) -> String {
    let mut out = String::new();
    add_rules(&without_comments(text), 0, &mut out);
    out
}

fn add_rules(text: &str, depth: usize, out: &mut String) {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|first: char| first.is_ascii_whitespace() || ";}".contains(first));
        rest = rest.strip_prefix("<!--").or_else(|| rest.strip_prefix("-->")).unwrap_or(rest);
        if rest.is_empty() {
            return;
        }
        let is_at = rest.starts_with('@');
        let ends: &[char] = if is_at { &['{', ';'] } else { &['{'] };
        let (prelude, after) = rest.split_at(end_of(rest, ends));
        if !after.starts_with('{') {
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let end = block_end(after);
        let inner = after.get(1..end).map_or("", |inner| inner.strip_suffix('}').unwrap_or(inner));
        rest = after.get(end..).unwrap_or_default();
        if is_at {
            add_media(prelude, inner, depth, out);
        } else if let Some(selector) = selector(prelude) {
            out.push_str(selector);
            out.push('{');
            out.push_str(&declarations(inner));
            out.push('}');
        }
    }
}

/// Adds the rules of `@media`. Those of a dark screen are left out: mail is shown on a light sheet.
fn add_media(prelude: &str, inner: &str, depth: usize, out: &mut String) {
    let Some(query) = strip_word(prelude, "@media") else { return };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " \t\r\n():,.-".contains(letter);
    if query.chars().all(is_plain) && !query.contains("prefers-color-scheme") && depth < DEPTH_MAX {
        out.push_str("@media ");
        out.push_str(query.trim());
        out.push('{');
        add_rules(inner, depth + 1, out);
        out.push('}');
    }
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (first, rest) = text.split_at_checked(word.len())?;
    let is_end = !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-');
    (first.eq_ignore_ascii_case(word) && is_end).then_some(rest)
}

fn selector(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_balanced = text.matches(['(', '[']).count() == text.matches([')', ']']).count();
    let quotes = ['"', '\''].map(|quote| text.matches(quote).count());
    let is_plain = match quotes {
        [0, 0] => true,
        // A string ends with its line.
        [0, count] | [count, 0] => count.is_multiple_of(2) && !text.contains(['\n', '\r', '\u{c}']),
        // With quotes within quotes, browsers may see other strings than these.
        _ => false,
    };
    (!text.is_empty() && is_balanced && is_plain && !text.contains(['\\', '<', '@', '{', '}', ';']))
        .then_some(text)
}

/// Returns the name and the value of a declaration, without functions that load.
fn declaration(piece: &str) -> Option<(String, String)> {
    if piece.contains(['\\', '<', '@', '{', '}']) {
        return None;
    }
    let (name, value) = piece.split_once(':')?;
    let name = name.trim().to_ascii_lowercase();
    let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if !is_name || name.is_empty() || name.starts_with("--") {
        return None;
    }
    let value = value_of(value.trim())?;
    (!has_height_of_frame(&value)).then_some((name, value))
}

/// Returns a value without functions that are not on the list; `None` if quotes or brackets do not end.
fn value_of(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut depth = 0_usize;
    let mut rest = value;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '"' | '\'' => {
                let end = string_end(rest)?;
                out.push_str(rest.get(..end)?);
                end
            }
            '(' => {
                let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
                let start = out.len() - out.bytes().rev().take_while(is_of_name).count();
                let name = out.get(start..)?.to_ascii_lowercase();
                if name.is_empty() || FUNCTIONS.contains(&name.as_str()) {
                    depth += 1;
                    out.push('(');
                    1
                } else {
                    out.truncate(start);
                    brackets_end(rest)?
                }
            }
            ')' => {
                depth = depth.checked_sub(1)?;
                out.push(')');
                1
            }
            _ => {
                out.push(if letter.is_whitespace() { ' ' } else { letter });
                letter.len_utf8()
            }
        };
        rest = rest.get(length..)?;
    }
    (depth == 0).then(|| out.trim().to_owned())
}

fn has_height_of_frame(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let words = value.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
    words.map(|word| word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.')).any(
        |unit| HEIGHTS.iter().any(|height| unit.strip_suffix(height).is_some_and(|size| size.len() <= 1)),
    )
}

/// Returns where the first of some letters is outside of strings and brackets, or the end.
fn end_of(text: &str, ends: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut index = 0;
    while let Some(letter) = text.get(index..).and_then(|rest| rest.chars().next()) {
        let is_block = letter == '{' || letter == '}';
        if ends.contains(&letter) && (depth == 0 || is_block) {
            return index;
        }
        match letter {
            '"' | '\'' => {
                index += text.get(index..).and_then(string_end).unwrap_or(1);
                continue;
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += letter.len_utf8();
    }
    text.len()
}

/// Returns where the block ends that a text begins with, after its bracket.
fn block_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut index = 0;
    while let Some(rest) = text.get(index..).filter(|rest| !rest.is_empty()) {
        let next = end_of(rest, &['{', '}']);
        index += next;
        match rest.get(next..).and_then(|found| found.chars().next()) {
            Some('{') => depth += 1,
            Some(_) => depth = depth.saturating_sub(1),
            None => return text.len(),
        }
        index += 1;
        if depth == 0 {
            return index;
        }
    }
    text.len()
}

/// Returns where the string ends that a text begins with; `None` if it does not, before its line does.
fn string_end(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut letters = text.char_indices().skip(1);
    while let Some((index, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\n' | '\r' | '\u{c}' => return None,
            _ if letter == quote => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// Returns where the brackets end that a text begins with; `None` if they do not.
fn brackets_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut index = 0;
    while let Some(letter) = text.get(index..).and_then(|rest| rest.chars().next()) {
        match letter {
            '"' | '\'' => {
                index += text.get(index..).and_then(string_end)?;
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 1 => return Some(index + 1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += letter.len_utf8();
    }
    None
}

/// Returns a text with a space for each comment.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let string = if matches!(letter, '"' | '\'') { string_end(rest) } else { None };
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            out.push(' ');
            continue;
        }
        let (taken, after) = rest.split_at(string.unwrap_or(letter.len_utf8()));
        out.push_str(taken);
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_stay() {
        for (text, expected) in [
            ("color:red", "color:red;"),
            (" Color : #FFF !important ; margin : 0 auto", "color:#FFF !important;margin:0 auto;"),
            ("font-family: 'A;B', \"C:D\"", "font-family:'A;B', \"C:D\";"),
            ("width:calc(100% - (2px * 3))", "width:calc(100% - (2px * 3));"),
            (
                "background:linear-gradient(rgba(0, 0, 0, .5), red)",
                "background:linear-gradient(rgba(0, 0, 0, .5), red);",
            ),
            (
                "-webkit-text-size-adjust:100%;mso-line-height-rule:exactly",
                "-webkit-text-size-adjust:100%;mso-line-height-rule:exactly;",
            ),
            ("a:b;;c", "a:b;"),
            ("", ""),
        ] {
            assert_eq!(declarations(text), expected, "{text}");
        }
        for (text, expected) in [
            ("a , b > c{color:red}p{}", "a , b > c{color:red;}p{}"),
            ("/* x */ a{/* { */color:red/* } */}", "a{color:red;}"),
            ("<!-- a{b:c} -->", "a{b:c;}"),
            ("a[href^=\"x{\"]:not(.b){c:d}", "a[href^=\"x{\"]:not(.b){c:d;}"),
            (
                "@media only screen and (max-width:600px){a{b:c}d{e:f}}g{h:i}",
                "@media only screen and (max-width:600px){a{b:c;}d{e:f;}}g{h:i;}",
            ),
            ("a{b:c;d{e:f}g:h}", "a{b:c;g:h;}"),
            ("a{b:c", "a{b:c;}"),
            ("}}a{b:c}", "a{b:c;}"),
        ] {
            // Strings with a bracket are no selector.
            let expected = if text.contains("x{") { "" } else { expected };
            assert_eq!(sheet(text), expected, "{text}");
        }
    }

    #[test]
    fn selectors_whose_strings_browsers_may_see_otherwise_are_left_out() {
        for selector in ["a[b=\"'\"] '", "a[b='\"'] \"x", "a[b=\"x\n\"]", "a[b='\r']", "a[b=\"x]"] {
            assert_eq!(
                sheet(&format!("{selector}{{color:red}}b{{color:blue}}")).matches(selector).count(),
                0
            );
        }
        assert_eq!(sheet("a[b=\"x\"]{color:red}"), "a[b=\"x\"]{color:red;}");
        assert_eq!(sheet("a,\nb{color:red}"), "a,\nb{color:red;}");
    }

    #[test]
    fn nothing_that_loads_is_left_however_it_is_spelled() {
        for text in [
            "background:url(http://e.example/x)",
            "background:URL( 'http://e.example/x' )",
            "background:u\\72l(http://e.example/x)",
            "background:ur\\l(http://e.example/x)",
            "background:url(http://e.example/a)b)",
            "background:url(http://e.example/a'b)",
            "background:image-set('http://e.example/x' 1x)",
            "background:-webkit-image-set(url(http://e.example/x) 1x)",
            "background:linear-gradient(red, url(http://e.example/x))",
            "background:image('http://e.example/x')",
            "background:src(\"http://e.example/x\")",
            "background:cross-fade(url(http://e.example/x), red)",
            "background:u/**/rl(http://e.example/x)",
            "--x:url(http://e.example/x)",
            "cursor:url(http://e.example/x),auto",
            "width:expression(x('http://e.example'))",
            "background:url(\nhttp://e.example/x\n)",
            "content:'</style><img src=http://e.example/x>'",
            "x:y\\;z:url(http://e.example/x)",
        ] {
            let found = declarations(text);
            assert!(!found.contains("e.example") && !found.contains('<'), "{text}: {found}");
            let found = sheet(&format!("a{{{text}}}b{{color:red}}"));
            assert!(!found.contains("e.example") && !found.contains('<'), "{text}: {found}");
        }
        for text in [
            "@import 'http://e.example/x';",
            "@import url(http://e.example/x);",
            "@IMPORT \"http://e.example/x\" screen;",
            "@im\\port 'http://e.example/x';",
            "@charset 'x';@import 'http://e.example/x';",
            "@font-face{font-family:x;src:url(http://e.example/x)}",
            "@namespace url(http://e.example/x);",
            "@media screen{@import 'http://e.example/x';}",
            "@media url(http://e.example/x){a{b:c}}",
            "@supports (background:url(http://e.example/x)){a{b:c}}",
            "@page{background:url(http://e.example/x)}",
            "@media-x{a{b:url(http://e.example/x)}}",
            "a[href='</style><img src=http://e.example/x>']{b:c}",
            "a:not({@import 'http://e.example/x';})",
            "\";@import 'http://e.example/x';{}",
            "a\n\"\n;@import url(http://e.example/x);b{c:d}",
        ] {
            let found = sheet(text);
            assert!(
                !found.contains("e.example") && !found.replace("@media screen{", "").contains('@'),
                "{text}: {found}"
            );
        }
    }

    #[test]
    fn what_depends_on_the_frame_or_a_dark_screen_is_left_out() {
        assert_eq!(declarations("height:100vh;min-height:50.5dvh;width:10vw;a:vh"), "width:10vw;");
        assert_eq!(sheet("@media (prefers-color-scheme:dark){a{b:c}}d{e:f}"), "d{e:f;}");
        assert_eq!(sheet(&format!("{}a{{b:c}}", "@media x{".repeat(9))).matches("@media").count(), DEPTH_MAX);
    }

    #[test]
    fn every_text_has_an_end() {
        for text in [
            "\"",
            "'",
            "(",
            "a{",
            "a{b:(",
            "/*",
            "@",
            "@media",
            "\\",
            "{",
            "}",
            "a{b:'",
            "\u{fc}{\u{fc}:(\u{fc}",
        ] {
            for text in [text.to_owned(), text.repeat(2000)] {
                let (sheet, declarations) = (sheet(&text), declarations(&text));
                assert!(!sheet.contains('(') && !declarations.contains('('), "{text}");
            }
        }
    }
}
