//! What a shell offers for Tab: commands, options and values.
//!
//! Input: a line that a shell's script sent ([`Line`]), the definition of the command line, and what the
//! program offers for values. Output: what the script reads. Does not know any command.
//!
//! The scripts ([`script`]) hold no words themselves: they ask the program at each Tab, with
//! `PROGRAM __complete SHELL ...`. Values may come from mail. Text that a terminal would act on is never
//! offered, and every shell gets the rest as plain text: for bash it is quoted here, zsh and fish quote what
//! they insert.

mod bash;
mod candidate;
mod cursor_position;
mod script;
mod shell;

pub use candidate::{Candidate, Offered, Wanted};
pub use script::script;
pub use shell::CompletedShell;

use clap::ValueEnum;
use cursor_position::CursorPosition;
use printable::sanitise;
use std::ffi::OsString;

/// The first argument of a request. It is not a command, so that no help and no error names it.
const QUESTION: &str = "__complete";

/// A command line up to the cursor, as a shell sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    shell: CompletedShell,
    /// The words before the one at the cursor, the program's name first.
    words: Vec<OsString>,
    /// The word at the cursor, up to there, without quotes.
    word: String,
    /// The part that bash replaces.
    replaced: bash::Replaced,
}

impl Line {
    /// Returns the line that the program's arguments ask about, if they ask about one.
    pub fn asked(arguments: &[OsString]) -> Option<Line> {
        let [_, question, shell, words @ ..] = arguments else { return None };
        if question != QUESTION {
            return None;
        }
        let shell = CompletedShell::from_str(shell.to_str()?, false).ok()?;
        if shell == CompletedShell::Bash {
            let [line, last] = words else { return None };
            let (words, word, replaced) = bash::split(line.to_str()?, last.to_str()?)?;
            return Some(Line { shell, words, word, replaced });
        }
        let (word, words) = words.split_last()?;
        // zsh has removed quotes, fish has not.
        let word = word.to_str()?;
        let word = if shell == CompletedShell::Fish { unquoted_by_fish(word) } else { word.to_owned() };
        Some(Line { shell, words: words.to_vec(), word, replaced: bash::Replaced::default() })
    }

    /// Returns what to print. `definition` is that of the whole command line; `offered` says what there is
    /// for values of which it does not list all.
    pub fn answer(&self, definition: &clap::Command, offered: impl Fn(&Wanted) -> Offered) -> Vec<u8> {
        let place = CursorPosition::find(definition, &self.words, &self.word);
        match place.offered(offered) {
            Offered::Files => b"files\n".to_vec(),
            Offered::Directories => b"directories\n".to_vec(),
            Offered::Values(candidates) => {
                let is_safe = |candidate: &Candidate| sanitise::first_harmful(&candidate.text).is_none();
                let fits = |candidate: &Candidate| candidate.text.starts_with(&self.word);
                let kept: Vec<Candidate> = candidates
                    .into_iter()
                    .filter(|candidate| is_safe(candidate) && fits(candidate))
                    .collect();
                self.written(&kept).into_bytes()
            }
        }
    }

    fn written(&self, candidates: &[Candidate]) -> String {
        let mut answer = match (self.shell, candidates) {
            (CompletedShell::Bash, [only]) if only.is_open => "open\n".to_owned(),
            _ => "values\n".to_owned(),
        };
        for Candidate { text, about, is_open } in candidates {
            let about = sanitise::one_line(about);
            match self.shell {
                CompletedShell::Bash => answer.push_str(&self.replaced.by(text)),
                CompletedShell::Zsh => {
                    answer.push(if *is_open { '-' } else { '+' });
                    answer.push_str(&format!("{text}\t{about}"));
                }
                CompletedShell::Fish => answer.push_str(&format!("{text}\t{about}")),
            }
            answer.push('\n');
        }
        answer
    }
}

/// Removes quotes and escapes of a word as fish reads it; the last quote may be open.
fn unquoted_by_fish(raw: &str) -> String {
    let mut word = String::new();
    let mut quote = None;
    let mut characters = raw.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match (character, quote) {
            ('\'' | '"', None) => quote = Some(character),
            (character, Some(open)) if character == open => quote = None,
            ('\\', None) => word.extend(characters.next()),
            ('\\', Some(open)) if next.is_some_and(|next| next == '\\' || next == open) => {
                word.extend(characters.next());
            }
            ('\\', Some('"')) if next == Some('$') => word.extend(characters.next()),
            (character, _) => word.push(character),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str]) -> Option<Line> {
        let all: Vec<OsString> = ["pneu"].iter().chain(arguments).map(OsString::from).collect();
        Line::asked(&all)
    }

    fn answer(arguments: &[&str], value: &str) -> String {
        let argument = clap::Arg::new("words").value_name("QUERY").action(clap::ArgAction::Append);
        let definition = clap::Command::new("pneu").subcommand(clap::Command::new("find").arg(argument));
        let offered = |wanted: &Wanted| {
            assert_eq!(wanted.value_name, "QUERY");
            let beginning = Candidate::beginning("from:", "the\u{1b}[2J sender");
            Offered::Values(vec![beginning, Candidate::word(value, "x")])
        };
        String::from_utf8(line(arguments).unwrap().answer(&definition, offered)).unwrap()
    }

    #[test]
    fn only_questions_are_answered() {
        for arguments in [
            &["find", "x"][..],
            &["__complete"],
            &["__complete", "csh", "pneu"],
            &["__complete", "zsh"],
            &["__complete", "bash", "pneu "],
        ] {
            assert_eq!(line(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn every_shell_gets_values_in_its_own_way() {
        let evil = "tag:$(touch x);`y` 'z";
        assert_eq!(
            answer(&["__complete", "bash", "pneu find ta", "ta"], evil),
            "values\ntag:\\$\\(touch\\ x\\)\\;\\`y\\`\\ \\'z\n"
        );
        assert_eq!(answer(&["__complete", "bash", "pneu find fr", "fr"], evil), "open\nfrom:\n",);
        assert_eq!(
            answer(&["__complete", "zsh", "pneu", "find", ""], evil),
            "values\n-from:\tthe\u{fffd}[2J sender\n+tag:$(touch x);`y` 'z\tx\n"
        );
        assert_eq!(
            answer(&["__complete", "fish", "pneu", "find", "'tag:$(tou"], evil),
            "values\ntag:$(touch x);`y` 'z\tx\n"
        );
    }

    #[test]
    fn what_a_terminal_acts_on_is_not_offered() {
        for harmful in ["tag:a\u{1b}]0;x\u{7}", "tag:a\nb", "tag:a\tb", "tag:\u{202e}a", "tag:\u{9b}2J"] {
            for shell in ["zsh", "fish"] {
                assert_eq!(answer(&["__complete", shell, "pneu", "find", "ta"], harmful), "values\n");
            }
        }
    }

    #[test]
    fn quotes_of_fish_are_taken_off() {
        for (raw, expected) in [
            ("plain", "plain"),
            ("'a b", "a b"),
            (r"a\ b\$c", "a b$c"),
            (r#""a \"b\" \$c \d"e"#, r#"a "b" $c \de"#),
            (r"'it\'s \\ \d'", r"it's \ \d"),
            ("\\", ""),
        ] {
            assert_eq!(unquoted_by_fish(raw), expected, "{raw}");
        }
    }
}
