//! Shows what a configuration from elsewhere names, and installs it after the user agreed.
//!
//! Takes a file. Everything in the file is shown, or the file is refused. Does not know where the file came
//! from.

use crate::confirm::confirm;
use crate::exit::Outcome;
use crate::sanitise::{is_harmful, one_line};
use crate::session::Session;
use crate::setup::configuration_file::{refuse_another, write};
use crate::words::quoted_path;
use anyhow::{Result, anyhow, bail};
use backup::CONFIGURATION_BYTES_MAX;
use pneu::setup::account::Account;
use pneu::setup::configuration::{
    self as config, ArchiveConfiguration, Configuration, ConfigurationError, EncryptedText,
};
use pneu::setup::roots::check_on_disk;
use pneu::setup::rules::Rule;
use std::path::Path;

/// Most names that are listed without a request.
const LISTED_COUNT_MAX: usize = 20;

/// Returns all that a configuration names, a line each: commands and repositories first.
///
/// # Errors
/// It is not a configuration.
pub(crate) fn named(text: &str, home: Option<&Path>) -> Result<Vec<String>, ConfigurationError> {
    // Every key is named here, so that a new one cannot be forgotten. Settings for queries and for the
    // change log name nothing. What is decrypted is told: it lies in the index in the clear.
    let Configuration {
        roots,
        accounts,
        headers,
        archive,
        addresses,
        stemming: _,
        pager,
        hooks,
        changes_days: _,
        flag_tags: _,
        rules,
        attachments,
        encrypted_text,
    } = config::parse(text, home)?;
    let mut lines = Vec::new();
    let commands = [pager, hooks.before, hooks.after];
    let sending = accounts.values().map(|account| account.sendmail.clone());
    let commands = commands.into_iter().chain(sending).flatten().chain(attachments.filters.into_values());
    lines.extend(commands.map(|command| format!("command {command}")));
    if let Some(ArchiveConfiguration { repository, password_file, password_command }) = archive {
        lines.extend(password_command.map(|command| format!("command {command}")));
        lines.push(format!("repository {repository}"));
        lines.extend(password_file.map(|path| format!("password file {}", path.display())));
    }
    if encrypted_text == EncryptedText::Indexed {
        lines.push("text of encrypted messages, to be indexed in the clear".to_owned());
    }
    lines.extend(roots.iter().map(|root| format!("mail {} in {}", root.name, root.path.display())));
    for (root, Account { folders, from, sendmail: _ }) in &accounts {
        lines.extend(folders.iter().map(|(role, folder)| format!("{role} {folder} of {root}")));
        lines.extend(from.iter().map(|identity| format!("from {identity} of {root}")));
    }
    for Rule { query, change } in &rules {
        let added = change.add.iter().map(|tag| format!("+{tag} "));
        let tags: String = added.chain(change.remove.iter().map(|tag| format!("-{tag} "))).collect();
        lines.push(format!("rule {tags}for new messages: {query}"));
    }
    lines.extend(addresses.iter().map(|address| format!("address {address}")));
    lines.extend(headers.iter().map(|header| format!("header field {header}")));
    Ok(lines.iter().map(|line| one_line(line).into_owned()).collect())
}

/// Returns why a text is not a configuration. Only a mistake of syntax has several lines, each with a mark
/// before what the file says: values of the file cannot look like other messages.
pub(crate) fn fault(error: &ConfigurationError) -> String {
    match error {
        ConfigurationError::Syntax { what, .. } => what.clone(),
        other => one_line(&other.to_string()).into_owned(),
    }
}

/// Returns names as lines, up to a limit.
pub(crate) fn listed(named: &[String]) -> String {
    let shown = named.iter().take(LISTED_COUNT_MAX).map(|name| format!("  {name}"));
    let more = named.len().saturating_sub(LISTED_COUNT_MAX);
    let more = (more > 0).then(|| format!("  and {more} more"));
    shown.chain(more).collect::<Vec<_>>().join("\n")
}

