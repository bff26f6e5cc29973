//! Pages of long lists: wherever they are, they have what the whole order has there.

use crate::support::{Fixture, message, text};
use serde_json::{Value, json};

/// Many messages have the same date, and the index has several parts.
#[test]
fn every_page_has_what_the_whole_list_has_there() {
    let fixture = Fixture::new(&["mail"]);
    for number in 0..600 {
        let folder = if number % 3 == 0 { "mail" } else { "mail/Other" };
        let day = [1, 1 + number % 28][usize::from(number % 2 == 0)];
        let name = format!("m{number}");
        fixture.put(folder, &format!("{number}.x:2,"), &message(&name, day, "", "text"));
        if number % 250 == 0 {
            fixture.update();
        }
    }
    fixture.update();
    for filter in [json!({}), json!({"inMailbox": fixture.mailbox("Other")}), json!({"pneuQuery": "-m77"})] {
        for is_ascending in [true, false] {
            let page = |position: usize, limit: Option<usize>| {
                let sort = json!([{"property": "receivedAt", "isAscending": is_ascending}]);
                let query = json!({"filter": filter, "sort": sort, "position": position, "limit": limit});
                let found = fixture.call("Email/query", query);
                found["ids"].as_array().expect("ids").clone()
            };
            let all = page(0, None);
            let get = json!({"ids": &all[..400], "properties": ["receivedAt"]});
            let got = fixture.call("Email/get", get);
            let dates: Vec<String> =
                got["list"].as_array().unwrap().iter().map(|email| text(&email["receivedAt"])).collect();
            assert!(
                all.len() >= 400 && dates.is_sorted_by(|a, b| if is_ascending { a <= b } else { a >= b })
            );
            for position in (0..all.len() + 5).step_by(9) {
                for limit in [1, 3, 50] {
                    let expected: Vec<Value> = all.iter().skip(position).take(limit).cloned().collect();
                    assert_eq!(page(position, Some(limit)), expected, "{filter} {position} {limit}");
                }
            }
        }
    }
}
