//! References to previous method results (RFC 8620, section 3.7).
//!
//! Input: the arguments of a call, and the responses so far. Output: the arguments with what they refer to.
//! Does not know the methods.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::error::{MethodError, MethodErrorKind};
use crate::memory::nodes_bytes;
use crate::pointer;
use crate::request::Invocation;
use serde_json::{Map, Value};

/// How much all references of a request may still look at and copy, in bytes of memory, about. Without it,
/// calls that refer to each other's whole results would double them with each call. A copy is paid for while
/// it is looked at, so that nobody looks at more than is left.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes_left: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Budget { bytes_left: bytes }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or("the references of the request lead to too much data")?;
        Ok(())
    }

    /// Pays for looking at a value.
    fn look(&mut self) -> Result<(), String> {
        self.spend(size_of::<Value>())
    }

    /// Pays for a copy of `value`: as much as [`value_bytes`](crate::memory::value_bytes) says.
    fn copy(&mut self, value: &Value) -> Result<(), String> {
        self.look()?;
        self.copy_below(value)
    }

    /// Pays for a copy of what `value` refers to.
    fn copy_below(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::String(text) => self.spend(text.len()),
            Value::Array(items) => items.iter().try_for_each(|item| self.copy(item)),
            Value::Object(members) => self.copy_members(members),
            _ => Ok(()),
        }
    }

    /// Pays for a copy of an object's members.
    fn copy_members(&mut self, members: &Map<String, Value>) -> Result<(), String> {
        self.spend(nodes_bytes(members.len()))?;
        members.iter().try_for_each(|(name, value)| {
            self.spend(name.len())?;
            self.copy_below(value)
        })
    }
}

/// Replaces each argument `#name`, which is a ResultReference, by an argument `name` with what it refers to.
///
/// # Errors
/// `invalidArguments`, if an argument is also given plainly; `invalidResultReference`, if a reference leads
/// nowhere, or to more than `budget` allows.
pub(crate) fn resolve(
    mut arguments: Map<String, Value>,
    responses: &[Invocation],
    budget: &mut Budget,
) -> Result<Map<String, Value>, MethodError> {
    let names: Vec<String> = arguments.keys().filter(|name| name.starts_with('#')).cloned().collect();
    let plain = |name: &str| name.strip_prefix('#').unwrap_or_default().to_owned();
    if let Some(name) = names.iter().map(|name| plain(name)).find(|name| arguments.contains_key(name)) {
        return Err(MethodError::invalid_argument(name, "is given both plainly and as a reference"));
    }
    for name in names {
        let reference = arguments.remove(&name).unwrap_or_default();
        let value = referred(&reference, responses, budget).map_err(|why| MethodError {
            arguments: vec![plain(&name)],
            ..MethodError::new(MethodErrorKind::InvalidResultReference, why)
        })?;
        arguments.insert(plain(&name), value);
    }
    Ok(arguments)
}

/// Returns what a ResultReference refers to, or why it refers to nothing.
fn referred(reference: &Value, responses: &[Invocation], budget: &mut Budget) -> Result<Value, String> {
    let text = |name: &str| {
        let text = reference.get(name).and_then(Value::as_str);
        text.ok_or_else(|| format!("a ResultReference has no text \"{name}\""))
    };
    let (result_of, name, path) = (text("resultOf")?, text("name")?, text("path")?);
    let response = responses.iter().find(|response| response.call_id == result_of);
    let response = response.ok_or("no previous call has the id that \"resultOf\" names")?;
    if response.name != name {
        return Err("the response to that call does not have this name".to_owned());
    }
    let tokens = pointer::tokens(path).ok_or("\"path\" is no JSON Pointer")?;
    let Some((first, rest)) = tokens.split_first() else {
        budget.copy_members(&response.arguments)?;
        return Ok(Value::Object(response.arguments.clone()));
    };
    let value = response.arguments.get(first).ok_or_else(nowhere)?;
    match evaluate(value, rest, budget)? {
        Found::One(value) => {
            budget.copy(value)?;
            Ok(value.clone())
        }
        Found::Many(values) => {
            values.iter().try_for_each(|value| budget.copy(value))?;
            Ok(Value::Array(values.into_iter().cloned().collect()))
        }
    }
}

