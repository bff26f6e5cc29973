//! Tags as notmuch writes them: `+work -inbox -- QUERY`, a line for each message or query (notmuch-dump(1),
//! format "batch-tag"; notmuch-tag(1), `--batch`). Also reads what "mu labels export" writes (mu-labels(1)).
//!
//! Input: lines. Output: changes and queries; and lines of the tags that messages have. Pure.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The tags that notmuch sets by itself, from the message or from the flags of its file.
const AUTOMATIC: [&str; 8] =
    ["attachment", "draft", "encrypted", "flagged", "passed", "replied", "signed", "unread"];
/// How a dump of notmuch begins.
const DUMP: &str = "#notmuch-dump ";
/// How labels of mu begin.
const MU: &str = ";;";
/// How a Message-ID ends that mu made of a message without one: before that is the SHA-256 of the content.
const MU_ID: &str = "@mu.id";

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TagLine {
    /// Its number, from 1.
    pub number: usize,
    /// The tags to add.
    pub add: BTreeSet<String>,
    /// The tags to remove.
    pub remove: BTreeSet<String>,
    /// Which messages.
    pub wanted: Wanted,
}

/// Which messages a line is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Those with this Message-ID.
    MessageId(String),
    /// The one whose file has this path: of a message without a Message-ID.
    Path(String),
    /// The one with this content; else those with this Message-ID; else the one whose file has this path. mu
    /// makes a Message-ID of the content if a message has none.
    Content {
        /// The SHA-256.
        sha256: [u8; 32],
        /// The Message-ID that mu made.
        id: String,
        /// The path.
        path: String,
    },
    /// Those that this query matches.
    Query(String),
}

/// Parses lines. Empty lines and those that begin with `#` are left out: comments, and what notmuch keeps
/// besides tags. In a dump of notmuch, so are the tags that it sets by itself; in other tags, `_` stands for
/// what no tag here has, such as a space.
///
/// # Errors
/// The number of the line, and what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Vec<TagLine>, (usize, &'static str)> {
    if is_of_mu(text) {
        return parse_labels(text);
    }
    let is_dump = text.starts_with(DUMP);
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parsed = parse_line(number, line).map_err(|what| (number, what))?;
        if is_dump {
            let own = parsed.add.iter().filter(|tag| !AUTOMATIC.contains(&tag.as_str()));
            parsed.add = own.map(|tag| allowed(tag)).collect();
        }
        lines.push(parsed);
    }
    Ok(lines)
}

/// Returns whether lines are labels of mu, which knows no other tags.
pub(crate) fn is_of_mu(text: &str) -> bool {
    text.starts_with(MU)
}

/// Parses labels of mu: for each message a line with its path, one with its Message-ID and one with labels. A
/// message is found by its Message-ID, because paths change.
fn parse_labels(text: &str) -> Result<Vec<TagLine>, (usize, &'static str)> {
    let (mut lines, mut path, mut id) = (Vec::new(), "", "");
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with(MU) {
        } else if let Some(value) = line.strip_prefix("path:") {
            (path, id) = (value, "");
        } else if let Some(value) = line.strip_prefix("message-id:") {
            id = value.trim();
        } else if let Some(labels) = line.strip_prefix("labels:") {
            let wanted = match (id, path) {
                ("", "") => return Err((number, "no path: and no message-id: come before these labels")),
                ("", path) => Wanted::Path(path.to_owned()),
                (id, path) => labelled(id, path),
            };
            let labels = labels.split(',').map(str::trim).filter(|label| !label.is_empty());
            let add = labels.map(allowed).collect();
            lines.push(TagLine { number, add, remove: BTreeSet::new(), wanted });
            (path, id) = ("", "");
        } else {
            return Err((number, "path:, message-id: or labels: was expected"));
        }
    }
    Ok(lines)
}

