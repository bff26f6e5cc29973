//! Requests of JMAP. Input: the body of a POST. Output: the response. Does not know the methods.

use crate::mail::Mail;
use crate::problem::{no_index, of_request};
use jmap_mail::CAPABILITIES;
use server::{Body, Request, Response, StatusCode};

/// Answers a request from one state of the index.
pub(crate) fn answer(mail: &Mail, request: &Request) -> Response {
    let calls = match jmap::Request::read(&request.body, &mail.limits, &CAPABILITIES) {
        Ok(calls) => calls,
        Err(error) => return of_request(&error),
    };
    let source = mail.source();
    let Ok(mut account) = source.account(mail, request) else { return no_index() };
    let response = jmap::run(calls, &mail.limits, &mut account).into_bytes();
    Response::new(StatusCode::OK, "application/json", Body::Bytes(response))
}
