//! Makes names of files from the names that senders gave to parts.
//!
//! Input: the list of a message's parts. Output: a name for each, all different, each of them harmless in any
//! directory and on any file system: one component, no control characters, nothing hidden, no option, no
//! device of Windows, short enough. Does not look at the disk.

use mail::PartInfo;
use printable::sanitise::is_harmful;
use std::collections::{HashMap, HashSet};

/// Most bytes of a name. File systems take 255; programs that add a suffix have room.
const NAME_BYTES_MAX: usize = 200;
/// Most bytes of an ending that is kept when a name is cut, with its dot.
const ENDING_BYTES_MAX: usize = 20;

/// What takes the place of a character that a name cannot have.
const SUBSTITUTE: char = '_';

/// Characters that some file system forbids or a shell acts on.
const FORBIDDEN: [char; 9] = ['"', '*', ':', '<', '>', '?', '|', '/', '\\'];

/// Names that are devices on Windows, whatever their endings.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns a name for each part, in their order. The second of two parts with one name gets a number. Names
/// that differ only in case count as one, because some file systems ignore case.
pub fn file_names(parts: &[PartInfo]) -> Vec<String> {
    let mut taken = HashSet::new();
    // How often a name was given, so that ten thousand equal names are not all tried again for each.
    let mut counts: HashMap<String, usize> = HashMap::new();
    parts
        .iter()
        .map(|part| {
            let name = harmless(&part.name).unwrap_or_else(|| unnamed(part));
            let count = counts.entry(name.to_lowercase()).or_default();
            loop {
                *count += 1;
                let name = numbered(&name, *count);
                if taken.insert(name.to_lowercase()) {
                    break name;
                }
            }
        })
        .collect()
}

/// Returns the name of a part that has none.
fn unnamed(part: &PartInfo) -> String {
    let ending = match part.mime.as_str() {
        _ if part.is_message => "eml",
        "application/pdf" => "pdf",
        "application/pgp-keys" | "application/pgp-signature" => "asc",
        "application/pkcs7-mime" | "application/x-pkcs7-mime" => "p7m",
        "application/pkcs7-signature" | "application/x-pkcs7-signature" => "p7s",
        "application/zip" => "zip",
        "image/gif" => "gif",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "text/calendar" => "ics",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/vcard" | "text/x-vcard" => "vcf",
        "text/x-diff" | "text/x-patch" => "patch",
        mime if mime.starts_with("text/") || mime.starts_with("message/") => "txt",
        _ => "bin",
    };
    format!("part-{}.{ending}", part.number)
}

/// Returns a harmless form of a name; `None` if nothing of it is left.
fn harmless(name: &str) -> Option<String> {
    // A path, whatever system it is from: only the name of the file counts.
    let last = name.rsplit(['/', '\\']).find(|piece| !piece.trim_matches(['.', ' ']).is_empty())?;
    let mut kept: String = last.chars().map(replaced).collect();
    while kept.ends_with(['.', ' ']) {
        kept.pop();
    }
    let kept = kept.trim_start();
    if !kept.contains(|character: char| character != SUBSTITUTE && !character.is_whitespace()) {
        return None;
    }
    // Hidden files, options, and a home directory.
    let first = kept.chars().next().filter(|first| ['.', '-', '~'].contains(first));
    let kept = match first {
        Some(first) => format!("{SUBSTITUTE}{}", kept.get(first.len_utf8()..).unwrap_or_default()),
        None => kept.to_owned(),
    };
    let kept = if is_device(&kept) { format!("{SUBSTITUTE}{kept}") } else { kept };
    Some(shortened(&kept, NAME_BYTES_MAX))
}

/// Returns what stands for a character in a name.
fn replaced(character: char) -> char {
    let is_invisible = matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{fffd}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    match character {
        '\t' | '\n' | '\r' => ' ',
        _ if is_harmful(character) || is_invisible || FORBIDDEN.contains(&character) => SUBSTITUTE,
        _ if character.is_whitespace() => ' ',
        _ => character,
    }
}

/// Returns whether a name is that of a device on Windows.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let bare = stem.trim_end_matches(|last: char| last.is_ascii_digit() || "¹²³".contains(last));
    let digits = stem.chars().count() - bare.chars().count();
    match bare {
        "com" | "lpt" => digits == 1,
        _ => digits == 0 && DEVICES.contains(&bare),
    }
}

/// Returns the name with a number before its ending, from the second on.
fn numbered(name: &str, count: usize) -> String {
    if count == 1 {
        return name.to_owned();
    }
    let (stem, ending) = split_ending(name);
    format!("{stem}-{count}{ending}")
}

