//! Finds where a user's mail may be, in the configuration of other programs.
//!
//! Input: the surroundings, and texts of the configuration files of mail programs. Output: directories, each
//! with the file or variable that names it. Runs nothing and does not read the disk: the caller reads the
//! files, and says which directories hold mail. Does not depend on indexes.

mod dovecot;
mod mbsync;
mod mu;
mod mutt;
mod notmuch;
mod path;

use index::Root;
pub(super) use mbsync::FarFolder;
use path::At;
use std::path::{Path, PathBuf};

/// Most bytes of a configuration file that are read.
pub const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most directories that are returned.
const CANDIDATE_COUNT_MAX: usize = 64;
/// Usual places of mail, below the home directory.
const PLACES: [&str; 5] = ["Maildir", "Mail", "mail", ".mail", ".local/share/mail"];

/// What is known about the user before any file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Where programs keep their configuration.
    pub config_home: Option<PathBuf>,
    /// Where programs keep caches.
    pub cache_home: Option<PathBuf>,
    /// Where the environment says that mail is (`MAILDIR`).
    pub maildir: Option<PathBuf>,
    /// Where the environment says that notmuch's configuration is (`NOTMUCH_CONFIG`).
    pub notmuch_config: Option<PathBuf>,
    /// The user's name (`USER`).
    pub user: Option<String>,
}

/// A program whose configuration names directories of mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// isync's mbsync.
    Mbsync,
    /// notmuch.
    Notmuch,
    /// mu, by its log.
    Mu,
    /// mutt and neomutt.
    Mutt,
    /// Dovecot.
    Dovecot,
}

/// A file to be read, and the program that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The program.
    pub program: Program,
    /// The path of the file, which may not exist.
    pub path: PathBuf,
}

/// A directory that may hold mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The directory.
    pub path: PathBuf,
    /// The file or variable that names it, for people; `None` for a usual place.
    pub told_by: Option<String>,
}

/// Returns the files that may name directories of mail, whether they exist or not.
pub fn sources(whereabouts: &Whereabouts) -> Vec<Source> {
    let below = |base: &Option<PathBuf>, names: &[&str]| -> Vec<PathBuf> {
        base.iter().flat_map(|base| names.iter().map(|name| base.join(name))).collect()
    };
    let (home, config, cache) = (&whereabouts.home, &whereabouts.config_home, &whereabouts.cache_home);
    let etc = |names: &[&str]| names.iter().map(|name| Path::new("/etc").join(name)).collect();
    let notmuch = match &whereabouts.notmuch_config {
        Some(path) => vec![path.clone()],
        None => [below(config, &["notmuch/default/config"]), below(home, &[".notmuch-config"])].concat(),
    };
    let groups = [
        (Program::Mbsync, below(config, &["isyncrc"])),
        (Program::Mbsync, below(home, &[".mbsyncrc"])),
        (Program::Notmuch, notmuch),
        (Program::Mu, below(cache, &["mu/mu.log"])),
        (Program::Mutt, below(config, &["neomutt/neomuttrc", "mutt/muttrc"])),
        (Program::Mutt, below(home, &[".neomuttrc", ".neomutt/neomuttrc", ".muttrc", ".mutt/muttrc"])),
        (Program::Dovecot, etc(&["dovecot/dovecot.conf", "dovecot/conf.d/10-mail.conf"])),
    ];
    let of = |(program, paths): (Program, Vec<PathBuf>)| {
        paths.into_iter().map(move |path| Source { program, path })
    };
    groups.into_iter().flat_map(of).collect()
}

/// Returns the directories that the environment, habit and these files name: each once, in this order. The
/// home directory and its parents are left out, because all others are inside them.
pub fn candidates(whereabouts: &Whereabouts, texts: &[(Source, String)]) -> Vec<Candidate> {
    let mut all = Vec::new();
    let named = whereabouts.maildir.iter().map(|path| (path.clone(), Some("$MAILDIR".to_owned())));
    let usual = whereabouts.home.iter().flat_map(|home| PLACES.map(|place| (home.join(place), None)));
    let told = texts.iter().flat_map(|(source, text)| {
        let at = At { home: whereabouts.home.as_deref(), user: whereabouts.user.as_deref() };
        let told_by = source.path.display().to_string();
        directories(source.program, text, &at).into_iter().map(move |path| (path, Some(told_by.clone())))
    });
    for (path, told_by) in named.chain(usual).chain(told) {
        let path = path::plain(&path);
        let holds_home = whereabouts.home.as_ref().is_some_and(|home| home.starts_with(&path));
        let is_known = all.iter().any(|other: &Candidate| other.path == path);
        if path.is_absolute() && !holds_home && !is_known && all.len() < CANDIDATE_COUNT_MAX {
            all.push(Candidate { path, told_by });
        }
    }
    all
}

fn directories(program: Program, text: &str, at: &At<'_>) -> Vec<PathBuf> {
    match program {
        Program::Mbsync => mbsync::directories(text, at),
        Program::Notmuch => notmuch::directories(text, at),
        Program::Mu => mu::directories(text),
        Program::Mutt => mutt::directories(text, at),
        Program::Dovecot => dovecot::directories(text, at),
    }
}

/// Returns the folders of servers that mbsync's configuration names, with the folders here that they are in
/// step with.
pub(super) fn far_folders(text: &str, home: Option<&Path>) -> Vec<FarFolder> {
    mbsync::far_folders(text, &At { home, user: None })
}

/// Returns the candidates that are not inside another one, as roots must not be, and of equal ones the first.
/// Each has its real path, with all links followed.
pub fn outermost(candidates: &[(PathBuf, Candidate)]) -> Vec<Candidate> {
    let is_outermost = |(place, (real, _)): &(usize, &(PathBuf, Candidate))| {
        let hides = |(other_place, (other, _)): (usize, &(PathBuf, Candidate))| {
            real.starts_with(other) && (other != real || other_place < *place)
        };
        !candidates.iter().enumerate().any(hides)
    };
    let outer = candidates.iter().enumerate().filter(is_outermost);
    outer.map(|(_, (_, candidate))| candidate.clone()).collect()
}

/// Returns roots for directories: a single one is named `mail`, several are named by the last parts of their
/// paths.
pub fn roots(candidates: &[Candidate]) -> Vec<Root> {
    if let [only] = candidates {
        return vec![Root { name: "mail".to_owned(), path: only.path.clone() }];
    }
    let mut roots: Vec<Root> = Vec::new();
    for candidate in candidates {
        let name = root_name(&candidate.path);
        let is_free = |name: &String| roots.iter().all(|root| root.name != *name);
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free);
        roots.push(Root { name: name.unwrap_or_default(), path: candidate.path.clone() });
    }
    roots
}

/// Returns the characters of a directory's name that the name of a root may have.
fn root_name(path: &Path) -> String {
    /// Leaves room for a number in the name of a root, which has 64 bytes.
    const BYTES_MAX: usize = 48;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let name: String = kept.skip_while(|c| !c.is_ascii_alphanumeric()).take(BYTES_MAX).collect();
    if name.is_empty() { "mail".to_owned() } else { name.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests;
