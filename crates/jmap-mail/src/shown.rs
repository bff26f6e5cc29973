//! A message as HTML, for a browser: the parts that show it, and the pictures in it.
//!
//! Input: the id of an email. Output: its own HTML as it is, and texts, in order; its pictures by the names
//! that HTML has for them; its attachments. Does not know how HTML is cleaned or served.

use crate::account::Account;
use crate::blob::{Blob, BlobError, part};
use crate::blob_id::{BlobId, BlobSource};
use crate::ids::email_content;
use crate::messages::Reading;
use jmap::Id;
use mail::{BodyPart, Email};

/// The pictures that browsers show, and that are no documents as SVG is.
const PICTURES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// A message as HTML.
#[derive(Debug, Default)]
pub struct Shown {
    /// What shows it, in order.
    pub pieces: Vec<Piece>,
    /// The pictures that its HTML may name.
    pub pictures: Vec<Picture>,
}

/// A part that shows a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// HTML as the sender wrote it.
    Html(String),
    /// A text.
    Text(String),
    /// The number of a picture.
    Picture(usize),
}

/// A picture in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The number of its part.
    pub number: usize,
    /// The names that HTML has for it: its Content-ID and its Content-Location.
    pub names: Vec<String>,
}

impl Account<'_> {
    /// Returns an email as HTML. Of one that is too large to be held, what is held of it.
    ///
    /// # Errors
    /// There is no such email, or it cannot be read.
    pub fn shown(&self, id: &Id) -> Result<Shown, BlobError> {
        let sha256 = email_content(id).ok_or(BlobError::NotFound)?;
        let content = self.message_content(&sha256)?;
        let reading = Reading::new(content).map_err(|_| BlobError::Unreadable)?;
        Ok(shown(&Email::of_bytes(reading.bytes())))
    }

    /// Returns a picture of an email, and its type.
    ///
    /// # Errors
    /// There is no such picture, or it cannot be read.
    pub fn picture(&self, id: &Id, number: usize) -> Result<(&'static str, Blob), BlobError> {
        let sha256 = email_content(id).ok_or(BlobError::NotFound)?;
        let reading = Reading::new(self.message_content(&sha256)?).map_err(|_| BlobError::Unreadable)?;
        let email = Email::of_bytes(reading.bytes());
        let kind = email.part(number).and_then(kind).ok_or(BlobError::NotFound)?;
        if reading.abridged().is_some() {
            let blob = BlobId::whole(BlobSource::Message(sha256)).part(number);
            return Ok((kind, self.blob_of(&blob)?));
        }
        let bytes = part(reading.bytes(), &[number]).ok_or(BlobError::NotFound)?;
        Ok((kind, Blob::of_bytes(bytes)))
    }
}

fn shown(email: &Email<'_>) -> Shown {
    let mut pictures = Vec::new();
    add_pictures(&email.structure, &mut pictures);
    let pieces = email.html_body.iter().filter_map(|number| {
        let part = email.part(*number)?;
        match (part.mime.as_str(), kind(part)) {
            ("text/html", _) => Some(Piece::Html(email.value(part, None)?.value)),
            (_, Some(_)) => Some(Piece::Picture(*number)),
            _ => Some(Piece::Text(email.value(part, None)?.value)),
        }
    });
    Shown { pieces: pieces.collect(), pictures }
}

fn add_pictures(part: &BodyPart, pictures: &mut Vec<Picture>) {
    if let (Some(number), Some(_)) = (part.part_id, kind(part)) {
        let names: Vec<String> = part.content_id.iter().chain(&part.location).cloned().collect();
        if !names.is_empty() {
            pictures.push(Picture { number, names });
        }
    }
    part.sub_parts.iter().for_each(|part| add_pictures(part, pictures));
}

/// Returns the type of a picture that browsers show.
fn kind(part: &BodyPart) -> Option<&'static str> {
    let kind = if part.mime == "image/jpg" { "image/jpeg" } else { part.mime.as_str() };
    PICTURES.into_iter().find(|known| *known == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=r\n\n--r\nContent-Type: \
        multipart/alternative; boundary=a\n\n--a\n\nplain\n--a\nContent-Type: text/html\n\n<b>rich</b>\n--a--\
        \n--r\nContent-Type: image/jpg\nContent-ID: <one@x>\nContent-Location: one.jpg\n\nJ\n--r\n\
        Content-Type: image/svg+xml\nContent-ID: <two@x>\n\n<svg/>\n--r\nContent-Type: \
        image/png\n\nP\n--r--\n";

    #[test]
    fn pictures_are_those_that_browsers_show_and_html_can_name() {
        let found = shown(&Email::of_bytes(MAIL.as_bytes()));
        assert_eq!(found.pieces, [Piece::Html("<b>rich</b>".to_owned())]);
        let names = vec!["one@x".to_owned(), "one.jpg".to_owned()];
        assert_eq!(found.pictures, [Picture { number: 3, names }]);
    }

    #[test]
    fn what_lies_side_by_side_is_shown_in_order() {
        let mail = "Content-Type: multipart/mixed; boundary=m\n\n--m\n\nbefore\n--m\nContent-Type: \
            image/png\n\nP\n--m\nContent-Type: text/html\n\n<i>after</i>\n--m\nContent-Type: video/mp4\n\nV\n\
            --m--\n";
        let found = shown(&Email::of_bytes(mail.as_bytes()));
        let expected =
            [Piece::Text("before".to_owned()), Piece::Picture(2), Piece::Html("<i>after</i>".to_owned())];
        assert_eq!(found.pieces, expected);
    }
}
