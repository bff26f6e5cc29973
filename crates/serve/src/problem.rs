//! Answers that say what is wrong, as JSON (RFC 7807). Input: a status and a sentence. Output: an answer.
//! Knows nothing of requests.

use jmap::RequestError;
use serde_json::{Value, json};
use server::{Body, Response, StatusCode};

/// Returns an answer of a status that says what is wrong.
pub(crate) fn problem(status: StatusCode, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let value = json!({ "type": "about:blank", "status": status.as_u16(), "title": title, "detail": detail });
    response(status, &value)
}

/// Returns the answer to a path at which there is nothing.
pub(crate) fn not_found() -> Response {
    problem(StatusCode::NOT_FOUND, "there is nothing at this address")
}

/// Returns the answer while the index cannot be read. Why is told at the terminal, not to clients.
pub(crate) fn no_index() -> Response {
    problem(StatusCode::SERVICE_UNAVAILABLE, "the index cannot be read now; the server says why")
}

/// Returns the refusal of a request of JMAP.
pub(crate) fn of_request(error: &RequestError) -> Response {
    of_status(RequestError::STATUS, &error.problem())
}

/// Returns an answer of a status, with problem details that are there already.
pub(crate) fn of_status(status: u16, problem: &Value) -> Response {
    response(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), problem)
}

fn response(status: StatusCode, value: &Value) -> Response {
    Response::new(status, "application/problem+json", Body::Bytes(jmap::bytes(value)))
}
