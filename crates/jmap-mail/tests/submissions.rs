//! Identities, and EmailSubmission/set with a script in place of a program that sends mail.

use crate::support::{Fixture, text};
use pneu::setup::account::Account;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A script that writes its arguments and what it reads, and one root that has no command.
fn fixture() -> Fixture {
    let fixture = Fixture::with(&["home", "work"], &|settings, place: &Path| {
        let script = place.join("send");
        let out = place.join("sent");
        let text = format!("for word; do echo \"$word\"; done >> '{0}'; cat >> '{0}'\n", out.display());
        fs::write(&script, text).expect("a script");
        let accounts = &mut settings.configuration.accounts;
        let from = vec!["Ana Ito <ana@example.org>".to_owned(), "a@x".to_owned()];
        let sendmail = Some(format!("sh '{}' -a home", script.display()));
        accounts.insert("home".to_owned(), Account { from, sendmail, ..Account::default() });
        let from = vec!["Work <w@example.org>".to_owned()];
        accounts.insert("work".to_owned(), Account { from, ..Account::default() });
    });
    let letter = |name: &str, from: &str, to: &str| {
        format!("From: {from}\nSubject: {name}\nMessage-ID: <{name}@x>\n{to}\nbody of {name}\n")
    };
    let all = "To: Bo <bo@example.org>, cy@example.org\nCc: bo@example.org\nBcc: di@example.org,\n e@x\n";
    for (name, from, to) in [
        ("all", "ANA@example.org", all),
        ("nobody", "a@x", ""),
        ("other", "eve@evil.example", all),
        ("work", "w@example.org", all),
        ("odd", "a@x", "To: nowhere\n"),
    ] {
        fixture.put("home", &format!("{name}.x:2,DS"), &letter(name, from, to));
    }
    fixture.put("work", "w.x:2,S", &letter("elsewhere", "a@x", ""));
    fixture.put("home/Sent", "s.x:2,S", &letter("sent", "a@x", ""));
    fixture.update();
    fixture
}

fn identities(fixture: &Fixture) -> Vec<String> {
    let all = fixture.call("Identity/get", json!({"ids": null}));
    all["list"].as_array().expect("a list").iter().map(|identity| text(&identity["id"])).collect()
}

/// Submits the email with a subject. Returns all answers.
fn submit(fixture: &Fixture, subject: &str, mut more: Value, mut arguments: Value) -> Value {
    more["emailId"] = fixture.id_of(subject).into();
    if more["identityId"].is_null() {
        more["identityId"] = identities(fixture)[0].clone().into();
    }
    arguments["accountId"] = "mail".into();
    arguments["create"] = json!({"k": more});
    fixture.answers(&json!([["EmailSubmission/set", arguments, "c"]]))
}

fn refused(fixture: &Fixture, subject: &str, more: Value) -> Value {
    submit(fixture, subject, more, json!({}))[0][1]["notCreated"]["k"].take()
}

fn sent(fixture: &Fixture) -> String {
    fs::read_to_string(fixture.path("sent")).unwrap_or_default()
}

