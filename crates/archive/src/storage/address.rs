//! Where a repository is, as restic's users write it.
//!
//! Comes in: text like `/srv/repo` or `s3:https://host:9000/bucket/prefix`. Goes out: an [`Address`], and the storage there. Must not know
//! where the text comes from, nor read credentials from anywhere: they come in too.

use super::retry::Told;
use super::{LocalStorage, Storage};
use crate::error::{Error, Result};
use crate::surroundings::Surroundings;
use disk::Disk;
use std::fmt::{Debug, Display, Formatter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Well above what a busy server takes for a page of a list.
pub const IDLE_MAX: Duration = Duration::from_secs(60);
/// Places that restic knows and this program does not.
const RESTIC_ONLY: [&str; 8] = ["sftp", "rest", "b2", "azure", "gs", "swift", "rclone", "opendal"];

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In a directory.
    Local(PathBuf),
    /// In a bucket of an object store that speaks S3.
    S3(S3Address),
}

/// A place in an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Address {
    /// How the server is spoken to.
    pub scheme: Scheme,
    /// The server, with its port if it is not the usual one: "localhost:9000".
    pub host: String,
    /// The bucket.
    pub bucket: String,
    /// What all names begin with, without slashes at its ends; may be empty.
    pub prefix: String,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the open. What is sent is encrypted and signed all the same: a repository is sealed, and no key travels.
    Http,
    /// Encrypted, and certain of who answers.
    Https,
}

/// Who asks an object store. Never printed.
#[derive(Clone, Default)]
pub struct Credentials {
    /// `AWS_ACCESS_KEY_ID`.
    pub access_key_id: Option<String>,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret_access_key: Option<String>,
    /// `AWS_SESSION_TOKEN`.
    pub session_token: Option<String>,
    /// `AWS_DEFAULT_REGION`.
    pub region: Option<String>,
}

impl Debug for Credentials {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Credentials")
    }
}

/// What is needed to reach a storage, besides its address.
#[derive(Clone)]
pub struct Means {
    /// The disk that a directory is on.
    pub disk: Arc<dyn Disk>,
    /// For object stores.
    pub credentials: Credentials,
    /// For how long an object store may say nothing before it is asked again; [`IDLE_MAX`] for most.
    pub idle_max: Duration,
    /// Hears why there is a wait.
    pub told: Told,
}

/// Returns the storage at `address`. Nothing is asked of it yet.
///
/// # Errors
/// [`Error::Unsupported`] for an object store in a program that was built without them; [`Error::Address`] if credentials are missing.
pub fn open(address: &Address, means: &Means, surroundings: &Surroundings) -> Result<Arc<dyn Storage>> {
    match address {
        Address::Local(root) => Ok(Arc::new(LocalStorage::new(Arc::clone(&means.disk), root.clone()))),
        #[cfg(feature = "s3")]
        Address::S3(place) => {
            let limits = super::Limits { idle_max: means.idle_max, ..super::Limits::default() };
            let storage = super::ObjectStorage::new(place, &means.credentials, limits)?;
            Ok(Arc::new(super::Retry::new(storage, surroundings, Arc::clone(&means.told))))
        }
        #[cfg(not(feature = "s3"))]
        Address::S3(_) => {
            let _ = surroundings;
            let what = "this program was built without object stores (feature s3)".to_owned();
            Err(Error::Unsupported { file: address.to_string(), what })
        }
    }
}

impl Address {
    /// Understands an address: a path, `local:` and a path, `s3:` and a URL, or `s3:host/bucket/prefix`, which means https.
    ///
    /// # Errors
    /// [`Error::Address`] for anything else.
    pub fn parse(text: &str) -> Result<Address> {
        if text.is_empty() {
            return Err(wrong("the repository has no name: give a directory, or s3:https://host/bucket"));
        }
        if let Some(path) = text.strip_prefix("local:") {
            return Ok(Address::Local(path.into()));
        }
        if let Some(rest) = text.strip_prefix("s3:") {
            return Ok(Address::S3(s3(rest)?));
        }
        match scheme_of(text) {
            Some(scheme) if RESTIC_ONLY.contains(&scheme) => Err(wrong(format!(
                "repositories at {scheme}: are for restic itself; this program takes directories and s3:"
            ))),
            Some(_) => Err(wrong(
                "what is before the first colon names no kind of place; if it is a directory, write local: before it",
            )),
            None => Ok(Address::Local(text.into())),
        }
    }
}

