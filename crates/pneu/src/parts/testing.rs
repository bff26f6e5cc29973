//! A part for the tests of this directory.

use mail::{PartInfo, PartRole};

/// Returns a part without content.
pub(super) fn part(number: usize, mime: &str, name: &str, role: PartRole) -> PartInfo {
    PartInfo {
        number,
        depth: 0,
        mime: mime.into(),
        name: name.into(),
        subject: String::new(),
        size_bytes: Some(0),
        role,
        is_message: false,
        is_damaged: false,
    }
}
