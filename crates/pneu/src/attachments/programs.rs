//! Finds out whether the programs that a command names can be started, before it is run.
//!
//! Input: a command for the shell. Output: a script that ends well if the shell finds its programs. What a
//! command returns later says nothing about that: 127 may be its answer to one content. Looks only at what
//! is plain to see, and takes everything else for good. Does not run anything.

/// Returns a script that fails if the shell cannot start one of the programs of a command.
pub(super) fn test_script(command: &str) -> String {
    let test = |word: &str| match word.contains('/') {
        true => format!("[ -f {word} ] && [ -x {word} ] || exit 1\n"),
        false => format!("command -v {word} >/dev/null || exit 1\n"),
    };
    programs(command).into_iter().map(test).collect()
}

/// What changes where or how the shell finds the programs after it.
const CHANGING: [&str; 9] = ["cd", "export", ".", "source", "set", "unset", "eval", "alias", "hash"];

/// Returns the first words of a command and of the others in its pipelines and lists, without those that the
/// shell would change. In a command with brackets, escapes or comments, only the very first. What comes after
/// `||` is needed only if the rest fails, and what comes after another directory or another PATH may be found
/// there.
fn programs(command: &str) -> Vec<&str> {
    let needed = command.split("||").next().unwrap_or_default();
    let mut commands = split(needed);
    if needed.contains(['(', ')', '`', '\\', '#']) || needed.contains("<<") {
        commands.truncate(1);
    }
    let sets_path = |command: &&str| command.split_whitespace().any(|word| word.starts_with("PATH="));
    let mut found = Vec::new();
    for command in commands.into_iter().take_while(|command| !sets_path(command)) {
        let program = program(command);
        found.extend(program);
        if program.is_some_and(|program| CHANGING.contains(&program)) {
            break;
        }
    }
    found
}

/// Splits a list or a pipeline into its commands.
fn split(command: &str) -> Vec<&str> {
    let (mut commands, mut begin, mut quote, mut before) = (Vec::new(), 0, None, ' ');
    for (at, char) in command.char_indices() {
        match (quote, char) {
            (None, '\'' | '"') => quote = Some(char),
            (Some(end), _) if end == char => quote = None,
            // A redirection such as 2>&1.
            (None, '&') if "<>".contains(before) => {}
            (None, '|' | ';' | '&' | '\n') => {
                commands.extend(command.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
        before = char;
    }
    commands.extend(command.get(begin..));
    commands
}

/// Returns the first word of a command after assignments of variables, if the shell does not change it.
fn program(command: &str) -> Option<&str> {
    let mut rest = command.trim_start();
    loop {
        let mut quote = None;
        let ends = |char: char| {
            match quote {
                None if char == '\'' || char == '"' => quote = Some(char),
                Some(end) if end == char => quote = None,
                _ => {}
            }
            quote.is_none() && char.is_whitespace()
        };
        let (word, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
        if !is_assignment(word) {
            return is_plain(word).then_some(word);
        }
        rest = after.trim_start();
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_plain(word: &str) -> bool {
    let name = word.strip_prefix("~/").unwrap_or(word);
    name.starts_with(|char: char| char.is_ascii_alphanumeric() || "_./".contains(char))
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "_./+-@%:,".contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_first_words() {
        for (command, expected) in [
            ("pdftotext - -", &["pdftotext"][..]),
            (
                " A=1 B='x | y' /usr/bin/a+b -c 2>&1|tr 'a|b' c && ~/bin/d; e",
                &["/usr/bin/a+b", "tr", "~/bin/d", "e"],
            ),
            ("a | b &\nc || d", &["a", "b", "c"]),
            ("cd /opt/ocr && ./run.sh", &["cd"]),
            ("PATH=/opt/ocr:$PATH tool", &[]),
            ("a | LC_ALL=C PATH=/opt b", &["a"]),
            ("export PATH=/opt/ocr:$PATH; tool", &[]),
            (". /opt/env.sh; tool", &["."]),
            ("if a; then b; fi", &["if", "then", "fi"]),
            ("a 2>/dev/null | 'b' | \"c d\" | $e | [ x ] | >f g | x*", &["a"]),
            ("a | (b | c) | d", &["a"]),
            ("case x in y) z;; w) v;; esac", &["case"]),
            ("a \\| b", &["a"]),
            ("cat # a | b", &["cat"]),
            ("a <<E\nb\nE", &["a"]),
            ("", &[]),
            ("-x", &[]),
            ("A=1", &[]),
        ] {
            assert_eq!(programs(command), expected, "{command}");
        }
    }
}
