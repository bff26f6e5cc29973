//! neomutt: a mail reader with a header cache, in one of several stores and with one of several compressions.
//!
//! Input: directories. Output: commands. Does not know what is measured.

use super::terminal::{STATUS_FORMAT, in_terminal, quoted};
use crate::peer::{Installed, Peer, said};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the program is found.
pub(crate) const PEER: Peer = Peer {
    name: "neomutt",
    variable: "PEER_NEOMUTT",
    program: "neomutt",
    version: &["-v"],
    packages: &["neomutt"],
    module: None,
};

/// Every store that any version has.
pub(crate) const STORES: [&str; 8] =
    ["lmdb", "rocksdb", "tokyocabinet", "kyotocabinet", "gdbm", "qdbm", "bdb", "tdb"];
/// Every compression that any version has. The empty text means none.
pub(crate) const COMPRESSIONS: [&str; 4] = ["", "lz4", "zlib", "zstd"];

/// Whether it reads the times of each file whose headers are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verify {
    /// The default.
    Times,
    /// It trusts its cache.
    Nothing,
}

/// The program, and its build options.
pub(crate) struct Neomutt {
    program: PathBuf,
    stores: Vec<&'static str>,
    compressions: Vec<&'static str>,
}

impl Neomutt {
    /// Returns the program with its stores and compressions.
    ///
    /// # Errors
    /// If it does not print them.
    pub(crate) fn new(installed: &Installed) -> Result<Neomutt> {
        let about = said(Command::new(&installed.program).arg("-v"))?;
        let has = |kind: &str, name: &str| name.is_empty() || listed(&about, kind).any(|word| word == name);
        Ok(Neomutt {
            program: installed.program.clone(),
            stores: STORES.into_iter().filter(|name| has("storage:", name)).collect(),
            compressions: COMPRESSIONS.into_iter().filter(|name| has("compression:", name)).collect(),
        })
    }

    /// Returns all pairs of a store and a compression.
    pub(crate) fn caches(&self) -> Vec<(&'static str, &'static str)> {
        let of = |store: &&'static str| {
            let store = *store;
            self.compressions.iter().map(move |compression| (store, *compression))
        };
        self.stores.iter().flat_map(of).collect()
    }

    /// Returns the command that opens a folder and quits. `place` gets the settings and the cache.
    ///
    /// # Errors
    /// If the settings cannot be written.
    pub(crate) fn open(
        &self,
        folder: &Path,
        place: &Path,
        (store, compression): (&str, &str),
        verify: Verify,
    ) -> Result<Command> {
        // The kind of the cache must be set before its path.
        let mut text = format!("set header_cache_backend={store}\n");
        if !compression.is_empty() {
            text.push_str(&format!("set header_cache_compress_method={compression}\n"));
        }
        if verify == Verify::Nothing {
            text.push_str("set maildir_header_cache_verify=no\n");
        }
        open_and_leave(&self.program, folder, place, &text)
    }
}

/// Returns the command that opens a folder and quits, with these settings and those that neomutt and mutt
/// share. The settings and the cache are in `place`.
///
/// # Errors
/// If the settings cannot be written.
pub(super) fn open_and_leave(program: &Path, folder: &Path, place: &Path, more: &str) -> Result<Command> {
    let cache = place.display();
    // Without a directory for folders they ask a question, which would never be answered.
    let text = format!(
        "{more}set header_cache=\"{cache}/cache\"\nset folder=\"{cache}\"\nset sort=date\n{STATUS_FORMAT}"
    );
    fs::create_dir_all(place).with_context(|| format!("cannot make {}", place.display()))?;
    let settings = place.join("settings");
    fs::write(&settings, text).with_context(|| format!("cannot write {}", settings.display()))?;
    let [program, folder, settings] =
        [program, folder, &settings].map(|path| quoted(&path.display().to_string()));
    Ok(in_terminal(&format!("{program} -n -F {settings} -R -f {folder} -e 'push <exit>'")))
}

/// Returns the words in the line of `kind`.
fn listed<'a>(about: &'a str, kind: &str) -> impl Iterator<Item = &'a str> {
    let line = about.lines().find_map(|line| line.trim().strip_prefix(kind)).unwrap_or_default();
    line.split([',', ' ']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_has_stands_in_its_version() {
        let about = "NeoMutt 1\nstorage: lmdb, gdbm\ncompression: lz4, zstd\n  +autocrypt\n";
        assert_eq!(listed(about, "storage:").collect::<Vec<_>>(), ["lmdb", "gdbm"]);
        assert_eq!(listed(about, "compression:").collect::<Vec<_>>(), ["lz4", "zstd"]);
        assert_eq!(listed("NeoMutt 1\n", "compression:").count(), 0);
    }

    #[test]
    fn settings_name_the_kind_before_the_path() {
        let place = tempfile::tempdir().unwrap();
        let neomutt = Neomutt {
            program: PathBuf::from("neomutt"),
            stores: vec!["lmdb"],
            compressions: vec!["", "zstd"],
        };
        assert_eq!(neomutt.caches(), [("lmdb", ""), ("lmdb", "zstd")]);
        neomutt.open(Path::new("/mail"), place.path(), ("lmdb", "zstd"), Verify::Nothing).unwrap();
        let text = fs::read_to_string(place.path().join("settings")).unwrap();
        let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word}: {text}"));
        assert!(at("backend=lmdb") < at("method=zstd") && at("method=zstd") < at("header_cache=\"/"));
        assert!(at("verify=no") > 0);
    }
}