/// Returns which message mu means by a Message-ID and a path.
fn labelled(id: &str, path: &str) -> Wanted {
    let Some(made) = id.strip_suffix(MU_ID) else { return Wanted::MessageId(id.to_owned()) };
    match sha256(made) {
        Some(sha256) => Wanted::Content { sha256, id: id.to_owned(), path: path.to_owned() },
        // It is made of the path if mu could not read the file.
        None if made.len() == 8 && !path.is_empty() => Wanted::Path(path.to_owned()),
        None => Wanted::MessageId(id.to_owned()),
    }
}

fn sha256(digits: &str) -> Option<[u8; 32]> {
    let pairs = digits.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        let is_hex = pair.iter().all(u8::is_ascii_hexdigit);
        u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|_| is_hex)?, 16).ok()
    };
    let bytes = pairs.map(byte).collect::<Option<Vec<u8>>>()?;
    (digits.len() == 64).then_some(bytes)?.try_into().ok()
}

/// Returns the line of a message with a Message-ID and tags.
pub(crate) fn line(message_id: &str, tags: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut line = String::new();
    for tag in tags {
        line.push('+');
        for byte in tag.as_ref().bytes() {
            if is_plain(byte) { line.push(char::from(byte)) } else { _ = write!(line, "%{byte:02x}") }
        }
        line.push(' ');
    }
    line.push_str("-- id:");
    let is_bare = message_id
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'(' && byte != b')');
    match is_bare && !message_id.is_empty() {
        true => line.push_str(message_id),
        false => _ = write!(line, "\"{}\"", message_id.replace('"', "\"\"")),
    }
    line
}

fn parse_line(number: usize, line: &str) -> Result<TagLine, &'static str> {
    let (mut add, mut remove) = (BTreeSet::new(), BTreeSet::new());
    let mut rest = line;
    let query = loop {
        let (word, next) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if word == "--" {
            break next.trim();
        }
        match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(tag), _) => add.insert(decoded(tag)?),
            (_, Some(tag)) => remove.insert(decoded(tag)?),
            (None, None) => return Err("+TAG, -TAG or -- and a query was expected"),
        };
        rest = next.trim_start();
        if rest.is_empty() {
            return Err("-- and a query are missing");
        }
    };
    if query.is_empty() {
        return Err("there is no query after --");
    }
    Ok(TagLine { number, add, remove, wanted: wanted(query) })
}

/// Returns the tag that stands for one of another program.
pub(crate) fn allowed(tag: &str) -> String {
    let is_bad = |(place, c): (usize, char)| {
        c.is_whitespace() || c.is_control() || (place == 0 && (c == '+' || c == '-'))
    };
    tag.char_indices().map(|(place, c)| if is_bad((place, c)) { '_' } else { c }).collect()
}

/// Returns a Message-ID, if the query is one alone.
fn wanted(query: &str) -> Wanted {
    if let Some(id) = query.strip_prefix("id:") {
        if let Some(quoted) = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')) {
            return Wanted::MessageId(quoted.replace("\"\"", "\""));
        }
        if !id.is_empty() && !id.contains(char::is_whitespace) {
            return Wanted::MessageId(id.to_owned());
        }
    }
    Wanted::Query(query.to_owned())
}

fn decoded(tag: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(tag.len());
    let mut rest = tag.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        bytes
            .push(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or("% needs two digits")?);
        rest = others.get(2..).unwrap_or_default();
    }
    String::from_utf8(bytes).map_err(|_| "a tag is not UTF-8")
}