/// Returns what stands before the first colon, if it looks like the name of a kind of place and not like part of a path.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_name = !scheme.is_empty() && scheme.bytes().all(|letter| letter.is_ascii_alphanumeric());
    is_name.then_some(scheme)
}

/// Understands what follows `s3:`.
fn s3(rest: &str) -> Result<S3Address> {
    let (scheme, rest) = match rest.split_once("://") {
        Some(("https", rest)) => (Scheme::Https, rest),
        Some(("http", rest)) => (Scheme::Http, rest),
        // As restic takes it.
        None => (Scheme::Https, rest.strip_prefix("//").unwrap_or(rest)),
        Some(_) => return Err(wrong("an object store is reached by https:// or http:// alone")),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.contains('@') {
        return Err(wrong(
            "an address must hold no keys: everybody can read it in the list of processes; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ));
    }
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let bucket = parts.next().unwrap_or_default().to_owned();
    let prefix = parts.collect::<Vec<_>>().join("/");
    let is_odd = |letter: char| letter.is_ascii_control() || matches!(letter, '?' | '#' | ' ' | '\\');
    if host.is_empty() || bucket.is_empty() || rest.contains(is_odd) || prefix.split('/').any(is_dots) {
        return Err(wrong(
            "an object store is named s3:https://host:port/bucket/prefix, or s3:host/bucket/prefix",
        ));
    }
    Ok(S3Address { scheme, host: host.to_owned(), bucket, prefix })
}

fn is_dots(part: &str) -> bool {
    matches!(part, "." | "..")
}

fn wrong(what: impl Into<String>) -> Error {
    Error::Address { what: what.into() }
}

impl Scheme {
    /// Returns it as addresses begin.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl Display for Address {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Local(path) => write!(formatter, "{}", path.display()),
            Address::S3(place) => write!(formatter, "{place}"),
        }
    }
}

impl Display for S3Address {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let S3Address { scheme, host, bucket, prefix } = self;
        let (scheme, slash) = (scheme.name(), if prefix.is_empty() { "" } else { "/" });
        write!(formatter, "s3:{scheme}://{host}/{bucket}{slash}{prefix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match Address::parse(text) {
            Ok(Address::Local(path)) => format!("local {}", path.display()),
            Ok(address) => address.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn addresses_are_written_as_for_restic() {
        for (text, meaning) in [
            ("/srv/repo", "local /srv/repo"),
            ("repo", "local repo"),
            ("./a:b", "local ./a:b"),
            ("local:a:b", "local a:b"),
            ("s3:https://host:9000/bucket/some/prefix/", "s3:https://host:9000/bucket/some/prefix"),
            ("s3:http://127.0.0.1:9000/bucket", "s3:http://127.0.0.1:9000/bucket"),
            ("s3:s3.amazonaws.com/bucket//prefix", "s3:https://s3.amazonaws.com/bucket/prefix"),
            ("s3://host/bucket/prefix", "s3:https://host/bucket/prefix"),
        ] {
            assert_eq!(said(text), meaning);
        }
    }

    #[test]
    fn what_is_no_address_is_told_so() {
        let named = "an object store is named s3:https://host:port/bucket/prefix, or s3:host/bucket/prefix";
        for (text, sentence) in [
            ("", "the repository has no name: give a directory, or s3:https://host/bucket"),
            (
                "sftp:user@host:/repo",
                "repositories at sftp: are for restic itself; this program takes directories and s3:",
            ),
            (
                "disk:/x",
                "what is before the first colon names no kind of place; if it is a directory, write local: before it",
            ),
            ("s3:", named),
            ("s3:host", named),
            ("s3:https:///bucket", named),
            ("s3:https://host//", named),
            ("s3:https://host/bucket?versions", named),
            ("s3:https://host/bucket/../other", named),
            ("s3:ftp://host/bucket", "an object store is reached by https:// or http:// alone"),
        ] {
            assert_eq!(said(text), sentence, "{text}");
        }
    }

    #[test]
    fn keys_are_neither_taken_from_an_address_nor_printed() {
        let sentence = said("s3:https://AKIA:hidden@host/bucket");
        assert!(
            sentence.starts_with("an address must hold no keys") && !sentence.contains("hidden"),
            "{sentence}"
        );
        let credentials =
            Credentials { secret_access_key: Some("hidden".to_owned()), ..Credentials::default() };
        assert_eq!(format!("{credentials:?}"), "Credentials");
    }
}
