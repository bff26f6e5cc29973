//! How much a client may ask for.
//!
//! Input: numbers that the server chooses. Output: the same, and the object of the core capability that
//! announces them. Does not know how they are enforced.

use serde_json::{Map, Value};

/// The capability of RFC 8620 itself (section 2).
pub const CORE: &str = "urn:ietf:params:jmap:core";

/// The deepest JSON that can be allowed: serde_json's own bound.
pub const JSON_DEPTH_MAX: usize = 127;

/// The limits of a server. The first seven and the collations are announced (RFC 8620, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request.
    pub max_size_request: usize,
    /// Method calls in a request.
    pub max_calls_in_request: usize,
    /// Requests that are answered at the same time.
    pub max_concurrent_requests: usize,
    /// Ids in a call of a /get method.
    pub max_objects_in_get: usize,
    /// Objects that a call of a /set method creates, updates and destroys, together.
    pub max_objects_in_set: usize,
    /// Bytes of an upload.
    pub max_size_upload: u64,
    /// Uploads that run at the same time.
    pub max_concurrent_upload: usize,
    /// The collations that a comparator may name, as RFC 4790 registers them.
    pub collation_algorithms: Vec<String>,
    /// How deep arrays and objects of a request may be nested. At most [`JSON_DEPTH_MAX`] counts.
    pub json_depth: usize,
    /// JSON values in a request: one of few bytes can take hundreds of bytes in memory. A request with more
    /// exceeds "maxSizeRequest".
    pub json_values: usize,
    /// Bytes of memory that all responses to a request may take, about: of objects that is many times their
    /// JSON. A record that would exceed it is not added, except the first.
    pub response_bytes: usize,
    /// Bytes of memory that all copies of earlier results may take, about, to which a request refers (RFC
    /// 8620, section 3.7).
    pub reference_bytes: usize,
    /// How deep a filter may be nested. A single condition has depth 1.
    pub filter_depth: usize,
    /// Operators and conditions in a filter.
    pub filter_nodes: usize,
}

impl Default for Limits {
    /// Returns the smallest numbers that RFC 8620 suggests, and the collation that it recommends.
    fn default() -> Self {
        Limits {
            max_size_request: 10_000_000,
            max_calls_in_request: 16,
            max_concurrent_requests: 4,
            max_objects_in_get: 500,
            max_objects_in_set: 500,
            max_size_upload: 50_000_000,
            max_concurrent_upload: 4,
            collation_algorithms: vec!["i;unicode-casemap".to_owned()],
            json_depth: 96,
            json_values: 250_000,
            response_bytes: 64 << 20,
            reference_bytes: 10_000_000,
            filter_depth: 32,
            filter_nodes: 1_000,
        }
    }
}

impl Limits {
    /// Returns the object of [`CORE`] among the capabilities of the session (RFC 8620, section 2).
    pub fn core_capability(&self) -> Map<String, Value> {
        let properties: [(&str, Value); 8] = [
            ("maxSizeUpload", self.max_size_upload.into()),
            ("maxConcurrentUpload", self.max_concurrent_upload.into()),
            ("maxSizeRequest", self.max_size_request.into()),
            ("maxConcurrentRequests", self.max_concurrent_requests.into()),
            ("maxCallsInRequest", self.max_calls_in_request.into()),
            ("maxObjectsInGet", self.max_objects_in_get.into()),
            ("maxObjectsInSet", self.max_objects_in_set.into()),
            ("collationAlgorithms", self.collation_algorithms.clone().into()),
        ];
        properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_capability_announces_the_limits() {
        let limits = Limits { max_objects_in_get: 7, max_size_upload: 9, ..Limits::default() };
        let expected = serde_json::json!({
            "maxSizeUpload": 9, "maxConcurrentUpload": 4, "maxSizeRequest": 10_000_000,
            "maxConcurrentRequests": 4, "maxCallsInRequest": 16, "maxObjectsInGet": 7, "maxObjectsInSet": 500,
            "collationAlgorithms": ["i;unicode-casemap"],
        });
        assert_eq!(Value::Object(limits.core_capability()), expected);
    }
}
