//! The states of types that the token of the change log does not tell, for those who wait for events.
//!
//! Input: a view. Output: states, the same as those of the types' methods.

use crate::tools::saved_query_state;
use crate::write::identity_state;
use pneu::View;

/// The state of what cannot be read.
const DAMAGED: &str = "damaged";

/// The states of types that have one of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnStates {
    /// Of the type Identity.
    pub identities: String,
    /// Of the type SavedQuery.
    pub saved_queries: String,
}

impl OwnStates {
    /// Returns the states that a view shows. What is damaged has a state, too: a client that asks for it
    /// hears of the damage, and all others hear of what is new.
    pub fn of(view: &View) -> OwnStates {
        let damaged = |_| DAMAGED.to_owned();
        OwnStates {
            identities: identity_state(view).unwrap_or_else(damaged),
            saved_queries: view.saved_queries().map(saved_query_state).unwrap_or_else(damaged),
        }
    }
}
