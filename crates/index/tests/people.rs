//! People: who wrote and who received messages, in whatever order the messages came.

use crate::support::Fixture;
use index::{Circle, OwnAddresses, OwnPeople, PeopleQuestion, Person, UpdateOptions};

fn letter(from: &str, to: &str, day: u32) -> String {
    format!(
        "From: {from}\nTo: {to}\nSubject: s\nDate: {day} Mar 2025 10:00:00 +0000\nMessage-ID: \
         <{day}@x>\n\nwords\n"
    )
}

fn people(fixture: &Fixture, words: &[&str]) -> Vec<Person> {
    fixture.mailbox().people(&PeopleQuestion { words: list(words), ..PeopleQuestion::default() }).unwrap()
}

fn list(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn people_are_counted_and_the_newest_name_is_kept() {
    let letters = [
        letter("Ana <ana@example.org>", "bo@example.org, \"Cy\" <cy@example.org>", 1),
        letter("\"Ana Ito\" <Ana@Example.org>", "bo@example.org", 3),
        letter("ana@example.org", "\"Bö\" <bo@example.org>", 2),
        letter("ANA@example.org", "undisclosed-recipients:;", 4),
    ];
    let day = |day: i64| 1_740_787_200 + (day - 1) * 86_400 + 36_000;
    let person = |address: &str, name: &str, counts: (u32, u32), days: (i64, i64)| Person {
        address: address.into(),
        name: name.into(),
        sent_count: counts.0,
        received_count: counts.1,
        first: Some(day(days.0)),
        last: Some(day(days.1)),
        written_count: 0,
        last_written: None,
        is_list: false,
        is_own: false,
    };
    let expected = [
        person("Ana@Example.org", "Ana Ito", (4, 0), (1, 4)),
        person("bo@example.org", "Bö", (0, 3), (1, 3)),
        person("cy@example.org", "Cy", (0, 1), (1, 1)),
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        let one_by_one = Fixture::new();
        let at_once = Fixture::new();
        for number in order {
            one_by_one.put("a", "cur", &format!("{number}.x:2,"), &letters[number]);
            one_by_one.update();
            at_once.put("a", "cur", &format!("{number}.x:2,"), &letters[number]);
        }
        at_once.update_with(&UpdateOptions { batch_message_count: 3, ..UpdateOptions::default() });
        assert_eq!(people(&one_by_one, &[]), expected);
        assert_eq!(people(&at_once, &[]), expected);
        // Another file with the same content changes nothing.
        one_by_one.put("b", "cur", "9.x:2,", &letters[0]);
        one_by_one.update();
        assert_eq!(people(&one_by_one, &[]), expected);
        one_by_one.check();
        for (words, count) in
            [(&["BO"][..], 1), (&["bo", "example"], 1), (&["ito"], 1), (&["cy", "ana"], 0), (&["example"], 3)]
        {
            assert_eq!(people(&one_by_one, words).len(), count, "{words:?}");
        }
    }
}

#[test]
fn an_address_counts_once_a_message_in_each_role() {
    let fixture = Fixture::new();
    let many = vec!["Bo <bo@example.org>, BO@Example.org"; 50].join(", ");
    let to = format!("{many}\nCc: \"Bo Berg\" <bo@example.org>, ana@example.org");
    fixture.put("a", "cur", "1.x:2,", &letter("Ana <ana@example.org>", &to, 1));
    fixture.put("a", "cur", "2.x:2,", &letter("bo@example.org", "bo@example.org", 2));
    fixture.update();
    let counts: Vec<_> = (people(&fixture, &[]).into_iter())
        .map(|person| (person.address.to_lowercase(), person.name, person.sent_count, person.received_count))
        .collect();
    let expected = [("ana@example.org", "Ana", 1, 1), ("bo@example.org", "Bo Berg", 1, 2)];
    for (address, name, sent, received) in expected {
        assert!(counts.contains(&(address.into(), name.into(), sent, received)), "{counts:?}");
    }
    assert_eq!(counts.len(), 2);
    fixture.check();
}

#[test]
fn the_user_is_left_out_and_others_are_partners_who_were_written_to_or_wrote() {
    let fixture = Fixture::new();
    for (number, (from, to)) in [
        ("ana@example.org", "bo@example.org, cy@example.org"),
        ("dee@example.org", "Ana <ANA@example.org>"),
        ("eve@example.org", "list@example.org"),
        ("x@home.example", "fay@example.org"),
    ]
    .iter()
    .enumerate()
    {
        let day = u32::try_from(number).unwrap() + 1;
        fixture.put("a", "cur", &format!("{number}.x:2,S"), &letter(from, to, day));
    }
    fixture.update();
    let found = |own: &[&str], words: &[&str], circle| {
        let mailbox = fixture.mailbox().with_own_addresses(OwnAddresses::new(&list(own)));
        let question = PeopleQuestion { words: list(words), circle, ..PeopleQuestion::default() };
        let people = mailbox.people(&question).unwrap();
        let mut names: Vec<String> =
            people.iter().map(|person| person.address.split('@').next().unwrap().to_owned()).collect();
        names.sort();
        names.join(" ")
    };
    let own = ["Ana@Example.org", "@home.example"];
    assert_eq!(found(&[], &[], Circle::Everybody), "ANA bo cy dee eve fay list x");
    assert_eq!(found(&own, &[], Circle::Everybody), "bo cy dee eve fay list");
    assert_eq!(found(&own, &[], Circle::Partners), "bo cy dee fay");
    assert_eq!(found(&own[..1], &["e"], Circle::Partners), "bo cy dee");
    assert_eq!(found(&own, &["dee"], Circle::Partners), "dee");
    assert_eq!(found(&[], &[], Circle::Partners), "");
    // Removed mail no longer makes somebody a partner, but the person is still known.
    std::fs::remove_file(fixture.root().join("a/cur/1.x:2,S")).unwrap();
    fixture.update();
    assert_eq!(found(&own, &[], Circle::Partners), "bo cy fay");
    assert_eq!(found(&own, &["dee"], Circle::Everybody), "dee");
}

/// Returns a letter of 2025 with fields of its own.
fn dated(from: &str, to: &str, date: &str, more: &str) -> String {
    format!(
        "From: {from}\nTo: {to}\nDate: {date} 10:00:00 +0000\nSubject: s\n{more}\nwords of {from} {date}\n"
    )
}

/// Returns the part of each address before the sign, in the order of the list.
fn names(people: &[Person]) -> String {
    let names: Vec<&str> = people.iter().map(|person| person.address.split('@').next().unwrap()).collect();
    names.join(" ")
}

#[test]
fn people_to_whom_the_user_wrote_come_first_and_lists_last() {
    let fixture = Fixture::new();
    let mut letters = Vec::new();
    for day in 1..=28 {
        letters.push(dated("news@shop.example", "ana@example.org", &format!("{day} Feb 2025"), ""));
        let id = "List-Id: The Tubes <tubes.lists.example.org>\n";
        letters.push(dated("cy@example.org", "tubes@lists.example.org", &format!("{day} Mar 2025"), id));
    }
    letters.push(dated("Ana <ANA@Example.org>", "bo@example.org, Bo <BO@example.org>", "1 Mar 2025", ""));
    letters.push(dated("x@home.example", "dee@example.org\nBcc: tubes@lists.example.org", "1 Mar 2023", ""));
    // A name that looks like the user's address is not one of the user's messages.
    letters.push(dated("\"ana@example.org\" <eve@example.com>", "fay@example.org", "2 Mar 2025", ""));
    for (number, letter) in letters.iter().enumerate() {
        fixture.put("a", "cur", &format!("{number}.x:2,S"), letter);
    }
    fixture.update();
    let question = PeopleQuestion { now_seconds: 1_743_465_600, ..PeopleQuestion::default() };
    let mailbox = |own: &[&str]| fixture.mailbox().with_own_addresses(OwnAddresses::new(&list(own)));
    let found = |own: &[&str], question: &PeopleQuestion| mailbox(own).people(question).unwrap();
    let own = ["ana@example.org", "@home.example"];
    let all = found(&own, &question);
    assert_eq!(names(&all), "BO cy news dee eve fay tubes");
    let written: Vec<(u32, bool)> = all.iter().map(|one| (one.written_count, one.is_list)).collect();
    let expected = [(1, false), (0, false), (0, false), (1, false), (0, false), (0, false), (1, true)];
    assert_eq!(written, expected);
    assert_eq!(all[0].last_written, Some(1_740_823_200));
    assert_eq!(names(&found(&[], &question)), "cy ANA news eve fay BO dee x tubes", "without addresses");
    // Years later, what was written counts as little as what was received.
    let later = PeopleQuestion { now_seconds: 1_900_000_000, ..question.clone() };
    assert_eq!(names(&found(&own, &later)), "BO cy news dee eve fay tubes");
    for (count_max, expected) in
        [(1, "BO"), (6, "BO cy news dee eve fay"), (7, "BO cy news dee eve fay tubes")]
    {
        let few = PeopleQuestion { count_max: Some(count_max), ..question.clone() };
        assert_eq!(names(&found(&own, &few)), expected);
    }
    let with_own = PeopleQuestion { own: OwnPeople::Listed, ..question.clone() };
    let listed = found(&own, &with_own);
    let own_listed: Vec<&str> =
        listed.iter().filter(|one| one.is_own).map(|one| one.address.as_str()).collect();
    assert_eq!(own_listed, ["ANA@Example.org", "x@home.example"]);
    // Only mail that a search can find counts as written.
    std::fs::remove_file(fixture.root().join("a/cur/56.x:2,S")).unwrap();
    fixture.update();
    assert!(found(&own, &question).iter().all(|one| !one.address.contains("BO") || one.written_count == 0));
}

#[test]
fn an_address_of_unusual_words_is_found_as_well() {
    for own in
        ["\u{e4}\u{f6}@\u{fc}.example", "\u{65e5}@\u{672c}", "c++@x", "_@_", "a.b-c_d+e@sub.example.org"]
    {
        let fixture = Fixture::new();
        fixture.put(
            "a",
            "cur",
            "1.x:2,S",
            &dated(&format!("Ana <{own}>"), "bo@example.org", "1 Mar 2025", ""),
        );
        fixture.put("a", "cur", "2.x:2,S", &dated("eve@example.org", "cy@example.org", "1 Mar 2025", ""));
        fixture.update();
        let mailbox = fixture.mailbox().with_own_addresses(OwnAddresses::new(&list(&[own])));
        let people = mailbox.people(&PeopleQuestion::default()).unwrap();
        let written: Vec<&str> =
            people.iter().filter(|one| one.written_count > 0).map(|one| one.address.as_str()).collect();
        assert_eq!(written, ["bo@example.org"], "{own}");
    }
}
