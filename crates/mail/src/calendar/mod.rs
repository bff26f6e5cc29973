//! Reads invitations and other calendar data (RFC 5545).
//!
//! `content_line` splits text into lines with their parameters, `event` reads events from them, `zone` what a
//! calendar says of time zones. Does not know the time zones of the world, and computes no dates.
//!
//! Libraries were compared: calcard brings time zones of its own (chrono-tz), icalendar a second parser
//! framework, and both build a tree of everything. A dozen properties are wanted here, of text that may be
//! hostile or broken.

mod content_line;
pub(crate) mod event;
mod zone;
