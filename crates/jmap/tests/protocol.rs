//! Whole requests and their responses. Input: requests to the server with todos. Output: whether it answers
//! as RFC 8620 demands. Knows nothing of the crate's inside.

use crate::todo::{TODO, todos};
use jmap::CORE;
use serde_json::{Value, json};

/// Returns the type of the error that is the only response to a call.
fn error(name: &str, arguments: Value) -> Value {
    let responses = todos(&["a", "b", "c", "d", "e"]).answer(json!([[name, arguments, "c"]]));
    assert_eq!(responses.as_array().map(Vec::len), Some(1), "{responses}");
    assert_eq!((&responses[0][0], &responses[0][2]), (&json!("error"), &json!("c")), "{responses}");
    responses[0][1].clone()
}

/// Returns the arguments of the only response to a call.
fn success(name: &str, arguments: Value) -> Value {
    let responses = todos(&["a", "b", "c", "d", "e"]).answer(json!([[name, arguments, "c"]]));
    assert_eq!(responses[0][0], name, "{responses}");
    responses[0][1].clone()
}

#[test]
fn calls_are_answered_in_order_and_an_error_stops_none() {
    let responses = todos(&["a"]).answer(json!([
        ["Core/echo", {"n": [1, null, {"a": "b"}]}, "c1"],
        ["Fake/nonexistent", {}, "c2"],
        ["Todo/get", {}, "c3"],
        ["Todo/silent", {}, "c4"],
        ["Core/echo", {}, "c1"],
    ]));
    let expected = json!([
        ["Core/echo", {"n": [1, null, {"a": "b"}]}, "c1"],
        ["error", {"type": "unknownMethod"}, "c2"],
        ["error", {"type": "invalidArguments", "description": "the argument \"accountId\" is missing",
            "arguments": ["accountId"]}, "c3"],
        ["error", {"type": "serverFail", "description": "the method gave no answer"}, "c4"],
        ["Core/echo", {}, "c1"],
    ]);
    assert_eq!(responses, expected);
}

#[test]
fn a_method_whose_capability_is_not_used_is_unknown() {
    for (using, name, expected) in [
        (json!([]), "Core/echo", "error"),
        (json!([TODO]), "Core/echo", "error"),
        (json!([CORE]), "Core/echo", "Core/echo"),
        (json!([CORE]), "Todo/get", "error"),
        (json!([TODO]), "Todo/get", "Todo/get"),
    ] {
        let request = json!({"using": using, "methodCalls": [[name, {"accountId": "A1", "ids": []}, "c"]]});
        let response = todos(&[]).answer_bytes(request.to_string().as_bytes()).unwrap();
        let (name, arguments) = (&response["methodResponses"][0][0], &response["methodResponses"][0][1]);
        assert_eq!(name, expected, "{request}");
        assert!(name != "error" || arguments["type"] == "unknownMethod", "{response}");
        assert_eq!(response["sessionState"], "s1");
        assert_eq!(response.get("createdIds"), None);
    }
}

#[test]
fn results_are_arguments_of_later_calls() {
    let responses = todos(&["a", "b"]).answer(json!([
        ["Todo/query", {"accountId": "A1", "sort": [{"property": "title", "isAscending": false}]}, "q"],
        ["Todo/get", {"accountId": "A1", "properties": ["title"],
            "#ids": {"resultOf": "q", "name": "Todo/query", "path": "/ids"}}, "g"],
        ["Core/echo", {"#titles": {"resultOf": "g", "name": "Todo/get", "path": "/list/*/title"}}, "e"],
        ["Core/echo", {"#x": {"resultOf": "later", "name": "Core/echo", "path": ""}}, "f"],
        ["Core/echo", {"#x": {"resultOf": "e", "name": "Core/echo", "path": ""}, "x": 1}, "h"],
        ["Core/echo", {}, "later"],
    ]));
    assert_eq!(responses[1][1]["list"], json!([{"id": "b", "title": "b"}, {"id": "a", "title": "a"}]));
    assert_eq!(responses[2][1], json!({"titles": ["b", "a"]}));
    assert_eq!(responses[3][1]["type"], "invalidResultReference");
    assert_eq!(responses[4][1]["type"], "invalidArguments");
    assert_eq!(responses[5], json!(["Core/echo", {}, "later"]));
}