/// What a pointer leads to.
enum Found<'v> {
    One(&'v Value),
    /// The items of a new array.
    Many(Vec<&'v Value>),
}

fn nowhere() -> String {
    "\"path\" leads to nothing in the response".to_owned()
}

/// Follows `tokens` from `value`. In an array, `*` stands for each item: the results make one array, to which
/// a result that is an array adds its items. Calls itself only for items of an array, so never deeper than
/// the response is nested.
fn evaluate<'v>(mut value: &'v Value, tokens: &[String], budget: &mut Budget) -> Result<Found<'v>, String> {
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        budget.look()?;
        value = match value {
            Value::Object(members) => members.get(token).ok_or_else(nowhere)?,
            Value::Array(items) if token == "*" => return mapped(items, tokens.as_slice(), budget),
            Value::Array(items) => {
                pointer::index(token).and_then(|index| items.get(index)).ok_or_else(nowhere)?
            }
            _ => return Err(nowhere()),
        };
    }
    Ok(Found::One(value))
}

/// Follows `tokens` from each of `items`.
fn mapped<'v>(items: &'v [Value], tokens: &[String], budget: &mut Budget) -> Result<Found<'v>, String> {
    let mut found = Vec::new();
    for item in items {
        budget.look()?;
        match evaluate(item, tokens, budget)? {
            Found::One(Value::Array(inner)) => {
                budget.spend(inner.len().saturating_mul(size_of::<&Value>()))?;
                found.extend(inner);
            }
            Found::One(value) => found.push(value),
            Found::Many(values) => found.extend(values),
        }
    }
    Ok(Found::Many(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::value_bytes;
    use serde_json::json;
    use std::slice::from_ref;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    fn responses() -> Vec<Invocation> {
        let response = |name: &str, arguments, call_id: &str| Invocation {
            name: name.to_owned(),
            arguments: object(arguments),
            call_id: call_id.to_owned(),
        };
        let threads = json!([{"emailIds": ["a", "b"]}, {"emailIds": []}, {"emailIds": ["c"]}]);
        let list = json!({"list": threads, "state": "s", "deep": [[["x"], "y"]], "a/b": {"~": 1, "*": 2}});
        vec![
            response("Foo/get", list, "c1"),
            response("Bar/set", json!({"state": "t"}), "c1"),
            response("error", json!({"type": "serverFail"}), "c2"),
        ]
    }

    fn at(path: &str) -> Result<Value, MethodErrorKind> {
        let reference = json!({"#x": {"resultOf": "c1", "name": "Foo/get", "path": path}, "y": 1});
        let resolved = resolve(object(reference), &responses(), &mut Budget::new(10_000));
        resolved.map(|mut arguments| arguments.remove("x").unwrap()).map_err(|error| error.kind)
    }

    #[test]
    fn pointers_and_stars_are_followed() {
        assert_eq!(at("/state"), Ok(json!("s")));
        assert_eq!(at("/list/0/emailIds/1"), Ok(json!("b")));
        assert_eq!(at("/list/*/emailIds"), Ok(json!(["a", "b", "c"])));
        assert_eq!(at("/list/*/emailIds/*"), Ok(json!(["a", "b", "c"])));
        assert_eq!(at("/list/1/emailIds/*"), Ok(json!([])));
        assert_eq!(at("/deep/*"), Ok(json!([["x"], "y"])));
        assert_eq!(at("/deep/*/*"), Ok(json!(["x", "y"])));
        assert_eq!(at("/a~1b/~0"), Ok(json!(1)));
        assert_eq!(at("/a~1b/*"), Ok(json!(2)));
        assert_eq!(at(""), Ok(Value::Object(responses().remove(0).arguments)));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_an_error() {
        let wrong =
            ["state", "/none", "/state/0", "/list/3", "/list/-", "/list/00", "/list/x", "/list/*/none"];
        for path in wrong.into_iter().chain(["/", "/*", "/list/*/emailIds/0", "/state/*", "/~2", "/a~1b/**"])
        {
            assert_eq!(at(path), Err(MethodErrorKind::InvalidResultReference), "{path}");
        }
    }

    #[test]
    fn the_first_response_of_the_call_must_have_the_name() {
        let wrong = [
            json!({"resultOf": "c3", "name": "Foo/get", "path": "/state"}),
            json!({"resultOf": "c1", "name": "Bar/set", "path": "/state"}),
            json!({"resultOf": "c2", "name": "Foo/get", "path": "/type"}),
            json!({"resultOf": "c1", "name": "Foo/get"}),
            json!({"resultOf": 1, "name": "Foo/get", "path": "/state"}),
            json!("c1"),
            json!(null),
        ];
        for reference in wrong {
            let arguments = object(json!({"#x": reference}));
            let error = resolve(arguments, &responses(), &mut Budget::new(10_000)).unwrap_err();
            assert_eq!(error.kind, MethodErrorKind::InvalidResultReference, "{reference}");
            assert_eq!(error.arguments, ["x"]);
        }
    }

    #[test]
    fn an_argument_given_twice_is_invalid_before_anything_is_looked_up() {
        let arguments = object(json!({"#x": {"resultOf": "none"}, "x": null}));
        let error = resolve(arguments, &responses(), &mut Budget::new(0)).unwrap_err();
        assert_eq!((error.kind, error.arguments), (MethodErrorKind::InvalidArguments, vec!["x".to_owned()]));
        let plain = object(json!({"x": 1}));
        assert_eq!(resolve(plain.clone(), &[], &mut Budget::new(0)), Ok(plain));
    }

    #[test]
    fn all_references_together_copy_no_more_than_the_budget() {
        let reference = json!({"resultOf": "c1", "name": "Foo/get", "path": "/list/*/emailIds"});
        let arguments = |count: usize| -> Map<String, Value> {
            (0..count).map(|place| (format!("#x{place}"), reference.clone())).collect()
        };
        let mut budget = Budget::new(1_000);
        assert!(resolve(arguments(1), &responses(), &mut budget).is_ok());
        assert!(budget.bytes_left < 700);
        let error = resolve(arguments(3), &responses(), &mut budget).unwrap_err();
        assert_eq!(error.kind, MethodErrorKind::InvalidResultReference);
        assert!(error.to_string().contains("too much data"), "{error}");
    }

    /// Objects with one member take nearly twenty times the memory of their JSON.
    #[test]
    fn references_to_a_large_result_take_no_more_memory_than_the_budget() {
        const BUDGET_BYTES: usize = 1_000_000;
        let list = vec![json!({"a": "b", "c": [1, null], "d": {"e": true}}); 100];
        let response = Invocation {
            name: "Foo/get".to_owned(),
            arguments: object(json!({"list": list})),
            call_id: "c1".to_owned(),
        };
        for path in ["", "/list", "/list/*", "/list/*/d", "/list/99"] {
            let reference = json!({"#x": {"resultOf": "c1", "name": "Foo/get", "path": path}});
            let (mut budget, mut copied_bytes) = (Budget::new(BUDGET_BYTES), 0);
            while let Ok(copy) = resolve(object(reference.clone()), from_ref(&response), &mut budget) {
                copied_bytes += value_bytes(&copy["x"]);
            }
            let spent = BUDGET_BYTES - budget.bytes_left;
            assert!(copied_bytes <= spent, "{path}: {copied_bytes} bytes for {spent}");
            assert!(copied_bytes > BUDGET_BYTES / 2, "{path}: {copied_bytes} bytes");
        }
    }

    #[test]
    fn a_copy_costs_the_memory_that_it_takes() {
        for value in [
            json!(null),
            json!("text"),
            json!([]),
            json!([[1], "a", {"b": "c"}]),
            json!({}),
            json!({"a": {"b": {"c": ["d", {"e": null}]}}, "f": "g"}),
            (0..50).map(|number| (number.to_string(), json!({"a": number}))).collect::<Map<_, _>>().into(),
        ] {
            let mut budget = Budget::new(value_bytes(&value));
            assert_eq!((budget.copy(&value), budget.bytes_left), (Ok(()), 0), "{value}");
        }
    }
}
