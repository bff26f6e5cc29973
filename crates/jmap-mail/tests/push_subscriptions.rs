//! PushSubscription/get and /set: there are none, and clients are told so in the words of the RFC.

use crate::support::{Fixture, message};
use serde_json::{Value, json};

#[test]
fn there_are_no_push_subscriptions_and_none_is_made() {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", ""));
    fixture.update();
    let call = |method: &str, arguments: Value| fixture.answers(&json!([[method, arguments, "c"]]))[0].take();
    let got = call("PushSubscription/get", json!({"ids": null}));
    assert_eq!(got, json!(["PushSubscription/get", {"list": [], "notFound": []}, "c"]));
    let got = call("PushSubscription/get", json!({"ids": ["P1"], "properties": ["expires"]}));
    assert_eq!(got[1], json!({"list": [], "notFound": ["P1"]}));
    for (arguments, kind) in [
        (json!({"properties": ["id", "url"]}), "forbidden"),
        (json!({"properties": ["keys"]}), "forbidden"),
        (json!({"properties": ["subject"]}), "invalidArguments"),
        (json!({"accountId": "mail"}), "invalidArguments"),
    ] {
        let refused = call("PushSubscription/get", arguments.clone());
        assert_eq!((&refused[0], &refused[1]["type"]), (&json!("error"), &json!(kind)), "{arguments}");
    }
    let create = json!({
        "a": {"deviceClientId": "d", "url": "https://push.example.org/x"},
        "b": {"deviceClientId": "d", "url": "http://push.example.org/x"},
        "c": {"deviceClientId": "d"},
    });
    let set = json!({"create": create, "update": {"P1": {"types": null}}, "destroy": ["P2", "#a"]});
    let answer = call("PushSubscription/set", set);
    let told = &answer[1];
    assert_eq!(told["notCreated"]["a"]["type"], "forbidden", "{told}");
    for key in ["b", "c"] {
        let error = &told["notCreated"][key];
        assert_eq!((&error["type"], &error["properties"]), (&json!("invalidProperties"), &json!(["url"])));
    }
    assert_eq!(told["notUpdated"], json!({"P1": {"type": "notFound"}}));
    assert_eq!(told["notDestroyed"], json!({"#a": {"type": "notFound"}, "P2": {"type": "notFound"}}));
    let mut names: Vec<&String> = told.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(names, ["created", "destroyed", "notCreated", "notDestroyed", "notUpdated", "updated"]);
    let refused = call("PushSubscription/set", json!({"ifInState": "x"}));
    assert_eq!(refused[1]["type"], "invalidArguments");
}
