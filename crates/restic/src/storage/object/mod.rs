//! A repository in a bucket of an S3 object store.
//!
//! Stores objects laid out as restic lays them out. Errors say whether another attempt may help;
//! [`Retry`](super::Retry) makes these attempts.
//!
//! This needs only what every S3 server can do: whole objects that appear at once when they are put, and are
//! found from then on. It uses no conditional puts (some servers ignore the condition), no multipart uploads
//! (no file of a repository comes near the 5 GiB limit of one put), and puts names into the path.
//!
//! Several gateways may share one name, and one of them may not know yet what the others do. So a file
//! counts as missing only if the server says that there is no such key, and a bucket only as long as nothing
//! was ever found in it.

mod request;

use super::address::{Credentials, IDLE_MAX, S3Address};
use super::{Storage, absent, check_size};
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutPayload};
use request::{Http, Trouble, generic};
use std::fmt::{Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Bytes sent at a time. They must be sent within [`Limits::idle_max`], however slow the line is.
const PIECE_BYTES: usize = 64 * 1024;
/// How many lists are asked for at once.
const LISTS_AT_ONCE: usize = 16;
/// Threads that serve connections; the calling threads do the rest.
const THREAD_COUNT: usize = 2;
/// Memory reserved for an object before its bytes arrive: the size that it claims may be anything.
const RESERVED_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// How long a request may be on its way to make a bucket.
const SIGNED_FOR: Duration = Duration::from_secs(300);
/// The region if none is given.
const REGION: &str = "us-east-1";

/// Timeouts and limits of an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long nothing may happen while waiting for an answer or sending a file.
    pub idle_max: Duration,
    /// Up to this many packs are listed page by page; more are listed by the first two digits of their names,
    /// several lists at once.
    pub listed_alone_max: usize,
    /// The most objects of one kind that are listed. A server that lists more lists them without end.
    pub listed_max: usize,
}

impl Default for Limits {
    /// A minute; a page of a list; packs of hundreds of terabytes.
    fn default() -> Limits {
        Limits { idle_max: IDLE_MAX, listed_alone_max: 1000, listed_max: 20_000_000 }
    }
}

