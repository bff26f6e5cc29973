//! Emails that change (RFC 8621, sections 4.6 to 4.8).
//!
//! Input: calls. Output: responses. `set` answers the method; `update` reads patches and carries them out.

mod set;
mod update;
