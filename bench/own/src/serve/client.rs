//! A client of JMAP that times its requests, and one that waits for events.
//!
//! Input: the address of a server, calls. Output: answers and times. Does not know what is measured.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;
use testkit::http::Client;

/// The account.
const ACCOUNT: &str = "mail";
/// What a list shows of each message.
const PROPERTIES: [&str; 10] = [
    "id",
    "threadId",
    "mailboxIds",
    "keywords",
    "from",
    "to",
    "subject",
    "receivedAt",
    "size",
    "hasAttachment",
];

/// Where a server is, and what lets one in.
#[derive(Debug, Clone)]
pub(super) struct Served {
    pub(super) address: SocketAddr,
    pub(super) token: String,
}

/// A client with a connection.
pub(super) struct Jmap {
    served: Served,
    client: Client<TcpStream>,
}

impl Jmap {
    pub(super) fn connect(served: &Served) -> Jmap {
        Jmap { served: served.clone(), client: Client::connect(served.address) }
    }

    /// Makes calls in one request. Returns the arguments of each response, and how long all of it took, in
    /// seconds.
    ///
    /// # Errors
    /// If the request or a call is refused.
    pub(super) fn ask(&mut self, calls: &Value) -> Result<(Vec<Value>, f64)> {
        let using = ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"];
        let body = json!({ "using": using, "methodCalls": calls }).to_string();
        let request = format!(
            "POST /jmap/api HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.served.address,
            self.served.token,
            body.len()
        );
        let begin = Instant::now();
        let reply = self.client.ask(&request);
        let seconds = begin.elapsed().as_secs_f64();
        ensure!(reply.status == 200, "{}: {}", reply.status, reply.text());
        let answer: Value = serde_json::from_slice(&reply.body).context("the answer is JSON")?;
        let responses = answer["methodResponses"].as_array().context("it has responses")?;
        let mut all = Vec::new();
        for response in responses {
            ensure!(response[0] != "error", "a call was refused: {response}");
            all.push(response[1].clone());
        }
        Ok((all, seconds))
    }
}

/// Returns the calls for a page of a list: its query, and what each line shows.
pub(super) fn page(filter: &Value, position: u32, limit: u32) -> Value {
    let sort = json!([{ "property": "receivedAt", "isAscending": false }]);
    let query = json!({
        "accountId": ACCOUNT, "filter": filter, "sort": sort, "position": position, "limit": limit,
    });
    let ids = json!({ "resultOf": "0", "name": "Email/query", "path": "/ids" });
    let get = json!({ "accountId": ACCOUNT, "#ids": ids, "properties": PROPERTIES });
    json!([["Email/query", query, "0"], ["Email/get", get, "1"]])
}

/// Returns the calls for what is shown of the hits of words: a page, and snippets.
pub(super) fn hits(text: &str, limit: u32) -> Value {
    let filter = json!({ "text": text });
    let mut calls = page(&filter, 0, limit);
    let ids = json!({ "resultOf": "0", "name": "Email/query", "path": "/ids" });
    let snippets = json!({ "accountId": ACCOUNT, "filter": filter, "#emailIds": ids });
    if let Some(calls) = calls.as_array_mut() {
        calls.push(json!(["SearchSnippet/get", snippets, "2"]));
    }
    calls
}

/// Returns the call that asks for the state.
pub(super) fn state() -> Value {
    json!([["Email/get", { "accountId": ACCOUNT, "ids": [] }, "0"]])
}

/// Returns the call that asks what has changed since a state.
pub(super) fn changes(since: &str) -> Value {
    json!([["Email/changes", { "accountId": ACCOUNT, "sinceState": since }, "0"]])
}

/// A client that waits for events.
pub(super) struct Events {
    client: Client<TcpStream>,
}

impl Events {
    /// # Errors
    /// If the server refuses.
    pub(super) fn listen(served: &Served) -> Result<Events> {
        let mut client = Client::connect(served.address);
        client.send(&format!(
            "GET /jmap/eventsource?types=*&closeafter=no&ping=0 HTTP/1.1\r\nHost: {}\r\nAuthorization: \
             Bearer {}\r\n\r\n",
            served.address, served.token
        ));
        let head = client.reply_head();
        ensure!(head.status == 200, "the event stream is refused: {}", head.status);
        Ok(Events { client })
    }

    /// Waits for the next change.
    ///
    /// # Errors
    /// If the stream ends.
    pub(super) fn wait(&mut self) -> Result<Instant> {
        loop {
            let chunk = self.client.chunk().context("the event stream has ended")?;
            if String::from_utf8_lossy(&chunk).contains("StateChange") {
                return Ok(Instant::now());
            }
        }
    }
}
