//! What is served. Input: requests. Output: answers, each from the newest state of the index when it began.
//! Knows which part answers what, and nothing of the answers themselves.

use crate::files::File;
use crate::mail::Mail;
use crate::problem::{self, not_found};
use crate::route::{Route, route};
use crate::{api, download, event_source, shown, upload};
use serde_json::Value;
use server::{Application, Body, Method, Request, Response, Rule, StatusCode};

impl Application for Mail {
    fn rule(&self, method: Method, path: &str) -> Rule {
        route(method, path).rule(&self.limits)
    }

    fn answer(&self, request: &Request) -> Response {
        match route(request.method, &request.path) {
            Route::File(file) => File::response(file),
            Route::Session => json(&Value::Object(self.session(request).object().clone())),
            Route::Api => api::answer(self, request),
            Route::Download(rest) => download::answer(self, request, rest),
            Route::Mail(rest) => shown::answer(self, request, rest),
            Route::Events => event_source::answer(self, request),
            Route::Upload(rest) => upload::answer(self, request, rest),
            Route::Unknown => not_found(),
        }
    }

    fn refusal(&self, path: &str, status: StatusCode, reason: &str) -> Option<(&'static str, Vec<u8>)> {
        problem::of_refusal(path, status, reason)
    }
}

/// Returns JSON as an answer.
fn json(value: &Value) -> Response {
    Response::new(StatusCode::OK, "application/json", Body::Bytes(jmap::bytes(value)))
}
