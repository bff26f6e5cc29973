//! Who wants to hear of changes. Input: states, as they come. Output: events for those whom they concern.
//! Knows neither the index nor sockets.
//!
//! One token is the state of emails, mailboxes and threads. `EmailDelivery` changes only when an email came
//! (RFC 8621, section 1.5): its state is the token of the commit that told of the last one. Identities and
//! saved queries have states of their own.

use jmap_mail::{OwnStates, account_id};
use serde_json::{Map, Value, json};
use server::{Event, EventSender};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The types whose state is told.
const TYPES: [&str; 6] = ["Email", DELIVERY, IDENTITY, "Mailbox", SAVED_QUERY, "Thread"];
const DELIVERY: &str = "EmailDelivery";
const IDENTITY: &str = "Identity";
const SAVED_QUERY: &str = "SavedQuery";

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

    /// Returns whether one of them has another state than before.
    fn are_changed(&self, (before, now): (&Moment, &Moment)) -> bool {
        self.0.iter().any(|kind| before.state(kind) != now.state(kind))
    }
}

/// The newest states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moment {
    token: String,
    delivery: String,
    own: OwnStates,
}

impl Moment {
    fn state(&self, kind: &str) -> &str {
        match kind {
            DELIVERY => &self.delivery,
            IDENTITY => &self.own.identities,
            SAVED_QUERY => &self.own.saved_queries,
            _ => &self.token,
        }
    }

    /// Returns what tells it from other moments, if the configuration stays.
    fn id(&self) -> String {
        format!("{}.{}", self.token, self.own.saved_queries)
    }

    /// Returns the event that tells the state of some types (RFC 8620, section 7.1).
    fn event(&self, types: &Types) -> Event {
        let states: Map<String, Value> =
            types.0.iter().map(|kind| ((*kind).to_owned(), self.state(kind).into())).collect();
        let mut changed = Map::new();
        changed.insert(account_id().into(), states.into());
        let data = json!({ "@type": "StateChange", "changed": changed }).to_string();
        Event { id: Some(self.id()), name: Some("state".to_owned()), data }
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
    /// The id of the moment that the client knows.
    known: Option<String>,
}

impl Subscribers {
    /// Adds a client. If it knows a moment, and another one is the newest, it hears of that at once; if it
    /// knows none, it hears of the next one.
    pub(crate) fn add(&self, sender: EventSender, types: Types, known: Option<String>) {
        let mut state = self.state();
        state.list.retain(|subscriber| subscriber.sender.is_open());
        let newest = state.newest.clone();
        if let (Some(newest), Some(known)) = (&newest, &known)
            && newest.id() != *known
            && !types.0.is_empty()
        {
            sender.send(newest.event(&types));
        }
        let known = newest.map(|newest| newest.id()).or(known);
        state.list.push(Subscriber { sender, types, known });
    }

