//! The address of a repository, as users of restic write it.
//!
//! Parses text like `/srv/repo` or `s3:https://host:9000/bucket/prefix` into an [`Address`]. Reads no
//! credentials from the environment: the caller passes them.

use crate::error::{Error, Result};
use std::fmt::{Debug, Display, Formatter};
use std::path::PathBuf;
use std::time::Duration;

/// Far longer than a busy server takes for a page of a list.
pub const IDLE_MAX: Duration = Duration::from_secs(60);
/// Schemes that restic supports and this program does not.
const RESTIC_ONLY: [&str; 8] = ["sftp", "rest", "b2", "azure", "gs", "swift", "rclone", "opendal"];

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In a directory.
    Local(PathBuf),
    /// In a bucket of an object store that speaks S3.
    S3(S3Address),
}

/// A repository's location in an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Address {
    /// HTTP or HTTPS.
    pub scheme: Scheme,
    /// The server, with its port if it is not the usual one: "localhost:9000".
    pub host: String,
    /// The bucket.
    pub bucket: String,
    /// What all names begin with, without slashes at its ends; may be empty.
    pub prefix: String,
}

/// The scheme of a server's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Not encrypted. The repository's files are encrypted and requests are signed all the same; no key is
    /// sent.
    Http,
    /// Encrypted, with a verified server.
    Https,
}

/// Credentials for an object store. Never printed.
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

impl Address {
    /// Parses an address: a path, `local:` and a path, `s3:` and a URL, or `s3:host/bucket/prefix`, which
    /// means https.
    ///
    /// # Errors
    /// [`Error::KeysInAddress`]; [`Error::Address`] for anything else.
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
                "the text before the first colon is not a known kind of repository; for a directory, write \
                 local: before it",
            )),
            None => Ok(Address::Local(text.into())),
        }
    }
}

/// Returns the text before the first colon, if it looks like the kind of an address and not like part of a
/// path.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_name = !scheme.is_empty() && scheme.bytes().all(|letter| letter.is_ascii_alphanumeric());
    is_name.then_some(scheme)
}

/// Parses the text after `s3:`.
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
        return Err(Error::KeysInAddress);
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
                "the text before the first colon is not a known kind of repository; for a directory, write \
                 local: before it",
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
