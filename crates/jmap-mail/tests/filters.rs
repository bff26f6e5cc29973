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
    assert_eq!(error(json!([by("subject", true), by("receivedAt", false)])), "unsupportedSort");
    assert_eq!(error(json!([by("subject", true), seen(true)])), "unsupportedSort");
    assert_eq!(error(json!([by("cc", true)])), "unsupportedSort");
    assert_eq!(error(json!([{"property": "hasKeyword"}])), "invalidArguments");
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
    assert_eq!((&found["total"], &found["canCalculateChanges"]), (&json!(4), &json!(false)));
    assert_eq!(found.get("limit"), None);
    let all = fixture.call("Email/query", json!({}));
    assert_eq!((all.get("total"), &all["limit"]), (None, &json!(10_000)));
    let changes = json!({"sinceQueryState": found["queryState"]});
    assert_eq!(fixture.error("Email/queryChanges", changes), "cannotCalculateChanges");
}