#[test]
fn references_to_whole_results_do_not_grow_without_limit() {
    let mut calls = vec![json!(["Core/echo", {"text": "x".repeat(100_000)}, "0"])];
    for call in 1..16 {
        let of = |name: usize| {
            (format!("#{name}"), json!({"resultOf": (call - 1).to_string(), "name": "Core/echo", "path": ""}))
        };
        let arguments: serde_json::Map<String, Value> = (0..10).map(of).collect();
        calls.push(json!(["Core/echo", arguments, call.to_string()]));
    }
    let responses = todos(&[]).answer(Value::Array(calls));
    assert_eq!(responses[1][0], "Core/echo");
    // Each call copies ten times as much as the one before: the third is the first to exceed 10 MB.
    assert_eq!(responses[2][1]["type"], "invalidResultReference");
    assert_eq!(responses[15][1]["type"], "invalidResultReference");
    assert!(responses.to_string().len() < 2_000_000);
}

/// A thousand objects with one member take 0.7 MB of memory, and 9 kB of JSON.
#[test]
fn many_references_to_one_large_result_take_no_more_memory_than_the_limit() {
    let large = json!(["Core/echo", {"list": vec![json!({"a": 1}); 1000]}, "large"]);
    let with = |count: usize| {
        let of = |place: usize| {
            (format!("#{place}"), json!({"resultOf": "large", "name": "Core/echo", "path": "/list"}))
        };
        let arguments: serde_json::Map<String, Value> = (0..count).map(of).collect();
        todos(&[]).answer(json!([large, ["Core/echo", arguments, "many"]]))
    };
    assert_eq!(with(10)[1][1]["9"].as_array().map(Vec::len), Some(1000));
    let refused = with(20);
    assert_eq!(refused[1][1]["type"], "invalidResultReference");
    assert!(refused[1][1]["description"].as_str().unwrap().contains("too much data"), "{}", refused[1]);
}

#[test]
fn responses_take_no_more_memory_than_the_limit() {
    let long = "x".repeat(1 << 20);
    let echo = |name: &str| json!(["Core/echo", {"text": long}, name]);
    // Each is echoed once, and referred to once.
    let mut calls = vec![echo("0"), echo("1"), echo("2")];
    calls.push(json!(["Todo/get", {"accountId": "A1", "ids": ["a"]}, "3"]));
    calls.push(json!(["Todo/set", {"accountId": "A1", "destroy": ["a"]}, "4"]));
    let mut server = todos(&["a"]);
    server.response_bytes = 2 << 20;
    let responses = server.answer(json!(calls));
    let names: Vec<&Value> = (0..5).map(|place| &responses[place][0]).collect();
    assert_eq!(names, ["Core/echo", "Core/echo", "error", "error", "error"]);
    assert_eq!(responses[2][1]["type"], "requestTooLarge");
    assert_eq!(
        server.answer(json!([["Todo/get", {"accountId": "A1", "ids": ["a"]}, "c"]]))[0][0],
        "Todo/get"
    );
}

#[test]
fn get_answers_each_id_once() {
    let response = success("Todo/get", json!({"accountId": "A1", "ids": ["b", "x", "b", "#k"]}));
    let expected = json!({
        "accountId": "A1", "state": "1", "list": [{"id": "b", "title": "b"}], "notFound": ["#k", "x"],
    });
    assert_eq!(response, expected);
    assert_eq!(success("Todo/get", json!({"accountId": "A1", "ids": []}))["list"], json!([]));
    assert_eq!(
        success("Todo/get", json!({"accountId": "A1", "ids": null}))["list"].as_array().unwrap().len(),
        5
    );
    let error = |ids| error("Todo/get", json!({"accountId": "A1", "ids": ids}))["type"].clone();
    assert_eq!(error(json!("not-an-array")), "invalidArguments");
    assert_eq!(error(json!([""])), "invalidArguments");
    assert_eq!(error(json!(["a", "b", "c", "d", "e"])), "requestTooLarge");
}

