//! Email/query: filters, orders, windows, threads.

use crate::support::{Fixture, message};
use serde_json::{Value, json};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("apple", 1, "X-Project: Big Boat\n", "red fruit"));
    fixture.put("mail", "2.x:2,S", &message("pear", 2, "In-Reply-To: <apple@x>\n", "green fruit, a pear"));
    fixture.put(
        "mail/Other",
        "3.x:2,SF",
        &message("plum", 3, "X-Keywords: Für\n", "blue fruit plum plum plum"),
    );
    fixture.put("mail/Other", "4.x:2,", &message("fig", 4, "Cc: cy@example.org\n", "q"));
    fixture.put("mail/Other", "x", "Subject: undated\n\nnothing\n");
    fixture.update();
    fixture
}

#[test]
fn filters_find_what_they_say() {
    let fixture = fixture();
    fixture.tag("subject:fig", "Für");
    fixture.tag("subject:pear", "fur");
    let (inbox, other) = (fixture.mailbox("Inbox"), fixture.mailbox("Other"));
    let cases = [
        (json!({}), "fig plum pear apple undated"),
        (json!({"inMailbox": inbox}), "pear apple"),
        (json!({"inMailbox": "F1"}), ""),
        (json!({"inMailboxOtherThan": [inbox]}), "fig plum undated"),
        (json!({"inMailboxOtherThan": [inbox, other]}), ""),
        (json!({"before": "2025-03-02T10:00:00Z"}), "apple undated"),
        (json!({"before": "2025-03-02T10:00:00.5Z"}), "pear apple undated"),
        (json!({"before": "1970-01-01T00:00:00Z"}), ""),
        (json!({"after": "2025-03-02T10:00:00Z"}), "fig plum pear"),
        (json!({"after": "1970-01-01T00:00:00Z"}), "fig plum pear apple undated"),
        (json!({"maxSize": 27}), "undated"),
        (json!({"maxSize": 26}), ""),
        (json!({"maxSize": 0}), ""),
        (json!({"minSize": 26}), "fig plum pear apple undated"),
        (json!({"minSize": 1000}), ""),
        (json!({"hasKeyword": "$SEEN"}), "plum pear"),
        (json!({"notKeyword": "$seen"}), "fig apple undated"),
        (json!({"hasKeyword": "f=c3=bcr"}), "fig plum"),
        (json!({"hasKeyword": "fur"}), "pear"),
        (json!({"hasKeyword": "no such"}), ""),
        (json!({"allInThreadHaveKeyword": "$seen"}), "plum"),
        (json!({"someInThreadHaveKeyword": "$seen"}), "plum pear apple"),
        (json!({"noneInThreadHaveKeyword": "$seen"}), "fig undated"),
        (json!({"hasAttachment": false}), "fig plum pear apple undated"),
        (json!({"hasAttachment": true}), ""),
        (json!({"text": "PEAR fruit"}), "pear"),
        (json!({"text": "'fruit plum'"}), "plum"),
        (json!({"text": "'plum fruit'"}), ""),
        (json!({"from": "ana"}), "fig plum pear apple"),
        (json!({"to": "bo@example.org"}), "fig plum pear apple"),
        (json!({"cc": "cy"}), "fig"),
        (json!({"bcc": "cy"}), ""),
        (json!({"subject": "fruit"}), ""),
        (json!({"body": "fruit", "notKeyword": "$seen"}), "apple"),
        (json!({"header": ["x-project"]}), "apple"),
        (json!({"header": ["X-Project", "boat"]}), "apple"),
        (json!({"header": ["X-Project", "ship"]}), ""),
        (json!({"header": ["cc"]}), "fig"),
        (json!({"header": ["Message-ID", "<pear@x>"]}), "pear"),
        (json!({"header": ["message-id", "fig@x"]}), "fig"),
        (json!({"header": ["message-id", "fig@"]}), ""),
        (json!({"header": ["message-id", ""]}), ""),
        (json!({"text": "subject:pear or maildir:/**"}), ""),
        (json!({"operator": "OR", "conditions": [{"subject": "fig"}, {"subject": "plum"}]}), "fig plum"),
        (json!({"operator": "NOT", "conditions": [{"subject": "fig"}, {"body": "fruit"}]}), "undated"),
        (json!({"operator": "AND", "conditions": [{"body": "fruit"}, {"subject": "pear"}]}), "pear"),
    ];
    for (filter, expected) in cases {
        assert_eq!(fixture.subjects(json!({"filter": filter})), expected, "{filter}");
    }
    let error = |filter: Value| fixture.error("Email/query", json!({"filter": filter}));
    assert_eq!(error(json!({"header": ["References"]})), "unsupportedFilter");
    assert_eq!(error(json!({"header": []})), "invalidArguments");
    // One limit holds for all texts, wherever they are.
    let many = "a ".repeat(2_048);
    let texts = |more: Value| json!({"operator": "OR", "conditions": [{"text": many}, {"body": many}, more]});
    assert_eq!(fixture.subjects(json!({"filter": texts(json!({}))})), "fig plum pear apple undated");
    assert_eq!(error(texts(json!({"subject": "a"}))), "unsupportedFilter");
    assert_eq!(error(texts(json!({"header": ["X-Project", "a"]}))), "unsupportedFilter");
    assert_eq!(error(json!({"unknown": 1})), "invalidArguments");
}

