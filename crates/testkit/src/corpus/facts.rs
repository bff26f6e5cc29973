//! Known facts about a generated corpus: words and addresses that occur in an exact number of messages.
//!
//! Input: the number of messages. Output: queries with their number of hits, and the known words of each
//! message. Does not know how a message is put together.

use super::{CorpusOptions, Profile};

/// A word in 17 messages.
pub const RARE_WORD: &str = "quirlyphon";
/// How many messages have [`RARE_WORD`], if there are as many.
pub const RARE_COUNT: u32 = 17;
/// A phrase in every 20th message of a varied corpus (10,000 of 200,000) and every 137th of a small one
/// (10,000 of 1,370,000).
pub const COMMON_PHRASE: &str = "velvet pneumatique dispatch";
/// A word in the subject of every 500th message of a varied corpus.
pub const SUBJECT_WORD: &str = "luftpostamt";
/// The author of every 1,000th message of a varied corpus.
pub const AUTHOR_NAME: &str = "Ottilie Rohrpost";
/// The address of that author.
pub const AUTHOR_ADDRESS: &str = "ottilie@rohrpost.example";
/// The name of a file attached to every 2,000th message of a varied corpus.
pub const ATTACHMENT_NAME: &str = "dampfkessel-plan.pdf";
/// A word with diacritics in every 4,000th message of a varied corpus, and the same word without them for
/// queries.
pub const ACCENTED_WORD: &str = "zÿgòmètre";
/// [`ACCENTED_WORD`] folded.
pub const FOLDED_WORD: &str = "zygometre";

/// How often known words occur in varied mail: once in this many messages.
const PHRASE_PERIOD: u32 = 20;
const PHRASE_PERIOD_SMALL: u32 = 137;
const SUBJECT_PERIOD: u32 = 500;
const AUTHOR_PERIOD: u32 = 1000;
const ATTACHMENT_PERIOD: u32 = 2000;
const ACCENTED_PERIOD: u32 = 4000;

/// A query with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The query, in pneu's language.
    pub query: String,
    /// How many messages it finds. None of them has a second copy, so it finds as many files.
    pub messages: u32,
}

/// Returns the known facts about the corpus of `options`.
pub fn facts(options: &CorpusOptions) -> Vec<Fact> {
    let count = |holds: fn(&Marks) -> bool| {
        let numbers = 0..options.messages;
        u32::try_from(numbers.filter(|&number| holds(&marks(options, number))).count()).expect("at most all")
    };
    let fact = |query: String, messages| Fact { query, messages };
    let mut facts = vec![
        fact(RARE_WORD.to_owned(), count(|marks| marks.rare)),
        fact(format!("\"{COMMON_PHRASE}\""), count(|marks| marks.phrase)),
    ];
    if options.profile == Profile::Varied {
        facts.push(fact(format!("subject:{SUBJECT_WORD}"), count(|marks| marks.subject)));
        facts.push(fact(format!("from:{AUTHOR_ADDRESS}"), count(|marks| marks.author)));
        facts.push(fact(format!("file:{ATTACHMENT_NAME}"), count(|marks| marks.attachment)));
        facts.push(fact(FOLDED_WORD.to_owned(), count(|marks| marks.accented)));
    }
    facts
}

/// The known words of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) rare: bool,
    pub(super) phrase: bool,
    pub(super) subject: bool,
    pub(super) author: bool,
    pub(super) attachment: bool,
    pub(super) accented: bool,
}

impl Marks {
    /// Returns whether the message has any known word. Such a message is plain, complete and without copies.
    pub(super) fn any(self) -> bool {
        self.rare || self.phrase || self.subject || self.author || self.attachment || self.accented
    }
}

/// Returns the known words of message `number`.
pub(super) fn marks(options: &CorpusOptions, number: u32) -> Marks {
    let varied = options.profile == Profile::Varied;
    let every = |period: u32, place: u32| varied && number % period == place;
    let rare_gap = (options.messages / RARE_COUNT).max(1);
    Marks {
        rare: number % rare_gap == rare_gap / 2 && number / rare_gap < RARE_COUNT,
        phrase: number % if varied { PHRASE_PERIOD } else { PHRASE_PERIOD_SMALL } == 7,
        subject: every(SUBJECT_PERIOD, 11),
        author: every(AUTHOR_PERIOD, 13),
        attachment: every(ATTACHMENT_PERIOD, 14),
        accented: every(ACCENTED_PERIOD, 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_promised() {
        let facts_of = |options: CorpusOptions| facts(&options);
        let counts: Vec<u32> =
            facts_of(CorpusOptions::varied(200_000, 1)).iter().map(|fact| fact.messages).collect();
        assert_eq!(counts, [17, 10_000, 400, 200, 100, 50]);
        let counts: Vec<u32> =
            facts_of(CorpusOptions::small(1_370_000, 1)).iter().map(|fact| fact.messages).collect();
        assert_eq!(counts, [17, 10_000]);
        assert_eq!(facts_of(CorpusOptions::varied(5, 1))[0].messages, 5);
        assert_eq!(facts_of(CorpusOptions::varied(0, 1))[0].messages, 0);
    }
}
