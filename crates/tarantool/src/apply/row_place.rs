//! The position of a row in a buffer, which can be sent to another thread together with the buffer.
//!
//! Made from a row that borrows from a payload. Returns the same row, borrowing from a copy. Does not know
//! what rows do.

use crate::file::row::{Body, GROUP_LOCAL, Row, RowKind};

/// The positions of a row's parts in a piece.
#[derive(Clone, Copy)]
pub(super) struct RowPlace {
    kind: RowKind,
    replica: u32,
    is_commit: bool,
    is_local: bool,
    flags: u64,
    lsn: i64,
    tsn: i64,
    space: Option<u32>,
    index: Option<u32>,
    index_base: Option<i64>,
    key: Span,
    tuple: Span,
    ops: Span,
    body: Span,
}

/// A range of bytes in a piece. An empty one means that the part is missing, as a part is a complete value.
#[derive(Clone, Copy)]
struct Span {
    begin: u32,
    length: u32,
}

impl RowPlace {
    /// Records a row of `payload`, which was copied to `begin` of its piece.
    pub(super) fn new(row: &Row, payload: &[u8], begin: usize) -> RowPlace {
        let span = |part: Option<&[u8]>| Span::new(part.unwrap_or_default(), payload, begin);
        let Row { kind, replica, lsn, tsn, group, is_commit, flags, body, .. } = *row;
        RowPlace {
            kind,
            replica,
            is_commit,
            is_local: group == GROUP_LOCAL,
            flags,
            lsn,
            tsn,
            space: body.space,
            index: body.index,
            index_base: body.index_base,
            key: span(body.key),
            tuple: span(body.tuple),
            ops: span(body.ops),
            body: span(Some(body.bytes)),
        }
    }

    /// Returns the row, except its time and any other group than that of rows that are not replicated. These
    /// do not matter to a state.
    #[inline]
    pub(super) fn row<'p>(&self, piece: &'p [u8]) -> Row<'p> {
        let part = |span: Span| (span.length > 0).then(|| span.of(piece));
        let body = Body {
            space: self.space,
            index: self.index,
            index_base: self.index_base,
            key: part(self.key),
            tuple: part(self.tuple),
            ops: part(self.ops),
            bytes: self.body.of(piece),
        };
        let RowPlace { kind, replica, is_commit, is_local, flags, lsn, tsn, .. } = *self;
        let group = if is_local { GROUP_LOCAL } else { 0 };
        Row { kind, replica, lsn, timestamp: 0.0, group, tsn, is_commit, flags, body }
    }
}

impl Span {
    fn new(part: &[u8], payload: &[u8], begin: usize) -> Span {
        let narrow =
            |number: usize| u32::try_from(number).expect("a block has at most 2 GiB, a piece ends behind it");
        let place = if part.is_empty() { 0 } else { part.as_ptr().addr() - payload.as_ptr().addr() };
        Span { begin: narrow(begin + place), length: narrow(part.len()) }
    }

    fn of(self, piece: &[u8]) -> &[u8] {
        &piece[self.begin as usize..(self.begin + self.length) as usize]
    }
}
