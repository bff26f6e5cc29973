//! Policies applied to a few snapshots: what stays and why, as lines of text.

use super::*;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn time(text: &str) -> Time {
    Time::parse(text.as_bytes()).unwrap()
}

fn candidates<'a>(times: &[&str]) -> Vec<Candidate<'a>> {
    times.iter().map(|text| Candidate { time: time(text), hostname: "h", ..Candidate::default() }).collect()
}

fn present() -> Present {
    Present { now: time("2020-12-31T00:00:00Z"), zone: TimeZone::UTC }
}

/// Returns what happens to each candidate: "place: reason, reason", or "place goes".
fn said(candidates: &[Candidate<'_>], policy: &Policy) -> Vec<String> {
    let groups = plan(candidates, GroupBy::default(), policy, &present()).unwrap();
    let mut lines: Vec<(usize, String)> = Vec::new();
    for group in groups {
        lines.extend(
            group
                .keep
                .iter()
                .map(|kept| (kept.place, format!("{}: {}", kept.place, kept.reasons.join(", ")))),
        );
        lines.extend(group.remove.iter().map(|&place| (place, format!("{place} goes"))));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Four days, twice on the second; the oldest last.
const DAYS: [&str; 5] = [
    "2020-05-04T10:00:00Z",
    "2020-05-03T22:00:00Z",
    "2020-05-03T10:00:00Z",
    "2020-05-02T10:00:00Z",
    "2020-05-02T09:00:00Z",
];

#[test]
fn without_a_policy_all_stay() {
    assert_eq!(said(&candidates(&DAYS[..2]), &Policy::default()), ["0: ", "1: "]);
    assert_eq!(plan(&[], GroupBy::default(), &Policy::default(), &present()), Ok(vec![]));
}

#[test]
fn the_newest_of_each_period() {
    let daily = Policy { daily: Count::Some(2), ..Policy::default() };
    let expected = ["0: daily snapshot", "1: daily snapshot", "2 goes", "3 goes", "4 goes"];
    assert_eq!(said(&candidates(&DAYS), &daily), expected);
    let last = Policy { last: Count::Some(1), hourly: Count::Some(2), ..Policy::default() };
    let expected = ["0: last snapshot, hourly snapshot", "1: hourly snapshot", "2 goes", "3 goes", "4 goes"];
    assert_eq!(said(&candidates(&DAYS), &last), expected);
    let weekly = Policy { weekly: Count::Some(2), ..Policy::default() };
    let expected = ["0: weekly snapshot", "1: weekly snapshot", "2 goes", "3 goes", "4 goes"];
    assert_eq!(said(&candidates(&DAYS), &weekly), expected, "2020-05-04 is a Monday");
}

#[test]
fn the_oldest_fills_what_is_left() {
    let monthly = Policy { monthly: Count::Some(2), ..Policy::default() };
    let expected = ["0: monthly snapshot", "1 goes", "2 goes", "3 goes", "4: oldest monthly snapshot"];
    assert_eq!(said(&candidates(&DAYS), &monthly), expected);
    let yearly = Policy { yearly: Count::All, daily: Count::Some(1), ..Policy::default() };
    let expected =
        ["0: daily snapshot, yearly snapshot", "1 goes", "2 goes", "3 goes", "4: oldest yearly snapshot"];
    assert_eq!(said(&candidates(&DAYS), &yearly), expected);
}

#[test]
fn order_of_the_candidates_is_no_matter() {
    let mut turned = DAYS;
    turned.reverse();
    let daily = Policy { daily: Count::Some(2), ..Policy::default() };
    let expected = ["0 goes", "1 goes", "2 goes", "3: daily snapshot", "4: daily snapshot"];
    assert_eq!(said(&candidates(&turned), &daily), expected);
}

#[test]
fn within_counts_from_the_newest_that_is_not_in_the_future() {
    let mut times = DAYS.to_vec();
    times.push("2021-05-04T10:00:00Z");
    let within = Policy { within: "1d12h".parse().unwrap(), ..Policy::default() };
    let expected =
        ["0: within 1d12h", "1: within 1d12h", "2: within 1d12h", "3 goes", "4 goes", "5: within 1d12h"];
    assert_eq!(said(&candidates(&times), &within), expected);
    let exactly = Policy { within: "1d".parse().unwrap(), ..Policy::default() };
    let expected = ["0: within 1d", "1: within 1d", "2 goes", "3 goes", "4 goes", "5: within 1d"];
    assert_eq!(said(&candidates(&times), &exactly), expected, "what is as old as that is not within");
    let daily = Policy { within_daily: "1m".parse().unwrap(), ..Policy::default() };
    let expected = [
        "0: daily within 1m",
        "1: daily within 1m",
        "2 goes",
        "3: daily within 1m",
        "4: oldest daily within 1m",
        "5: daily within 1m",
    ];
    assert_eq!(said(&candidates(&times), &daily), expected);
    let future = candidates(&times[5..]);
    assert_eq!(said(&future, &exactly), ["0: within 1d"]);
}

#[test]
fn tags_keep_what_has_them_all() {
    let (both, one) = (words(&["a", "b"]), words(&["a"]));
    let mut found = candidates(&DAYS[..3]);
    (found[0].tags, found[1].tags) = (&both, &one);
    let tags = |lists: &[&[&str]]| Policy {
        tags: lists.iter().map(|tags| words(tags)).collect(),
        ..Policy::default()
    };
    assert_eq!(said(&found, &tags(&[&["b", "a"]])), ["0: has tags [b, a]", "1 goes", "2 goes"]);
    let expected = ["0: has tags [a]", "1: has tags [a]", "2: has tags []"];
    assert_eq!(said(&found, &tags(&[&["a"], &[""]])), expected);
}

#[test]
fn groups_by_host_paths_and_tags() {
    let (ab, ba, other) = (words(&["/a", "/b"]), words(&["/b", "/a"]), words(&["/c"]));
    let of = |hostname, paths, tags| Candidate { time: time(DAYS[0]), hostname, paths, tags };
    let found = [of("h", &ab, &other), of("h", &ba, &ab), of("g", &ab, &ba), of("h", &other, &other)];
    let groups = |text: &str| {
        let policy = Policy { last: Count::All, ..Policy::default() };
        let groups = plan(&found, text.parse().unwrap(), &policy, &present()).unwrap();
        let places = |group: Group| {
            let places: Vec<String> = group.keep.iter().map(|kept| kept.place.to_string()).collect();
            places.concat()
        };
        groups.into_iter().map(places).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((groups("").as_str(), groups("host").as_str()), ("0123", "2 013"));
    assert_eq!((groups("host,paths").as_str(), groups("paths").as_str()), ("2 01 3", "012 3"));
    assert_eq!((groups("tags").as_str(), groups("host,tags").as_str()), ("12 03", "2 1 03"));
}

#[test]
fn a_group_never_loses_all() {
    let (tags, paths) = (words(&["b", "a"]), words(&["/x"]));
    let found = [Candidate { time: time(DAYS[0]), hostname: "h", paths: &paths, tags: &tags }];
    let policy = Policy { tags: vec![words(&["z"])], ..Policy::default() };
    let group_by = GroupBy { tags: true, ..GroupBy::default() };
    let refused = plan(&found, group_by, &policy, &present()).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the policy keeps no snapshot of host h of path /x with tags a,b: nothing is removed"
    );
}
