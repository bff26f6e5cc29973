//! Statistics/get.

use crate::support::{Fixture, text};
use serde_json::{Value, json};

fn letter(name: &str, from: &str, date: &str) -> String {
    format!("From: {from}\nTo: me@example.org\nSubject: {name}\nMessage-ID: <{name}@x>\n{date}\ntext\n")
}

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    let ana = "Ana Ito <Ana@example.org>";
    // A Sunday, shortly before midnight and the new month.
    let late = letter("late", ana, "Date: Sun, 31 Aug 2025 23:30:00 +0000\n");
    fixture.put("mail", "1.x:2,", &late);
    fixture.put("mail/lists", "1.x:2,", &late);
    fixture.put("mail", "2.x:2,S", &letter("noon", ana, "Date: Wed, 03 Sep 2025 12:00:00 +0000\n"));
    fixture.put("mail", "letter:2,S", &letter("undated", "bo@example.org", ""));
    fixture.update();
    fixture
}

fn counts(statistics: &Value, name: &str, key: &str) -> Vec<(Value, u64)> {
    let groups = statistics[name].as_array().unwrap_or_else(|| panic!("{statistics}"));
    groups.iter().map(|group| (group[key].clone(), group["emails"].as_u64().expect("a number"))).collect()
}

#[test]
fn emails_are_counted_by_time_mailbox_and_sender() {
    let fixture = fixture();
    let all = fixture.call("Statistics/get", json!({}));
    assert_eq!((&all["total"]["emails"], &all["total"]["threads"]), (&json!(3), &json!(3)), "{all}");
    let emails = fixture.call("Email/query", json!({}));
    let emails = fixture.call("Email/get", json!({"ids": emails["ids"], "properties": ["size"]}));
    let sizes = emails["list"].as_array().expect("emails").iter().map(|email| email["size"].as_u64());
    assert_eq!(all["total"]["bytes"].as_u64(), sizes.sum(), "{all}");
    let month = |name: &str| json!(name);
    let expected = [(month("2025-08"), 1), (month("2025-09"), 1), (Value::Null, 1)];
    assert_eq!(counts(&all, "byMonth", "month"), expected);
    assert_eq!(counts(&all, "byWeekday", "weekday"), [(json!(3), 1), (json!(7), 1), (Value::Null, 1)]);
    assert_eq!(counts(&all, "byHour", "hour"), [(json!(12), 1), (json!(23), 1), (Value::Null, 1)]);
    let [inbox, lists] = ["Inbox", "lists"].map(|name| json!(fixture.mailbox(name)));
    let mut mailboxes = counts(&all, "byMailbox", "mailboxId");
    mailboxes.sort_by_key(|(_, count)| *count);
    assert_eq!(mailboxes, [(lists, 1), (inbox, 3)]);
    let senders = [(json!("ana@example.org"), 2), (json!("bo@example.org"), 1)];
    assert_eq!(counts(&all, "bySender", "address"), senders);
    assert_eq!((&all["bySender"][0]["name"], &all["bySender"][1]["name"]), (&json!("Ana Ito"), &json!("")));
    let fewer = fixture.call("Statistics/get", json!({"maxSenders": 1}));
    assert_eq!((counts(&fewer, "bySender", "address").len(), &fewer["senderCount"]), (1, &json!(2)));
    assert_eq!(all["state"], text(&all["state"]));
}

#[test]
fn a_clock_and_a_filter_decide_what_is_counted() {
    let fixture = fixture();
    let late = json!({"filter": {"subject": "late"}, "utcOffset": 60});
    let east = fixture.call("Statistics/get", late);
    assert_eq!(counts(&east, "byMonth", "month"), [(json!("2025-09"), 1)], "{east}");
    assert_eq!(counts(&east, "byWeekday", "weekday"), [(json!(1), 1)]);
    assert_eq!(counts(&east, "byHour", "hour"), [(json!(0), 1)]);
    assert_eq!(counts(&east, "byMailbox", "mailboxId").len(), 2);
    let west = fixture.call("Statistics/get", json!({"filter": {"subject": "late"}, "utcOffset": -90}));
    assert_eq!(counts(&west, "byHour", "hour"), [(json!(22), 1)]);
    let none = fixture.call("Statistics/get", json!({"filter": {"subject": "none"}}));
    assert_eq!((&none["total"]["emails"], &none["byMonth"]), (&json!(0), &json!([])));
    for wrong in [json!({"utcOffset": 1440}), json!({"x": 1}), json!({"filter": {"x": 1}})] {
        let error = fixture.error("Statistics/get", wrong.clone());
        assert!(["invalidArguments", "unsupportedFilter"].contains(&error.as_str()), "{wrong} {error}");
    }
}

#[test]
fn copies_with_other_bytes_are_emails_of_their_own() {
    let fixture = fixture();
    // The copy that a list sent, with the same Message-ID.
    let late = letter("late", "Ana Ito <Ana@example.org>", "Date: Sun, 31 Aug 2025 23:30:00 +0000\n");
    fixture.put("mail/lists", "2.x:2,", &late.replace("text", "text\n-- \nfooter"));
    fixture.update();
    let all = fixture.call("Statistics/get", json!({}));
    assert_eq!(all["total"]["emails"], 4, "{all}");
    let lists = json!({"filter": {"inMailbox": fixture.mailbox("Inbox"), "subject": "late"}});
    let one = fixture.call("Statistics/get", lists);
    assert_eq!(one["total"]["emails"], 1);
    let in_lists = one["byMailbox"].as_array().expect("mailboxes").len();
    assert_eq!(in_lists, 2, "it is in both, the other one does not count: {one}");
    assert!(one["byMailbox"].as_array().expect("mailboxes").iter().all(|group| group["emails"] == 1));
}
