//! Chooses the parts that show a message as text, those that show it as HTML, and those that are attached
//! (RFC 8621, 4.1.4).
//!
//! Input: the tree of parts. Output: three lists of numbers. Does not read contents.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::email::part::BodyPart;

/// The numbers of the parts in each list.
#[derive(Debug, Default)]
pub(super) struct BodyLists {
    pub(super) text: Vec<usize>,
    pub(super) html: Vec<usize>,
    pub(super) attachments: Vec<usize>,
}

/// The lists that a part may still go to. Within an alternative, a form in HTML is not shown as text, and
/// the other way round.
#[derive(Clone, Copy)]
struct Open {
    text: bool,
    html: bool,
    is_in_alternative: bool,
}

impl BodyLists {
    pub(super) fn of(root: &BodyPart) -> BodyLists {
        let mut lists = BodyLists::default();
        lists.add(
            std::slice::from_ref(root),
            "mixed",
            Open { text: true, html: true, is_in_alternative: false },
        );
        lists
    }

    /// Adds parts that lie in a multipart of this subtype.
    fn add(&mut self, parts: &[BodyPart], subtype: &str, mut open: Open) {
        let (text_count, html_count) = (self.text.len(), self.html.len());
        let is_alternative = subtype == "alternative";
        for (index, part) in parts.iter().enumerate() {
            let Some(number) = part.part_id else {
                let subtype = part.mime.strip_prefix("multipart/").unwrap_or_default();
                let is_in_alternative = open.is_in_alternative || subtype == "alternative";
                self.add(&part.sub_parts, subtype, Open { is_in_alternative, ..open });
                continue;
            };
            if !is_inline(part, index == 0, subtype) {
                self.attachments.push(number);
            } else if is_alternative {
                match part.mime.as_str() {
                    "text/plain" if open.text => self.text.push(number),
                    "text/html" if open.html => self.html.push(number),
                    // The RFC has no place for a form whose list is closed.
                    _ => self.attachments.push(number),
                }
            } else {
                if open.is_in_alternative {
                    open.html &= part.mime != "text/plain";
                    open.text &= part.mime != "text/html";
                }
                self.add_to_open(number, open, is_media(&part.mime));
            }
        }
        if is_alternative && open.text && open.html {
            // What has one form only is shown in both lists.
            match (self.text.len() > text_count, self.html.len() > html_count) {
                (false, true) => self.text.extend(self.html.iter().skip(html_count)),
                (true, false) => self.html.extend(self.text.iter().skip(text_count)),
                _ => {}
            }
        }
    }

    fn add_to_open(&mut self, number: usize, open: Open, is_media: bool) {
        if open.text {
            self.text.push(number);
        }
        if open.html {
            self.html.push(number);
        }
        // A text that comes after one in the other form finds both lists closed. The RFC has no place for it.
        let is_nowhere = !open.text && !open.html;
        if is_nowhere || is_media && !(open.text && open.html) {
            self.attachments.push(number);
        }
    }
}

/// Returns whether a part is shown in the message.
fn is_inline(part: &BodyPart, is_first: bool, subtype: &str) -> bool {
    part.disposition.as_deref() != Some("attachment")
        && (matches!(part.mime.as_str(), "text/plain" | "text/html") || is_media(&part.mime))
        && (is_first || subtype != "related" && (is_media(&part.mime) || part.name.is_none()))
}

fn is_media(mime: &str) -> bool {
    ["image/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind))
}
