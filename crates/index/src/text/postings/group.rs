//! A group of words that begin alike: a dictionary of the words, and a log of their occurrences.
//!
//! Input: words with their hashes, and occurrences in the order of documents. Output: the words in order,
//! each with its occurrences. Must not know fields, nor how anything is written.

use std::ops::Range;

/// How many groups there are.
pub(super) const GROUP_COUNT: usize = FOUR_BYTES + 1;

// Where the groups of words with these first bytes begin. Letters and what is not ASCII are divided further.
const DIGITS: usize = 1;
const LETTERS: usize = DIGITS + 11;
const TWO_BYTES: usize = LETTERS + 26 * 8 + 1;
const THREE_BYTES: usize = TWO_BYTES + 32 * 4;
const FOUR_BYTES: usize = THREE_BYTES + 16 * 4;

/// Bytes before a word in `Group::words`: its number and its length.
const HEAD_BYTES: usize = 6;
/// The fewest places of a table.
const SLOT_COUNT_MIN: usize = 16;

/// Words that begin alike.
#[derive(Default)]
pub(super) struct Group {
    /// A hash table with open addressing: the hash in the upper half, in the lower half one more than where
    /// the word is in `words`, or 0 if the place is empty. Always at most half full.
    slots: Vec<u64>,
    /// The words in the order of their numbers, each with its number (u32) and length (u16) before it.
    words: Vec<u8>,
    word_count: u32,
    /// For each occurrence: the word's number, doubled, and one more if a document begins; in that case how
    /// far the document's number is from the last one; how far the position is from the last one. Integers of
    /// variable length.
    log: Vec<u8>,
    occurrence_count: usize,
    /// The last occurrence in the log. Before the first one, no document.
    last: Option<Occurrence>,
}

/// Where a word occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) document: u32,
    pub(super) position: u32,
}

/// Returns the group of a word. Of two words, the lesser one never has the greater group.
pub(super) fn group_of(word: &[u8]) -> usize {
    let first = word.first().copied().unwrap_or(0);
    let second = usize::from(word.get(1).copied().unwrap_or(0));
    // The upper bits of a byte that continues a character.
    let continued = second >> 4 & 3;
    match first {
        0..b'0' => 0,
        b'0'..=b'9' => DIGITS + usize::from(first - b'0'),
        b':'..b'a' => LETTERS - 1,
        b'a'..=b'z' => {
            let part = match second {
                0..0x61 => 0,
                0x61..=0x7a => 1 + (second - 0x61) / 4,
                _ => 7,
            };
            LETTERS + usize::from(first - b'a') * 8 + part
        }
        b'{'..0xc0 => TWO_BYTES - 1,
        0xc0..0xe0 => TWO_BYTES + usize::from(first - 0xc0) * 4 + continued,
        0xe0..0xf0 => THREE_BYTES + usize::from(first - 0xe0) * 4 + continued,
        0xf0.. => FOUR_BYTES,
    }
}

impl Group {
    /// Returns how many distinct words there are.
    pub(super) fn word_count(&self) -> usize {
        self.word_count as usize
    }

