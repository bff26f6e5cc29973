//! Patches of records (RFC 8620, section 5.3, "PatchObject").
//!
//! Input: a record and a patch. Output: the record with the patch. Does not know which properties records
//! have.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::set_error::{SetError, SetErrorKind};
use crate::pointer;
use serde_json::{Map, Value};

/// Returns `object` with `patch`. A pointer whose value is null removes what it points to: if the property
/// has a default, the caller sets it.
///
/// # Errors
/// `invalidPatch`, if a pointer is none, leads into an array or below something that does not exist,
/// or is the beginning of another.
pub fn apply_patch(
    object: &Map<String, Value>,
    patch: Map<String, Value>,
) -> Result<Map<String, Value>, SetError> {
    let mut patches: Vec<(Vec<String>, Value)> = Vec::with_capacity(patch.len());
    for (path, value) in patch {
        let tokens =
            pointer::tokens_after_slash(&path).ok_or_else(|| invalid(&path, "is no JSON Pointer"))?;
        patches.push((tokens, value));
    }
    // A pointer is followed by those that begin with it.
    patches.sort_by(|(left, _), (right, _)| left.cmp(right));
    for pair in patches.windows(2) {
        if let [(first, _), (second, _)] = pair
            && second.starts_with(first)
        {
            return Err(invalid(&first.join("/"), "is the beginning of another pointer"));
        }
    }
    let mut patched = object.clone();
    for (tokens, value) in patches {
        let fault = |what| invalid(&tokens.join("/"), what);
        let Some((last, parents)) = tokens.split_last() else { continue };
        let parent = parents.iter().try_fold(&mut patched, |parent, token| match parent.get_mut(token) {
            Some(Value::Object(child)) => Ok(child),
            Some(Value::Array(_)) => Err(fault("leads into an array")),
            _ => Err(fault("leads below something that does not exist")),
        })?;
        if value.is_null() {
            parent.remove(last);
        } else {
            parent.insert(last.clone(), value);
        }
    }
    Ok(patched)
}

fn invalid(path: &str, fault: &str) -> SetError {
    let shown: String = path.chars().take(100).collect();
    SetError::new(SetErrorKind::InvalidPatch, format!("the pointer \"{shown}\" {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn patched(patch: Value) -> Result<Value, SetError> {
        let record =
            json!({"name": "n", "keywords": {"a": true, "b": true}, "list": [{"x": 1}], "a/b": {"~": 1}});
        let (Value::Object(record), Value::Object(patch)) = (record, patch) else { panic!() };
        apply_patch(&record, patch).map(Value::Object)
    }

    #[test]
    fn values_are_set_and_null_removes_them() {
        let patch = json!({
            "name": null, "gone": null, "keywords/a": null, "keywords/c": {"d": 1}, "keywords/none": null,
            "list": [], "a~1b/~0": 2, "new": 3,
        });
        let expected = json!({"keywords": {"b": true, "c": {"d": 1}}, "list": [], "a/b": {"~": 2}, "new": 3});
        assert_eq!(patched(patch), Ok(expected));
    }

    #[test]
    fn a_whole_record_is_a_patch() {
        let record = json!({"name": "m", "keywords": {"c": true}, "list": [1], "a~1b": 1});
        let expected = json!({"name": "m", "keywords": {"c": true}, "list": [1], "a/b": 1});
        assert_eq!(patched(record), Ok(expected));
    }

    #[test]
    fn a_pointer_that_breaks_a_rule_is_an_invalid_patch() {
        let wrong = [
            json!({"list/0": 1}),
            json!({"list/0/x": 1}),
            json!({"list/-": null}),
            json!({"name/x": 1}),
            json!({"none/x": 1}),
            json!({"none/x": null}),
            json!({"keywords/a/x": 1}),
            json!({"/name": 1}),
            json!({"keywords": {}, "keywords/a": true}),
            json!({"keywords/a": null, "keywords/a/b/c": 1}),
            json!({"na~2me": 1}),
            json!({"new": {}, "new/x": 1}),
        ];
        for patch in wrong {
            let error = patched(patch.clone()).unwrap_err();
            assert_eq!(error.kind, SetErrorKind::InvalidPatch, "{patch}");
        }
    }

    #[test]
    fn a_pointer_is_not_the_beginning_of_one_whose_name_only_begins_so() {
        assert!(patched(json!({"keywords/a": null, "keywords/ab": true, "keywordsx": 1})).is_ok());
    }
}
