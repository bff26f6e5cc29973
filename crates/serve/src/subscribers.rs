//! Who wants to hear of changes. Input: states, as they come. Output: events for those whom they concern.
//! Knows neither the index nor sockets.
//!
//! One token is the state of emails, mailboxes and threads. `EmailDelivery` changes only when an email came
//! (RFC 8621, section 1.5): its state is the token of the commit that told of the last one.

use jmap_mail::account_id;
use serde_json::{Map, Value, json};
use server::{Event, EventSender};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The types whose state is told.
const TYPES: [&str; 4] = ["Email", DELIVERY, "Mailbox", "Thread"];
const DELIVERY: &str = "EmailDelivery";

/// The types that a client wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Types(Vec<&'static str>);

impl Types {
    /// Reads a list of names with commas between them; `*` is all (RFC 8620, section 7.3). Others than those
    /// that there are count for nothing.
    pub(crate) fn of(list: &str) -> Types {
        let is_wanted = |kind: &&str| list == "*" || list.split(',').any(|name| name == *kind);
        Types(TYPES.into_iter().filter(is_wanted).collect())
    }

    fn has_delivery(&self) -> bool {
        self.0.contains(&DELIVERY)
    }

    /// Returns whether there is a type among them that changes with each commit.
    fn has_token(&self) -> bool {
        self.0.iter().any(|kind| *kind != DELIVERY)
    }
}

/// The newest state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moment {
    token: String,
    delivery: String,
}

impl Moment {
    /// Returns the event that tells the state of some types (RFC 8620, section 7.1).
    fn event(&self, types: &Types) -> Event {
        let state = |kind: &str| if kind == DELIVERY { &self.delivery } else { &self.token };
        let states: Map<String, Value> =
            types.0.iter().map(|kind| ((*kind).to_owned(), state(kind).as_str().into())).collect();
        let mut changed = Map::new();
        changed.insert(account_id().into(), states.into());
        let data = json!({ "@type": "StateChange", "changed": changed }).to_string();
        Event { id: Some(self.token.clone()), name: Some("state".to_owned()), data }
    }
}

/// All who want to hear of changes.
#[derive(Debug, Default)]
pub(crate) struct Subscribers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    newest: Option<Moment>,
    list: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    sender: EventSender,
    types: Types,
    /// The token that the client knows.
    known: Option<String>,
}

impl Subscribers {
    /// Adds a client. If it knows a token, and another one is the newest, it hears of that at once; if it
    /// knows none, it hears of the next one.
    pub(crate) fn add(&self, sender: EventSender, types: Types, known: Option<String>) {
        let mut state = self.state();
        state.list.retain(|subscriber| subscriber.sender.is_open());
        let newest = state.newest.clone();
        if let (Some(newest), Some(known)) = (&newest, &known)
            && newest.token != *known
            && !types.0.is_empty()
        {
            sender.send(newest.event(&types));
        }
        let known = newest.map(|newest| newest.token).or(known);
        state.list.push(Subscriber { sender, types, known });
    }

    /// Tells the newest token. Whoever has not taken an earlier event gets this one alone.
    pub(crate) fn tell(&self, token: &str, has_new_email: bool) {
        let mut state = self.state();
        let before = state.newest.take().map(|newest| newest.delivery).filter(|_| !has_new_email);
        let newest = Moment { token: token.to_owned(), delivery: before.unwrap_or_else(|| token.to_owned()) };
        state.list.retain_mut(|subscriber| {
            let Subscriber { sender, types, known } = subscriber;
            let is_known = known.as_deref() == Some(token);
            *known = Some(token.to_owned());
            if !is_known && (types.has_token() || types.has_delivery() && has_new_email) {
                sender.send(newest.event(types))
            } else {
                sender.is_open()
            }
        });
        state.newest = Some(newest);
    }

    /// Returns how many clients there are.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.state().list.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of another holder leaves a client that hears of nothing, at worst.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use server::{EventOptions, EventStream, events};