/// A bucket, or the objects below a prefix in it.
pub struct ObjectStorage {
    address: String,
    prefix: String,
    limits: Limits,
    region: String,
    store: AmazonS3,
    http: Http,
    /// Whether the bucket was ever found. If so, it exists, whatever a server says.
    is_there: AtomicBool,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl ObjectStorage {
    /// Returns the storage at `place`. Nothing is asked of it yet.
    ///
    /// # Errors
    /// [`Error::NoKeys`]; [`Error::Address`] if the prefix cannot be part of a name; [`Error::Storage`] if
    /// this machine has no certificates.
    pub fn new(place: &S3Address, credentials: &Credentials, limits: Limits) -> Result<ObjectStorage> {
        let address = place.to_string();
        let (Some(key), Some(secret)) = (&credentials.access_key_id, &credentials.secret_access_key) else {
            return Err(Error::NoKeys { address });
        };
        Path::parse(&place.prefix)
            .map_err(|error| Error::Address { what: format!("{address} cannot be used: {error}") })?;
        let cannot_begin = |what: String| Error::Storage {
            action: "begin to work".to_owned(),
            address: address.clone(),
            what,
        };
        let secrets =
            [Some(secret), credentials.session_token.as_ref()].into_iter().flatten().cloned().collect();
        let http = Http::new(place.scheme, limits.idle_max, secrets)
            .map_err(|error| cannot_begin(error.to_string()))?;
        let region = region_of(&place.host, credentials);
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&place.bucket)
            .with_region(&region)
            .with_access_key_id(key)
            .with_secret_access_key(secret)
            .with_endpoint(endpoint(place))
            .with_virtual_hosted_style_request(is_in_host(place))
            .with_allow_http(true)
            // One request to remove one file: not every server knows how to remove many, and none has to be
            // asked twice.
            .with_disable_bulk_delete(true)
            .with_retry(object_store::RetryConfig { max_retries: 0, ..Default::default() })
            .with_http_connector(http.clone());
        if let Some(token) = &credentials.session_token {
            builder = builder.with_token(token);
        }
        let store = builder.build().map_err(|error| cannot_begin(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREAD_COUNT)
            .thread_name("object store")
            .enable_all()
            .build()
            .map_err(|error| cannot_begin(error.to_string()))?;
        let (prefix, is_there, runtime) = (place.prefix.clone(), AtomicBool::new(false), Some(runtime));
        Ok(ObjectStorage { address, prefix, limits, region, store, http, is_there, runtime })
    }

    /// Waits for a request to the server. May be called from many threads at once, but never from within
    /// another such runtime.
    /// runtime.
    fn run<T>(&self, work: impl Future<Output = object_store::Result<T>>) -> object_store::Result<T> {
        let result = self.runtime.as_ref().expect("it is there until the drop").block_on(work);
        if result.is_ok() {
            self.is_there.store(true, Ordering::Relaxed);
        }
        result
    }

    fn path(&self, below: &str) -> Path {
        let slash = if self.prefix.is_empty() { "" } else { "/" };
        Path::from(format!("{}{slash}{below}", self.prefix))
    }

    /// Returns the files of a kind whose path begins with `directory`, and how many objects they are among:
    /// up to `count_max`.
    async fn list_some(
        &self,
        kind: FileKind,
        directory: &str,
        count_max: usize,
    ) -> object_store::Result<(Vec<(Id, u64)>, usize)> {
        let mut found = self.store.list(Some(&self.path(directory))).take(count_max);
        let (mut files, mut object_count) = (Vec::new(), 0);
        while let Some(object) = found.try_next().await? {
            object_count += 1;
            if object_count > self.limits.listed_max {
                return Err(generic(Trouble::Senseless("the list has no end")));
            }
            let id = object.location.filename().and_then(|name| name.parse().ok());
            // Objects with other paths are ignored.
            files.extend(
                id.filter(|id| self.path(&FileName { kind, id: *id }.path()) == object.location)
                    .map(|id| (id, object.size)),
            );
        }
        Ok((files, object_count))
    }

    async fn list_all(&self, kind: FileKind) -> object_store::Result<Vec<(Id, u64)>> {
        if kind != FileKind::Pack {
            return Ok(self.list_some(kind, kind.directory(), usize::MAX).await?.0);
        }
        let (files, object_count) =
            self.list_some(kind, kind.directory(), self.limits.listed_alone_max).await?;
        // Not all of them need be packs.
        if object_count < self.limits.listed_alone_max {
            return Ok(files);
        }
        let parts = (0..=u8::MAX).map(|byte| async move {
            let part = format!("{}/{byte:02x}", kind.directory());
            self.list_some(kind, &part, usize::MAX).await.map(|(files, _)| files)
        });
        let mut parts = stream::iter(parts).buffer_unordered(LISTS_AT_ONCE);
        let mut all = Vec::new();
        while let Some(files) = parts.try_next().await? {
            all.extend(files);
            if all.len() > self.limits.listed_max {
                return Err(generic(Trouble::Senseless("the list has no end")));
            }
        }
        Ok(all)
    }

    /// Reads a file, or a range of it. Returns its bytes and how many the server said they are; of more bytes
    /// than that, or than `bytes_max`, only the first.
    async fn fetch(
        &self,
        name: FileName,
        range: Option<GetRange>,
        bytes_max: u64,
    ) -> object_store::Result<(Vec<u8>, u64)> {
        let options = GetOptions { range, ..GetOptions::default() };
        let answer = self.store.get_opts(&self.path(&name.path()), options).await?;
        let said = answer.range.end - answer.range.start;
        if said > bytes_max {
            return Ok((Vec::new(), said));
        }
        let reserved = usize::try_from(said.min(RESERVED_BYTES_MAX)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(reserved);
        let mut pieces = answer.into_stream();
        // A server that sends more than it said may send it without end.
        while bytes.len() as u64 <= said
            && let Some(piece) = pieces.try_next().await?
        {
            bytes.extend_from_slice(&piece);
        }
        Ok((bytes, said))
    }

    /// Makes the bucket, in the region that requests are signed for.
    async fn create_bucket(&self) -> object_store::Result<()> {
        let url = self.store.signed_url(reqwest::Method::PUT, &Path::default(), SIGNED_FOR).await?;
        let body = match self.region.as_str() {
            REGION => String::new(),
            region => format!(
                "<CreateBucketConfiguration><LocationConstraint>{region}</LocationConstraint></CreateBucketConfiguration>"
            ),
        };
        self.http.put(url.as_str(), body).await
    }

    /// Returns the error for a failed operation.
    fn failed(&self, action: impl Into<String>, error: &object_store::Error) -> Error {
        let (action, address) = (action.into(), self.address());
        match Trouble::below(error) {
            Some(trouble) if !trouble.may_pass() && !self.is_out_of_step(error) => {
                Error::Storage { action, address, what: trouble.to_string() }
            }
            Some(trouble) => Error::Passing { action, address, what: trouble.to_string() },
            // A cut list, a range that was not asked for: something between us and the server may have
            // spoken.
            None => Error::Passing { action, address, what: senseless(error) },
        }
    }

    /// Returns the error for a failed operation on a file.
    fn failed_on(&self, action: &str, name: FileName, error: &object_store::Error) -> Error {
        match self.is_absent(error) {
            true => absent(name, self.address()),
            false => self.failed(format!("{action} {name}"), error),
        }
    }

    /// Returns whether the server says that there is no such file. A bare "not found" may come from any other
    /// server.
    fn is_absent(&self, error: &object_store::Error) -> bool {
        code(error) == "NoSuchKey" || self.has_no_bucket(error)
    }

    /// Returns whether there is no bucket, and none was ever found.
    fn has_no_bucket(&self, error: &object_store::Error) -> bool {
        code(error) == "NoSuchBucket" && !self.is_there.load(Ordering::Relaxed)
    }

    /// Returns whether a server denies the existence of something that must exist, or does not answer like an
    /// S3 server.
    fn is_out_of_step(&self, error: &object_store::Error) -> bool {
        status(error) == Some(404) && !self.is_absent(error)
    }

    fn senseless_length(&self, name: FileName, expected: u64, found: usize) -> Error {
        let what = format!("{found} bytes came of {expected}");
        Error::Passing { action: format!("read {name}"), address: self.address(), what }
    }
}

/// Returns the URL to which the names of objects are appended. It includes the bucket's name unless that is
/// part of the host name.
/// host's.
fn endpoint(place: &S3Address) -> String {
    let S3Address { scheme, host, bucket, .. } = place;
    let bucket = if is_in_host(place) { format!("{bucket}.") } else { String::new() };
    format!("{}://{bucket}{host}", scheme.name())
}

/// Returns whether the bucket is part of the host name. Amazon requires this; on other servers the bucket in
/// the path works and needs no domain. No certificate covers a bucket with dots in its name.
fn is_in_host(place: &S3Address) -> bool {
    place.host.ends_with(".amazonaws.com") && !place.bucket.contains('.')
}

/// Returns the region to sign for: the one that is named, or that the host's name tells, as Amazon's do.
fn region_of(host: &str, credentials: &Credentials) -> String {
    let told = host.strip_prefix("s3.").and_then(|rest| rest.strip_suffix(".amazonaws.com"));
    credentials.region.as_deref().or(told).unwrap_or(REGION).to_owned()
}

/// Returns the number of the server's answer, if it refused.
fn status(error: &object_store::Error) -> Option<u16> {
    match Trouble::below(error)? {
        Trouble::Refused { status, .. } => Some(*status),
        _ => None,
    }
}

/// Returns the server's word for its refusal.
fn code(error: &object_store::Error) -> &str {
    match Trouble::below(error) {
        Some(Trouble::Refused { code, .. }) => code,
        _ => "",
    }
}

fn senseless(error: &object_store::Error) -> String {
    let cause = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source()).last();
    format!("the server sent an invalid response: {}", cause.map_or_else(String::new, ToString::to_string))
}

impl Storage for ObjectStorage {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn create(&self) -> Result<()> {
        let bucket = self.run(self.list_some(FileKind::Key, FileKind::Key.directory(), 1));
        match bucket {
            Err(error) if self.has_no_bucket(&error) => {
                self.run(self.create_bucket()).map_err(|error| self.failed("create the bucket", &error))
            }
            other => other.map(|_| ()).map_err(|error| self.failed("look for the bucket", &error)),
        }
    }

    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>> {
        if kind == FileKind::Config {
            return Ok(self
                .size(FileName::CONFIG)?
                .map(|size| (FileName::CONFIG.id, size))
                .into_iter()
                .collect());
        }
        match self.run(self.list_all(kind)) {
            Err(error) if self.has_no_bucket(&error) => Ok(Vec::new()),
            other => other.map_err(|error| self.failed(format!("list {}", kind.directory()), &error)),
        }
    }

