//! Uploads of blobs (RFC 8620, section 6.1). Input: the end of a path, and bytes. Output: the blob's id, its
//! type and size. What is uploaded is stored as it is; its type is only told again.

use crate::content_type::media_type;
use crate::mail::Mail;
use crate::problem::{not_found, of_status};
use jmap_mail::account_id;
use server::{Body, Request, Response, StatusCode, percent_decoded};
use std::time::SystemTime;

/// Answers an upload to the account that `rest` names.
pub(crate) fn answer(mail: &Mail, request: &Request, rest: &str) -> Response {
    if percent_decoded(rest).as_deref() != Some(account_id().as_str()) {
        return not_found();
    }
    let media = media_type(request.content_type.as_deref().unwrap_or_default());
    match mail.uploads.put(&request.body, &media, SystemTime::now()) {
        Ok(value) => Response::new(StatusCode::OK, "application/json", Body::Bytes(jmap::bytes(&value))),
        Err(error) => of_status(error.status(), &error.problem()),
    }
}
