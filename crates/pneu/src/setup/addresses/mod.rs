//! Finds the user's own addresses: in the configuration of other programs, and in mail that the user sent.
//!
//! Input: the home directory, the directory of configurations, roots. Output: addresses, each once, those
//! that are configured before those that are guessed. No program is run, and only plain files are read, of
//! limited size. mu keeps its addresses in its database and in no text: they are not found. Does not depend
//! on what addresses are used for.

pub(super) mod programs;
pub(super) mod sent;

use index::Root;
use std::path::{Path, PathBuf};

/// Most addresses that are returned.
const ADDRESS_COUNT_MAX: usize = 32;
/// Most bytes of a configuration that is read; a longer one is left out.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Takes addresses out of the text of a configuration.
type Parser = fn(&str) -> Vec<String>;

/// Where programs keep their configuration below the home directory.
const BELOW_HOME: [(&str, Parser); 8] = [
    (".notmuch-config", programs::notmuch),
    (".muttrc", programs::mutt),
    (".mutt/muttrc", programs::mutt),
    (".neomuttrc", programs::mutt),
    (".neomutt/neomuttrc", programs::mutt),
    (".msmtprc", programs::msmtp),
    (".mbsyncrc", programs::mbsync),
    (".gitconfig", programs::git),
];
/// Where they keep it below the directory of configurations.
const BELOW_CONFIGURATION: [(&str, Parser); 6] = [
    ("notmuch/default/config", programs::notmuch),
    ("mutt/muttrc", programs::mutt),
    ("neomutt/neomuttrc", programs::mutt),
    ("msmtp/config", programs::msmtp),
    ("isyncrc", programs::mbsync),
    ("git/config", programs::git),
];

/// Returns the user's own addresses as far as they can be found.
pub fn found(home: Option<&Path>, configuration: Option<&Path>, roots: &[Root]) -> Vec<String> {
    let below = |directory: Option<&Path>, files: &[(&str, Parser)]| -> Vec<(PathBuf, Parser)> {
        let paths = directory.iter().flat_map(|directory| {
            files.iter().map(|(file, parser)| (directory.join(file), *parser)).collect::<Vec<_>>()
        });
        paths.collect()
    };
    let files = [below(home, &BELOW_HOME), below(configuration, &BELOW_CONFIGURATION)].concat();
    let said = files.iter().filter_map(|(path, parser)| Some(parser(&text(path)?))).flatten();
    let mut all: Vec<String> = Vec::new();
    for address in said.chain(sent::addresses(roots)) {
        let is_known = all.iter().any(|known| known.eq_ignore_ascii_case(&address));
        if !is_known && all.len() < ADDRESS_COUNT_MAX {
            all.push(address);
        }
    }
    all
}

/// Returns the text of a plain file, unless it is too long.
pub(super) fn text(path: &Path) -> Option<String> {
    let bytes = disk::read_small(path, FILE_BYTES_MAX, disk::Source::File).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_address_is_taken_once_and_not_without_end() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put(".gitconfig", "[user]\nemail = git@example.org\n");
        put(
            ".notmuch-config",
            "[user]\nprimary_email=ana@example.org\nother_email=A@x.org;git@Example.org\n",
        );
        put(".config/isyncrc", "User ana@example.org\nUser sync@example.org\n");
        let configuration = home.path().join(".config");
        let all = || found(Some(home.path()), Some(&configuration), &[]);
        assert_eq!(all(), ["ana@example.org", "A@x.org", "git@Example.org", "sync@example.org"]);
        let many: String = (0..50).map(|number| format!("User {number}@example.org\n")).collect();
        put(".mbsyncrc", &many);
        assert_eq!(all().len(), ADDRESS_COUNT_MAX);
        assert_eq!(found(None, None, &[]), [""; 0]);
    }

    #[test]
    fn only_plain_files_of_some_size_are_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, vec![b'x'; FILE_BYTES_MAX]).unwrap();
        assert!(text(&path).is_some());
        fs::write(&path, vec![b'x'; FILE_BYTES_MAX + 1]).unwrap();
        assert_eq!(text(&path), None);
        assert_eq!(text(home.path()), None);
        assert_eq!(text(Path::new("/dev/zero")), None);
        let pipe = home.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(text(&pipe), None);
    }
}
