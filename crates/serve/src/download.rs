//! Downloads of blobs (RFC 8620, section 6.2). Input: the end of a path, and a content type. Output: the
//! blob, as a file that a browser only stores. What is downloaded was written by others: neither its name nor
//! its type decides what happens to it.

use crate::blocks;
use crate::content_type::content_type;
use crate::mail::Mail;
use crate::problem::{no_index, not_found, problem};
use jmap::Id;
use jmap_mail::{Blob, BlobError, MailError, account_id};
use server::{Body, Cache, Disposition, Request, Response, StatusCode, percent_decoded};
use std::io;

/// What a browser may do with a download that it shows all the same: nothing.
const POLICY: &str = "sandbox; default-src 'none'; frame-ancestors 'none'";

/// Answers a request for `accountId/blobId/name`. A blob never changes, so it may be kept by who asked.
pub(crate) fn answer(mail: &Mail, request: &Request, rest: &str) -> Response {
    let Some((id, name)) = blob(rest) else { return not_found() };
    let source = mail.source();
    let Ok(account) = source.account(mail, request) else { return no_index() };
    let body = match account.blob(&id) {
        Ok(blob) => body(blob),
        Err(BlobError::NotFound) => return problem(StatusCode::NOT_FOUND, "there is no such blob"),
        Err(BlobError::Archived) => {
            let what = "the message is only in the archive, which cannot be opened without asking for its \
                        password: name a password_file or password_command in the configuration";
            return problem(StatusCode::SERVICE_UNAVAILABLE, what);
        }
        Err(BlobError::Unreadable) => return unreadable(),
    };
    let Ok(body) = body else { return unreadable() };
    let wanted = request.query.iter().find(|(name, _)| name == "type").map_or("", |(_, value)| value);
    Response {
        cache: Cache::Immutable,
        content_security_policy: Some(POLICY.to_owned()),
        disposition: Disposition::Attachment(name),
        ..Response::new(StatusCode::OK, &content_type(wanted), body)
    }
}

fn unreadable() -> Response {
    problem(StatusCode::SERVICE_UNAVAILABLE, "the blob cannot be read now")
}

/// Reads the end of a path. Returns the blob's id, and the name under which it is to be stored.
fn blob(rest: &str) -> Option<(Id, String)> {
    let mut parts = rest.split('/');
    let (account, id, name) = (parts.next()?, parts.next()?, parts.next()?);
    let is_account = percent_decoded(account)? == account_id().as_str();
    let name = percent_decoded(name)?.replace(['/', '\\'], "_");
    (is_account && parts.next().is_none()).then_some((Id::new(percent_decoded(id)?)?, name))
}

/// Returns the bytes of a blob. Those of a large one are read while the client takes them.
pub(crate) fn body(blob: Blob) -> io::Result<Body> {
    let blob = match blob.into_bytes() {
        Ok(bytes) => return Ok(Body::Bytes(bytes)),
        Err(large) => large,
    };
    let length = Some(blob.size_bytes);
    let reader = blocks::read(move |sink| {
        blob.each_block(&mut |block| sink.give(block).map_err(Stop::Gone)).map_err(io::Error::from)
    })?;
    Ok(Body::Stream { reader, length })
}

/// Why a large blob is not read to its end.
enum Stop {
    /// Nobody takes it any more.
    Gone(io::Error),
    /// Its file cannot be read.
    Mail(MailError),
}

impl From<MailError> for Stop {
    fn from(error: MailError) -> Stop {
        Stop::Mail(error)
    }
}

impl From<Stop> for io::Error {
    fn from(stop: Stop) -> io::Error {
        match stop {
            Stop::Gone(error) => error,
            Stop::Mail(error) => io::Error::other(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_an_account_a_blob_and_a_file() {
        let found = |rest| blob(rest).map(|(id, name)| (id.as_str().to_owned(), name));
        let expected = |id: &str, name: &str| Some((id.to_owned(), name.to_owned()));
        assert_eq!(found("mail/B1/a.eml"), expected("B1", "a.eml"));
        assert_eq!(found("m%61il/B%31/a%20%C3%A9"), expected("B1", "a \u{e9}"));
        assert_eq!(found("mail/B1/..%2F..%5Ca"), expected("B1", ".._.._a"));
        assert_eq!(found("mail/B1/"), expected("B1", ""));
        for wrong in
            ["", "mail", "mail/B1", "mail/B1/a/b", "other/B1/a", "mail/B%2F1/a", "mail//a", "mail/B1/%"]
        {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }
}
