//! The position of a message in its thread.

use index::Origin;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// The position of a message in its thread. `T` is how the thread is known: by the Message-ID of its first
/// message, or by the place of that message in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<T> {
    /// The thread's first message.
    pub thread: T,
    /// How many messages stand above it.
    pub depth: u32,
    /// Whether it matches, or only belongs to a conversation with a match.
    pub origin: Origin,
}

impl<T> Position<T> {
    /// Returns the same position in a thread that is known in another way.
    pub fn of<U>(&self, thread: U) -> Position<U> {
        Position { thread, depth: self.depth, origin: self.origin }
    }
}

impl<T: Serialize> Serialize for Position<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Position", 3)?;
        fields.serialize_field("id", &self.thread)?;
        fields.serialize_field("depth", &self.depth)?;
        fields.serialize_field("found", &(self.origin == Origin::Found))?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_told_by_its_thread_its_depth_and_whether_it_matches() {
        let position = Position { thread: 7, depth: 2, origin: Origin::Related }.of("a@b");
        assert_eq!(serde_json::to_string(&position).unwrap(), r#"{"id":"a@b","depth":2,"found":false}"#);
    }
}