#[test]
fn arguments_that_are_missing_unknown_or_of_a_wrong_type_are_named() {
    let cases = [
        ("Todo/get", json!({"accountId": "A1", "idz": []}), "idz"),
        ("Todo/get", json!({"accountId": "A1", "properties": [1]}), "properties"),
        ("Todo/get", json!({"accountId": null}), "accountId"),
        ("Todo/changes", json!({"accountId": "A1"}), "sinceState"),
        ("Todo/changes", json!({"accountId": "A1", "sinceState": "1", "maxChanges": 0}), "maxChanges"),
        ("Todo/changes", json!({"accountId": "A1", "sinceState": "1", "maxChanges": -1}), "maxChanges"),
        ("Todo/set", json!({"accountId": "A1", "create": {"#k": {}}}), "create"),
        ("Todo/set", json!({"accountId": "A1", "create": {"k": null}}), "create"),
        ("Todo/set", json!({"accountId": "A1", "update": {"a": []}}), "update"),
        ("Todo/set", json!({"accountId": "A1", "destroy": {}}), "destroy"),
        ("Todo/query", json!({"accountId": "A1", "limit": -1}), "limit"),
        ("Todo/query", json!({"accountId": "A1", "position": 0.5}), "position"),
        ("Todo/query", json!({"accountId": "A1", "position": null}), "position"),
        ("Todo/query", json!({"accountId": "A1", "filter": []}), "filter"),
        ("Todo/query", json!({"accountId": "A1", "filter": {"colour": 1}}), "filter/colour"),
        ("Todo/query", json!({"accountId": "A1", "sort": [{}]}), "sort/0/property"),
        ("Todo/query", json!({"accountId": "A1", "sort": ["title"]}), "sort/0"),
        ("Todo/query", json!({"accountId": "A1", "sort": [{"property": "title", "up": 1}]}), "sort/0/up"),
        ("Todo/query", json!({"accountId": "A1", "calculateTotal": 1}), "calculateTotal"),
        ("Todo/queryChanges", json!({"accountId": "A1"}), "sinceQueryState"),
        ("Todo/copy", json!({"accountId": "A1", "fromAccountId": "A1", "create": {}}), "fromAccountId"),
        ("Todo/copy", json!({"accountId": "A1", "fromAccountId": "A2"}), "create"),
    ];
    for (name, arguments, named) in cases {
        let error = error(name, arguments.clone());
        assert_eq!(error["type"], "invalidArguments", "{name} {arguments}: {error}");
        assert_eq!(error["arguments"], json!([named]), "{name} {arguments}");
    }
}

#[test]
fn other_errors_have_their_types() {
    let many: Vec<Value> = vec![json!({"property": "title"}); 33];
    let cases = [
        ("Todo/get", json!({"accountId": "A9"}), "accountNotFound"),
        ("Todo/changes", json!({"accountId": "A1", "sinceState": "9"}), "cannotCalculateChanges"),
        ("Todo/set", json!({"accountId": "A1", "ifInState": "0"}), "stateMismatch"),
        (
            "Todo/set",
            json!({"accountId": "A1", "create": {"a": {}, "b": {}}, "destroy": ["a", "b", "c", "d"]}),
            "requestTooLarge",
        ),
        (
            "Todo/copy",
            json!({"accountId": "A1", "fromAccountId": "A2",
            "create": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}, "f": {}}}),
            "requestTooLarge",
        ),
        ("Todo/query", json!({"accountId": "A1", "anchor": "x"}), "anchorNotFound"),
        ("Todo/query", json!({"accountId": "A1", "sort": [{"property": "x"}]}), "unsupportedSort"),
        (
            "Todo/query",
            json!({"accountId": "A1", "sort": [{"property": "title", "collation": "x"}]}),
            "unsupportedSort",
        ),
        ("Todo/query", json!({"accountId": "A1", "sort": many}), "unsupportedSort"),
        (
            "Todo/queryChanges",
            json!({"accountId": "A1", "sinceQueryState": "0", "maxChanges": 1}),
            "tooManyChanges",
        ),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(error(name, arguments.clone())["type"], expected, "{name} {arguments}");
    }
}

#[test]
fn a_query_shows_its_window() {
    let query = |arguments: Value| {
        let mut all =
            json!({"accountId": "A1", "sort": [{"property": "title", "collation": "i;unicode-casemap"}]});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        success("Todo/query", all)
    };
    let expected = json!({
        "accountId": "A1", "queryState": "1", "canCalculateChanges": true, "position": 3, "ids": ["d", "e"],
    });
    assert_eq!(query(json!({"position": -2, "limit": 3})), expected);
    let expected = json!({
        "accountId": "A1", "queryState": "1", "canCalculateChanges": true, "position": 1,
        "ids": ["b", "c", "d"],
        "limit": 3, "total": 5,
    });
    assert_eq!(query(json!({"anchor": "c", "anchorOffset": -1, "calculateTotal": true})), expected);
    let filter = json!({"operator": "NOT", "conditions": [{"title": "a"}, {"title": "c"}]});
    assert_eq!(query(json!({"filter": filter, "limit": 3}))["ids"], json!(["b", "d", "e"]));
}

