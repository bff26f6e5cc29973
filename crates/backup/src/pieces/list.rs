//! The text of a list of pieces: for each message that is not one blob of its own id, the pieces of its file.
//!
//! docs/FORMAT.md, "Mail: what is known of backups", has the format. Pure.

use restic::Id;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The first line.
const FIRST: &str = "pneu-pieces 1";

/// Pieces of the files of messages, by the SHA-256 of each message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PieceList(pub BTreeMap<[u8; 32], Vec<Id>>);

impl PieceList {
    /// Returns the list as text; none if there is nothing in it.
    pub(crate) fn text(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let mut text = format!("{FIRST}\n");
        for (message, pieces) in &self.0 {
            // Writing into a string never fails.
            let _ = write!(text, "{}\t", Id(*message));
            let names: Vec<String> = pieces.iter().map(Id::to_string).collect();
            text.push_str(&names.join(" "));
            text.push('\n');
        }
        Some(text)
    }

    /// Parses a list.
    ///
    /// # Errors
    /// A sentence that names the line.
    pub(crate) fn parse(text: &[u8]) -> Result<PieceList, String> {
        let text = std::str::from_utf8(text).map_err(|_| "it is not UTF-8")?;
        let mut lines = (1..).zip(text.lines());
        if lines.next().map(|(_, first)| first) != Some(FIRST) {
            return Err(format!("line 1 is not \"{FIRST}\""));
        }
        let mut list = BTreeMap::new();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let fault = || format!("line {number} is not a message with its pieces");
            let (message, pieces) = line.split_once('\t').ok_or_else(fault)?;
            let id = |digits: &str| digits.parse::<Id>().map_err(|_| fault());
            let pieces = pieces.split(' ').map(id).collect::<Result<Vec<Id>, String>>()?;
            list.insert(id(message)?.0, pieces);
        }
        Ok(PieceList(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let list =
            PieceList([([1; 32], vec![Id([2; 32]), Id([3; 32])]), ([0; 32], vec![Id([9; 32])])].into());
        let hex = |byte: &str| byte.repeat(32);
        let text = format!(
            "pneu-pieces 1\n{}\t{}\n{}\t{} {}\n",
            hex("00"),
            hex("09"),
            hex("01"),
            hex("02"),
            hex("03")
        );
        assert_eq!(list.text().as_deref(), Some(text.as_str()));
        assert_eq!(PieceList::parse(text.as_bytes()), Ok(list));
        assert_eq!(PieceList::default().text(), None);
        let commented = text.replace('\n', "\r\n") + "\n# more\n";
        assert_eq!(PieceList::parse(commented.as_bytes()), PieceList::parse(text.as_bytes()));
    }

    #[test]
    fn damage_names_its_line() {
        let id = "07".repeat(32);
        for (text, what) in [
            (String::new(), "line 1 is not \"pneu-pieces 1\""),
            ("pneu-pieces 2\n".into(), "line 1 is not \"pneu-pieces 1\""),
            (format!("pneu-pieces 1\n{id}\n"), "line 2 is not a message with its pieces"),
            (format!("pneu-pieces 1\n\n{id}\t\n"), "line 3 is not a message with its pieces"),
            (format!("pneu-pieces 1\n{id}\t{id}  {id}\n"), "line 2 is not a message with its pieces"),
            (format!("pneu-pieces 1\nx\t{id}\n"), "line 2 is not a message with its pieces"),
        ] {
            assert_eq!(PieceList::parse(text.as_bytes()), Err(what.to_owned()), "{text}");
        }
        assert_eq!(PieceList::parse(b"\xff"), Err("it is not UTF-8".to_owned()));
    }
}
