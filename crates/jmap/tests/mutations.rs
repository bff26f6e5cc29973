//! Damaged requests. Input: valid requests with random changes. Output: whether each is answered or refused.
//! Knows nothing of the crate's inside.

use crate::todo::{TODO, todos};
use jmap::{CORE, RequestError};
use serde_json::{Value, json};

/// What changes put in.
const FRAGMENTS: [&[u8]; 32] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1e9",
    b"1e999",
    b"9007199254740993",
    b"\"#k1\"",
    b"\"#",
    b"*",
    b"/",
    b"/*/*",
    b"/list/*",
    b"~1",
    b"~",
    b"\"a\"",
    b"\"\"",
    b"{\"operator\":\"NOT\",\"conditions\":[{}]}",
    b"\"accountId\":\"A1\",",
    b"\xff",
    b"\xef\xbf\xbe",
    b"\\ud800",
    b"[[[[[[[[[[[[[[[[",
    b"\"#ids\":{\"resultOf\":\"q\",\"name\":\"Todo/query\",\"path\":\"/ids\"},",
];

/// Random numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).expect("it is less than a usize")
    }
}

fn requests() -> Vec<Vec<u8>> {
    let all = [
        json!([["Todo/query", {"accountId": "A1", "filter": {"operator": "OR",
            "conditions": [{"title": "a"}, {}]},
                "sort": [{"property": "title", "isAscending": false}], "position": -2, "limit": 2}, "q"],
            ["Todo/get", {"accountId": "A1", "#ids": {"resultOf": "q", "name": "Todo/query", "path": "/ids"},
                "properties": ["title"]}, "g"],
            ["Core/echo", {"#x": {"resultOf": "g", "name": "Todo/get", "path": "/list/*/title"}}, "e"]]),
        json!([["Todo/set", {"accountId": "A1", "ifInState": "1", "destroy": ["a", "#k1"],
                "create": {"k1": {"title": "x", "subTodoIds": ["#k2"]}, "k2": {}},
                "update": {"b": {"keywords/x": null, "title": "y"}}}, "s"],
            ["Todo/changes", {"accountId": "A1", "sinceState": "1", "maxChanges": 9}, "c"],
            ["Todo/queryChanges", {"accountId": "A1", "sinceQueryState": "1", "upToId": "b", "maxChanges": 9,
                "calculateTotal": true, "sort": [{"property": "title",
                "collation": "i;unicode-casemap"}]}, "d"]]),
        json!([["Todo/copy", {"accountId": "A1", "fromAccountId": "A2", "create": {"k": {"id": "x"}},
                "onSuccessDestroyOriginal": true, "ifInState": null}, "c"],
            ["Todo/query", {"accountId": "A1", "anchor": "b", "anchorOffset": -1,
                "calculateTotal": true}, "q"]]),
    ];
    let request =
        |calls: Value| json!({"using": [CORE, TODO], "methodCalls": calls, "createdIds": {"k0": "a"}});
    all.into_iter().map(|calls| request(calls).to_string().into_bytes()).collect()
}

/// Changes a few places of `bytes`.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let (at, length) = (random.below(bytes.len()), 1 + random.below(12));
        let end = (at + length).min(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, FRAGMENTS[random.below(FRAGMENTS.len())].iter().copied())),
            3 => drop(bytes.splice(at..end, FRAGMENTS[random.below(FRAGMENTS.len())].iter().copied())),
            4 => bytes[at] = b"aA1k#\"0"[random.below(7)],
            _ => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                drop(bytes.splice(to..to, copy));
            }
        }
        if bytes.is_empty() {
            return;
        }
    }
}

#[test]
fn ten_thousand_damaged_requests_are_answered_or_refused() {
    let requests = requests();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut answered, mut refused, mut errors) = (0, 0, 0);
    for round in 0..10_000 {
        let mut bytes = requests[round % requests.len()].clone();
        mutate(&mut bytes, &mut random);
        match todos(&["a", "b", "c"]).answer_bytes(&bytes) {
            Ok(response) => {
                answered += 1;
                let responses = response["methodResponses"].as_array().unwrap();
                errors += responses.iter().filter(|response| response[0] == "error").count();
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.problem()["status"], RequestError::STATUS);
            }
        }
    }
    // All ways were taken.
    assert!(answered > 1_000 && refused > 1_000 && errors > 1_000, "{answered} {refused} {errors}");
}
