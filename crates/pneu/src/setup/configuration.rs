//! The configuration file, `config.toml`: which directories hold Maildirs, which header fields can be
//! searched besides the usual ones, which addresses are the user's, which words of a query stand for all of
//! their stem. `pneu index --help` shows one.
//!
//! Input: a path, the text of the file. Output: roots, names and addresses. Does not depend on what is done
//! with them.

use crate::setup::account::{Account, RootTable};
pub use crate::setup::address::is_address;
use crate::setup::address::is_domain;
use crate::setup::attachments::{self, AttachmentConfiguration};
pub use crate::setup::configuration_error::{ConfigurationError, HeaderFault};
use crate::setup::roots;
use crate::setup::rules::{self, Rule, RuleTable};
use disk::Source;
use index::{FlagTags, Root};
use query::stem::{Languages, StemScope};
use query::{Stemming, fields};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes of a configuration.
const BYTES_MAX: usize = 1 << 20;
/// Most header fields that a configuration may name.
const HEADER_COUNT_MAX: usize = 32;

/// The user's own addresses.
const ADDRESS_COUNT_MAX: usize = 256;

/// The content of the file, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Directories that hold Maildirs.
    pub roots: Vec<Root>,
    /// What it says of each root besides its place, by the name of the root.
    pub accounts: BTreeMap<String, Account>,
    /// Names of header fields.
    pub headers: Vec<String>,
    /// The user's own addresses; `@example.org` stands for all of that domain.
    pub addresses: Vec<String>,
    /// The repository that mail is backed up to.
    pub archive: Option<ArchiveConfiguration>,
    /// Which words of a query stand for all of their stem, as the table `[search]` says.
    pub stemming: Stemming,
    /// The command that shows long output on a terminal, for programs that have one; empty for none.
    pub pager: Option<String>,
    /// The commands around an update of the index, for programs that run them.
    pub hooks: Hooks,
    /// For how many days the index remembers what changed, if it says so.
    pub changes_days: Option<u16>,
    /// Where the tags come from that can stand for flags, as the table `[tags]` says.
    pub flag_tags: FlagTags,
    /// How new messages are tagged, in order.
    pub rules: Vec<Rule>,
    /// The commands that read the text of attachments.
    pub attachments: AttachmentConfiguration,
    /// Whether the text of encrypted messages is indexed, as the table `[index]` says.
    pub encrypted_text: EncryptedText,
}

/// What of encrypted messages is indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncryptedText {
    /// Nothing but what stands outside of what is encrypted.
    #[default]
    Left,
    /// Their text, if gpg or gpgsm can decrypt it without asking anybody. It is in the index in the clear.
    Indexed,
}

impl Configuration {
    /// Returns whether anything is read after an update of the index: attachments, or encrypted messages.
    pub fn reads_attachments(&self) -> bool {
        !self.attachments.filters.is_empty() || self.encrypted_text == EncryptedText::Indexed
    }

    /// Returns all addresses that are the user's, with those that the accounts send from.
    pub fn own_addresses(&self) -> Vec<String> {
        let sending = self.accounts.values().flat_map(Account::addresses).map(str::to_owned);
        self.addresses.iter().cloned().chain(sending).collect()
    }
}

/// Commands that are run before and after the index is updated, as the table `[index]` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Before: it may fetch mail.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// Where mail is backed up to, as the table `[archive]` says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveConfiguration {
    /// The repository's address.
    pub repository: String,
    /// A file that holds its password.
    pub password_file: Option<PathBuf>,
    /// A program that prints its password.
    pub password_command: Option<String>,
}

type Result<T> = std::result::Result<T, ConfigurationError>;