    /// Adds a client. Its events are merged into one list, as nobody takes them.
    fn client(subscribers: &Subscribers, types: &str, known: Option<&str>) -> (EventSender, EventStream) {
        let (sender, stream) = events(EventOptions::default());
        subscribers.add(sender.clone(), Types::of(types), known.map(str::to_owned));
        (sender, stream)
    }

    /// Returns the event that waits, and leaves another one in its place.
    fn waiting(client: &(EventSender, EventStream)) -> Option<Event> {
        let mut found = None;
        client.0.update(|event| {
            found = event;
            Event::default()
        });
        found.filter(|event| *event != Event::default())
    }

    fn data(client: &(EventSender, EventStream)) -> Value {
        waiting(client).map_or(Value::Null, |event| serde_json::from_str(&event.data).unwrap())
    }

    #[test]
    fn types_are_those_that_there_are() {
        assert_eq!(Types::of("*").0, TYPES);
        assert_eq!(Types::of("Thread,Email").0, ["Email", "Thread"]);
        assert_eq!(Types::of("EmailDelivery,Identity").0, ["EmailDelivery"]);
        for none in ["", "email", "Mail", "Email Thread", "*,x"] {
            assert!(Types::of(none).0.is_empty(), "{none}");
        }
    }

    #[test]
    fn a_state_is_told_to_all_who_do_not_know_it() {
        let subscribers = Subscribers::default();
        let early = client(&subscribers, "*", None);
        let knows = client(&subscribers, "*", Some("1"));
        subscribers.tell("1", true);
        let event = waiting(&early).unwrap();
        assert_eq!((event.id.as_deref(), event.name.as_deref()), (Some("1"), Some("state")));
        let states = json!({ "Email": "1", "EmailDelivery": "1", "Mailbox": "1", "Thread": "1" });
        let expected = json!({ "@type": "StateChange", "changed": { "mail": states } });
        assert_eq!(serde_json::from_str::<Value>(&event.data).unwrap(), expected);
        assert_eq!(waiting(&knows), None);
        let late = client(&subscribers, "Thread", None);
        let old = client(&subscribers, "Thread,Email", Some("0"));
        assert_eq!(waiting(&late), None);
        assert_eq!(data(&old)["changed"]["mail"], json!({ "Email": "1", "Thread": "1" }));
        subscribers.tell("2", false);
        for client in [&early, &knows, &late, &old] {
            assert_eq!(waiting(client).unwrap().id.as_deref(), Some("2"));
        }
        subscribers.tell("2", false);
        assert_eq!(waiting(&early), None);
    }

    #[test]
    fn a_delivery_is_a_commit_with_a_new_email() {
        let subscribers = Subscribers::default();
        subscribers.tell("1", true);
        let deliveries = client(&subscribers, "EmailDelivery", None);
        let all = client(&subscribers, "*", None);
        subscribers.tell("2", false);
        assert_eq!(waiting(&deliveries), None);
        assert_eq!(data(&all)["changed"]["mail"]["EmailDelivery"], "1");
        subscribers.tell("3", true);
        assert_eq!(data(&deliveries)["changed"]["mail"], json!({ "EmailDelivery": "3" }));
        assert_eq!(data(&all)["changed"]["mail"]["EmailDelivery"], "3");
    }

    #[test]
    fn who_wants_nothing_hears_nothing_and_who_is_gone_is_forgotten() {
        let subscribers = Subscribers::default();
        subscribers.tell("1", true);
        let nothing = client(&subscribers, "Identity", Some("0"));
        let gone = client(&subscribers, "*", None);
        assert_eq!(subscribers.count(), 2);
        drop(gone);
        subscribers.tell("2", true);
        assert_eq!((waiting(&nothing), subscribers.count()), (None, 1));
        drop(nothing);
        let _last = client(&subscribers, "*", None);
        assert_eq!(subscribers.count(), 1);
    }
}
