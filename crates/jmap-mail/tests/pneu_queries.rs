//! The filter condition `pneuQuery`: what it finds, where its mistakes are, what snippets mark.

use crate::support::{Fixture, message};
use jmap::{Limits, Request};
use jmap_mail::{CAPABILITIES, MAIL};
use serde_json::{Value, json};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("apple", 1, "X-Project: Big Boat\n", "red fruit"));
    fixture.put("mail", "2.x:2,S", &message("pear", 2, "In-Reply-To: <apple@x>\n", "green fruits"));
    fixture.put("mail/Other", "3.x:2,SF", &message("plum", 3, "", "blue fruit and minutes"));
    fixture.put("mail/Other", "x", "Subject: undated\n\nnothing\n");
    fixture.update();
    fixture
}

#[test]
fn queries_of_the_query_language_find_what_they_say_anywhere_in_a_filter() {
    let fixture = fixture();
    fixture.host.save_query("ripe", "(~fruit or /undat/) -subject:plum").unwrap();
    for (filter, expected) in [
        (json!({"pneuQuery": ""}), "plum pear apple undated"),
        (json!({"pneuQuery": "fruit*"}), "plum pear apple"),
        (json!({"pneuQuery": "fruit -flag:seen"}), "apple"),
        (json!({"pneuQuery": "query:ripe"}), "pear apple undated"),
        (json!({"pneuQuery": "maildir:/Other date:2025-03-02.."}), "plum"),
        (json!({"pneuQuery": "date:..1h", "hasKeyword": "$seen"}), "plum pear"),
        (json!({"pneuQuery": "date:1h..", "hasKeyword": "$seen"}), ""),
        (json!({"pneuQuery": null, "subject": "pear"}), "pear"),
        (json!({"operator": "NOT", "conditions": [{"pneuQuery": "fruit"}]}), "pear undated"),
        (
            json!({"operator": "OR", "conditions": [{"pneuQuery": "x-project:boat"}, {"subject": "plum"}]}),
            "plum apple",
        ),
    ] {
        assert_eq!(fixture.subjects(json!({"filter": filter})), expected, "{filter}");
    }
}

#[test]
fn the_last_word_may_go_on_while_somebody_types() {
    let fixture = fixture();
    for (query, expected) in [
        ("f", "plum pear apple"),
        ("fruit", "plum pear apple"),
        ("blue f", "plum"),
        ("f blue", ""),
        ("subject:pe", "pear"),
        ("\"green fr", "pear"),
        ("\"green fr\"", ""),
        ("x-project:big b", "apple"),
        ("fruit and", "plum"),
        ("fruit -flag:seen", "apple"),
        ("date:2025-03-02", "pear"),
        ("fruits ", "pear"),
        ("", "plum pear apple undated"),
    ] {
        let filter = json!({"pneuQuery": query, "endsInPrefix": true});
        assert_eq!(fixture.subjects(json!({"filter": filter})), expected, "{query}");
    }
    let whole = json!({"pneuQuery": "fruit", "endsInPrefix": false});
    assert_eq!(fixture.subjects(json!({"filter": whole})), "plum apple");
    let error = |filter: Value| fixture.error("Email/query", json!({"filter": filter}));
    assert_eq!(error(json!({"pneuQuery": "form:b", "endsInPrefix": true})), "invalidArguments");
    assert_eq!(error(json!({"pneuQuery": "b", "endsInPrefix": 1})), "invalidArguments");
    assert_eq!(error(json!({"endsInPrefix": true})), "invalidArguments");
    let email = fixture.call("Email/query", json!({"filter": {"pneuQuery": "gree"}, "limit": 1}));
    assert_eq!(email["ids"], json!([]));
    let ids = fixture.call("Email/query", json!({"filter": {"pneuQuery": "green"}}))["ids"].clone();
    let snippets = json!({"emailIds": ids, "filter": {"pneuQuery": "gree", "endsInPrefix": true}});
    let told = fixture.call("SearchSnippet/get", snippets);
    assert_eq!(told["list"][0]["preview"], "<mark>green</mark> fruits");
}

#[test]
fn changes_of_results_that_no_change_log_tells_cannot_be_calculated() {
    let fixture = fixture();
    let (fruit, seen) = (json!({"body": "fruit"}), json!({"pneuQuery": "date:..1h"}));
    let either = json!({"operator": "OR", "conditions": [fruit, {"operator": "NOT", "conditions": [seen]}]});
    for (arguments, expected) in [
        (json!({"filter": fruit}), true),
        (json!({"archived": "without"}), true),
        (json!({"filter": seen}), false),
        (json!({"filter": either}), false),
        (json!({"archived": "with"}), false),
    ] {
        let found = fixture.call("Email/query", arguments.clone());
        assert_eq!(found["canCalculateChanges"], expected, "{arguments}");
    }
    let since = fixture.state();
    let error = fixture.error("Email/queryChanges", json!({"sinceQueryState": since, "filter": either}));
    assert_eq!(error, "cannotCalculateChanges");
    let same = fixture.call("Email/queryChanges", json!({"sinceQueryState": since, "filter": fruit}));
    assert_eq!((&same["added"], &same["removed"]), (&json!([]), &json!([])));
}

