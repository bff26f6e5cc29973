//! Reads JSON with serde: ids, times, and the sentence for what serde finds wrong.

use crate::encoding::id::Id;
use crate::encoding::time::Time;
use serde::{Deserialize, Deserializer};

/// Describes a fault in JSON by its position, without quoting the content.
pub(crate) fn json_fault(error: &serde_json::Error) -> String {
    use serde_json::error::Category;
    let what = match error.classify() {
        Category::Eof => "ends too early",
        Category::Data => "has an unexpected value",
        Category::Syntax | Category::Io => "is not JSON",
    };
    format!("its content {what} at line {}, column {}", error.line(), error.column())
}

/// An id as JSON text.
pub(crate) struct RawId(pub(crate) Id);

impl<'de> Deserialize<'de> for RawId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawId, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map(RawId).map_err(serde::de::Error::custom)
    }
}

/// Reads a time for serde.
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    Time::parse(text.as_bytes()).ok_or_else(|| serde::de::Error::custom("not RFC 3339"))
}
