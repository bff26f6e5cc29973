//! What is served. Input: requests. Output: answers, each from the newest state of the index when it began.
//! Knows which part answers what, and nothing of the answers themselves.

use crate::files::File;
use crate::mail::Mail;
use crate::problem::{not_found, problem};
use crate::route::{Route, route};
use crate::{api, download, event_source};
use serde_json::Value;
use server::{Application, Body, Method, Request, Response, Rule, StatusCode};

impl Application for Mail {
    fn rule(&self, method: Method, path: &str) -> Rule {
        route(method, path).rule(self.limits.max_size_request)
    }

    fn answer(&self, request: &Request) -> Response {
        match route(request.method, &request.path) {
            Route::File(file) => File::response(file),
            Route::Session => json(&Value::Object(self.session(request).object().clone())),
            Route::Api => api::answer(self, request),
            Route::Download(rest) => download::answer(self, request, rest),
            Route::Events => event_source::answer(self, request),
            Route::Upload => problem(StatusCode::NOT_FOUND, "nothing can be uploaded yet"),
            Route::Unknown => not_found(),
        }
    }
}

/// Returns JSON as an answer.
fn json(value: &Value) -> Response {
    Response::new(StatusCode::OK, "application/json", Body::Bytes(jmap::bytes(value)))
}
