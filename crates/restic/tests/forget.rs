//! Policies keep the same snapshots in pneu and in restic.

use disk::RealDisk;
use jiff::tz::TimeZone;
use restic::forget::{Count, Group, GroupBy, Policy, Present, Span, plan};
use restic::select::Candidate;
use restic::{FileKind, Id, LocalStorage, Parts, Password, Snapshot, Time, Version, key_file, snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::{Random, Restic};

const PASSWORD: &str = "geheim";
/// Later than almost all snapshots.
const NOW_SECONDS: i64 = 1_700_000_000;
/// Five months before, half an hour later by the local clock of Berlin, and half an hour earlier everywhere
/// else.
const SUMMER_SECONDS: i64 = NOW_SECONDS - 153 * 86_400 - 1800;
const YEAR_SECONDS: u64 = 31_557_600;

/// Many snapshots within a few hours, days or years, some in other time zones. No two have the same time,
/// because restic orders those randomly.
fn random_snapshots(random: &mut Random) -> Vec<Snapshot> {
    let spans = [3600, 86_400, 40 * 86_400, 3 * YEAR_SECONDS];
    let offsets = [0, 3600, 7200, -12_600, 50_400];
    let mut snapshots: Vec<Snapshot> = (0..70)
        .map(|place| {
            let span = *random.pick(&spans);
            let ago = i64::try_from(random.below(span)).unwrap();
            let words = |random: &mut Random, words: &[&str]| -> Vec<String> {
                words.iter().filter(|_| random.per_mille(300)).map(ToString::to_string).collect()
            };
            Snapshot {
                time: Time::new(NOW_SECONDS - ago, place, *random.pick(&offsets)),
                tree: Id::of(b"a tree that nobody reads"),
                paths: vec![(*random.pick(&["/home", "/var/mail"])).to_owned()],
                hostname: (*random.pick(&["tower", "laptop"])).to_owned(),
                tags: words(random, &["a", "b"]),
                ..Snapshot::default()
            }
        })
        .collect();
    // The newest snapshot, with winter time; one within five months of it only by summer time; and one from
    // the year 2100, from which "within" never counts.
    let special = [(NOW_SECONDS + 1, 3600), (SUMMER_SECONDS, 7200), (4_102_444_800, 0)];
    for (seconds, offset) in special {
        snapshots.push(Snapshot { time: Time::new(seconds, 0, offset), ..snapshots[0].clone() });
    }
    snapshots
}

fn random_policy(random: &mut Random) -> Policy {
    fn count(random: &mut Random) -> Count {
        match random.below(8) {
            0 => Count::All,
            1..=3 => Count::Some(u32::try_from(random.between(1, 9)).unwrap()),
            _ => Count::Some(0),
        }
    }
    fn span(random: &mut Random) -> Span {
        let mut number = |most: u64| {
            let number = u32::try_from(random.between(1, most)).unwrap();
            if random.per_mille(150) { number } else { 0 }
        };
        Span { years: number(2), months: number(14), days: number(40), hours: number(50) }
    }
    Policy {
        last: Count::Some(1),
        hourly: count(random),
        daily: count(random),
        weekly: count(random),
        monthly: count(random),
        yearly: count(random),
        within: span(random),
        within_hourly: span(random),
        within_daily: span(random),
        within_weekly: span(random),
        within_monthly: span(random),
        within_yearly: span(random),
        tags: if random.per_mille(500) { vec![vec!["a".to_owned(), "b".to_owned()]] } else { vec![] },
    }
}

/// Returns restic's options for the policy.
fn options(policy: &Policy) -> Vec<String> {
    let counts = [
        ("last", policy.last),
        ("hourly", policy.hourly),
        ("daily", policy.daily),
        ("weekly", policy.weekly),
        ("monthly", policy.monthly),
        ("yearly", policy.yearly),
    ];
    let spans = [
        ("within", policy.within),
        ("within-hourly", policy.within_hourly),
        ("within-daily", policy.within_daily),
        ("within-weekly", policy.within_weekly),
        ("within-monthly", policy.within_monthly),
        ("within-yearly", policy.within_yearly),
    ];
    let counts = counts.map(|(name, count)| match count {
        Count::All => format!("--keep-{name}=unlimited"),
        Count::Some(count) => format!("--keep-{name}={count}"),
    });
    let spans = spans.map(|(name, span)| format!("--keep-{name}={span}"));
    let tags = policy.tags.iter().map(|tags| format!("--keep-tag={}", tags.join(",")));
    counts.into_iter().chain(spans).chain(tags).collect()
}

/// For each snapshot, the reasons to keep it. No reasons: it is removed.
type Said = BTreeMap<String, Vec<String>>;

fn theirs(restic: &Restic, policy: &Policy, group_by: &str) -> Said {
    let mut arguments = vec!["forget".to_owned(), "--dry-run".to_owned(), "--json".to_owned()];
    arguments.push(format!("--group-by={group_by}"));
    arguments.extend(options(policy));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let groups: serde_json::Value = serde_json::from_slice(&restic.succeed(&arguments)).unwrap();
    let mut said = Said::new();
    for group in groups.as_array().unwrap() {
        for kept in group["reasons"].as_array().unwrap() {
            let reasons = kept["matches"].as_array().unwrap().iter();
            let reasons = reasons.map(|reason| reason.as_str().unwrap().to_owned()).collect();
            said.insert(kept["snapshot"]["id"].as_str().unwrap().to_owned(), reasons);
        }
        for gone in group["remove"].as_array().into_iter().flatten() {
            said.insert(gone["id"].as_str().unwrap().to_owned(), Vec::new());
        }
    }
    said
}

fn ours(groups: Vec<Group>, ids: &[Id]) -> Said {
    let mut said = Said::new();
    for group in groups {
        said.extend(group.keep.into_iter().map(|kept| (ids[kept.place].to_string(), kept.reasons)));
        said.extend(group.remove.into_iter().map(|place| (ids[place].to_string(), Vec::new())));
    }
    said
}

#[test]
fn restic_keeps_the_same_snapshots_for_the_same_reasons() {
    let directory = tempfile::tempdir().unwrap();
    let Some(restic) = testkit::restic(directory.path(), "repository", PASSWORD) else { return };
    // Older versions do not keep the oldest snapshot while a count is left.
    if restic.version() < vec![0, 17] {
        return;
    }
    restic.succeed(&["init"]);
    let storage = Arc::new(LocalStorage::new(Arc::new(RealDisk), directory.path().join("repository")));
    let (_, key) = key_file::unlock(&*storage, &Password::new(PASSWORD.into())).unwrap();
    let surroundings = restic::testing::surroundings();
    let parts = Parts { storage, key: Arc::new(key), surroundings, version: Version::Two };
    let mut random = Random::new(11);
    let snapshots = random_snapshots(&mut random);
    let ids: Vec<Id> = snapshots.iter().map(|one| snapshot::save(&parts, one).unwrap()).collect();
    assert_eq!(parts.storage.list(FileKind::Snapshot).unwrap().len(), ids.len());
    let candidates: Vec<Candidate<'_>> = snapshots.iter().map(Candidate::from).collect();

    let zones = ["UTC", "Europe/Berlin"].map(|name| (name, TimeZone::get(name).unwrap_or(TimeZone::UTC)));
    for round in 0..6 {
        let mut policy = random_policy(&mut random);
        if round == 3 {
            policy = Policy { within: Span { months: 5, ..Span::default() }, ..Policy::default() };
        }
        let group_by = ["", "host,paths", "host,tags"][round % 3];
        let (name, zone) = zones[round % 2].clone();
        let present = Present { now: Time::new(NOW_SECONDS + 86_400, 0, 0), zone };
        let groups = plan(&candidates, group_by.parse::<GroupBy>().unwrap(), &policy, &present).unwrap();
        let theirs = theirs(&restic.clone().with("TZ", name), &policy, group_by);
        assert_eq!(ours(groups, &ids), theirs, "{:?} grouped by \"{group_by}\" in {name}", options(&policy));
    }
}
