//! What the configuration says of an account, which is a root: its folders by their roles, who its mail is
//! from, and how it is sent.
//!
//! Input: the keys of a table `[[root]]`. Output: an account, checked. Does not depend on where the root is.

use crate::setup::address::is_address;
use crate::setup::configuration_error::ConfigurationError;
use crate::setup::roles::Role;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Most identities of an account.
const IDENTITY_COUNT_MAX: usize = 64;

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The folders that the configuration names.
    pub folders: BTreeMap<Role, String>,
    /// Who its mail is from, the usual one first: `Ana <ana@example.org>`.
    pub from: Vec<String>,
    /// The command that takes a message on standard input and sends it.
    pub sendmail: Option<String>,
}

impl Account {
    /// Returns the addresses of [`Account::from`], without names.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.from.iter().filter_map(|identity| address_of(identity))
    }
}

/// A table `[[root]]`.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootTable {
    pub(super) name: String,
    pub(super) path: PathBuf,
    trash: Option<String>,
    sent: Option<String>,
    drafts: Option<String>,
    archive: Option<String>,
    spam: Option<String>,
    from: Option<toml::Value>,
    sendmail: Option<String>,
}

impl RootTable {
    /// Returns the account.
    ///
    /// # Errors
    /// An inbox has a role; an identity has no address, or there are too many.
    pub(super) fn account(&self) -> Result<Account, ConfigurationError> {
        let folder = |role| match role {
            Role::Trash => &self.trash,
            Role::Sent => &self.sent,
            Role::Drafts => &self.drafts,
            Role::Archive => &self.archive,
            Role::Spam => &self.spam,
        };
        let named = |role| Some((role, folder(role).clone()?));
        let folders: BTreeMap<Role, String> = Role::ALL.into_iter().filter_map(named).collect();
        // Where new mail arrives, nothing may be thrown away, nor taken for thrown away.
        let is_inbox = |folder: &str| {
            let plain = folder.trim_matches('/');
            plain.is_empty() || plain.eq_ignore_ascii_case("inbox")
        };
        if let Some((role, _)) = folders.iter().find(|(_, folder)| is_inbox(folder)) {
            let (name, key) = (self.name.clone(), role.name());
            return Err(ConfigurationError::InboxWithRole { name, key });
        }
        let from = match &self.from {
            None => Vec::new(),
            Some(toml::Value::Array(list)) => {
                list.iter().map(|one| self.identity(one)).collect::<Result<_, _>>()?
            }
            Some(one) => vec![self.identity(one)?],
        };
        if from.len() > IDENTITY_COUNT_MAX {
            let (count, max) = (from.len(), IDENTITY_COUNT_MAX);
            return Err(ConfigurationError::TooMany { key: "root.from", items: "identities", count, max });
        }
        Ok(Account { folders, from, sendmail: self.sendmail.clone() })
    }

    fn identity(&self, value: &toml::Value) -> Result<String, ConfigurationError> {
        let text = value.as_str().filter(|text| address_of(text).is_some());
        text.map(str::to_owned).ok_or_else(|| ConfigurationError::Identity {
            name: self.name.clone(),
            text: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
        })
    }
}

/// Returns the address of an identity: alone, or in angle brackets after a name. `None` if it is none, or if
/// it does not fit into one line of a header.
fn address_of(identity: &str) -> Option<&str> {
    let address = match identity.split_once('<') {
        Some((_, rest)) => rest.strip_suffix('>')?,
        None => identity,
    };
    (is_address(address) && !identity.contains(char::is_control)).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(keys: &str) -> Result<Account, String> {
        let text = format!("name = \"work\"\npath = \"/srv/mail\"\n{keys}");
        let table: RootTable = toml::from_str(&text).map_err(|error| error.to_string())?;
        table.account().map_err(|error| error.to_string())
    }

    #[test]
    fn an_account_has_folders_and_identities() {
        assert_eq!(account(""), Ok(Account::default()));
        let keys = "trash = \"Bin\"\narchive = \"Old\"\nspam = \"Junk\"\nsent = \"Sent\"\ndrafts = \"D\"\n\
                    from = [\"Ana Ito <ana@example.org>\", \"a@x\"]\nsendmail = \"msmtp -a work\"\n";
        let read = account(keys).unwrap();
        let folders: Vec<(&str, &str)> =
            read.folders.iter().map(|(role, folder)| (role.name(), folder.as_str())).collect();
        let expected =
            [("trash", "Bin"), ("sent", "Sent"), ("drafts", "D"), ("archive", "Old"), ("spam", "Junk")];
        assert_eq!(folders, expected);
        assert_eq!(read.from, ["Ana Ito <ana@example.org>", "a@x"]);
        assert_eq!(read.addresses().collect::<Vec<_>>(), ["ana@example.org", "a@x"]);
        assert_eq!(read.sendmail.as_deref(), Some("msmtp -a work"));
        assert_eq!(account("from = \"Ana <a@x>\"").unwrap().from, ["Ana <a@x>"], "one needs no list");
    }

    #[test]
    fn an_inbox_has_no_role() {
        for (key, folder) in [("trash", ""), ("drafts", "/"), ("spam", "INBOX"), ("archive", "/Inbox")] {
            let error = account(&format!("{key} = \"{folder}\"")).unwrap_err();
            assert_eq!(
                error,
                format!("root \"work\": {key}: the inbox cannot have this role; name another folder")
            );
        }
        assert!(account("trash = \"INBOX/Trash\"").is_ok());
    }

    #[test]
    fn an_identity_has_an_address() {
        for wrong in
            ["\"Ana\"", "\"\"", "\"Ana <a@x\"", "\"Ana <a@x> y\"", "3", "[[\"a@x\"]]", "\"A\\nb: c <a@x>\""]
        {
            let error = account(&format!("from = {wrong}")).unwrap_err();
            assert!(error.starts_with("root \"work\": from:"), "{wrong}: {error}");
        }
        let many: Vec<String> = (0..=IDENTITY_COUNT_MAX).map(|number| format!("\"{number}@x\"")).collect();
        let error = account(&format!("from = [{}]", many.join(", "))).unwrap_err();
        assert_eq!(error, "root.from: 65 identities, at most 64 are allowed");
    }
}