/// The content of the file.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    headers: Vec<String>,
    pager: Option<String>,
    #[serde(default)]
    root: Vec<RootTable>,
    #[serde(default)]
    user: UserTable,
    archive: Option<ArchiveConfiguration>,
    #[serde(default)]
    search: SearchTable,
    #[serde(default)]
    index: IndexTable,
    #[serde(default)]
    tags: TagsTable,
    #[serde(default)]
    rule: Vec<RuleTable>,
    #[serde(default)]
    attachments: AttachmentConfiguration,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexTable {
    before: Option<String>,
    after: Option<String>,
    changes_days: Option<u16>,
    #[serde(default)]
    decrypt: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchTable {
    stem: Option<Vec<String>>,
    #[serde(default)]
    stem_all: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TagsTable {
    #[serde(default)]
    sync_flags: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserTable {
    #[serde(default)]
    addresses: Vec<String>,
}

/// Reads a configuration. Accepts only a regular file, since every command reads it.
///
/// # Errors
/// There is none; it cannot be read, is not UTF-8 or has more than 1 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let bytes = disk::read_small(path, BYTES_MAX, Source::File)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Parses a configuration. `home` replaces `~`.
///
/// # Errors
/// [`ConfigurationError`]: the first one that is found.
pub fn parse(text: &str, home: Option<&Path>) -> Result<Configuration> {
    let document: Document = toml::from_str(text).map_err(|error| ConfigurationError::Syntax {
        span: error.span(),
        what: error.to_string().trim_end().to_owned(),
    })?;
    let accounts = document.root.iter().map(|table| Ok((table.name.clone(), table.account()?)));
    let accounts = accounts.filter(|read| !read.as_ref().is_ok_and(|(_, read)| *read == Account::default()));
    let accounts = accounts.collect::<Result<BTreeMap<_, _>>>()?;
    let roots = document.root.into_iter().map(|table| root(table, home)).collect::<Result<Vec<_>>>()?;
    roots::check(&roots)?;
    check_headers(&document.headers)?;
    check_addresses(&document.user.addresses)?;
    let archive = document.archive.map(|archive| ArchiveConfiguration {
        password_file: archive.password_file.map(|path| at_home(path, home)),
        repository: match archive.repository.starts_with("~/") {
            true => at_home(PathBuf::from(&archive.repository), home)
                .into_os_string()
                .into_string()
                .unwrap_or(archive.repository),
            false => archive.repository,
        },
        ..archive
    });
    let stemming = stemming(&document.search)?;
    let flag_tags = if document.tags.sync_flags { FlagTags::Derived } else { FlagTags::Stored };
    let rules = rules::checked(document.rule, flag_tags)?;
    attachments::check(&document.attachments)?;
    let Document { headers, pager, user: UserTable { addresses }, index, attachments, .. } = document;
    let IndexTable { before, after, changes_days, decrypt } = index;
    Ok(Configuration {
        roots,
        accounts,
        headers,
        addresses,
        archive,
        stemming,
        pager,
        hooks: Hooks { before, after },
        changes_days,
        flag_tags,
        rules,
        attachments,
        encrypted_text: if decrypt { EncryptedText::Indexed } else { EncryptedText::Left },
    })
}

fn check_addresses(addresses: &[String]) -> Result<()> {
    check_count(("user.addresses", "addresses"), addresses.len(), ADDRESS_COUNT_MAX)?;
    match addresses.iter().find(|address| !is_address(address) && !is_domain(address)) {
        Some(address) => Err(ConfigurationError::Address { text: address.clone() }),
        None => Ok(()),
    }
}

fn check_count((key, items): (&'static str, &'static str), count: usize, max: usize) -> Result<()> {
    if count > max { Err(ConfigurationError::TooMany { key, items, count, max }) } else { Ok(()) }
}

fn stemming(table: &SearchTable) -> Result<Stemming> {
    let scope = if table.stem_all { StemScope::Plain } else { StemScope::Marked };
    let Some(names) = &table.stem else { return Ok(Stemming { scope, ..Stemming::default() }) };
    let languages = Languages::named(names.iter().map(String::as_str)).map_err(|name| {
        ConfigurationError::Language { name: name.to_owned(), known: Languages::known().collect() }
    })?;
    Ok(Stemming { languages, scope })
}

/// Refuses names that queries could not distinguish from existing fields, or from text.
fn check_headers(headers: &[String]) -> Result<()> {
    check_count(("headers", "names"), headers.len(), HEADER_COUNT_MAX)?;
    for (index, name) in headers.iter().enumerate() {
        let fault = if !fields::is_header_name(name) {
            HeaderFault::Invalid
        } else if name.eq_ignore_ascii_case(fields::SAVED) {
            HeaderFault::Reserved
        } else if let Some(field) = fields::find(name) {
            HeaderFault::Known { field: field.name }
        } else if headers.iter().take(index).any(|other| other.eq_ignore_ascii_case(name)) {
            HeaderFault::Twice
        } else {
            continue;
        };
        return Err(ConfigurationError::Header { name: name.clone(), fault });
    }
    Ok(())
}

fn root(table: RootTable, home: Option<&Path>) -> Result<Root> {
    let RootTable { name, path, .. } = table;
    let path = at_home(path, home);
    if path.is_absolute() {
        Ok(Root { name, path })
    } else {
        Err(ConfigurationError::RelativePath { name, path })
    }
}

/// Replaces `~` by the home directory.
fn at_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Configuration, String> {
        parse(text, Some(Path::new("/home/ana"))).map_err(|error| error.to_string())
    }

    #[test]
    fn roots_are_read_in_order() {
        let text = "[[root]]\nname = \"work\"\npath = \"/srv/mail\"\n\n[[root]]\nname = \"home\"\npath = \
            \"~/Maildir\"\n";
        let root = |name: &str, path: &str| Root { name: name.into(), path: path.into() };
        let roots = vec![root("work", "/srv/mail"), root("home", "/home/ana/Maildir")];
        assert_eq!(parsed(text), Ok(Configuration { roots, ..Configuration::default() }));
        assert_eq!(parsed(""), Ok(Configuration::default()));
    }

    #[test]
    fn addresses_are_those_of_the_user() {
        let addresses =
            |list: &[&str]| parsed(&format!("[user]\naddresses = {list:?}\n")).map(|read| read.addresses);
        let good = ["ana@example.org", "@example.com", "\"a\"@x", "jürgen@example.org", "root@localhost"];
        assert_eq!(addresses(&good).unwrap(), good);
        assert_eq!(parsed("[user]\n").unwrap().addresses, [""; 0]);
        for bad in
            ["", "ana", "@", "ana@", "Ana <ana@example.org>", "a@b, c@d", "a b@c", "@a@b", "*@example.org>"]
        {
            let error = addresses(&[bad]).unwrap_err();
            assert!(error.contains(&format!("\"{bad}\" is neither an address")), "{error}");
        }
        let many: Vec<String> =
            (0..=ADDRESS_COUNT_MAX).map(|number| format!("{number}@example.org")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(addresses(&many[1..]).unwrap().len(), ADDRESS_COUNT_MAX);
        assert!(addresses(&many).unwrap_err().contains("257 addresses, at most 256"));
        assert!(parsed("[user]\naddress = []\n").unwrap_err().contains("address"));
    }

    #[test]
    fn an_archive_has_an_address() {
        let archive = |text: &str| parsed(text).map(|read| read.archive);
        let expected = ArchiveConfiguration {
            repository: "/home/ana/repo".into(),
            password_file: Some("/home/ana/.secret".into()),
            password_command: None,
        };
        let text = "[archive]\nrepository = \"~/repo\"\npassword_file = \"~/.secret\"\n";
        assert_eq!(archive(text), Ok(Some(expected)));
        let repository = |address: &str| {
            archive(&format!("[archive]\nrepository = \"{address}\"\n")).unwrap().unwrap().repository
        };
        assert_eq!(repository("~//repo"), "/home/ana/repo");
        assert_eq!(repository("s3:https://host/~/b"), "s3:https://host/~/b");
        assert!(archive("[archive]\n").unwrap_err().contains("repository"));
        assert!(
            archive("[archive]\nrepository = \"s3:x\"\npassword = \"x\"\n").unwrap_err().contains("password")
        );
    }

    #[test]
    fn words_of_queries_stand_for_their_stem_as_is_said() {
        let stemming = |text: &str| parsed(text).map(|read| read.stemming);
        let english = Languages::named(["english"]).unwrap();
        let both = Languages::named(["english", "german"]).unwrap();
        let marked = |languages| Ok(Stemming { languages, scope: StemScope::Marked });
        let plain = |languages| Ok(Stemming { languages, scope: StemScope::Plain });
        assert_eq!(stemming(""), marked(english));
        assert_eq!(stemming("[search]\nstem = [\"German\", \"english\"]\n"), marked(both));
        assert_eq!(stemming("[search]\nstem_all = true\n"), plain(english));
        assert_eq!(stemming("[search]\nstem = []\n"), marked(Languages::default()));
        assert_eq!(
            stemming("[search]\nstem = [\"klingon\"]\n").unwrap_err().split_once(';').unwrap().0,
            "search.stem: there are no stems of \"klingon\""
        );
        assert!(stemming("[search]\nstems = []\n").unwrap_err().contains("stems"));
    }

    #[test]
    fn attachments_have_filters_and_limits() {
        let read = parsed(
            "[attachments]\ntime_seconds = 5\n[attachments.filters]\n\
             \"application/pdf\" = \"pdftotext - -\"\n",
        );
        let filters = [("application/pdf".to_owned(), "pdftotext - -".to_owned())].into();
        let expected =
            AttachmentConfiguration { filters, time_seconds: 5, ..AttachmentConfiguration::default() };
        assert_eq!(read.unwrap().attachments, expected);
        let said = parsed("[attachments.filters]\npdf = \"x\"\n").unwrap_err();
        assert_eq!(said, "attachments.filters: \"pdf\" is not a type such as application/pdf or image/*");
    }

    #[test]
    fn encrypted_messages_are_left_unless_it_says_otherwise() {
        let read =
            |text: &str| parsed(text).map(|read| (read.encrypted_text, read.reads_attachments())).unwrap();
        assert_eq!(read(""), (EncryptedText::Left, false));
        assert_eq!(read("[index]\nafter = \"a\"\n"), (EncryptedText::Left, false));
        assert_eq!(read("[index]\ndecrypt = false\n"), (EncryptedText::Left, false));
        assert_eq!(read("[index]\ndecrypt = true\n"), (EncryptedText::Indexed, true));
        assert!(parsed("[index]\ndecrypt = \"yes\"\n").unwrap_err().contains("decrypt"));
    }

    #[test]
    fn headers_are_names_that_mean_nothing_else() {
        let headers = |names: &[&str]| parsed(&format!("headers = {names:?}\n")).map(|read| read.headers);
        assert_eq!(
            headers(&["X-Spam-Score", "X-Mailer"]),
            Ok(vec!["X-Spam-Score".into(), "X-Mailer".into()])
        );
        let many: Vec<String> = (0..=HEADER_COUNT_MAX).map(|number| format!("X-{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(headers(&many[1..]).unwrap().len(), HEADER_COUNT_MAX);
        for (names, part) in [
            (&["Subject"][..], "\"Subject\" is always searched, as \"subject:\""),
            (&["List-Id"], "as \"list:\""),
            (&["X"], "as \"tag:\""),
            (&["Query"], "\"Query\" is reserved: it begins the names of saved queries"),
            (&["X-A", "x-a"], "\"x-a\" is listed twice"),
            (&["X A"], "\"X A\" is not a valid name"),
            (&["X-Größe"], "is not a valid name"),
            (&["1X"], "is not a valid name"),
            (&[""], "is not a valid name"),
            (&many, "33 names, at most 32"),
        ] {
            let error = headers(names).unwrap_err();
            assert!(error.contains(part), "{names:?}: {error}");
        }
    }

    #[test]
    fn commands_around_the_index_may_be_named() {
        let hooks = |text: &str| parsed(text).map(|read| (read.hooks.before, read.hooks.after));
        let text = "[index]\nbefore = \"mbsync -a\"\nafter = \"true\"\n";
        assert_eq!(hooks(text), Ok((Some("mbsync -a".into()), Some("true".into()))));
        assert_eq!(hooks(""), Ok((None, None)));
        assert!(hooks("[index]\nduring = \"x\"\n").unwrap_err().contains("unknown field"));
        let days = |text: &str| parsed(text).map(|read| read.changes_days);
        assert_eq!(days("[index]\nchanges_days = 7\n"), Ok(Some(7)));
        assert_eq!(days(""), Ok(None));
        assert!(days("[index]\nchanges_days = -1\n").unwrap_err().contains("invalid value"));
    }

    #[test]
    fn a_pager_may_be_named_or_refused() {
        let pager = |text: &str| parsed(text).map(|read| read.pager);
        assert_eq!(pager("pager = \"less -R\"\n"), Ok(Some("less -R".into())));
        assert_eq!(pager("pager = \"\"\n"), Ok(Some(String::new())));
        assert_eq!(pager(""), Ok(None));
        assert!(pager("pager = false\n").unwrap_err().contains("expected a string"));
    }

    #[test]
    fn mistakes_name_the_key_and_the_line() {
        for (text, parts) in [
            ("[[rot]]\nname = \"x\"\n", ["rot", "line 1"]),
            ("[[root]]\nname = \"x\"\npth = \"/a\"\n", ["pth", "line 3"]),
            ("[[root]]\nname = \"x\"\n", ["path", "line 1"]),
            ("[[root]]\nname = 3\npath = \"/a\"\n", ["expected a string", "line 2"]),
            ("[[root]\n", ["unclosed", "line 1"]),
            ("[[root]]\nname = \"x\"\npath = \"Mail\"\n", ["\"x\"", "\"Mail\""]),
            ("[[root]]\nname = \"a/b\"\npath = \"/a\"\n", ["\"a/b\"", "name"]),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }
}
