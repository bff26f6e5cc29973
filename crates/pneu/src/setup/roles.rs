//! The folders of an account that have a role: trash, sent mail, drafts, archive, spam.
//!
//! Input: names of folders as they are shown. Output: which role a name usually has, and which folder of an
//! account has a role. Also reads `:archive` and `:work/archive`, the names of folders by their roles. Pure;
//! does not depend on what is configured.

use std::fmt;

/// What a folder of an account is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Deleted messages.
    Trash,
    /// Messages that the user sent.
    Sent,
    /// Messages that are not finished.
    Drafts,
    /// Messages that are kept.
    Archive,
    /// Unwanted messages.
    Spam,
}

/// The usual names at the top of an account and below its inbox, in lower case and in the order in which they
/// are looked for. They are those of Dovecot and most programs, of Exchange, Outlook and Apple, also in
/// German, French, Spanish, Italian, Portuguese and Dutch. A word that people also use for other folders is
/// not among them: what is deleted or kept must not go there by a guess.
const NAMES: [(Role, &[&str]); 5] = [
    (
        Role::Trash,
        &[
            "trash",
            "deleted items",
            "deleted messages",
            "papierkorb",
            "gelöschte elemente",
            "gelöschte objekte",
            "gelöscht",
            "corbeille",
            "éléments supprimés",
            "papelera",
            "elementos eliminados",
            "cestino",
            "posta eliminata",
            "lixeira",
            "itens excluídos",
            "itens eliminados",
            "prullenbak",
            "verwijderde items",
        ],
    ),
    (
        Role::Sent,
        &[
            "sent",
            "sent items",
            "sent messages",
            "sent mail",
            "sent-mail",
            "gesendet",
            "gesendete elemente",
            "gesendete objekte",
            "éléments envoyés",
            "messages envoyés",
            "envoyés",
            "elementos enviados",
            "enviados",
            "posta inviata",
            "itens enviados",
            "verzonden items",
        ],
    ),
    (Role::Drafts, &["drafts", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten"]),
    (Role::Archive, &["archive", "archiv", "archivo", "archivio", "arquivo morto", "archief"]),
    (
        Role::Spam,
        &[
            "spam",
            "junk",
            "junk email",
            "junk e-mail",
            "junk-e-mail",
            "bulk mail",
            "courrier indésirable",
            "correo no deseado",
            "posta indesiderata",
            "lixo eletrônico",
            "lixo eletrónico",
            "ongewenste e-mail",
        ],
    ),
];

/// The names that Gmail has besides these, which have a role below its own folder only.
const GMAIL_NAMES: [(Role, &[&str]); 3] = [
    (Role::Trash, &["bin", "lixo"]),
    (Role::Sent, &["e-mails enviados", "verzonden berichten"]),
    (
        Role::Archive,
        &[
            "all mail",
            "alle nachrichten",
            "tous les messages",
            "todos",
            "tutti i messaggi",
            "todos os e-mails",
            "todo o correio",
            "alle berichten",
        ],
    ),
];

/// What may stand before a usual name: nothing, or the inbox of servers which keep all folders below it.
const BEFORE: [&str; 2] = ["", "inbox"];
/// Gmail's own folders.
const GMAIL: [&str; 2] = ["[gmail]", "[google mail]"];

impl Role {
    /// All roles.
    pub const ALL: [Role; 5] = [Role::Trash, Role::Sent, Role::Drafts, Role::Archive, Role::Spam];

    /// Returns its name, in the configuration and after a colon.
    pub fn name(self) -> &'static str {
        match self {
            Role::Trash => "trash",
            Role::Sent => "sent",
            Role::Drafts => "drafts",
            Role::Archive => "archive",
            Role::Spam => "spam",
        }
    }

    /// Returns the name of a new folder.
    pub fn new_folder(self) -> &'static str {
        match self {
            Role::Trash => "Trash",
            Role::Sent => "Sent",
            Role::Drafts => "Drafts",
            Role::Archive => "Archive",
            Role::Spam => "Spam",
        }
    }

    /// Returns what it is called in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Role::Trash => "trash",
            Role::Sent => "folder of sent mail",
            Role::Drafts => "folder of drafts",
            Role::Archive => "archive",
            Role::Spam => "folder of spam",
        }
    }

    /// Returns the role with a name.
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name().eq_ignore_ascii_case(name))
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        let is_own = |(role, _): &&(Role, &[&'static str])| *role == self;
        let (usual, gmail) = (NAMES.iter().find(is_own), GMAIL_NAMES.iter().find(is_own));
        usual.into_iter().chain(gmail).flat_map(|(_, names)| names.iter().copied())
    }

    /// Returns whether the last part of a folder's name is usual for this role, wherever the folder is.
    pub fn has_name(self, folder: &str) -> bool {
        parts(folder).last().is_some_and(|last| self.names().any(|name| name == last))
    }

    /// Returns how usual a folder's name is for this role in an account: the lowest is the best. `None` if
    /// the name does not say that.
    fn rank(self, folder: &str) -> Option<(usize, usize)> {
        let parts = parts(folder);
        let (last, before) = parts.split_last()?;
        let before = before.join("/");
        let place = BEFORE.iter().chain(&GMAIL).position(|usual| *usual == before)?;
        let is_gmail = place >= BEFORE.len();
        let usual_count = NAMES.iter().find(|(role, _)| *role == self).map_or(0, |(_, names)| names.len());
        let number = self.names().position(|name| name == last)?;
        (is_gmail || number < usual_count).then_some((number, place))
    }

    /// Returns which of an account's folders has this role, by their usual names.
    pub fn usual<'a>(self, folders: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        folders.filter_map(|name| Some((self.rank(name)?, name))).min().map(|(_, name)| name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Returns the parts of a folder's name, in lower case. Maildir++ puts dots between them: `.Archive.2024`.
fn parts(folder: &str) -> Vec<String> {
    let name = folder.trim_matches('/');
    let dotted = name.strip_prefix('.').filter(|rest| !rest.contains('/'));
    let (name, separator) = dotted.map_or((name, '/'), |rest| (rest, '.'));
    name.split(separator).map(str::to_lowercase).collect()
}

/// A folder that is named by its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleName {
    /// The root whose folder it is; without it, that of each message, or the only one.
    pub root: Option<String>,
    /// Its role.
    pub role: Role,
}

