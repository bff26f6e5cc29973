//! The configuration file as `pneu init` writes it: the user's addresses, roots, and what every key means.
//!
//! Takes addresses and roots. [`configuration`](super::configuration) reads the text back.

use crate::setup::account::Account;
use index::Root;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The text before the roots.
const BEGIN: &str = "\
# The configuration of pneu. Lines that begin with # are comments and examples; remove the # to use one.

# More header fields to search, for example with X-Spam-Score:yes. For messages that are already indexed,
# run \"pneu check --repair\", which reads them again.
# headers = [\"X-Spam-Score\", \"X-Mailer\"]

# The program that shows long output on a terminal, unless $PNEU_PAGER names one; \"\" for none.
# pager = \"less -R\"

# Commands that \"pneu index\" runs, without a shell: before it looks at the mail, and after that.
# [index]
# before = \"mbsync -a\"
# after = \"notify-new-mail\"
#
# For how many days the index remembers what changed, for programs that follow it with \"pneu changes\".
# changes_days = 30
#
# true: the text of encrypted messages is searched, as far as gpg and gpgsm can decrypt them without asking.
# The decrypted words are then in the index, in the clear, in files for you alone.
# decrypt = false

# true: the tags unread, flagged, replied, passed and draft are the flags of the files, as in notmuch.
# [tags]
# sync_flags = true

# Rules tag new messages, in this order. \"pneu tag\" changes tags later.
# [[rule]]
# query = \"list:rust-users\"
# tag = \"+rust -inbox\"

# Commands that read the text of attachments, so that embed:word finds it: the content on standard input, the
# text on standard output. \"pneu index\" runs them after it has added new mail. The limits are
# for one message; those of memory and input are for one attachment.
# [attachments]
# time_seconds = 60
# memory_mib = 1024
# input_mib = 64
# text_mib = 4
# [attachments.filters]
# \"application/pdf\" = \"pdftotext - -\"

# Languages for which ~word finds other forms: ~detail also finds details and detailed. With stem_all, plain
# words do so too, as in notmuch, except words in quotation marks or with a capital letter.
# [search]
# stem = [\"english\", \"german\"]
# stem_all = true

";
/// The text before the user's addresses.
const USER: &str = "\
# Your own addresses: flag:personal finds mail addressed to one of them, and \"pneu contacts\" leaves them
# out. \"@example.org\" stands for all addresses of that domain.
";

/// The text before the first root.
const ROOTS: &str = "\
# Each [[root]] is a directory that holds Maildirs, at any depth. Its name (letters, digits, . _ -) identifies
# it, even if the directory moves. Its path begins with / or ~/. A root may not lie inside another. Make each
# account a root of its own. Its folders with a role can be named: trash, sent, drafts, archive and spam.
# Without that, a folder with a usual name is taken. :archive means the folder with that role. \"from\" lists
# who the account's mail is from, and \"sendmail\" is the command that sends it.
# from = [\"Ana Ito <ana@example.org>\"]
# sendmail = \"msmtp -a work\"
";

/// A path cannot stand in a configuration, which is UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the path {} is not UTF-8 and cannot stand in a configuration", path.display())]
pub struct PathIsNotText {
    /// The path.
    pub path: PathBuf,
}

