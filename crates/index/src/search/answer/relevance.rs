//! Ranks messages by how well they match the words of a query.
//!
//! Input: a query, and the messages that it found. Output: hits, the best first. A word counts the more, the
//! rarer it is in the mailbox and the more often it is in the message (BM25, Robertson and Walker 1994), and
//! counts more in the subject and in names than in the text. The index knows no lengths of texts, so these do
//! not count (b = 0). Messages of equal rank are sorted by date. Must not know how a query is evaluated.

use crate::error::Result;
use crate::search::answer::eval::answer_alone;
use crate::search::answer::prepare::{Answer, answers};
use crate::search::mailbox::{Hits, Mailbox};
use crate::search::order::Order;
use crate::set::NumberSet;
use crate::text::{Needle, TextField};
use query::Query;

/// How soon more occurrences of a word make little difference.
const K1: f32 = 1.2;

impl Mailbox {
    /// Returns the messages of a set in the order of their relevance to a query; the best first if `order`
    /// is descending, whatever its key.
    ///
    /// # Errors
    /// [`crate::Error::Query`] if the query cannot be answered; damage in the store.
    pub fn by_relevance(&self, query: &Query, found: &NumberSet, order: &Order) -> Result<Hits> {
        let mut scores = Scores { mailbox: self, found, of: vec![0.0; self.bound() as usize] };
        scores.add(query)?;
        // The bits of positive numbers are ordered as the numbers are.
        let key = |number: u32| scores.of.get(number as usize).map_or(0, |score| score.to_bits());
        self.sorted_by(found, order, key)
    }
}

/// The relevance of each message.
struct Scores<'a> {
    mailbox: &'a Mailbox,
    found: &'a NumberSet,
    /// By message number.
    of: Vec<f32>,
}

impl Scores<'_> {
    fn add(&mut self, query: &Query) -> Result<()> {
        match query {
            // What a message must not have makes none of the others better.
            Query::All | Query::Not(_) => Ok(()),
            Query::And(all) | Query::Or(all) | Query::Xor(all) => {
                all.iter().try_for_each(|one| self.add(one))
            }
            Query::Leaf(leaf) => {
                answers(self.mailbox, leaf)?.iter().try_for_each(|answer| self.add_answer(answer))
            }
        }
    }

    fn add_answer(&mut self, answer: &Answer) -> Result<()> {
        self.mailbox.check_cancelled()?;
        let field = match answer {
            Answer::Text(field, _) | Answer::Terms(field, ..) => *field,
            // Dates, flags and folders are met or not.
            _ => return Ok(()),
        };
        let mut with: Vec<(u32, u32)> = Vec::new();
        let mut all_count = 0_u64;
        match answer {
            Answer::Text(_, Needle::Phrase(words)) if let [word] = words.as_slice() => {
                self.mailbox.text().frequencies(field, word, &mut |number, times| {
                    all_count += 1;
                    if self.found.contains(number) {
                        with.push((number, times));
                    }
                })?;
            }
            _ => {
                let mut matching = answer_alone(self.mailbox, answer)?;
                all_count = matching.count();
                matching.and(self.found);
                with.extend(matching.iter().map(|number| (number, 1)));
            }
        }
        let rarity = rarity(self.mailbox.live()?.count(), all_count) * weight(field);
        for (number, times) in with {
            let times = times as f32;
            if let Some(score) = self.of.get_mut(number as usize) {
                *score += rarity * times * (K1 + 1.0) / (times + K1);
            }
        }
        Ok(())
    }
}

/// Returns how much a word counts that `with_count` of `all_count` messages have: its inverse document
/// frequency.
fn rarity(all_count: u64, with_count: u64) -> f32 {
    let without_count = all_count.saturating_sub(with_count);
    ((without_count as f32 + 0.5) / (with_count as f32 + 0.5)).ln_1p()
}

/// Returns how much a field counts.
fn weight(field: TextField) -> f32 {
    match field {
        TextField::Subject => 3.0,
        TextField::From | TextField::To | TextField::Cc | TextField::Bcc | TextField::List => 2.0,
        TextField::Embed | TextField::Header => 0.5,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more_and_no_word_counts_nothing() {
        assert!(rarity(1000, 1) > rarity(1000, 10) && rarity(1000, 10) > rarity(1000, 900));
        assert!(rarity(1000, 1000) > 0.0 && rarity(0, 0) > 0.0);
        // Documents of swept messages are counted until they are merged.
        assert!(rarity(10, 12) > 0.0);
    }
}