    /// Tells the newest states. Whoever has not taken an earlier event gets this one alone.
    pub(crate) fn tell(&self, token: &str, own: OwnStates, has_new_email: bool) {
        let mut state = self.state();
        let before = state.newest.take();
        let delivery = before.as_ref().filter(|_| !has_new_email).map(|before| before.delivery.clone());
        let delivery = delivery.unwrap_or_else(|| token.to_owned());
        let newest = Moment { token: token.to_owned(), delivery, own };
        let (id, before_id) = (newest.id(), before.as_ref().map(Moment::id));
        state.list.retain_mut(|subscriber| {
            let Subscriber { sender, types, known } = subscriber;
            let known = known.replace(id.clone());
            let is_news = match &before {
                Some(before) if known == before_id => types.are_changed((before, &newest)),
                _ => known.as_ref() != Some(&id) && !types.0.is_empty(),
            };
            if is_news { sender.send(newest.event(types)) } else { sender.is_open() }
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

    fn own(saved_queries: &str) -> OwnStates {
        OwnStates { identities: "i".to_owned(), saved_queries: saved_queries.to_owned() }
    }

    fn data(client: &(EventSender, EventStream)) -> Value {
        waiting(client).map_or(Value::Null, |event| serde_json::from_str(&event.data).unwrap())
    }

    #[test]
    fn types_are_those_that_there_are() {
        assert_eq!(Types::of("*").0, TYPES);
        assert_eq!(Types::of("Thread,Email").0, ["Email", "Thread"]);
        assert_eq!(Types::of("EmailDelivery,Identity,x").0, ["EmailDelivery", "Identity"]);
        for none in ["", "email", "Mail", "Email Thread", "*,x"] {
            assert!(Types::of(none).0.is_empty(), "{none}");
        }
    }

    #[test]
    fn a_state_is_told_to_all_who_do_not_know_it() {
        let subscribers = Subscribers::default();
        let early = client(&subscribers, "*", None);
        let knows = client(&subscribers, "*", Some("1.q"));
        subscribers.tell("1", own("q"), true);
        let event = waiting(&early).unwrap();
        assert_eq!((event.id.as_deref(), event.name.as_deref()), (Some("1.q"), Some("state")));
        let states = json!({ "Email": "1", "EmailDelivery": "1", "Identity": "i", "Mailbox": "1",
            "SavedQuery": "q", "Thread": "1" });
        let expected = json!({ "@type": "StateChange", "changed": { "mail": states } });
        assert_eq!(serde_json::from_str::<Value>(&event.data).unwrap(), expected);
        assert_eq!(waiting(&knows), None);
        let late = client(&subscribers, "Thread", None);
        let old = client(&subscribers, "Thread,Email", Some("0"));
        assert_eq!(waiting(&late), None);
        assert_eq!(data(&old)["changed"]["mail"], json!({ "Email": "1", "Thread": "1" }));
        subscribers.tell("2", own("q"), false);
        for client in [&early, &knows, &late, &old] {
            assert_eq!(waiting(client).unwrap().id.as_deref(), Some("2.q"));
        }
        subscribers.tell("2", own("q"), false);
        assert_eq!(waiting(&early), None);
    }

    #[test]
    fn a_delivery_is_a_commit_with_a_new_email() {
        let subscribers = Subscribers::default();
        subscribers.tell("1", own("q"), true);
        let deliveries = client(&subscribers, "EmailDelivery", None);
        let all = client(&subscribers, "*", None);
        subscribers.tell("2", own("q"), false);
        assert_eq!(waiting(&deliveries), None);
        assert_eq!(data(&all)["changed"]["mail"]["EmailDelivery"], "1");
        subscribers.tell("3", own("q"), true);
        assert_eq!(data(&deliveries)["changed"]["mail"], json!({ "EmailDelivery": "3" }));
        assert_eq!(data(&all)["changed"]["mail"]["EmailDelivery"], "3");
    }

    #[test]
    fn saved_queries_and_identities_change_by_themselves() {
        let subscribers = Subscribers::default();
        subscribers.tell("1", own("q"), true);
        let [mail, queries, identities] =
            ["Email", "SavedQuery", "Identity"].map(|types| client(&subscribers, types, None));
        let knew = client(&subscribers, "SavedQuery", Some("1.q"));
        subscribers.tell("1", own("r"), false);
        for client in [&queries, &knew] {
            assert_eq!(data(client)["changed"]["mail"], json!({ "SavedQuery": "r" }));
        }
        subscribers.tell("1", OwnStates { identities: "j".to_owned(), ..own("r") }, false);
        assert_eq!(data(&identities)["changed"]["mail"], json!({ "Identity": "j" }));
        assert_eq!((waiting(&mail), waiting(&queries)), (None, None));
        let back = client(&subscribers, "SavedQuery", Some("1.q"));
        assert_eq!(data(&back)["changed"]["mail"], json!({ "SavedQuery": "r" }));
    }

    #[test]
    fn who_wants_nothing_hears_nothing_and_who_is_gone_is_forgotten() {
        let subscribers = Subscribers::default();
        subscribers.tell("1", own("q"), true);
        let nothing = client(&subscribers, "Tag", Some("0"));
        let gone = client(&subscribers, "*", None);
        assert_eq!(subscribers.count(), 2);
        drop(gone);
        subscribers.tell("2", own("q"), true);
        assert_eq!((waiting(&nothing), subscribers.count()), (None, 1));
        drop(nothing);
        let _last = client(&subscribers, "*", None);
        assert_eq!(subscribers.count(), 1);
    }
}