/// Shows a configuration, and installs it if the user agrees.
///
/// # Errors
/// It is not a configuration, or cannot be shown as it is; there is another one; the user does not agree.
pub(crate) fn adopt(path: &Path, is_agreed: bool, session: &Session) -> Result<Outcome> {
    let place = session.configuration.as_deref();
    let place = place.ok_or_else(|| anyhow!("HOME is not set, so there is no place for a configuration"))?;
    let text = read(path)?;
    let named = named(&text, session.home.as_deref())
        .map_err(|error| anyhow!("{}: {}", path.display(), fault(&error)))?;
    check_on_disk(&config::parse(&text, session.home.as_deref())?.roots)?;
    refuse_another(place, &text)?;
    let mut output = session.output();
    output.bytes(text.as_bytes())?;
    if !text.ends_with('\n') {
        output.line("")?;
    }
    output.line("")?;
    output.line(if named.is_empty() { "It contains nothing." } else { "It contains" })?;
    // Commands and repositories last, right above the question.
    for name in named.iter().rev() {
        output.line(&format!("  {name}"))?;
    }
    output.finish()?;
    if !is_agreed {
        if !session.can_ask {
            let again = quoted_path(path);
            bail!("nothing was changed yet; after reading it, run: pneu init --adopt {again} --yes");
        }
        if !confirm(&format!("Adopt it as {}?", place.display()))? {
            return session.nothing("nothing was changed");
        }
    }
    let is_new = write(place, &text)?;
    if !session.is_quiet {
        let mut output = session.output();
        let done = if is_new { "was written" } else { "already exists" };
        output.line(&one_line(&format!("configuration {} {done}", place.display())))?;
        output.line("next: pneu index")?;
        output.finish()?;
    }
    Ok(Outcome::Done)
}

/// Reads a file, and checks that its bytes can be a configuration.
fn read(path: &Path) -> Result<String> {
    let shown = path.display();
    let bytes = disk::read_small(path, CONFIGURATION_BYTES_MAX, disk::Source::File)
        .map_err(|error| anyhow!("cannot read {shown}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("{shown} is not UTF-8 text"))?;
    // Characters that control a terminal cannot be shown, and the user cannot agree to what is not shown.
    let hidden = |(_, line): &(usize, &str)| line.contains(|c| is_harmful(c) && c != '\t');
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    if let Some((line, _)) = (1..).zip(lines).find(hidden) {
        bail!("{shown} has unprintable characters in line {line}; remove them first");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_a_configuration_names_is_listed_and_nothing_reaches_the_terminal() {
        let text = "headers = [\"X-A\"]\npager = \"sh -c ls\"\n\
                    index.before = \"fetch\"\nindex.after = \"tell\"\nindex.decrypt = true\n\
                     attachments.filters.\"a/b\" = \"read\"\n\
                    [[root]]\nname = \"work\"\npath = \"~/Mail\\u001b[2J\"\n\
                    spam = \"Junk\"\nfrom = \"a@x\"\nsendmail = \"send\"\n\
                    [[rule]]\nquery = \"from:x\"\ntag = \"-b +a\"\n[archive]\n\
                    repository = \"s3:host/bucket\"\npassword_file = \"/secret\"\npassword_command = \"sh -c \
                    'id'\"\n";
        let expected = [
            "command sh -c ls",
            "command fetch",
            "command tell",
            "command send",
            "command read",
            "command sh -c 'id'",
            "repository s3:host/bucket",
            "password file /secret",
            "text of encrypted messages, to be indexed in the clear",
            "mail work in /home/ana/Mail\u{fffd}[2J",
            "spam Junk of work",
            "from a@x of work",
            "rule +a -b for new messages: from:x",
            "header field X-A",
        ];
        assert_eq!(named(text, Some(Path::new("/home/ana"))).unwrap(), expected);
        assert_eq!(named("", None).unwrap(), Vec::<String>::new());
        assert!(named("x = 1", None).is_err());
        for forged in ["[[root]]\nname = \"x\\npneu: \"\npath = \"r\"\n", "headers = [\"\\npneu: \"]\n"] {
            let said = fault(&named(forged, None).unwrap_err());
            assert!(!said.contains('\n'), "{said:?}");
        }
    }

    #[test]
    fn a_list_has_an_end() {
        let names = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(listed(&names(2)), "  0\n  1");
        assert_eq!(listed(&names(LISTED_COUNT_MAX)).lines().count(), LISTED_COUNT_MAX);
        assert!(listed(&names(LISTED_COUNT_MAX + 2)).ends_with("\n  19\n  and 2 more"));
    }

    #[test]
    fn what_cannot_be_shown_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c");
        let said = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(said(b"# a\tb\r\n").unwrap(), "# a\tb\r\n");
        assert!(said(b"\n# a\x1b[2J\n").unwrap_err().contains("in line 2"));
        assert!(said("# \u{202e}\n".as_bytes()).unwrap_err().contains("in line 1"));
        assert!(said(b"# a\rb\n").unwrap_err().contains("in line 1"));
        assert!(said(b"\xff").unwrap_err().contains("not UTF-8 text"));
        let most = vec![b'\n'; CONFIGURATION_BYTES_MAX + 1];
        assert!(said(&most[1..]).is_ok());
        assert!(said(&most).unwrap_err().contains("more than 65536 bytes"));
        assert!(read(directory.path()).unwrap_err().to_string().contains("is a directory"));
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read(&pipe).unwrap_err().to_string().contains("regular file"));
    }
}