#[test]
fn a_mistake_is_told_with_its_place_in_utf_16() {
    let fixture = fixture();
    let told = |query: &str| {
        let wrong = json!({"filter": {"operator": "NOT", "conditions": [{"pneuQuery": query}]}});
        let mut error = fixture.call("Email/query", wrong.clone());
        let mut same = fixture.call("SearchSnippet/get", {
            let mut wrong = wrong;
            wrong["emailIds"] = json!([]);
            wrong
        });
        // A query that cannot be answered is a mistake where one is answered.
        if same["type"] == "invalidArguments" {
            assert_eq!(same.take(), error);
        }
        error.take()
    };
    let expected = json!({
        "type": "invalidArguments", "description": "there is no field \"form\"", "pneuQuery": "é😀 form:bo x",
        "suggestion": "did you mean \"from:bo\"?", "position": {"start": 4, "end": 8},
    });
    let mut error = told("é😀 form:bo x");
    error["suggestion"] = expected["suggestion"].clone();
    assert_eq!(error, expected);
    let unknown = told("apple query:none");
    assert_eq!(unknown["position"], json!({"start": 12, "end": 16}), "{unknown}");
}

#[test]
fn one_limit_holds_for_queries_and_texts_together() {
    let fixture = fixture();
    let error = |filter: Value| fixture.error("Email/query", json!({"filter": filter}));
    let many = "a ".repeat(2_048);
    let with = |query: &str, text: &str| {
        let both = json!({"pneuQuery": &many, "text": text});
        json!({"operator": "OR", "conditions": [{"pneuQuery": query}, both]})
    };
    assert_eq!(error(with(&"b ".repeat(2_047), "c")), "");
    assert_eq!(error(with(&many, "c")), "unsupportedFilter");
    assert_eq!(error(with(&format!("{}c", "b ".repeat(2_047)), "c")), "unsupportedFilter");
    assert_eq!(error(json!({"pneuQuery": " ".repeat(128 << 10)})), "");
    assert_eq!(error(json!({"pneuQuery": " ".repeat((128 << 10) + 1)})), "unsupportedFilter");
}

#[test]
fn who_does_not_name_the_capability_does_not_have_the_condition() {
    let fixture = fixture();
    let call = json!([["Email/query", {"accountId": "mail", "filter": {"pneuQuery": "pear"}}, "c"]]);
    let request = json!({"using": [MAIL], "methodCalls": call}).to_string();
    let request = Request::read(request.as_bytes(), &Limits::default(), &CAPABILITIES).unwrap();
    let response = jmap::run(request, &Limits::default(), &mut fixture.account()).into_json();
    assert_eq!(response["methodResponses"][0][1]["type"], "invalidArguments");
    assert_eq!(response["methodResponses"][0][1]["arguments"], json!(["filter/pneuQuery"]));
}

#[test]
fn snippets_mark_what_the_terms_mean() {
    let fixture = Fixture::new(&["mail"]);
    let body = "Details of the north line, and a detailed plan. 日本語 has no bicycles.";
    fixture.put("mail", "1.x:2,", &message("Northern", 1, "", body));
    fixture.update();
    fixture.host.save_query("plans", "subject:north* or body:plan").unwrap();
    let id = fixture.id_of("Northern");
    let snippet = |query: &str| {
        let call = json!({"filter": {"pneuQuery": query}, "emailIds": [&id]});
        let found = fixture.call("SearchSnippet/get", call);
        let found = found["list"][0].clone();
        (found["subject"].as_str().map(str::to_owned), found["preview"].as_str().map(str::to_owned))
    };
    let marked = |query: &str| {
        let (subject, preview) = snippet(query);
        let marks = |text: String| {
            let parts = text.split("<mark>").skip(1).filter_map(|rest| Some(rest.split_once("</mark>")?.0));
            parts.map(str::to_owned).collect::<Vec<_>>().join("|")
        };
        format!("{} / {}", subject.map_or_else(String::new, marks), preview.map_or_else(String::new, marks))
    };
    for (query, expected) in [
        ("north*", "Northern / north"),
        ("~detail", " / Details|detailed"),
        ("body:*tail*", " / Details|detailed"),
        ("body:*cles", " / bicycles"),
        ("\"north line\"", " / north|line"),
        ("日本", " / 日本"),
        ("本", " / 本"),
        ("from:ana -body:plan", " / "),
        ("query:plans", "Northern / plan"),
        ("line xor (plan not north)", " / line|plan"),
        ("subject:*", " / "),
    ] {
        assert_eq!(marked(query), expected, "{query}");
    }
}
