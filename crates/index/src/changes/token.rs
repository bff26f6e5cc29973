//! Tokens: where in the change logs a reader is.
//!
//! Input: the logs of the index and of the user's tags, each at a commit. Output: a word, and back. A token
//! is checked against the logs, so that one of another index, of another history, or with a wrong letter is
//! never taken for a place in this one.

use crate::changes::log::Log;
use crate::error::{Error, Result, TokenFault};
use std::fmt::Write;
use store::Snapshot;
use xxhash_rust::xxh3::xxh3_64;

/// A place in both logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The identity of the index's log.
    identity: u64,
    /// A commit of the index.
    pub(crate) index: u64,
    /// A commit of the user's tags; 0 if there were none.
    pub(crate) user: u64,
    /// A digest of the token, and of everything that both logs held then.
    digest: u64,
}

impl Token {
    /// Returns the token of the newest commits.
    ///
    /// # Errors
    /// Damage.
    pub(crate) fn newest(index: &Snapshot, user: Option<&Snapshot>) -> Result<Token> {
        let places = (index.version().sequence, user.map_or(0, |user| user.version().sequence));
        // The newest commit is not older than what is kept.
        Token::at((index, user), places)?.ok_or_else(|| TokenFault::TooOld.into())
    }

    /// Returns the token of two commits; `None` if their logs do not reach back to them.
    fn at((index, user): (&Snapshot, Option<&Snapshot>), places: (u64, u64)) -> Result<Option<Token>> {
        let log = Log::of(index)?;
        let Some(of_index) = log.digest_at(index, places.0)? else { return Ok(None) };
        let of_user = match user {
            Some(user) => Log::of(user)?.digest_at(user, places.1)?,
            None => Some(0),
        };
        // There were no tags then, and no log of them. All that came since must be in it.
        let of_user = of_user.map(|digest| if places.1 == 0 { 0 } else { digest });
        let Some(of_user) = of_user else { return Ok(None) };
        let all = [log.identity, places.0, places.1, of_index, of_user].map(u64::to_le_bytes);
        let digest = xxh3_64(all.as_flattened());
        Ok(Some(Token { identity: log.identity, index: places.0, user: places.1, digest }))
    }

    /// Reads a token, and checks that it is one of these logs.
    ///
    /// # Errors
    /// [`Error::Token`]; damage.
    pub(crate) fn read(text: &str, index: &Snapshot, user: Option<&Snapshot>) -> Result<Token> {
        let token = Token::parse(text).ok_or(Error::Token { fault: TokenFault::Malformed })?;
        let newest = (index.version().sequence, user.map_or(0, |user| user.version().sequence));
        if token.identity != Log::of(index)?.identity || token.index > newest.0 || token.user > newest.1 {
            return Err(TokenFault::OfAnother.into());
        }
        match Token::at((index, user), (token.index, token.user))? {
            None => Err(TokenFault::TooOld.into()),
            Some(known) if known == token => Ok(token),
            Some(_) => Err(TokenFault::OfAnother.into()),
        }
    }

    fn parse(text: &str) -> Option<Token> {
        let mut fields = text.split('-');
        let mut field = |radix: u32, digits_max: usize| {
            let field = fields.next()?;
            let is_plain =
                field.len() <= digits_max && field.bytes().all(|byte| byte.is_ascii_alphanumeric());
            u64::from_str_radix(field, radix).ok().filter(|_| is_plain)
        };
        let token = Token {
            identity: field(16, 16)?,
            index: field(10, 20)?,
            user: field(10, 20)?,
            digest: field(16, 16)?,
        };
        fields.next().is_none().then_some(token)
    }

    /// Returns the token as a word of letters, digits and hyphens.
    pub(crate) fn to_text(self) -> String {
        let mut text = String::new();
        let Token { identity, index, user, digest } = self;
        // Writing to a string does not fail.
        let _ = write!(text, "{identity:016x}-{index}-{user}-{digest:016x}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word() {
        let token = Token { identity: 0xa1, index: 7, user: u64::MAX, digest: u64::MAX };
        let text = token.to_text();
        assert_eq!(text, "00000000000000a1-7-18446744073709551615-ffffffffffffffff");
        assert_eq!(Token::parse(&text), Some(token));
        for wrong in [
            "",
            "a1-7-8",
            "a1-7-8-9-1",
            "a1-+7-8-9",
            "a1-7--9",
            "a1-7-8-ffffffffffffffff0",
            "x-7-8-9",
            "a1 -7-8-9",
        ] {
            assert_eq!(Token::parse(wrong), None, "{wrong}");
        }
    }
}