    fn read(&self, name: FileName) -> Result<Vec<u8>> {
        let fetched = self.run(self.fetch(name, None, name.kind.bytes_max()));
        let (bytes, said) = fetched.map_err(|error| self.failed_on("read", name, &error))?;
        check_size(name, said)?;
        if bytes.len() as u64 == said {
            Ok(bytes)
        } else {
            Err(self.senseless_length(name, said, bytes.len()))
        }
    }

    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        let end = offset.saturating_add(u64::from(length));
        let result = match length {
            // There is no such request.
            0 => Ok((Vec::new(), 0)),
            _ => self.run(self.fetch(name, Some(GetRange::Bounded(offset..end)), length.into())),
        };
        match result {
            Ok((bytes, said)) if bytes.len() as u64 != said => {
                Err(self.senseless_length(name, said, bytes.len()))
            }
            Ok((bytes, said)) if length > 0 && said == u64::from(length) => Ok(bytes),
            Err(error) if status(&error) != Some(416) => Err(self.failed_on("read", name, &error)),
            // It ends before, says the server; where, is worth a question.
            _ => {
                let size = self.size(name)?.ok_or_else(|| absent(name, self.address()))?;
                if size >= end && length == 0 {
                    return Ok(Vec::new());
                }
                Err(Error::damage(
                    format!("{name} at {}", self.address),
                    format!("it has {size} bytes, {end} expected"),
                ))
            }
        }
    }

