//! The address of events (RFC 8620, section 7.3). Input: what a client wants to hear, and how. Output: a
//! stream that hears it. Does not know when there are events.

use crate::mail::Mail;
use crate::problem::problem;
use crate::subscribers::Types;
use serde_json::json;
use server::{Event, EventOptions, Ping, Request, Response, StatusCode, events};
use std::time::Duration;

/// The shortest and the longest time between two pings that a client asks for. The RFC wants the first to be
/// 30 at most, and the second 300 at least.
const PING_SECONDS: std::ops::RangeInclusive<u64> = 5..=900;
/// How often a client that asks for no pings gets a comment, so that both sides notice when the other has
/// gone.
const COMMENT: Duration = Duration::from_secs(300);

/// Answers with a stream of events.
pub(crate) fn answer(mail: &Mail, request: &Request) -> Response {
    let value = |name: &str| {
        let found = request.query.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    };
    let types = Types::of(value("types").unwrap_or("*"));
    let options = match options(value("closeafter").unwrap_or("no"), value("ping").unwrap_or("0")) {
        Ok(options) => options,
        Err(what) => return problem(StatusCode::BAD_REQUEST, what),
    };
    // Browsers send the field only when they connect again.
    let known = request.last_event_id.clone().or_else(|| value("lastEventId").map(str::to_owned));
    let (sender, stream) = events(options);
    mail.subscribers.add(sender, types, known);
    Response::events(stream)
}

/// Reads how a stream behaves.
fn options(closeafter: &str, ping: &str) -> Result<EventOptions, &'static str> {
    let closes_after_event = match closeafter {
        "state" => true,
        "no" => false,
        _ => return Err("closeafter is \"state\" or \"no\""),
    };
    let ping = match ping.parse::<u64>() {
        Ok(0) => Ping { interval: COMMENT, event: None },
        Ok(seconds) => pings(seconds.clamp(*PING_SECONDS.start(), *PING_SECONDS.end())),
        Err(_) => return Err("ping is a number of seconds, or 0"),
    };
    Ok(EventOptions { ping: Some(ping), closes_after_event })
}

/// Returns pings that say how often they come, because it may be another time than was asked for.
fn pings(seconds: u64) -> Ping {
    let event =
        Event { id: None, name: Some("ping".to_owned()), data: json!({ "interval": seconds }).to_string() };
    Ping { interval: Duration::from_secs(seconds), event: Some(event) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_come_as_often_as_is_allowed_and_say_so() {
        let ping = |text| options("no", text).unwrap().ping.unwrap();
        for (asked, seconds) in [("1", 5), ("5", 5), ("60", 60), ("900", 900), ("99999999999", 900)] {
            let event = ping(asked).event.unwrap();
            assert_eq!(event.data, format!("{{\"interval\":{seconds}}}"));
            assert_eq!((event.name.as_deref(), event.id), (Some("ping"), None));
            assert_eq!(ping(asked).interval, Duration::from_secs(seconds));
        }
        assert_eq!(ping("0"), Ping { interval: COMMENT, event: None });
        for wrong in ["", "-1", "1.5", "no"] {
            assert!(options("no", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_stream_ends_after_a_state_if_the_client_says_so() {
        assert!(options("state", "0").unwrap().closes_after_event);
        assert!(!options("no", "0").unwrap().closes_after_event);
        assert!(options("yes", "0").is_err());
    }
}