#[test]
fn identities_come_from_the_configuration() {
    let fixture = fixture();
    let all = fixture.call("Identity/get", json!({"ids": null}));
    let shown: Vec<String> = all["list"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{} <{}>", text(&one["name"]), text(&one["email"])))
        .collect();
    assert_eq!(shown, ["Ana Ito <ana@example.org>", " <a@x>", "Work <w@example.org>"]);
    assert_eq!((&all["list"][0]["mayDelete"], &all["list"][0]["replyTo"]), (&json!(false), &Value::Null));
    let id = all["list"][1]["id"].clone();
    let some = fixture.call("Identity/get", json!({"ids": [id, "I1"], "properties": ["email"]}));
    assert_eq!((&some["list"], &some["notFound"]), (&json!([{"id": id, "email": "a@x"}]), &json!(["I1"])));
    let state = all["state"].clone();
    let same = fixture.call("Identity/changes", json!({"sinceState": state}));
    assert_eq!((&same["newState"], &same["updated"]), (&state, &json!([])));
    assert_eq!(fixture.error("Identity/changes", json!({"sinceState": "x"})), "cannotCalculateChanges");
    let set = json!({"create": {"k": {}}, "update": {"I1": {"name": "x"}}, "destroy": [id, "I1"]});
    let set = fixture.call("Identity/set", set);
    assert_eq!(set["notCreated"]["k"]["type"], "forbidden");
    assert_eq!(set["notUpdated"]["I1"]["type"], "notFound");
    assert_eq!(set["notDestroyed"][text(&id)]["type"], "forbidden");
    assert_eq!(set["notDestroyed"]["I1"]["type"], "notFound");
}

/// Makes changes of identities, and returns the response.
fn change(fixture: &Fixture, update: Value) -> Value {
    fixture.call("Identity/set", json!({"update": update}))
}

#[test]
fn what_a_client_says_of_an_identity_is_kept() {
    let fixture = fixture();
    let get = |id: &str| fixture.call("Identity/get", json!({"ids": [id]}))["list"][0].take();
    let id = identities(&fixture)[0].clone();
    let before = fixture.call("Identity/get", json!({"ids": []}))["state"].take();
    let bo = json!({"name": "Bo", "email": "bo@example.org"});
    let patch = json!({
        "name": "A. Ito", "replyTo": [bo, {"name": null, "email": "cy@example.org"}], "bcc": [bo],
        "textSignature": "-- \nAna", "htmlSignature": "<p>Ana</p>",
    });
    let set = change(&fixture, json!({&id: patch}));
    assert_eq!((&set["updated"][&id], &set["oldState"]), (&Value::Null, &before), "{set}");
    let mut expected = patch.clone();
    for (name, value) in [("id", json!(id)), ("email", json!("ana@example.org")), ("mayDelete", json!(false))]
    {
        expected[name] = value;
    }
    assert_eq!(get(&id), expected);
    let changes = fixture.call("Identity/changes", json!({"sinceState": before}));
    assert_eq!((&changes["updated"], &changes["created"]), (&json!([id]), &json!([])));
    assert_eq!(changes["newState"], set["newState"]);
    // One property alone, and back to what the configuration says.
    assert_eq!(change(&fixture, json!({&id: {"bcc": null}}))["updated"][&id], Value::Null);
    assert_eq!((&get(&id)["bcc"], &get(&id)["name"]), (&Value::Null, &json!("A. Ito")));
    let back = change(&fixture, json!({&id: {"name": null, "replyTo": null, "textSignature": null}}));
    assert_eq!(back["updated"][&id], json!({"name": "Ana Ito", "textSignature": ""}), "{back}");
    let back = change(&fixture, json!({&id: {"htmlSignature": ""}}));
    assert_eq!(back["newState"], before);
}

#[test]
fn an_identity_keeps_its_address_and_cannot_be_made_to_write_headers() {
    let fixture = fixture();
    let id = identities(&fixture)[1].clone();
    for (patch, wrong) in [
        (json!({"email": "eve@example.org"}), json!(["email"])),
        (json!({"mayDelete": true, "more": 1}), json!(["mayDelete", "more"])),
        (json!({"name": "A\nBcc: eve@example.org"}), json!(["name"])),
        (json!({"name": 1}), json!(["name"])),
        (json!({"replyTo": [{"name": "A\nBcc: x", "email": "a@x"}]}), json!(["replyTo"])),
        (json!({"bcc": [{"name": null, "email": "a@x, eve@example.org"}]}), json!(["bcc"])),
        (json!({"bcc": "a@x", "textSignature": []}), json!(["textSignature", "bcc"])),
    ] {
        let refused = change(&fixture, json!({&id: patch}))["notUpdated"][&id].take();
        assert_eq!(
            (&refused["type"], &refused["properties"]),
            (&json!("invalidProperties"), &wrong),
            "{patch}"
        );
    }
    let long = change(&fixture, json!({&id: {"textSignature": "x".repeat(1 << 20)}}));
    assert_eq!(long["notUpdated"][&id]["type"], "tooLarge");
}

#[test]
fn an_email_is_sent_and_filed() {
    let fixture = fixture();
    let update = json!({"onSuccessUpdateEmail": {"#k": {
        "keywords/$draft": null, format!("mailboxIds/{}", fixture.mailbox("Sent")): true,
        format!("mailboxIds/{}", fixture.mailbox("home")): null,
    }}});
    let id = fixture.id_of("all");
    let answers = submit(&fixture, "all", json!({}), update);
    let created = &answers[0][1]["created"]["k"];
    assert_eq!((&created["undoStatus"], created["id"].is_string()), (&json!("final"), true), "{answers}");
    let expected = "-a\nhome\n--\nbo@example.org\ncy@example.org\ndi@example.org\ne@x\n";
    let got = sent(&fixture);
    assert!(got.starts_with(expected) && got.ends_with("\n\nbody of all\n"), "{got}");
    assert!(!got.contains("Bcc") && got.contains("To: Bo <bo@example.org>, cy@example.org\n"), "{got}");
    assert_eq!((&answers[1][0], &answers[1][1]["updated"]), (&json!("Email/set"), &json!({id: null})));
    assert_eq!(answers[1][2], "c");
    assert_eq!(fixture.files("home/Sent"), ["cur/all.x:2,S", "cur/s.x:2,S"]);
    // Nothing is kept of it.
    let id = created["id"].clone();
    let get = fixture.call("EmailSubmission/get", json!({"ids": [id]}));
    assert_eq!((&get["list"], &get["notFound"]), (&json!([]), &json!([id])));
    let query = fixture.call("EmailSubmission/query", json!({"calculateTotal": true}));
    assert_eq!((&query["ids"], &query["total"]), (&json!([]), &json!(0)));
    let state = query["queryState"].clone();
    let changes = fixture.call("EmailSubmission/queryChanges", json!({"sinceQueryState": state}));
    assert_eq!(changes["removed"], json!([]));
    let changes = fixture.call("EmailSubmission/changes", json!({"sinceState": get["state"]}));
    assert_eq!(changes["created"], json!([]));
    let gone = json!({"update": {text(&id): {"undoStatus": "canceled"}}, "destroy": [id]});
    let gone = fixture.call("EmailSubmission/set", gone);
    assert_eq!(gone["notUpdated"][text(&id)]["type"], "notFound");
    assert_eq!(gone["notDestroyed"][text(&id)]["type"], "notFound");
}

#[test]
fn an_envelope_says_who_gets_it_and_a_draft_may_go() {
    let fixture = fixture();
    let envelope = json!({"mailFrom": {"email": "A@x"}, "rcptTo": [
        {"email": "z@x", "parameters": null}, {"email": "z@x"}, {"email": "y@x", "parameters": {}},
    ]});
    let destroy = json!({"onSuccessDestroyEmail": ["#k", "#none"]});
    let answers = submit(&fixture, "nobody", json!({"envelope": envelope}), destroy);
    assert!(sent(&fixture).starts_with("-a\nhome\n--\nz@x\ny@x\nFrom: a@x\n"), "{}", sent(&fixture));
    assert_eq!(answers[1][1]["destroyed"].as_array().map(Vec::len), Some(1), "{answers}");
    assert!(!fixture.files("home").contains(&"cur/nobody.x:2,DS".to_owned()));
}

#[test]
fn what_may_not_be_sent_is_not() {
    let fixture = fixture();
    let kind = |subject: &str, more: Value| text(&refused(&fixture, subject, more)["type"]);
    let envelope = |from: &str, to: Value| json!({"envelope": {"mailFrom": {"email": from}, "rcptTo": to}});
    let to = || json!([{"email": "b@x"}]);
    assert_eq!(kind("other", json!({})), "forbiddenFrom");
    assert_eq!(kind("nobody", json!({})), "noRecipients");
    assert_eq!(kind("nobody", envelope("a@x", json!([]))), "noRecipients");
    assert_eq!(kind("nobody", envelope("eve@x", to())), "forbiddenMailFrom");
    let wrong = refused(&fixture, "nobody", envelope("a@x", json!([{"email": "b@x"}, {"email": "b x"}])));
    assert_eq!((&wrong["type"], &wrong["invalidRecipients"]), (&json!("invalidRecipients"), &json!(["b x"])));
    let delayed = json!([{"email": "b@x", "parameters": {"HOLDFOR": "60"}}]);
    assert_eq!(refused(&fixture, "nobody", envelope("a@x", delayed))["properties"], json!(["envelope"]));
    let many: Vec<Value> = (0..1_001).map(|number| json!({"email": format!("{number}@x")})).collect();
    assert_eq!(kind("nobody", envelope("a@x", json!(many))), "tooManyRecipients");
    assert_eq!(kind("odd", json!({})), "invalidRecipients");
    let of_work = json!({"identityId": identities(&fixture)[2]});
    assert_eq!(kind("work", of_work), "forbiddenToSend");
    let wrong = refused(&fixture, "all", json!({"identityId": "I1", "undoStatus": "pending", "sendAt": "x"}));
    assert_eq!(wrong["properties"], json!(["sendAt", "undoStatus", "identityId"]));
    let answers = submit(&fixture, "nobody", json!({}), json!({"onSuccessDestroyEmail": ["#k"]}));
    assert_eq!(answers.as_array().map(Vec::len), Some(1), "nothing follows what was not sent");
    assert_eq!(sent(&fixture), "");
    fs::write(fixture.path("send"), "echo no such user >&2; exit 67").expect("a script");
    let failed = refused(&fixture, "all", json!({}));
    assert_eq!(
        (&failed["type"], &failed["description"]),
        (&json!("serverFail"), &json!("the command failed: no such user"))
    );
}

#[test]
fn a_draft_is_made_and_sent_in_one_request() {
    let fixture = fixture();
    let draft = json!({
        "mailboxIds": {fixture.mailbox("home"): true}, "keywords": {"$draft": true}, "subject": "fresh",
        "from": [{"email": "a@x"}], "to": [{"email": "b@x"}], "bcc": [{"email": "c@x"}],
        "textBody": [{"partId": "1"}], "bodyValues": {"1": {"value": "Hello"}},
    });
    let submission = json!({"emailId": "#d", "identityId": identities(&fixture)[1]});
    let update = json!({"#s": {"keywords/$draft": null, "keywords/$seen": true}});
    let answers = fixture.answers(&json!([
        ["Email/set", {"accountId": "mail", "create": {"d": draft}}, "a"],
        ["EmailSubmission/set",
            {"accountId": "mail", "create": {"s": submission}, "onSuccessUpdateEmail": update}, "b"],
    ]));
    let got = sent(&fixture);
    assert!(
        got.starts_with("-a\nhome\n--\nb@x\nc@x\nDate: ") && got.ends_with("\n\nHello"),
        "{got} {answers}"
    );
    assert!(!got.contains("Bcc"), "{got}");
    assert!(answers[2][1]["updated"].is_object(), "{answers}");
    let email = fixture.call("Email/get", json!({"ids": [fixture.id_of("fresh")]}));
    assert_eq!(email["list"][0]["keywords"], json!({"$seen": true}));
}
