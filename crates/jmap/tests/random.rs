//! Random references, patches, windows, lists and dates. Input: generated ones. Output: whether a slow and
//! obvious twin agrees. Knows nothing of the crate's inside.

use crate::todo::{id, todos};
use jmap::{Date, Filter, Id, Limits, Window, apply_patch, difference};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Makes JSON of few names, so that pointers hit.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(json!(null)), (0..3).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let object = btree_map("[ab/~*]|0|1", inner.clone(), 0..4);
        let object = object.prop_map(|members| Value::Object(members.into_iter().collect()));
        prop_oneof![vec(inner, 0..4).prop_map(Value::Array), object]
    })
}

fn json_object() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("[ab/~*]|0|1", json_value(), 0..5).prop_map(|members| members.into_iter().collect())
}

fn pointer(tokens: &[String]) -> String {
    tokens.iter().map(|token| format!("/{}", token.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Follows a pointer as RFC 8620, section 3.7, puts it, with copies of everything.
fn followed(value: &Value, tokens: &[String]) -> Option<Value> {
    let Some((token, rest)) = tokens.split_first() else { return Some(value.clone()) };
    match value {
        Value::Array(items) if token == "*" => {
            let mut found = Vec::new();
            for item in items {
                match followed(item, rest)? {
                    Value::Array(inner) => found.extend(inner),
                    other => found.push(other),
                }
            }
            Some(Value::Array(found))
        }
        _ => followed(value.pointer(&pointer(std::slice::from_ref(token)))?, rest),
    }
}

/// Applies a patch one pointer after the other, and checks the rules by looking at all pairs of pointers.
fn patched(object: &Map<String, Value>, patch: &BTreeMap<Vec<String>, Value>) -> Option<Map<String, Value>> {
    let mut result = object.clone();
    for (tokens, value) in patch {
        if patch.keys().any(|other| other != tokens && other.starts_with(tokens)) {
            return None;
        }
        let (last, parents) = tokens.split_last()?;
        let mut parent = &mut result;
        for token in parents {
            parent = parent.get_mut(token)?.as_object_mut()?;
        }
        match value {
            Value::Null => drop(parent.remove(last)),
            value => drop(parent.insert(last.clone(), value.clone())),
        }
    }
    Some(result)
}

/// The client of RFC 8620, section 5.6: it splices out, splices in, then truncates or extends.
fn spliced(
    mut cache: Vec<Option<u8>>,
    removed: &[u8],
    added: &[(u8, usize)],
    total: usize,
) -> Vec<Option<u8>> {
    cache.retain(|item| item.is_none_or(|item| !removed.contains(&item)));
    for &(item, index) in added {
        cache.resize(cache.len().max(index), None);
        cache.insert(index, Some(item));
    }
    cache.resize(total, None);
    cache
}

/// Returns a place in a list.
fn index<N: TryInto<usize>>(number: N) -> usize {
    number.try_into().unwrap_or(usize::MAX)
}

/// Returns what a client has that knows the first `count` items of a list.
fn beginning(list: &[u8], count: usize) -> Vec<Option<u8>> {
    list.iter().enumerate().map(|(place, &item)| (place < count).then_some(item)).collect()
}

/// Returns whether everything in a client's list is where it should be.
fn is_right(cache: &[Option<u8>], list: &[u8]) -> bool {
    cache.len() == list.len()
        && cache.iter().zip(list).all(|(cached, item)| cached.is_none_or(|c| c == *item))
}

/// Makes a list in which each number occurs once.
fn list() -> impl Strategy<Value = Vec<u8>> {
    vec(0_u8..24, 0..20).prop_map(|mut list| {
        let mut seen = std::collections::BTreeSet::new();
        list.retain(|&item| seen.insert(item));
        list
    })
}

fn filter() -> impl Strategy<Value = Filter<u8>> {
    let leaf = (0_u8..8).prop_map(Filter::Condition);
    leaf.prop_recursive(4, 20, 4, |inner| {
        let many = vec(inner, 0..4);
        (0..3, many).prop_map(|(operator, filters)| match operator {
            0 => Filter::And(filters),
            1 => Filter::Or(filters),
            _ => Filter::Not(filters),
        })
    })
}

fn written(filter: &Filter<u8>) -> Value {
    let (operator, filters) = match filter {
        Filter::Condition(number) => return json!({"is": number}),
        Filter::And(filters) => ("AND", filters),
        Filter::Or(filters) => ("OR", filters),
        Filter::Not(filters) => ("NOT", filters),
    };
    json!({"operator": operator, "conditions": filters.iter().map(written).collect::<Vec<_>>()})
}

proptest! {
    #[test]
    fn a_reference_leads_where_the_rfc_says(result in json_object(), tokens in vec("[ab/~*]|0|1", 0..5)) {
        let reference = json!({"resultOf": "c", "name": "Core/echo", "path": pointer(&tokens)});
        let calls = json!([["Core/echo", &result, "c"], ["Core/echo", {"#x": reference}, "d"]]);
        let responses = todos(&[]).answer(calls);
        match followed(&Value::Object(result), &tokens) {
            Some(value) => prop_assert_eq!(&responses[1][1]["x"], &value),
            None => prop_assert_eq!(&responses[1][1]["type"], "invalidResultReference"),
        }
    }

    #[test]
    fn a_patch_changes_what_the_rfc_says(
        object in json_object(),
        patch in btree_map(vec("[ab/~]|0", 1..4), json_value(), 0..4),
    ) {
        let pointers = patch.iter().map(|(tokens, value)| (pointer(tokens)[1..].to_owned(), value.clone()));
        let result = apply_patch(&object, pointers.collect());
        prop_assert_eq!(result.ok(), patched(&object, &patch));
    }

    #[test]
    fn a_window_is_what_skipping_and_taking_gives(
        total in 0_usize..12,
        position in -15_i64..15,
        anchor in option::of(0_usize..14),
        anchor_offset in -15_i64..15,
        limit in option::of(0_u64..14),
        limit_max in option::of(0_u64..14),
    ) {
        let ids: Vec<Id> = (0..total).map(|place| id(&format!("r{place}"))).collect();
        let anchor = anchor.map(|place| id(&format!("r{place}")));
        let window = Window { position, anchor: anchor.clone(), anchor_offset, limit };
        let place = |id: &Id| ids.iter().position(|other| other == id);
        let shown = window.show(total, limit_max, place).ok();
        let first = match &anchor {
            Some(anchor) => place(anchor).map(|place| (place as i64 + anchor_offset).max(0)),
            None if position < 0 => Some((total as i64 + position).max(0)),
            None => Some(position),
        };
        let most = limit.unwrap_or(u64::MAX).min(limit_max.unwrap_or(u64::MAX));
        let expected = first.map(|first| {
            let ids: Vec<Id> = ids.iter().skip(index(first)).take(index(most)).cloned().collect();
            (first as u64, ids, (limit != Some(most)).then_some(most).filter(|_| limit_max.is_some()))
        });
        let shown = shown.map(|shown| (shown.position, ids[shown.range].to_vec(), shown.limit));
        prop_assert_eq!(shown, expected);
    }

    #[test]
    fn a_client_that_splices_has_the_new_list(old in list(), new in list(), known in any::<Index>()) {
        let changes = difference(&old, &new, None, None).unwrap();
        let all = beginning(&old, old.len());
        let expected: Vec<Option<u8>> = new.iter().copied().map(Some).collect();
        prop_assert_eq!(spliced(all, &changes.removed, &changes.added, new.len()), expected);
        // A client that knows only the beginning of the list learns nothing wrong.
        let known = known.index(old.len() + 1);
        let cache = spliced(beginning(&old, known), &changes.removed, &changes.added, new.len());
        prop_assert!(is_right(&cache, &new));
        let count = (changes.removed.len() + changes.added.len()) as u64;
        prop_assert!(difference(&old, &new, None, Some(count)).is_ok());
        prop_assert!(count == 0 || difference(&old, &new, None, Some(count - 1)).is_err());
    }

    #[test]
    fn a_client_that_knows_the_beginning_needs_no_later_changes(
        all in list(),
        states in vec((any::<bool>(), any::<bool>()), 20),
        known in any::<Index>(),
    ) {
        // Nothing moves: both lists are parts of one.
        let part = |is_in: fn(&(bool, bool)) -> bool| -> Vec<u8> {
            all.iter().zip(&states).filter(|(_, state)| is_in(state)).map(|(&item, _)| item).collect()
        };
        let (old, new) = (part(|state| state.0), part(|state| state.1));
        prop_assume!(!old.is_empty());
        let last = known.index(old.len());
        let changes = difference(&old, &new, Some(&old[last]), None).unwrap();
        let cache = spliced(beginning(&old, last + 1), &changes.removed, &changes.added, new.len());
        prop_assert!(is_right(&cache, &new));
        if let Some(end) = new.iter().position(|item| *item == old[last]) {
            prop_assert!(cache[..=end].iter().all(Option::is_some));
            prop_assert!(changes.added.iter().all(|&(_, place)| place < end));
            prop_assert!(changes.removed.iter().all(|item| old[..last].contains(item)));
        }
    }

    #[test]
    fn a_filter_that_is_written_and_read_is_the_same(filter in filter()) {
        let object = Map::from_iter([
            ("operator".to_owned(), "AND".into()),
            ("conditions".to_owned(), vec![written(&filter)].into()),
        ]);
        let read = Filter::read(object, &Limits::default(), &mut |mut members| {
            let number = members.integer("is", 0)?;
            members.finish()?;
            Ok(u8::try_from(number).unwrap())
        });
        prop_assert_eq!(read, Ok(Filter::And(vec![filter])));
    }

    #[test]
    fn a_date_that_is_written_and_read_is_the_same(
        seconds in -62_167_219_200_i64..253_402_300_800,
        nanoseconds in prop_oneof![Just(0), 0..1_000_000_000_u32],
        offset_minutes in prop_oneof![Just(0), -1_439..1_440],
    ) {
        let date = Date { seconds, nanoseconds, offset_minutes };
        if let Some(text) = date.text() {
            prop_assert_eq!(Date::read(&text), Some(date));
            prop_assert_eq!(Date::read_utc(&text).is_some(), offset_minutes == 0);
        }
        let next = Date::utc(seconds + 1).text();
        prop_assert!(next.is_none() || next > Date::utc(seconds).text());
    }
}
