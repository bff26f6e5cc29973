//! The standard methods (RFC 8620, section 5): their arguments, responses, and what their rules need.
//!
//! Input: arguments of a call, or what a method found. Output: typed arguments, or the arguments of a
//! response. Does not know what the records are.

mod changes;
mod comparator;
mod copy;
mod difference;
mod filter;
mod get;
mod patch;
mod query;
mod query_changes;
mod set;
mod set_error;
mod window;

pub use changes::{ChangesArguments, ChangesResponse};
pub use comparator::{COMPARATOR_COUNT_MAX, Comparator};
pub use copy::{CopyArguments, CopyResponse, original};
pub use difference::{Difference, difference};
pub use filter::Filter;
pub use get::{GetArguments, GetResponse};
pub use patch::apply_patch;
pub use query::{QueryArguments, QueryResponse};
pub use query_changes::{QueryChangesArguments, QueryChangesResponse};
pub use set::{SetArguments, SetResponse, check_state};
pub use set_error::{SetError, SetErrorKind};
pub use window::{Shown, Window};

use serde_json::{Map, Value};

/// Returns the arguments of a response.
fn arguments<const COUNT: usize>(pairs: [(&str, Value); COUNT]) -> Map<String, Value> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns a map as JSON, or null if it is empty, as the responses of /set and /copy have it.
fn map_or_null<K: ToString>(pairs: impl IntoIterator<Item = (K, Value)>) -> Value {
    let map: Map<String, Value> = pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    if map.is_empty() { Value::Null } else { Value::Object(map) }
}
