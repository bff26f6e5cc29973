//! Answers that say what is wrong, as JSON (RFC 7807). Input: a status and a sentence. Output: an answer.
//! Knows no request but its path.

use crate::route;
use jmap::RequestError;
use serde_json::{Value, json};
use server::{Body, Response, StatusCode};

/// The content type of problem details.
const CONTENT_TYPE: &str = "application/problem+json";

/// Returns an answer of a status that says what is wrong.
pub(crate) fn problem(status: StatusCode, detail: &str) -> Response {
    response(status, &blank(status, detail))
}

/// Returns the content type and the body of a refusal that the server decides on before JMAP sees the request
/// (RFC 8620, section 3.6.1); `None` for addresses of the page, whose refusals people read.
pub(crate) fn of_refusal(path: &str, status: StatusCode, reason: &str) -> Option<(&'static str, Vec<u8>)> {
    if !route::is_of_jmap(path) {
        return None;
    }
    let error = match status {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Some(RequestError::NotJson(reason.to_owned())),
        StatusCode::PAYLOAD_TOO_LARGE if path == route::API => Some(RequestError::Limit("maxSizeRequest")),
        StatusCode::PAYLOAD_TOO_LARGE if path.starts_with(route::UPLOAD) => {
            Some(RequestError::Limit("maxSizeUpload"))
        }
        _ => None,
    };
    let mut value = error.map_or_else(|| blank(status, reason), |error| error.problem());
    if let Some(told) = value.get_mut("status") {
        *told = status.as_u16().into();
    }
    Some((CONTENT_TYPE, jmap::bytes(&value)))
}

/// Returns problem details of no type but their status.
fn blank(status: StatusCode, detail: &str) -> Value {
    let title = status.canonical_reason().unwrap_or_default();
    json!({ "type": "about:blank", "status": status.as_u16(), "title": title, "detail": detail })
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
    Response::new(status, CONTENT_TYPE, Body::Bytes(jmap::bytes(value)))
}
