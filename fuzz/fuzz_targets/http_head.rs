//! Any bytes can be judged as the head of a request, as an encoded text, and as a socket of the kernel's
//! table. None of them logs in, and what is let pass was sent to one of the server's own names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use server::testing::{judge, percent_decoded, query_pairs, socket};

fuzz_target!(|input: &[u8]| {
    if let Some(judged) = judge(input) {
        assert!(!judged.is_logged_in, "a head knows a secret");
        let hosts = judged.hosts.iter().map(|host| host.to_ascii_lowercase());
        let is_own = |host: &Vec<u8>| matches!(&host[..], b"127.0.0.1:7638" | b"localhost:7638");
        let own = hosts.filter(is_own).count();
        assert!(judged.refused.is_some() || (own, judged.hosts.len()) == (1, 1), "it was sent elsewhere");
        assert!(judged.cookies.iter().all(|value| !value.contains(';')), "two cookies are one");
    }
    let _ = socket(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    // What is encoded is decoded to the same.
    let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert_eq!(percent_decoded(&encoded).as_deref(), Some(text));
    let pairs = query_pairs(&format!("{encoded}={encoded}&&"));
    assert_eq!(pairs, Some(vec![(text.to_owned(), text.to_owned())]));
    if let Some(pairs) = query_pairs(text) {
        assert!(pairs.len() <= text.split('&').count());
    }
});