/// Returns the text.
///
/// # Errors
/// A path cannot stand in the file.
pub fn configuration(
    (roots, accounts): (&[Root], &BTreeMap<String, Account>),
    addresses: &[String],
    home: Option<&Path>,
) -> Result<String, PathIsNotText> {
    let mut text = format!("{BEGIN}{USER}{}{ROOTS}", user(addresses));
    for root in roots {
        let path = below_home(&root.path, home)?;
        let (name, path) = (toml::Value::from(root.name.as_str()), toml::Value::from(path));
        write!(text, "[[root]]\nname = {name}\npath = {path}\n").expect("writing to a string");
        accounts.get(&root.name).into_iter().for_each(|account| write_account(&mut text, account));
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

/// Returns the table of the user, as an example if no address is known.
fn user(addresses: &[String]) -> String {
    if addresses.is_empty() {
        return "# [user]\n# addresses = [\"ana@example.org\"]\n\n".to_owned();
    }
    format!("[user]\naddresses = {}\n\n", list(addresses))
}

/// Appends what is known of an account.
fn write_account(text: &mut String, Account { folders, from, sendmail }: &Account) {
    let mut key = |name: &str, value: String| {
        writeln!(text, "{name} = {value}").expect("writing to a string");
    };
    for (role, folder) in folders {
        key(role.name(), toml::Value::from(folder.as_str()).to_string());
    }
    if !from.is_empty() {
        key("from", list(from));
    }
    if let Some(command) = sendmail {
        key("sendmail", toml::Value::from(command.as_str()).to_string());
    }
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| toml::Value::from(text.as_str()).to_string()).collect();
    format!("[{}]", texts.join(", "))
}

fn below_home(path: &Path, home: Option<&Path>) -> Result<String, PathIsNotText> {
    let text = path.to_str().ok_or_else(|| PathIsNotText { path: path.to_owned() })?;
    let below = home.and_then(|home| path.strip_prefix(home).ok()).and_then(Path::to_str);
    Ok(below.filter(|below| !below.is_empty()).map_or_else(|| text.to_owned(), |below| format!("~/{below}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::configuration as config;
    use crate::setup::roles::Role;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    fn root(name: &str, path: &str) -> Root {
        Root { name: name.into(), path: path.into() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let home = Path::new("/home/ana");
        let none = BTreeMap::new();
        for roots in [
            vec![root("mail", "/home/ana/Maildir")],
            vec![
                root("work", "/srv/\"odd\" \\ 'name'\n"),
                root("home", "/home/ana"),
                root("x", "/home/bo/~"),
            ],
        ] {
            let text = configuration((&roots, &none), &[], Some(home)).unwrap();
            assert_eq!(config::parse(&text, Some(home)).unwrap().roots, roots, "{text}");
            let addresses =
                ["ana@example.org".to_owned(), "\"o\\dd\"@x".to_owned(), "@home.example".to_owned()];
            let text = configuration((&roots, &none), &addresses, Some(home)).unwrap();
            let read = config::parse(&text, Some(home)).unwrap();
            assert_eq!((read.roots, read.addresses), (roots, addresses.to_vec()), "{text}");
        }
        let text = configuration((&[root("mail", "/home/ana/Maildir")], &none), &[], Some(home)).unwrap();
        assert!(text.ends_with("[[root]]\nname = \"mail\"\npath = \"~/Maildir\"\n"), "{text}");
        let account = Account {
            folders: [(Role::Trash, "\"Bin\"\\".into()), (Role::Spam, "[Gmail]/Spam".into())].into(),
            from: vec!["Ana <ana@x>".into(), "b@x".into()],
            sendmail: Some("msmtp -a 'w'".into()),
        };
        let accounts = BTreeMap::from([("mail".to_owned(), account)]);
        let full = configuration((&[root("mail", "/m")], &accounts), &[], Some(home)).unwrap();
        assert_eq!(config::parse(&full, Some(home)).unwrap().accounts, accounts, "{full}");
        let with_user = text.replace("# [user]", "[user]").replace("# addresses", "addresses");
        assert_eq!(config::parse(&with_user, Some(home)).unwrap().addresses, ["ana@example.org"]);
        let with_headers = text.replace("# headers", "headers");
        assert_eq!(config::parse(&with_headers, Some(home)).unwrap().headers, ["X-Spam-Score", "X-Mailer"]);
        let odd = Root { name: "x".into(), path: OsStr::from_bytes(b"/\xff").into() };
        assert!(configuration((&[odd], &none), &[], None).unwrap_err().to_string().contains("not UTF-8"));
    }
}