/// A text begins like a role and is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRole;

/// What is wrong then.
pub const UNKNOWN: &str =
    "roles are :trash, :sent, :drafts, :archive and :spam, or with the name of a root :work/archive";

/// Reads the name of a folder. Returns `None` if it is no role: that is, if no colon begins it.
///
/// # Errors
/// There is no such role.
pub fn parse(name: &str) -> Option<Result<RoleName, UnknownRole>> {
    let text = name.strip_prefix(':')?;
    let (root, role) = match text.split_once('/') {
        Some((root, role)) => (Some(root.to_owned()), role),
        None => (None, text),
    };
    Some(Role::named(role).map(|role| RoleName { root, role }).ok_or(UnknownRole))
}

/// Returns the names by which folders can be named by their roles, if these are the roots: with the name of
/// each root, too, if there are several.
pub fn names<'r>(roots: impl ExactSizeIterator<Item = &'r str>) -> Vec<String> {
    let named = |before: &str| Role::ALL.map(|role| format!(":{before}{role}"));
    let has_several = roots.len() > 1;
    let of_roots = roots.filter(|_| has_several).flat_map(|root| named(&format!("{root}/")));
    named("").into_iter().chain(of_roots).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(role: Role, folders: &[&str]) -> Option<String> {
        role.usual(folders.iter().copied()).map(str::to_owned)
    }

    #[test]
    fn usual_names_have_a_role() {
        let dovecot = ["/", "/.Trash", "/.Sent", "/.Drafts", "/.Junk", "/.Archive", "/.Archive.2024"];
        let found = Role::ALL.map(|role| usual(role, &dovecot).unwrap_or_default());
        assert_eq!(found, ["/.Trash", "/.Sent", "/.Drafts", "/.Archive", "/.Junk"]);
        let gmail = ["[Gmail]/Gesendet", "[Gmail]/Entwürfe", "[Gmail]/Papierkorb", "[Gmail]/Spam"];
        let found = Role::ALL.map(|role| usual(role, &gmail).unwrap_or_default());
        assert_eq!(found, ["[Gmail]/Papierkorb", "[Gmail]/Gesendet", "[Gmail]/Entwürfe", "", "[Gmail]/Spam"]);
        let exchange = ["Sent Items", "Deleted Items", "Junk Email", "Drafts", "Archive", "Notes"];
        let found = Role::ALL.map(|role| usual(role, &exchange).unwrap_or_default());
        assert_eq!(found, ["Deleted Items", "Sent Items", "Drafts", "Archive", "Junk Email"]);
        for (role, name) in [
            (Role::Sent, "[Gmail]/Messages envoyés"),
            (Role::Trash, "INBOX/Corbeille"),
            (Role::Drafts, ".INBOX.Borradores"),
            (Role::Archive, "[Gmail]/All Mail"),
            (Role::Spam, "Courrier indésirable"),
            (Role::Trash, "ÉLÉMENTS SUPPRIMÉS"),
        ] {
            assert_eq!(usual(role, &["x", name]), Some(name.to_owned()));
        }
    }

    #[test]
    fn a_word_that_means_other_things_has_no_role() {
        for role in Role::ALL {
            for name in
                ["Outbox", "Todos", "Bin", "All Mail", "INBOX/Bin", "work/Bin", ".Bin", "Deleted", "x/Trash"]
            {
                assert_eq!(usual(role, &[name]), None, "{role} {name}");
            }
        }
        for (role, name) in [
            (Role::Trash, "[Gmail]/Bin"),
            (Role::Trash, "[Google Mail]/Bin"),
            (Role::Archive, "[Gmail]/Todos"),
            (Role::Archive, ".[Gmail].All Mail"),
            (Role::Sent, "[Gmail]/Posta inviata"),
            (Role::Spam, "Lixo Eletrônico"),
            (Role::Drafts, "Concepten"),
        ] {
            assert_eq!(usual(role, &["x", name]), Some(name.to_owned()));
        }
    }

    #[test]
    fn no_name_has_two_roles() {
        let mut all: Vec<&str> = Role::ALL.into_iter().flat_map(Role::names).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|name| name.to_lowercase() == *name));
    }

    #[test]
    fn the_most_usual_name_counts_and_other_accounts_do_not() {
        assert_eq!(usual(Role::Trash, &["Deleted Items", "[Gmail]/Trash", "Trash"]), Some("Trash".into()));
        assert_eq!(usual(Role::Trash, &["Deleted Items", "[Gmail]/Trash"]), Some("[Gmail]/Trash".into()));
        assert_eq!(usual(Role::Sent, &["job/Sent", "Sentinel", "", "/"]), None);
        assert!(Role::Sent.has_name("/job/Sent") && Role::Sent.has_name(".Archive.Sent Items"));
        assert!(!Role::Sent.has_name("Sentinel"));
    }

    #[test]
    fn a_colon_begins_a_role() {
        let name = |root: Option<&str>, role| Some(Ok(RoleName { root: root.map(str::to_owned), role }));
        assert_eq!(parse(":archive"), name(None, Role::Archive));
        assert_eq!(parse(":Trash"), name(None, Role::Trash));
        assert_eq!(parse(":work/sent"), name(Some("work"), Role::Sent));
        assert_eq!(parse("archive"), None);
        assert_eq!(parse("/:archive"), None);
        for wrong in [":", ":archiv", ":work/", ":a/b/sent"] {
            assert_eq!(parse(wrong), Some(Err(UnknownRole)), "{wrong}");
        }
    }
}
