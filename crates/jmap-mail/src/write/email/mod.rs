//! Emails that change (RFC 8621, sections 4.6 to 4.8).
//!
//! Input: calls. Output: responses. `set`, `import` and `restore` answer the methods; `update` reads patches
//! and carries them out, `create` makes messages of `fields` and a `body`, and `store` stores what is new.

mod body;
mod create;
mod fields;
mod import;
mod restore;
mod set;
mod store;
mod update;

pub(super) use fields::address;