/// Returns whether notmuch writes a byte as it is.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"@=.,_+-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        match parse(text) {
            Ok(lines) => lines
                .iter()
                .map(|line| format!("{} {:?} {:?} {:?}", line.number, line.add, line.remove, line.wanted))
                .collect(),
            Err((number, what)) => vec![format!("{number}: {what}")],
        }
    }

    #[test]
    fn lines_of_notmuch_are_read() {
        assert_eq!(
            shown("# a comment\n\n+work +gro%c3%9fe -inbox -- id:a@b.c\n-old -- from:ana and date:..1y\n"),
            [
                r#"3 {"große", "work"} {"inbox"} MessageId("a@b.c")"#,
                r#"4 {} {"old"} Query("from:ana and date:..1y")"#,
            ]
        );
        let dump = "#notmuch-dump batch-tag:3 config,properties,tags\n#@ x y\n\
                    +unread +work +a%20b +-c -- id:\"a \"\"b\"\n-- id:c";
        assert_eq!(
            shown(dump),
            [r#"3 {"_c", "a_b", "work"} {} MessageId("a \"b")"#, "4 {} {} MessageId(\"c\")"],
            "what notmuch sets by itself is left out"
        );
        assert_eq!(shown("+unread -- id:x"), [r#"1 {"unread"} {} MessageId("x")"#]);
        for (text, what) in [
            ("+a\n", "1: -- and a query are missing"),
            ("\n+a --\n", "2: there is no query after --"),
            ("a -- id:x", "1: +TAG, -TAG or -- and a query was expected"),
            ("+a%2 -- id:x", "1: % needs two digits"),
            ("+a%ff -- id:x", "1: a tag is not UTF-8"),
        ] {
            assert_eq!(shown(text), [what], "{text}");
        }
    }

    #[test]
    fn labels_of_mu_are_read() {
        let text = ";; mu labels export\n\npath:/m/cur/1:2,S\nmessage-id:a@b.c\nlabels:foo,c@pybara,x y\n\n\
                    path:/m/cur/2:2,\nmessage-id:\nlabels:bar\n";
        assert_eq!(
            shown(text),
            [r#"5 {"c@pybara", "foo", "x_y"} {} MessageId("a@b.c")"#, r#"9 {"bar"} {} Path("/m/cur/2:2,")"#,]
        );
        assert_eq!(shown(";;\nlabels:x"), ["2: no path: and no message-id: come before these labels"]);
        let twice = ";;\npath:/a\nmessage-id:1\nlabels:x\nlabels:y";
        assert_eq!(shown(twice), ["5: no path: and no message-id: come before these labels"]);
        assert_eq!(shown(";;\n+x -- id:1"), ["2: path:, message-id: or labels: was expected"]);
    }

    #[test]
    fn ids_that_mu_made_name_a_content() {
        let read =
            |id: &str| parse(&format!(";;\npath:/m/1\nmessage-id:{id}\nlabels:x")).unwrap().remove(0).wanted;
        let digits = "0aFf".repeat(16);
        let id = format!("{digits}@mu.id");
        let sha256: [u8; 32] = [0x0a, 0xff].repeat(16).try_into().unwrap();
        assert_eq!(read(&id), Wanted::Content { sha256, id: id.clone(), path: "/m/1".into() });
        assert_eq!(read("0123abcd@mu.id"), Wanted::Path("/m/1".into()));
        for id in [&digits, "+".repeat(64).as_str(), "x@mu.id", &format!("{digits}00@mu.id"), "é@mu.id"] {
            let other = format!("{}@mu.id", "+1".repeat(32));
            assert_eq!(read(id), Wanted::MessageId(id.to_owned()));
            assert_eq!(read(&other), Wanted::MessageId(other.clone()));
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for id in ["a@b.c", "a b", "a\"b", "(a)", "", "ü@x", "a%b"] {
            let written = line(id, ["work", "große", "a%b", "x:y"]);
            let [read] = parse(&written).unwrap().try_into().unwrap();
            assert_eq!(read.wanted, Wanted::MessageId(id.to_owned()), "{written}");
            assert_eq!(read.add.into_iter().collect::<Vec<_>>(), ["a%b", "große", "work", "x:y"]);
        }
        assert_eq!(line("a@b", ["gro\u{df}e"]), "+gro%c3%9fe -- id:a@b");
    }
}