    fn size(&self, name: FileName) -> Result<Option<u64>> {
        match self.run(self.store.head(&self.path(&name.path()))) {
            Ok(object) => Ok(Some(object.size)),
            Err(error) if status(&error) == Some(404) => Ok(None),
            Err(error) => Err(self.failed(format!("stat {name}"), &error)),
        }
    }

    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()> {
        // In pieces, so that it is seen whether they go out.
        let payload: PutPayload = bytes.chunks(PIECE_BYTES).map(Bytes::copy_from_slice).collect();
        let result = self.run(self.store.put(&self.path(&name.path()), payload));
        result.map(|_| ()).map_err(|error| self.failed(format!("write {name}"), &error))
    }

    fn remove(&self, name: FileName) -> Result<()> {
        match self.run(self.store.delete(&self.path(&name.path()))) {
            Err(error) if self.is_absent(&error) => Ok(()),
            other => other.map_err(|error| self.failed(format!("remove {name}"), &error)),
        }
    }
}

impl Debug for ObjectStorage {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ObjectStorage").field(&self.address).finish()
    }
}

impl Drop for ObjectStorage {
    fn drop(&mut self) {
        // A name that is just being looked up must not hold up the end of the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::*;

    fn place(text: &str) -> S3Address {
        match Address::parse(text).unwrap() {
            Address::S3(place) => place,
            Address::Local(_) => unreachable!("it begins with s3:"),
        }
    }

    #[test]
    fn only_amazon_has_buckets_in_host_names() {
        for (text, expected) in [
            ("s3:http://localhost:9000/bucket/x", "http://localhost:9000"),
            ("s3:s3.eu-west-1.amazonaws.com/bucket", "https://bucket.s3.eu-west-1.amazonaws.com"),
            ("s3:s3.amazonaws.com/my.bucket", "https://s3.amazonaws.com"),
        ] {
            assert_eq!(endpoint(&place(text)), expected);
        }
    }

    #[test]
    fn the_region_is_named_or_told_by_the_host() {
        let none = Credentials::default();
        let named = Credentials { region: Some("garage".to_owned()), ..Credentials::default() };
        let regions = [
            ("s3.eu-west-1.amazonaws.com", &none),
            ("s3.eu-west-1.amazonaws.com", &named),
            ("host:1", &none),
        ]
        .map(|(host, credentials)| region_of(host, credentials));
        assert_eq!(regions, ["eu-west-1", "garage", "us-east-1"]);
    }
}
