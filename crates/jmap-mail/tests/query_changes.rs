//! Email/queryChanges, compared with the new results: a client that has the old list and follows the response
//! must have the new list (RFC 8620, section 5.6).

use crate::support::{Fixture, message, text};
use serde_json::{Value, json};
use std::fs;

/// The queries whose results are followed.
fn queries(inbox: &str) -> Vec<Value> {
    let by = |property: &str, is_ascending: bool| json!({"property": property, "isAscending": is_ascending});
    let thread = |name: &str| json!({"property": name, "keyword": "$seen", "isAscending": false});
    vec![
        json!({}),
        json!({"filter": null, "sort": [by("receivedAt", true)], "collapseThreads": true}),
        json!({"filter": {"inMailbox": inbox}, "sort": [by("receivedAt", false)]}),
        json!({"filter": {"inMailbox": inbox}, "collapseThreads": true}),
        json!({"filter": {"hasKeyword": "$seen"}, "sort": [by("subject", true), by("receivedAt", false)]}),
        json!({"filter": {"someInThreadHaveKeyword": "$seen"}}),
        json!({"filter": {"operator": "NOT", "conditions": [{"allInThreadHaveKeyword": "$seen"}]}}),
        json!({"sort": [thread("someInThreadHaveKeyword"), by("subject", false)]}),
        json!({"sort": [thread("hasKeyword")], "collapseThreads": true}),
        json!({"filter": {"hasKeyword": "work"}}),
    ]
}

fn ids(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_else(|| panic!("{value}")).iter().map(text).collect()
}

/// Does what RFC 8620 tells a client to do.
fn follow(mut list: Vec<String>, changes: &Value) -> Vec<String> {
    let removed = ids(&changes["removed"]);
    list.retain(|id| !removed.contains(id));
    for added in changes["added"].as_array().expect("an array") {
        let index = usize::try_from(added["index"].as_u64().expect("a number")).expect("a small number");
        list.insert(index, text(&added["id"]));
    }
    list
}

#[test]
fn a_client_that_follows_has_the_new_results() {
    let fixture = Fixture::new(&["mail"]);
    let one = fixture.put("mail", "1.x:2,", &message("one", 1, "", ""));
    fixture.put("mail", "2.x:2,S", &message("two", 2, "In-Reply-To: <one@x>\n", ""));
    let three = fixture.put("mail", "3.x:2,", &message("three", 3, "In-Reply-To: <one@x>\n", ""));
    fixture.put("mail/Other", "4.x:2,S", &message("four", 4, "", ""));
    let five = fixture.put("mail/Other", "5.x:2,", &message("five", 5, "In-Reply-To: <four@x>\n", ""));
    fixture.put("mail", "6.x:2,", &message("six", 6, "", ""));
    fixture.update();
    let queries = queries(&fixture.mailbox("Inbox"));
    let results = |query: &Value| {
        let found = fixture.call("Email/query", query.clone());
        assert_eq!(found["canCalculateChanges"], true, "{found}");
        (ids(&found["ids"]), text(&found["queryState"]))
    };
    let all_results = || queries.iter().map(results).collect::<Vec<_>>();
    let first = all_results();
    let steps: [&dyn Fn(); 8] = [
        &|| {},
        &|| fixture.rename(&one, "mail/cur/1.x:2,S"),
        &|| _ = fixture.put("mail", "7.x:2,", &message("seven", 7, "In-Reply-To: <six@x>\n", "")),
        &|| fixture.rename(&three, "mail/Other/cur/3.x:2,"),
        &|| fs::remove_file(fixture.path("mail/cur/6.x:2,")).expect("a file"),
        &|| fixture.tag("subject:four", "work"),
        &|| fs::remove_file(&five).expect("a file"),
        &|| {
            let of_seven = fixture.path("mail/cur/7.x:2,");
            fixture.rename(&of_seven, "mail/cur/7.x:2,S");
            fixture.put("mail", "8.x:2,S", &message("eight", 8, "In-Reply-To: <two@x>\n", ""));
        },
    ];
    let mut before = first.clone();
    for (number, step) in steps.iter().enumerate() {
        step();
        fixture.update();
        let now = all_results();
        for (place, query) in queries.iter().enumerate() {
            for (old, state) in [&before[place], &first[place]] {
                let mut asked = query.clone();
                asked["sinceQueryState"] = state.clone().into();
                asked["calculateTotal"] = true.into();
                let changes = fixture.call("Email/queryChanges", asked.clone());
                let (new, new_state) = &now[place];
                assert_eq!(&follow(old.clone(), &changes), new, "step {number}, {query}: {changes}");
                assert_eq!(
                    (&changes["newQueryState"], &changes["total"]),
                    (&json!(new_state), &json!(new.len()))
                );
                assert_eq!(changes["oldQueryState"], json!(state));
                let count =
                    ids(&changes["removed"]).len() + changes["added"].as_array().expect("an array").len();
                asked["maxChanges"] = count.into();
                assert_eq!(fixture.call("Email/queryChanges", asked.clone()), changes);
                if count > 0 {
                    asked["maxChanges"] = (count - 1).into();
                    assert_eq!(fixture.error("Email/queryChanges", asked), "tooManyChanges");
                }
            }
        }
        before = now;
    }
}

#[test]
fn what_did_not_change_is_not_told_and_an_unknown_state_is_refused() {
    let fixture = Fixture::new(&["mail"]);
    for number in 1..9 {
        fixture.put("mail", &format!("{number}.x:2,"), &message(&format!("m{number}"), number, "", ""));
    }
    fixture.update();
    let state = text(&fixture.call("Email/query", json!({}))["queryState"]);
    let of = |state: &str| fixture.call("Email/queryChanges", json!({"sinceQueryState": state}));
    let none = of(&state);
    assert_eq!((&none["removed"], &none["added"], none.get("total")), (&json!([]), &json!([]), None));
    fixture.put("mail", "9.x:2,", &message("m9", 9, "", ""));
    fixture.update();
    let one = of(&state);
    assert_eq!(
        (&one["removed"], &one["added"]),
        (&json!([]), &json!([{"id": fixture.id_of("m9"), "index": 0}]))
    );
    assert_eq!(of("no such state")["type"], "cannotCalculateChanges");
    let wrong = json!({"sinceQueryState": state, "filter": {"header": ["References"]}});
    assert_eq!(fixture.error("Email/queryChanges", wrong), "unsupportedFilter");
}
