//! Any bytes are a request of JMAP or are refused, and each call of a request has an answer.
#![no_main]

use jmap::*;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// Reads all arguments, and has one record whose id is "a".
struct One;

impl Methods for One {
    fn capability(&self, name: &str) -> Option<&str> {
        name.starts_with("One/").then_some(CORE)
    }

    fn call(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        let object = call(name, arguments, context)?;
        Ok(vec![Answer::new(name, object)])
    }

    fn session_state(&self) -> String {
        "1".to_owned()
    }
}

/// Answers a call with what it asks for.
fn call(
    name: &str,
    arguments: Arguments,
    context: &mut Context<'_>,
) -> Result<Map<String, Value>, MethodError> {
    let mut answer = Map::new();
    let ids = match name {
        "One/get" => GetArguments::read(arguments, &["more"], context)?.ids.unwrap_or_default(),
        "One/changes" => vec![ChangesArguments::read(arguments, &[])?.account_id],
        "One/copy" => {
            let copy = CopyArguments::read(arguments, &[], context)?;
            let originals =
                copy.create.into_values().map(|mut object| original(&mut object, &context.created_ids));
            originals.filter_map(Result::ok).collect()
        }
        "One/set" => {
            let set = SetArguments::read(arguments, &[], context)?;
            for creation in creation_order(&set.create, &["parent"]) {
                let mut object = set.create[&creation].clone();
                if context.created_ids.resolve_property(&mut object, "parent").is_ok() {
                    context.created_ids.add(creation.clone(), creation);
                }
            }
            for (_, patch) in set.update {
                let object = Map::from_iter([("parent".to_owned(), json!({"a": {"b": [1]}}))]);
                if let Ok(patched) = apply_patch(&object, patch) {
                    answer.extend(patched);
                }
            }
            set.destroy.iter().filter_map(|reference| context.created_ids.resolve(reference)).collect()
        }
        "One/query" => {
            let query = QueryArguments::read(arguments, &[], context)?;
            if let Some(filter) = query.filter {
                let condition = &mut |mut members: Arguments| {
                    let date = members.optional_utc_date("before")?;
                    members.finish().map(|()| date)
                };
                let filter = Filter::read(filter, context.limits, condition)?;
                answer.insert("matches".to_owned(), filter.matches(&mut Option::is_some).into());
            }
            let shown = query.window.show(1, Some(9), |id| (id.as_str() == "a").then_some(0))?;
            assert!(shown.range.end <= 1);
            Vec::new()
        }
        "One/queryChanges" => {
            let query = QueryChangesArguments::read(arguments, &[], context)?;
            let old: Vec<char> = query.since_query_state.chars().collect();
            let new: Vec<char> = query.account_id.as_str().chars().collect();
            drop(difference(&old, &new, old.last(), query.max_changes));
            Vec::new()
        }
        _ => return Err(MethodErrorKind::UnknownMethod.into()),
    };
    answer.insert("ids".to_owned(), ids.into());
    Ok(answer)
}

/// Answers `bytes`, which may be no request.
fn answer(bytes: &[u8]) {
    let limits = Limits { max_size_request: 100_000, ..Limits::default() };
    match Request::read(bytes, &limits, &[CORE]) {
        Ok(request) => {
            let response = run(request, &limits, &mut One).into_bytes();
            let response: Value = serde_json::from_slice(&response).expect("a response is JSON");
            assert!(response["methodResponses"].is_array());
        }
        Err(error) => assert!(error.problem()["type"].is_string()),
    }
}

fuzz_target!(|input: &[u8]| {
    answer(input);
    let before = format!(r#"{{"using":["{CORE}"],"createdIds":{{"k":"a"}},"methodCalls":"#);
    answer(&[before.as_bytes(), input, b"}"].concat());
});