    /// Returns how much memory the group takes, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.words.capacity() + self.log.capacity()
    }

    /// Returns how much memory sorting it takes, in bytes.
    pub(super) fn sorted_bytes(&self) -> usize {
        let of_word = size_of::<(Range<usize>, usize)>() + size_of::<usize>();
        self.occurrence_count * size_of::<Occurrence>() + self.word_count() * of_word
    }

    /// Returns where the table's first look at a hash finds a word with this hash, in `words`.
    pub(super) fn place(&self, hash: u32) -> Option<usize> {
        let slot = *self.slots.get(self.first_slot(hash))?;
        (slot != 0 && hash_of(slot) == hash).then(|| place_of(slot))
    }

    /// Returns the number of the word at a place.
    pub(super) fn number_at(&self, place: usize) -> u32 {
        u32::from_le_bytes([
            self.words[place],
            self.words[place + 1],
            self.words[place + 2],
            self.words[place + 3],
        ])
    }

    /// Returns the word at a place.
    pub(super) fn word_at(&self, place: usize) -> &[u8] {
        let length = usize::from(u16::from_le_bytes([self.words[place + 4], self.words[place + 5]]));
        &self.words[place + HEAD_BYTES..place + HEAD_BYTES + length]
    }

    /// Returns the number of a word, which is added if it is new.
    pub(super) fn number_of(&mut self, word: &[u8], hash: u32) -> u32 {
        if self.slots.len() <= self.word_count() * 2 {
            self.grow();
        }
        let mut at = self.first_slot(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let place = place_of(slot);
            if hash_of(slot) == hash && self.word_at(place) == word {
                return self.number_at(place);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let length = u16::try_from(word.len()).expect("longer terms are left out");
        let number = self.word_count;
        self.word_count += 1;
        let place = u32::try_from(self.words.len() + 1).expect("a segment is finished long before");
        self.slots[at] = u64::from(hash) << 32 | u64::from(place);
        self.words.extend_from_slice(&number.to_le_bytes());
        self.words.extend_from_slice(&length.to_le_bytes());
        self.words.extend_from_slice(word);
        number
    }

    /// Appends an occurrence of a word. It is not before the last one.
    pub(super) fn note(&mut self, number: u32, occurrence: Occurrence) {
        let Occurrence { document, position } = occurrence;
        match self.last {
            Some(last) if last.document == document => {
                put(&mut self.log, number << 1);
                put(&mut self.log, position - last.position);
            }
            last => {
                put(&mut self.log, number << 1 | 1);
                put(&mut self.log, document - last.map_or(0, |last| last.document));
                put(&mut self.log, position);
            }
        }
        self.last = Some(occurrence);
        self.occurrence_count += 1;
    }

    fn first_slot(&self, hash: u32) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(SLOT_COUNT_MIN);
        for slot in std::mem::replace(&mut self.slots, vec![0; count]).into_iter().filter(|slot| *slot != 0) {
            let mut at = self.first_slot(hash_of(slot));
            while self.slots[at] != 0 {
                at = (at + 1) & (count - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Calls `each` with the number of each occurrence's word, and where it occurs.
    fn read_log(&self, mut each: impl FnMut(usize, Occurrence)) {
        let (mut rest, mut last) = (&self.log[..], Occurrence::default());
        while !rest.is_empty() {
            let number = take(&mut rest);
            if number & 1 == 1 {
                last = Occurrence { document: last.document + take(&mut rest), position: 0 };
            }
            last.position += take(&mut rest);
            each((number >> 1) as usize, last);
        }
    }
}

/// The words of a group in order, with their occurrences. Its memory is used again for the next group.
#[derive(Default)]
pub(super) struct Sorted {
    /// Where each word is in the group, and its number, in the order of the words.
    words: Vec<(Range<usize>, usize)>,
    /// Where the occurrences of each word end, by number.
    ends: Vec<usize>,
    /// The occurrences of one word after the other, by number.
    occurrences: Vec<Occurrence>,
}

impl Sorted {
    /// Sorts a group.
    pub(super) fn sort(&mut self, group: &Group) {
        self.words.clear();
        let mut place = 0;
        while place < group.words.len() {
            let start = place + HEAD_BYTES;
            let range = start..start + group.word_at(place).len();
            place = range.end;
            self.words.push((range, self.words.len()));
        }
        self.words.sort_unstable_by_key(|(range, _)| &group.words[range.clone()]);
        // First how often each word occurs, then where its occurrences begin, at last where they end.
        self.ends.clear();
        self.ends.resize(group.word_count(), 0);
        group.read_log(|number, _| self.ends[number] += 1);
        let mut start = 0;
        for end in &mut self.ends {
            start += std::mem::replace(end, start);
        }
        self.occurrences.clear();
        self.occurrences.resize(group.occurrence_count, Occurrence::default());
        group.read_log(|number, occurrence| {
            let end = &mut self.ends[number];
            self.occurrences[*end] = occurrence;
            *end += 1;
        });
    }

    /// Returns the words of the group that was sorted, each with its occurrences, in order.
    pub(super) fn words<'a>(
        &'a self,
        group: &'a Group,
    ) -> impl Iterator<Item = (&'a [u8], &'a [Occurrence])> {
        self.words.iter().map(|(range, number)| {
            let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
            (&group.words[range.clone()], &self.occurrences[start..self.ends[*number]])
        })
    }
}

fn hash_of(slot: u64) -> u32 {
    (slot >> 32) as u32
}

fn place_of(slot: u64) -> usize {
    (slot & 0xffff_ffff) as usize - 1
}

/// Appends an integer, seven bits a byte, the lowest first. All bytes but the last one have the highest bit.
fn put(bytes: &mut Vec<u8>, mut value: u32) {
    while value > 0x7f {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Takes an integer from the beginning of some bytes.
fn take(bytes: &mut &[u8]) -> u32 {
    let (mut value, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}