#[test]
fn results_come_in_the_order_asked_for() {
    let fixture = fixture();
    let by = |property: &str, is_ascending: bool| json!({"property": property, "isAscending": is_ascending});
    let keyword = |property: &str, is_ascending: bool| {
        let mut comparator = by(property, is_ascending);
        comparator["keyword"] = "$seen".into();
        comparator
    };
    let seen = |is_ascending: bool| keyword("hasKeyword", is_ascending);
    let all = keyword("allInThreadHaveKeyword", false);
    let some = keyword("someInThreadHaveKeyword", false);
    for (sort, expected) in [
        (json!([by("receivedAt", true)]), "undated apple pear plum fig"),
        (json!([by("subject", true)]), "apple fig pear plum undated"),
        (json!([by("from", false), by("receivedAt", false)]), "fig plum pear apple undated"),
        (json!([by("size", true)]), "undated fig apple pear plum"),
        (json!([seen(false), by("receivedAt", true)]), "pear plum undated apple fig"),
        (json!([seen(true), by("subject", true)]), "apple fig undated pear plum"),
        (json!([all, by("receivedAt", false)]), "plum fig pear apple undated"),
        (json!([some, seen(true)]), "apple plum pear fig undated"),
        // Some clients send the arguments of a query with each comparator.
        (json!([{"property": "subject", "position": 0, "anchor": null}]), "apple fig pear plum undated"),
    ] {
        let query = json!({"sort": sort, "filter": {"operator": "AND", "conditions": []}});
        assert_eq!(fixture.subjects(query), expected, "{sort}");
        for position in 0..5 {
            let window = json!({"sort": sort, "position": position, "limit": 2});
            let expected: Vec<&str> = expected.split(' ').skip(position).take(2).collect();
            assert_eq!(fixture.subjects(window), expected.join(" "), "{sort}");
        }
    }
    let error = |sort: Value| fixture.error("Email/query", json!({"sort": sort}));
    assert_eq!(error(json!([by("subject", true), seen(true)])), "unsupportedSort");
    assert_eq!(error(json!([by("cc", true)])), "unsupportedSort");
    assert_eq!(error(json!([{"property": "hasKeyword"}])), "invalidArguments");
}

#[test]
fn what_is_equal_by_one_property_is_sorted_by_the_next() {
    let fixture = Fixture::new(&["mail"]);
    for (name, day, from) in
        [("b", 1, "Zoe"), ("a", 1, "Zoe"), ("d", 2, "Amy"), ("c", 2, "zoe"), ("e", 3, "Amy")]
    {
        let text = message(name, day, "", "").replace("Ana Ito", from);
        fixture.put("mail", &format!("{name}.x:2,{}", if name == "c" { "S" } else { "" }), &text);
    }
    fixture.update();
    let by = |property: &str, is_ascending: bool| json!({"property": property, "isAscending": is_ascending});
    let seen = json!({"property": "hasKeyword", "keyword": "$seen", "isAscending": false});
    for (sort, expected) in [
        (json!([by("receivedAt", false), by("subject", true)]), "e c d a b"),
        (json!([by("receivedAt", false), by("subject", false)]), "e d c b a"),
        (json!([by("receivedAt", true), by("subject", false)]), "b a d c e"),
        (json!([by("from", true), by("receivedAt", false), by("subject", true)]), "e d c a b"),
        (json!([by("from", false), by("receivedAt", true), by("subject", true)]), "a b c d e"),
        (json!([by("from", false), by("from", true), by("subject", true)]), "a b c d e"),
        (json!([seen, by("from", true), by("subject", false)]), "c e d b a"),
    ] {
        assert_eq!(fixture.subjects(json!({"sort": sort})), expected, "{sort}");
        let window = json!({"sort": sort, "position": 1, "limit": 3});
        let window_expected: Vec<&str> = expected.split(' ').skip(1).take(3).collect();
        assert_eq!(fixture.subjects(window), window_expected.join(" "), "{sort}");
    }
    fixture.put("mail", "f.x:2,", &message("f", 3, "In-Reply-To: <e@x>\n", ""));
    fixture.update();
    let threads = |is_ascending: bool| {
        let sort = json!([by("receivedAt", false), by("subject", is_ascending)]);
        fixture.subjects(json!({"sort": sort, "collapseThreads": true}))
    };
    assert_eq!((threads(true), threads(false)), ("e c d a b".to_owned(), "f d c b a".to_owned()));
}

#[test]
fn windows_anchors_and_threads() {
    let fixture = fixture();
    let pear = fixture.id_of("pear");
    let anchored = json!({"anchor": pear, "anchorOffset": -1, "limit": 2});
    assert_eq!(fixture.subjects(anchored), "plum pear");
    assert_eq!(fixture.subjects(json!({"position": -2})), "apple undated");
    assert_eq!(fixture.error("Email/query", json!({"anchor": "M1"})), "anchorNotFound");
    let collapsed = json!({"collapseThreads": true});
    assert_eq!(fixture.subjects(collapsed.clone()), "fig plum pear undated");
    let oldest = json!({"collapseThreads": true, "sort": [{"property": "receivedAt"}]});
    assert_eq!(fixture.subjects(oldest), "undated apple plum fig");
    let subjects = json!({"collapseThreads": true, "sort": [{"property": "subject", "isAscending": false}]});
    assert_eq!(fixture.subjects(subjects), "undated plum pear fig");
    let found =
        fixture.call("Email/query", json!({"collapseThreads": true, "calculateTotal": true, "limit": 1}));
    assert_eq!((&found["total"], &found["canCalculateChanges"]), (&json!(4), &json!(true)));
    assert_eq!(found.get("limit"), None);
    let all = fixture.call("Email/query", json!({}));
    assert_eq!((all.get("total"), &all["limit"]), (None, &json!(10_000)));
}