/// Cuts a name, and keeps its ending.
fn shortened(name: &str, length: usize) -> String {
    if name.len() <= length {
        return name.to_owned();
    }
    let (stem, ending) = split_ending(name);
    let room = length.saturating_sub(ending.len());
    let stem = stem.get(..stem.floor_char_boundary(room)).unwrap_or(stem);
    format!("{}{ending}", stem.trim_end())
}

/// Splits a name before its ending, if that is short.
fn split_ending(name: &str) -> (&str, &str) {
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.len() - dot <= ENDING_BYTES_MAX);
    name.split_at(dot.unwrap_or(name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail::PartRole;

    fn part(number: usize, mime: &str, name: &str) -> PartInfo {
        crate::parts::testing::part(number, mime, name, PartRole::Attached)
    }

    fn names(names: &[&str]) -> Vec<String> {
        let parts: Vec<PartInfo> = (1..).zip(names).map(|(number, name)| part(number, "a/b", name)).collect();
        file_names(&parts)
    }

    #[test]
    fn names_lead_nowhere_and_hide_nothing() {
        for (name, expected) in [
            ("report.pdf", "report.pdf"),
            ("größe 日本.txt", "größe 日本.txt"),
            ("../../etc/passwd", "passwd"),
            ("/etc/passwd", "passwd"),
            ("C:\\Users\\ana\\x.exe", "x.exe"),
            ("a/..", "a"),
            ("a/", "a"),
            ("..", "part-1.bin"),
            (".", "part-1.bin"),
            ("/", "part-1.bin"),
            ("", "part-1.bin"),
            (" . ", "part-1.bin"),
            ("\u{202e}", "part-1.bin"),
            (".bashrc", "_bashrc"),
            ("...x", "_..x"),
            ("-rf", "_rf"),
            ("~", "_"),
            ("a\0b\u{1b}[2J\u{7}.txt", "a_b_[2J_.txt"),
            ("gpj.\u{202e}exe", "gpj._exe"),
            ("a\u{200b}b\u{feff}", "a_b_"),
            ("a\nb\tc.txt", "a b c.txt"),
            ("a\u{2028}b\u{a0}c", "a_b c"),
            ("x?y*z:\"<>|.txt", "x_y_z_____.txt"),
            ("trailing. . ", "trailing"),
            ("con", "_con"),
            ("NUL.txt", "_NUL.txt"),
            ("com1.tar.gz", "_com1.tar.gz"),
            ("com.txt", "com.txt"),
            ("com10", "com10"),
            ("console", "console"),
        ] {
            assert_eq!(names(&[name]), [expected], "{name:?}");
        }
    }

    #[test]
    fn every_character_gives_a_name_of_one_harmless_component() {
        for character in ('\0'..='\u{ffff}').chain('\u{e0000}'..='\u{e0fff}') {
            for name in [character.to_string(), format!("a{character}b"), format!("{character}.txt")] {
                let given = &names(&[&name])[0];
                let is_plain = !given.is_empty()
                    && !given.starts_with(['.', '-', '~', ' '])
                    && !given.ends_with(['.', ' '])
                    && !given.contains(|inner: char| is_harmful(inner) || FORBIDDEN.contains(&inner));
                assert!(is_plain, "{name:?} {given:?}");
            }
        }
    }

    #[test]
    fn long_names_are_cut_and_keep_their_ending() {
        let long = format!("{}.pdf", "ä".repeat(300));
        let name = &names(&[&long])[0];
        assert!(name.len() <= NAME_BYTES_MAX && name.ends_with("ä.pdf"), "{name}");
        let without = &names(&[&format!("a.{}", "b".repeat(400))])[0];
        assert_eq!(without.len(), NAME_BYTES_MAX);
    }

    #[test]
    fn the_second_of_two_gets_a_number() {
        assert_eq!(
            names(&["a.txt", "b", "A.TXT", "b", "a-2.txt", "a.txt", ".x"]),
            ["a.txt", "b", "A-2.TXT", "b-2", "a-2-2.txt", "a-3.txt", "_x"]
        );
    }

    #[test]
    fn parts_without_a_name_are_named_by_number_and_type() {
        let parts = [
            part(1, "text/plain", ""),
            part(2, "image/jpeg", "."),
            PartInfo { is_message: true, ..part(3, "message/rfc822", "") },
            part(4, "application/x", ""),
        ];
        assert_eq!(file_names(&parts), ["part-1.txt", "part-2.jpg", "part-3.eml", "part-4.bin"]);
    }
}
