//! People: who wrote and who received messages, in whatever order the messages came.

use crate::support::Fixture;
use index::{Circle, OwnAddresses, Person, UpdateOptions};

fn letter(from: &str, to: &str, day: u32) -> String {
    format!(
        "From: {from}\nTo: {to}\nSubject: s\nDate: {day} Mar 2025 10:00:00 +0000\nMessage-ID: \
         <{day}@x>\n\nwords\n"
    )
}

fn people(fixture: &Fixture, words: &[&str]) -> Vec<Person> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    fixture.mailbox().people(&words, Circle::Everybody).unwrap()
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
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mailbox = fixture.mailbox().with_own_addresses(OwnAddresses::new(&list(own)));
        let people = mailbox.people(&list(words), circle).unwrap();
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