#[test]
fn records_are_created_changed_and_destroyed_by_their_creation_ids() {
    let mut todos = todos(&["a", "b"]);
    let request = json!({"using": [CORE, TODO], "createdIds": {"old": "a"}, "methodCalls": [
        ["Todo/set", {"accountId": "A1",
            "create": {"k1": {"title": "x", "subTodoIds": ["#k2", "#old"]}, "k2": {"title": "y"}},
            "update": {"#k2": {"keywords": {"z": true}}, "#none": {}}}, "s1"],
        ["Todo/set", {"accountId": "A1", "ifInState": "2", "create": {"k3": {"colour": 1,
            "subTodoIds": ["#no"]}},
            "update": {"b": {"keywords/x": true}}, "destroy": ["#k1", "#k1", "x"]}, "s2"],
        ["Todo/get", {"accountId": "A1", "ids": ["#k2", "#k1"]}, "g"],
        ["Todo/changes", {"accountId": "A1", "sinceState": "1", "maxChanges": 1}, "c"],
    ]});
    let response = todos.answer_bytes(request.to_string().as_bytes()).unwrap();
    let responses = &response["methodResponses"];
    let first = json!({
        "accountId": "A1", "oldState": "1", "newState": "2", "created": {"k1": {"id": "new3"},
        "k2": {"id": "new2"}},
        "updated": {"new2": null}, "destroyed": null, "notCreated": null,
        "notUpdated": {"#none": {"type": "notFound"}}, "notDestroyed": null,
    });
    assert_eq!(responses[0][1], first);
    let patch_error = &responses[1][1]["notUpdated"]["b"];
    assert_eq!(patch_error["type"], "invalidPatch");
    let second = json!({
        "accountId": "A1", "oldState": "2", "newState": "3", "created": null, "updated": null,
        "destroyed": ["new3"],
        "notCreated": {"k3": {"type": "invalidProperties", "properties": ["colour", "subTodoIds"]}},
        "notUpdated": {"b": patch_error}, "notDestroyed": {"x": {"type": "notFound"}},
    });
    assert_eq!(responses[1][1], second);
    assert_eq!(responses[2][1]["list"], json!([{"id": "new2", "title": "y", "keywords": {"z": true}}]));
    assert_eq!(responses[2][1]["notFound"], json!(["new3"]));
    let changes = json!({
        "accountId": "A1", "oldState": "1", "newState": "3", "hasMoreChanges": false, "created": ["new2"],
        "updated": [], "destroyed": [],
    });
    assert_eq!(responses[3][1], changes);
    assert_eq!(response["createdIds"], json!({"old": "a", "k1": "new3", "k2": "new2"}));
    assert_eq!(response["sessionState"], "s3");
}

#[test]
fn query_changes_tell_what_came_and_went() {
    let mut todos = todos(&["a", "b", "c"]);
    let responses = todos.answer(json!([
        ["Todo/set", {"accountId": "A1", "create": {"k": {"title": "a2"}}, "destroy": ["b"]}, "s"],
        ["Todo/queryChanges", {"accountId": "A1", "sinceQueryState": "1", "calculateTotal": true,
            "maxChanges": 2,
            "sort": [{"property": "title"}]}, "q"],
    ]));
    let expected = json!({
        "accountId": "A1", "oldQueryState": "1", "newQueryState": "2", "total": 3, "removed": ["b"],
        "added": [{"id": "new3", "index": 1}],
    });
    assert_eq!(responses[1][1], expected);
}

#[test]
fn a_copy_is_followed_by_the_response_of_its_set() {
    let create = json!({"k1": {"id": "x"}, "k2": {"id": "a"}, "k3": {}, "k4": {"id": "#none"}});
    let arguments =
        json!({"accountId": "A1", "fromAccountId": "A2", "create": create, "onSuccessDestroyOriginal": true});
    let responses = todos(&["a"]).answer(json!([["Todo/copy", arguments, "c"], ["Core/echo", {}, "d"]]));
    let expected = json!({
        "fromAccountId": "A2", "accountId": "A1", "oldState": null, "newState": "1",
        "created": {"k1": {"id": "x"}},
        "notCreated": {"k2": {"type": "alreadyExists", "existingId": "a"}, "k4": {"type": "notFound"},
            "k3": {"type": "invalidProperties", "properties": ["id"]}},
    });
    assert_eq!(responses[0], json!(["Todo/copy", expected, "c"]));
    assert_eq!(responses[1], json!(["error", {"type": "accountReadOnly"}, "c"]));
    assert_eq!(responses[2], json!(["Core/echo", {}, "d"]));
}
