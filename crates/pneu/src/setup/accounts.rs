//! Finds what belongs to each account: its folders with a role, who its mail is from, and how it is sent.
//!
//! Input: roots, and the configuration files of mbsync, notmuch and msmtp. Output: an account for each root.
//! Runs nothing, and names only folders that are there. Does not depend on what is configured.

use crate::setup::account::Account;
use crate::setup::addresses::{self, sent};
use crate::setup::discover::{FarFolder, far_folders};
use crate::setup::roles::Role;
use index::Root;
use std::collections::BTreeMap;
use std::path::Path;

/// Most identities that are named for an account.
const IDENTITY_COUNT_MAX: usize = 4;

/// Returns what is found of each root, by its name.
pub fn found(home: Option<&Path>, configuration: Option<&Path>, roots: &[Root]) -> BTreeMap<String, Account> {
    let texts = |below_home: &str, below_configuration: &str| {
        let paths =
            [home.map(|home| home.join(below_home)), configuration.map(|at| at.join(below_configuration))];
        paths.into_iter().flatten().filter_map(|path| addresses::text(&path)).collect::<Vec<_>>()
    };
    let channels: Vec<FarFolder> =
        texts(".mbsyncrc", "isyncrc").iter().flat_map(|text| far_folders(text, home)).collect();
    let notmuch = texts(".notmuch-config", "notmuch/default/config").concat();
    let msmtp = texts(".msmtprc", "msmtp/config").concat();
    let account = |root: &Root| {
        let mut from = sent::addresses(std::slice::from_ref(root));
        if from.is_empty() && roots.len() == 1 {
            from = addresses::programs::notmuch(&notmuch);
        }
        from.truncate(IDENTITY_COUNT_MAX);
        let sendmail = from.iter().find_map(|address| addresses::programs::msmtp_account(&msmtp, address));
        let named = |address| addresses::programs::with_name(&notmuch, address);
        let from = from.into_iter().map(named).collect();
        (root.name.clone(), Account { folders: folders(root, &channels), from, sendmail })
    };
    roots.iter().map(account).collect()
}

/// Returns the folders with a role: those that mbsync fetches from a folder with a usual name, and else those
/// with a usual name here.
fn folders(root: &Root, channels: &[FarFolder]) -> BTreeMap<Role, String> {
    let Ok(found) = mail::find_folders(&root.path) else { return BTreeMap::new() };
    let there = found.folders.iter().filter(|folder| folder.has_cur);
    let names: Vec<(String, &[u8])> = there
        .map(|folder| (mail::readable_folder(&folder.path).into_owned(), folder.path.as_slice()))
        .collect();
    let fetched = |role: Role| {
        let far = channels.iter().filter(|channel| role.usual([channel.far.as_str()].into_iter()).is_some());
        far.flat_map(|channel| &channel.near).find_map(|near| {
            let is_it = |(_, path): &&(String, &[u8])| mail::join(&root.path, path) == *near;
            names.iter().find(is_it).map(|(name, _)| name.as_str())
        })
    };
    let usual = |role: Role| role.usual(names.iter().map(|(name, _)| name.as_str()));
    let mut with_role: BTreeMap<Role, String> = BTreeMap::new();
    // What mbsync says comes before any guess. No folder gets two roles.
    let all = Role::ALL.map(|role| (role, fetched(role))).into_iter();
    for (role, name) in all.chain(Role::ALL.map(|role| (role, usual(role)))) {
        let is_free = |name: &&str| !with_role.values().any(|taken| taken == name);
        if let (Some(name), false) = (name.filter(is_free), with_role.contains_key(&role)) {
            with_role.insert(role, name.to_owned());
        }
    }
    with_role
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn each_root_has_its_own() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for folder in
            ["work", "work/Sent Items", "work/Junk Email", "work/Deleted Items", "home/post", "home/old"]
        {
            fs::create_dir_all(at(folder).join("cur")).unwrap();
        }
        fs::create_dir_all(at("home/[Gmail]/Entw&APw-rfe/cur")).unwrap();
        for number in 0..3 {
            let letter = "From: Ana <ana@work.example>\nSubject: s\n\nx\n";
            put(&at(&format!("work/Sent Items/cur/170000000{number}.a:2,S")), letter);
        }
        put(
            &at(".mbsyncrc"),
            "MaildirStore local\nPath ~/home/\n\nChannel sent\nFar \":gmail:[Gmail]/Sent Mail\"\nNear \
             :local:post\n\n\
             Channel gone\nMaster :gmail:Trash\nSlave :local:nowhere\n",
        );
        put(&at(".notmuch-config"), "[user]\nname=Ana Ito\nprimary_email=ana@work.example\n");
        put(
            &at(".msmtprc"),
            "account a\nfrom x@y\n\naccount work\nhost h\nfrom Ana@work.example\naccount b\n",
        );
        let root = |name: &str| Root { name: name.into(), path: at(name) };
        let found = found(Some(home.path()), None, &[root("work"), root("home")]);
        let shown = |name: &str| {
            let Account { folders, from, sendmail } = &found[name];
            let folders: Vec<String> =
                folders.iter().map(|(role, folder)| format!("{role}={folder}")).collect();
            format!("{} | {} | {}", folders.join(" "), from.join(", "), sendmail.as_deref().unwrap_or("-"))
        };
        assert_eq!(
            shown("work"),
            "trash=Deleted Items sent=Sent Items spam=Junk Email | Ana Ito <ana@work.example> | msmtp -a work"
        );
        assert_eq!(shown("home"), "sent=post drafts=[Gmail]/Entwürfe |  | -");
        // Mail of two folders of the server is in one here.
        fs::create_dir_all(at("home/Trash/cur")).unwrap();
        put(
            &at(".mbsyncrc"),
            "MaildirStore local\nPath ~/home/\n\nChannel a\nFar :x:Archive\nNear :local:Trash\n\n\
             Channel b\nFar :x:Spam\nNear :local:Trash\n",
        );
        let found = super::found(Some(home.path()), None, &[root("home")]);
        let folders: Vec<String> =
            found["home"].folders.iter().map(|(role, folder)| format!("{role}={folder}")).collect();
        assert_eq!(folders, ["drafts=[Gmail]/Entwürfe", "archive=Trash"]);
    }
}
