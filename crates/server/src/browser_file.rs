//! The file that opens a browser. Input: a login link and a directory. Output: a page that leads there.
//! Does not start a browser.
//!
//! A link on a command line can be read by everybody on the machine, in the list of processes. The name of a
//! file that only its owner can read cannot be used by others.

use crate::error::{Error, Result};
use crate::limits::LINK_TIME;
use crate::login::Login;
use crate::token::Secret;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What the names of these files begin and end with, and how many other characters they have.
const BEGINNING: &str = "login-";
const ENDING: &str = ".html";
const RANDOM: usize = 16;

/// Writes a page that leads to a login link, with a new name in `directory`, for its owner alone. The caller
/// may remove it when the browser has read it. Pages whose links do not work any more are removed.
///
/// # Errors
/// [`Error::Io`], [`Error::Random`]. No file is left then.
pub fn write(directory: &Path, login: &Login) -> Result<PathBuf> {
    remove_old(directory);
    let name: String = Secret::random()?.text().chars().take(RANDOM).collect();
    let path = directory.join(format!("{BEGINNING}{name}{ENDING}"));
    create(&path, &page(&login.url)).map_err(|source| Error::Io { path: path.clone(), source })?;
    Ok(path)
}

/// Removes pages that are older than links work. One that cannot be removed stays: it opens nothing.
fn remove_old(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(BEGINNING)?.strip_suffix(ENDING));
        let age = entry.metadata().and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
        if random.is_some_and(|random| random.len() == RANDOM)
            && age.is_ok_and(|age| age.is_ok_and(|age| age > LINK_TIME))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Creates a file. Nothing may be in its place, also no link.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn page(url: &str) -> String {
    let url = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" \
         content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>Log \
         in</title>\n<p><a href=\"{url}\">Log in</a>. This works once, within two minutes.</p>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn login() -> Login {
        Login { url: "http://localhost/login?token=x&\"<".to_owned() }
    }

    #[test]
    fn the_file_is_for_its_owner_and_leads_to_the_link() {
        let directory = tempfile::tempdir().unwrap();
        let path = write(directory.path(), &login()).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        let refresh =
            "http-equiv=\"refresh\" content=\"0; url=http://localhost/login?token=x&amp;&quot;&lt;\"";
        assert!(text.contains(refresh), "{text}");
        assert_ne!(write(directory.path(), &login()).unwrap(), path);
    }

    #[test]
    fn nothing_in_its_place_is_written_or_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        symlink(&target, &link).unwrap();
        assert_eq!(create(&link, "x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!target.exists());
        fs::write(&target, "kept").unwrap();
        assert_eq!(create(&target, "x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
        let missing = write(&directory.path().join("none"), &login()).unwrap_err();
        assert!(matches!(missing, Error::Io { .. }) && !missing.to_string().contains("token"), "{missing}");
    }

    #[test]
    fn pages_whose_links_are_too_old_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let login = || Login { url: "http://127.0.0.1:1/login?token=a".to_owned() };
        let [old, new] = [(); 2].map(|()| write(directory.path(), &login()).unwrap());
        let other = directory.path().join("login-short.html");
        fs::write(&other, "").unwrap();
        for path in [&old, &other] {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(std::time::SystemTime::now() - LINK_TIME * 2).unwrap();
        }
        write(directory.path(), &login()).unwrap();
        assert_eq!([&old, &new, &other].map(|path| path.exists()), [false, true, true]);
    }
}
