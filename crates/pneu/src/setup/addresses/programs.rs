//! Takes the user's addresses out of the configuration of other programs: notmuch, mutt and neomutt, msmtp,
//! mbsync, git.
//!
//! Input: the text of a file. Output: addresses in their order. Commands in such files are never run: a value
//! that needs one is left out. Does not depend on where the files lie.

use crate::setup::configuration::is_address;

/// Returns `primary_email` and `other_email` of notmuch.
pub(in crate::setup) fn notmuch(text: &str) -> Vec<String> {
    let keys = ["primary_email", "other_email"];
    let values =
        ini(text, "user").filter(|(key, _)| keys.iter().any(|known| key.eq_ignore_ascii_case(known)));
    values.flat_map(|(_, value)| value.split(';')).filter_map(plain).collect()
}

/// Returns an address with the name that notmuch's configuration has for its user, if it is one of that user.
pub(in crate::setup) fn with_name(text: &str, address: String) -> String {
    let name = ini(text, "user").find(|(key, _)| key.eq_ignore_ascii_case("name")).map(|(_, name)| name);
    let is_own = notmuch(text).iter().any(|own| own.eq_ignore_ascii_case(&address));
    let is_plain = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '\''))
    };
    match name.filter(|name| is_own && is_plain(name)) {
        Some(name) => format!("{name} <{address}>"),
        None => address,
    }
}

/// Returns the command of the account of msmtp that sends from an address.
pub(in crate::setup) fn msmtp_account(text: &str, address: &str) -> Option<String> {
    let mut account = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("account"), Some(name)) => account = Some(name),
            (Some("from"), Some(from)) if from.eq_ignore_ascii_case(address) => {
                let is_plain =
                    |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
                return account.filter(is_plain).map(|name| format!("msmtp -a {name}"));
            }
            _ => {}
        }
    }
    None
}

/// Returns `user.email` of git.
pub(super) fn git(text: &str) -> Vec<String> {
    let values = ini(text, "user").filter(|(key, _)| key.eq_ignore_ascii_case("email"));
    values.filter_map(|(_, value)| plain(value)).collect()
}

/// Returns the users of mbsync that are addresses.
pub(super) fn mbsync(text: &str) -> Vec<String> {
    words(text, &["User"]).filter_map(plain).collect()
}

/// Returns the senders of msmtp.
pub(super) fn msmtp(text: &str) -> Vec<String> {
    words(text, &["from", "user"]).filter_map(plain).collect()
}

/// Returns `from` of mutt and neomutt, their own `From:` fields, and those alternates that name a single
/// address.
pub(super) fn mutt(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some((command, rest)) = line.split_once(char::is_whitespace) else { continue };
        match command {
            "set" => found.extend(mutt_from(rest).and_then(plain)),
            "my_hdr" => found.extend(rest.trim_start().strip_prefix("From:").and_then(plain)),
            "alternates" => {
                found.extend(rest.split_whitespace().filter_map(|pattern| plain(&literal(pattern)?)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the value of `from` among the variables that `set` sets.
fn mutt_from(rest: &str) -> Option<&str> {
    let places = rest.match_indices("from").filter_map(|(place, name)| {
        let is_begun = rest[..place].chars().next_back().is_none_or(char::is_whitespace);
        let value = rest[place + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        is_begun.then_some(value)
    });
    let value = places.last()?;
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    match quote {
        Some(quote) => value[1..].split(quote).next(),
        None => value.split(|c: char| c.is_whitespace() || c == '#').next(),
    }
}

/// Returns what a regular expression matches, if that is a single text.
fn literal(pattern: &str) -> Option<String> {
    let pattern = pattern.trim_matches(['"', '\'']);
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            // In quotes a backslash stands for itself only if it is doubled.
            '\\' => text.push(characters.find(|next| *next != '\\')?),
            '*' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '^' | '$' => return None,
            _ => text.push(character),
        }
    }
    Some(text)
}

/// Returns keys and values of a section of a file in the form of git and notmuch.
fn ini<'a>(text: &'a str, section: &'static str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mut is_in_section = false;
    text.lines().map(str::trim).filter_map(move |line| {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default().trim();
            is_in_section = name.eq_ignore_ascii_case(section);
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| is_in_section && !line.starts_with(['#', ';']))?;
        Some((key.trim(), value.trim()))
    })
}

/// Returns the second words of lines that begin with one of these words.
fn words<'a>(text: &'a str, names: &'static [&'static str]) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(char::is_whitespace)?;
        names.contains(&name).then(|| value.trim())
    })
}

/// Returns the address in a value: alone, in quotes, or in angle brackets after a name. `None` if a command
/// or a variable makes it.
fn plain(value: &str) -> Option<String> {
    let value = value.trim().trim_matches(['"', '\'']);
    let bracketed = value.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    let address = bracketed.map_or(value, |(address, _)| address).trim();
    let is_made = address.contains(['`', '$', '"', '\'', '\\', '(', ')', '#', '*']);
    (!is_made && is_address(address)).then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notmuch_and_git_have_sections() {
        let text = "[database]\npath=/m\n[user]\nname=Ana\nprimary_email = ana@example.org\n\
                    other_email=a@x.org;  b@x.org;;\n# other_email=c@x.org\n[new]\nother_email=d@x.org\n";
        assert_eq!(notmuch(text), ["ana@example.org", "a@x.org", "b@x.org"]);
        let text = "[core]\n\temail = no@x.org\n[user]\n\tname = Ana\n\tEmail = \"ana@example.org\"\n\
                    [user \"x\"]\n\temail = no@x.org\n";
        assert_eq!(git(text), ["ana@example.org"]);
        assert_eq!(git("[user]\nemail = ana\nemail\nemail = `id`@x.org\n"), [""; 0]);
    }

    #[test]
    fn mbsync_and_msmtp_have_words() {
        let text = "IMAPAccount a\nHost mail.example.org\nUser ana@example.org\n  User \"b@x.org\"\n\
                    User ana\nUserCmd echo@x.org\nPass x@y\n";
        assert_eq!(mbsync(text), ["ana@example.org", "b@x.org"]);
        assert_eq!(
            msmtp("account a\nfrom ana@example.org\nuser ana\nfrom *@x.org\nhost a@b\n"),
            ["ana@example.org"]
        );
    }

    #[test]
    fn mutt_sets_variables() {
        let text = "set realname=\"Ana Ito\" from = 'ana@example.org' # mine\nset from=b@x.org\n\
                    set use_from=yes\n\
                    set from=\"C Dee <c@x.org>\"\nset from = `pass mail`\nset from=$mine\n\
                    set envelope_from=no@x.org\n\
                    my_hdr From: E <e@x.org>\nmy_hdr Bcc: no@x.org\n\
                    alternates f@x\\.org \"^g@x\\\\.org$\" .*@y\\.org (h|i)@x\\.org\n\
                    # set from=no@x.org\nset\n";
        let expected = ["ana@example.org", "b@x.org", "c@x.org", "e@x.org", "f@x.org", "g@x.org"];
        assert_eq!(mutt(text), expected);
    }
}
