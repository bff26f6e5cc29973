//! A request (RFC 8620, section 3.3), read from bytes.
//!
//! Input: the body of a POST. Output: a request, or why there is none. Does not know the methods.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::created::CreatedIds;
use crate::error::RequestError;
use crate::i_json::{self, Fault};
use crate::limits::Limits;
use serde_json::{Map, Value};

/// What a client asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The capabilities that it uses.
    pub(crate) using: Vec<String>,
    /// The calls, in order.
    pub(crate) calls: Vec<Invocation>,
    /// Records that were created earlier, if the client wants to hear of those that this request creates.
    pub(crate) created_ids: Option<CreatedIds>,
}

/// A method call or a response to one (RFC 8620, section 3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The name of the method, or of the response.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What the client calls the call.
    pub call_id: String,
}

impl Request {
    /// Reads a request within `limits` that uses no capability except those `offered`. Other properties of
    /// the object are ignored (RFC 8620, section 3.3).
    ///
    /// # Errors
    /// The errors of RFC 8620, section 3.6.1.
    pub fn read(bytes: &[u8], limits: &Limits, offered: &[&str]) -> Result<Request, RequestError> {
        if bytes.len() > limits.max_size_request {
            return Err(RequestError::Limit("maxSizeRequest"));
        }
        let value =
            i_json::read(bytes, limits.json_depth, limits.json_values).map_err(|fault| match fault {
                Fault::NotJson(why) => RequestError::NotJson(why),
                Fault::TooManyValues => RequestError::Limit("maxSizeRequest"),
            })?;
        let Value::Object(mut object) = value else { return Err(not_request("it is no object")) };
        let using = match object.remove("using") {
            Some(Value::Array(items)) => items.into_iter().map(text).collect::<Option<Vec<String>>>(),
            _ => None,
        };
        let using = using.ok_or_else(|| not_request("\"using\" is not of the type String[]"))?;
        let Some(Value::Array(calls)) = object.remove("methodCalls") else {
            return Err(not_request("\"methodCalls\" is not of the type Invocation[]"));
        };
        let created_ids = match object.remove("createdIds") {
            None => None,
            Some(value) => Some(created_ids(value)?),
        };
        if let Some(unknown) = using.iter().find(|used| !offered.contains(&used.as_str())) {
            return Err(RequestError::unknown_capability(unknown));
        }
        if calls.len() > limits.max_calls_in_request {
            return Err(RequestError::Limit("maxCallsInRequest"));
        }
        let calls = calls.into_iter().map(invocation).collect::<Option<_>>();
        let calls = calls.ok_or_else(|| not_request("a method call is not of the type Invocation"))?;
        Ok(Request { using, calls, created_ids })
    }
}

fn not_request(why: &str) -> RequestError {
    RequestError::NotRequest(why.to_owned())
}

fn text(value: Value) -> Option<String> {
    if let Value::String(text) = value { Some(text) } else { None }
}

/// Reads `createdIds`.
fn created_ids(value: Value) -> Result<CreatedIds, RequestError> {
    let read = if let Value::Object(map) = value { CreatedIds::read(map) } else { None };
    read.ok_or_else(|| not_request("\"createdIds\" is not of the type Id[Id]"))
}

/// Reads an array of a name, arguments and a call id (RFC 8620, section 3.2).
fn invocation(value: Value) -> Option<Invocation> {
    let Value::Array(items) = value else { return None };
    let [Value::String(name), Value::Object(arguments), Value::String(call_id)] =
        <[Value; 3]>::try_from(items).ok()?
    else {
        return None;
    };
    Some(Invocation { name, arguments, call_id })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CORE;
    use serde_json::json;

    fn read(value: &Value) -> Result<Request, RequestError> {
        let limits = Limits { max_calls_in_request: 2, max_size_request: 300, ..Limits::default() };
        Request::read(value.to_string().as_bytes(), &limits, &[CORE, "urn:mail"])
    }

    #[test]
    fn a_request_is_read_and_its_other_properties_are_ignored() {
        let request = read(&json!({
            "using": [CORE, "urn:mail"], "more": 1, "createdIds": {"k": "a"},
            "methodCalls": [["Core/echo", {"a": 1}, "c1"], ["Core/echo", {}, ""]],
        }));
        let request = request.unwrap();
        assert_eq!(request.using, [CORE, "urn:mail"]);
        assert_eq!(request.calls[0].arguments["a"], 1);
        assert_eq!((request.calls[0].name.as_str(), request.calls[1].call_id.as_str()), ("Core/echo", ""));
        assert!(request.created_ids.is_some());
        assert_eq!(read(&json!({"using": [], "methodCalls": []})).unwrap().created_ids, None);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let wrong = [
            json!([]),
            json!({"foo": "bar"}),
            json!({"using": [CORE]}),
            json!({"methodCalls": []}),
            json!({"using": null, "methodCalls": []}),
            json!({"using": [1], "methodCalls": []}),
            json!({"using": [CORE], "methodCalls": "no"}),
            json!({"using": [CORE], "methodCalls": [{}]}),
            json!({"using": [CORE], "methodCalls": [["a", {}]]}),
            json!({"using": [CORE], "methodCalls": [["a", {}, "c", 1]]}),
            json!({"using": [CORE], "methodCalls": [["a", [], "c"]]}),
            json!({"using": [CORE], "methodCalls": [[1, {}, "c"]]}),
            json!({"using": [CORE], "methodCalls": [["a", {}, 1]]}),
            json!({"using": [CORE], "methodCalls": [], "createdIds": null}),
            json!({"using": [CORE], "methodCalls": [], "createdIds": {"k": 1}}),
            json!({"using": [CORE], "methodCalls": [], "createdIds": {"#k": "a"}}),
        ];
        for value in wrong {
            assert!(matches!(read(&value), Err(RequestError::NotRequest(_))), "{value}");
        }
    }

    #[test]
    fn a_capability_that_is_not_offered_is_refused() {
        let error = read(&json!({"using": [CORE, "urn:x"], "methodCalls": []})).unwrap_err();
        assert_eq!(error, RequestError::UnknownCapability("urn:x".to_owned()));
    }

    #[test]
    fn too_many_calls_bytes_and_values_are_refused_with_the_name_of_the_limit() {
        let call = json!(["Core/echo", {}, "c"]);
        assert!(read(&json!({"using": [CORE], "methodCalls": [call, call]})).is_ok());
        let error = read(&json!({"using": [CORE], "methodCalls": [call, call, call]}));
        assert_eq!(error, Err(RequestError::Limit("maxCallsInRequest")));
        let error = read(&json!({"using": [CORE], "methodCalls": [], "x": "x".repeat(300)}));
        assert_eq!(error, Err(RequestError::Limit("maxSizeRequest")));
        let limits = Limits { json_values: 3, ..Limits::default() };
        let of = |text: &str| Request::read(text.as_bytes(), &limits, &[]);
        assert!(of(r#"{"using":[],"methodCalls":[]}"#).is_ok());
        assert_eq!(of(r#"{"using":[],"methodCalls":[],"x":1}"#), Err(RequestError::Limit("maxSizeRequest")));
    }

    #[test]
    fn bytes_that_are_no_i_json_are_refused() {
        for bytes in
            [&b"this is not json"[..], b"", b"{\"using\":[],\"using\":[],\"methodCalls\":[]}", b"\xff"]
        {
            let error = Request::read(bytes, &Limits::default(), &[]);
            assert!(matches!(error, Err(RequestError::NotJson(_))), "{bytes:?}");
        }
    }
}
