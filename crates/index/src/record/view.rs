//! Header records as they lie in their bytes: the same fields as the owned records, without a copy of any.
//!
//! Input: the bytes of a payload column. Output: texts, and lists of texts, that borrow from them. Everything
//! is checked once, when a view is made.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::model::{Contact, Rest};

/// The fields of a [`Rest`], borrowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestView<'a> {
    /// The Message-ID without angle brackets.
    pub message_id: &'a str,
    /// Names and addresses of senders.
    pub from: PairList<'a>,
    /// Those of recipients.
    pub to: PairList<'a>,
    /// Those of recipients of a copy.
    pub cc: PairList<'a>,
    /// Those of recipients of a blind copy.
    pub bcc: PairList<'a>,
    /// Message-IDs of earlier messages, oldest first.
    pub references: TextList<'a>,
    /// The mailing list's id.
    pub list_id: &'a str,
    /// Names of attachments.
    pub attachments: TextList<'a>,
    /// Labels in the message.
    pub labels: TextList<'a>,
    /// The first words of the text.
    pub snippet: &'a str,
    /// The language of the text; empty if it is uncertain.
    pub language: &'a str,
    /// Configured header fields: names and values.
    pub headers: PairList<'a>,
    /// The message's problems.
    pub problems: TextList<'a>,
}

impl RestView<'_> {
    /// Reads a record. Returns `None` if it is damaged.
    pub fn new(record: &[u8]) -> Option<RestView<'_>> {
        let mut input = Input::new(record);
        let input = &mut input;
        let view = RestView {
            message_id: input.text()?,
            from: PairList::take(input)?,
            to: PairList::take(input)?,
            cc: PairList::take(input)?,
            bcc: PairList::take(input)?,
            references: TextList::take(input)?,
            list_id: input.text()?,
            attachments: TextList::take(input)?,
            labels: TextList::take(input)?,
            snippet: input.text()?,
            language: input.text()?,
            headers: PairList::take(input)?,
            problems: TextList::take(input)?,
        };
        input.is_at_end().then_some(view)
    }

    /// Copies all fields.
    #[must_use]
    pub fn to_rest(self) -> Rest {
        let contact = |(name, address): (&str, &str)| Contact { name: name.into(), address: address.into() };
        let contacts = |list: PairList<'_>| -> Vec<Contact> {
            let mut contacts = Vec::with_capacity(list.count);
            contacts.extend(list.iter().map(contact));
            contacts
        };
        let texts = |list: TextList<'_>| -> Vec<String> {
            let mut texts = Vec::with_capacity(list.count);
            texts.extend(list.iter().map(str::to_owned));
            texts
        };
        Rest {
            message_id: self.message_id.to_owned(),
            from: contacts(self.from),
            to: contacts(self.to),
            cc: contacts(self.cc),
            bcc: contacts(self.bcc),
            references: texts(self.references),
            list_id: self.list_id.to_owned(),
            attachments: texts(self.attachments),
            labels: texts(self.labels),
            snippet: self.snippet.to_owned(),
            language: self.language.to_owned(),
            headers: self.headers.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            problems: texts(self.problems),
        }
    }
}

/// A record that is read from its front.
#[derive(Clone, Copy, Debug, Default)]
struct Input<'a> {
    record: &'a [u8],
    /// The beginning of the record, as far as it happens to be UTF-8: mostly all of it, for the lengths
    /// between its texts are small. There, texts need no check of their own.
    text: &'a str,
    at: usize,
}

impl<'a> Input<'a> {
    fn new(record: &'a [u8]) -> Input<'a> {
        let text = match std::str::from_utf8(record) {
            Ok(text) => text,
            Err(error) => {
                let valid = record.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(valid).unwrap_or_default()
            }
        };
        Input { record, text, at: 0 }
    }

    fn is_at_end(&self) -> bool {
        self.at == self.record.len()
    }

    /// Takes a count.
    fn count(&mut self) -> Option<usize> {
        let count = self.record.get(self.at..)?.first_chunk::<4>()?;
        self.at = self.at.checked_add(count.len())?;
        usize::try_from(u32::from_le_bytes(*count)).ok()
    }

    /// Takes a text, after its length.
    fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        let range = self.at..self.at.checked_add(length)?;
        self.at = range.end;
        match self.text.get(range.clone()) {
            Some(text) => Some(text),
            None => std::str::from_utf8(self.record.get(range)?).ok(),
        }
    }

    fn pair(&mut self) -> Option<(&'a str, &'a str)> {
        Some((self.text()?, self.text()?))
    }
}

/// A list of texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextList<'a> {
    count: usize,
    /// Begins at the first text.
    input: Input<'a>,
}

impl<'a> TextList<'a> {
    /// Returns the texts.
    pub fn iter(self) -> impl Iterator<Item = &'a str> {
        let mut input = self.input;
        (0..self.count).map_while(move |_| input.text())
    }

    /// Takes a list. Each text takes at least the four bytes of its length, so a count that is too high ends
    /// with the record.
    fn take(input: &mut Input<'a>) -> Option<TextList<'a>> {
        let list = TextList { count: input.count()?, input: *input };
        (0..list.count).try_for_each(|_| input.text().map(drop))?;
        Some(list)
    }
}

/// A list of pairs of texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairList<'a> {
    count: usize,
    /// Begins at the first pair.
    input: Input<'a>,
}

impl<'a> PairList<'a> {
    /// Returns the pairs.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut input = self.input;
        (0..self.count).map_while(move |_| input.pair())
    }

    /// Takes a list.
    fn take(input: &mut Input<'a>) -> Option<PairList<'a>> {
        let list = PairList { count: input.count()?, input: *input };
        (0..list.count).try_for_each(|_| input.pair().map(drop))?;
        Some(list)
    }
}

/// Reads a list line: the sender, and the subject. Returns `None` if it is damaged.
pub(crate) fn line_view(record: &[u8]) -> Option<(&str, &str)> {
    let mut input = Input::new(record);
    let line = input.pair()?;
    input.is_at_end().then_some(line)
}

/// The senders, and the recipients of all kinds, of a record: names and addresses.
pub(crate) struct Correspondents<'a> {
    /// Who sent the message.
    pub senders: Vec<(&'a str, &'a str)>,
    /// Who got it, openly or not.
    pub recipients: Vec<(&'a str, &'a str)>,
}

/// Reads the addresses alone. Returns `None` if they are damaged.
pub(crate) fn decode_correspondents(record: &[u8]) -> Option<Correspondents<'_>> {
    let mut input = Input::new(record);
    input.text()?;
    let mut list = || -> Option<Vec<(&str, &str)>> { (0..input.count()?).map(|_| input.pair()).collect() };
    let senders = list()?;
    let mut recipients = list()?;
    recipients.extend(list()?);
    recipients.extend(list()?);
    Some(Correspondents { senders, recipients })
}
