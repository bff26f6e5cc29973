//! What an address is, and what a domain.
//!
//! Input: a text. Output: whether it is one. Does not depend on where it stands.

/// Returns whether a text is an address, without a name.
pub fn is_address(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && !local.starts_with('@')
            && !domain.is_empty()
            && !text.contains(|c: char| c.is_whitespace() || "<>,;".contains(c))
    })
}

pub(super) fn is_domain(text: &str) -> bool {
    text.strip_prefix('@').is_some_and(|domain| {
        !domain.is_empty() && !domain.contains(|c: char| c.is_whitespace() || "@<>,;".contains(c))
    })
}
