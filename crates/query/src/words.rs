//! The tokenizer, so that indexing and searching split text into the same words. Input: text. Output: folded
//! words in order, each with its position. Knows nothing of fields, queries or the text index.
//!
//! Whatever is not a letter or digit separates words, so `foo_bar` is two and an address is several. Chinese,
//! Japanese and Korean text has no separators: a run of it becomes overlapping pairs of characters (a run of
//! one character, that one), so that any two characters next to each other can be found. A word longer than
//! `WORD_BYTES_MAX` is cut there.
//!
//! A few signs make another word of a word in ASCII: `c++`, `a+`, `c#`, `.net` (`tail`, `is_dotted`). Such a
//! word comes right after the bare one and has its position, so that `c` finds `c++` too, and phrases hold
//! either.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use unicode_normalization::char::is_combining_mark;

use crate::fold::{fold_into, is_ignorable};
use crate::limits::{SIGNED_WORD_BYTES_MAX, WORD_BYTES_MAX};

/// The words of a text, in order.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    /// The rest of the text.
    rest: &'a str,
    /// A stretch of letters that are not all ASCII, folded.
    folded: String,
    /// How much of `folded` was handed out, in bytes.
    folded_offset: usize,
    /// Whether the character at `folded_offset` was already the second of a pair.
    paired: bool,
    /// The next word's position.
    position: u32,
    /// Whether nothing but separators was seen yet.
    is_at_start: bool,
    /// The word just handed out, which comes again with its signs.
    signed: &'a str,
    /// Whether it comes again with a dot before it.
    has_dot: bool,
    /// The signs after it, with which it is repeated as another word; empty if there are none.
    tail: &'static str,
}

/// One folded word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Its place among the words of the text, from 0.
    pub position: u32,
}

/// Returns the words of a text.
pub fn words(text: &str) -> Words<'_> {
    Words {
        rest: text,
        folded: String::new(),
        folded_offset: 0,
        paired: false,
        position: 0,
        is_at_start: true,
        signed: "",
        has_dot: false,
        tail: "",
    }
}

/// What a dot before a word means in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dot {
    /// It belongs to the word, as in `.net`.
    IsPart,
    /// It separates, as in addresses and in names of files.
    Separates,
}

/// Returns the words that a text searches for. Of a word that also comes with its signs, only the latter.
pub fn asked_words(text: &str, dot: Dot) -> impl Iterator<Item = Word> {
    let wanted = move |word: &Word| dot == Dot::IsPart || !word.text.starts_with('.');
    let mut all = words(text).filter(wanted).peekable();
    std::iter::from_fn(move || {
        let mut word = all.next()?;
        while let Some(signed) = all.next_if(|next| next.position == word.position) {
            word = signed;
        }
        Some(word)
    })
}

/// Returns whether the character is of a script that is written without spaces and indexed in pairs.
pub fn is_paired_script(c: char) -> bool {
    matches!(c,
        // Hangul letters, radicals, kana, bopomofo, more Hangul letters and Han, Hangul syllables, halfwidth
        // forms.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303c}'
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{3131}'..='\u{318e}'
        | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
}

impl<'a> Words<'a> {
    /// Appends the next word to `words`, in UTF-8, and returns its position. Does not allocate for ASCII once
    /// `words` is large enough.
    pub fn next_onto(&mut self, words: &mut Vec<u8>) -> Option<u32> {
        if self.next_signed(words) {
            return Some(self.position.saturating_sub(1));
        }
        loop {
            if self.next_folded(words) {
                break;
            }
            let (stretch, is_ascii) = self.next_stretch()?;
            if is_ascii {
                words.extend(cut(stretch).bytes().map(|byte| byte.to_ascii_lowercase()));
                break;
            }
            self.folded.clear();
            self.folded_offset = 0;
            fold_into(stretch, &mut self.folded);
        }
        let position = self.position;
        self.position = position.saturating_add(1);
        Some(position)
    }

    /// Takes the next letters and digits that no separator parts, unfolded. Says whether all are ASCII.
    fn next_stretch(&mut self) -> Option<(&'a str, bool)> {
        let (separator, rest) = self.rest.split_at_checked(self.next_start()?)?;
        // Most text is ASCII: look at bytes first, at characters only from the first other byte on.
        let ascii = rest.bytes().take_while(|byte| kind(*byte) == Kind::Letter).count();
        let (_, behind) = rest.split_at_checked(ascii)?;
        let more = match behind.bytes().next() {
            Some(byte) if !byte.is_ascii() => behind.find(|c| !is_inside(c)).unwrap_or(behind.len()),
            _ => 0,
        };
        let (stretch, rest) = rest.split_at_checked(ascii.saturating_add(more))?;
        self.rest = rest;
        if more == 0 && stretch.len() <= SIGNED_WORD_BYTES_MAX {
            self.signed = stretch;
            self.has_dot = is_dotted(separator, self.is_at_start);
            self.tail = tail(rest);
        }
        self.is_at_start = false;
        Some((stretch, more == 0))
    }

    /// Returns where the next letter or digit is.
    fn next_start(&self) -> Option<usize> {
        let mut start: usize = 0;
        loop {
            let rest = self.rest.get(start..)?;
            let separators = rest.bytes().take_while(|byte| kind(*byte) == Kind::Separator).count();
            start = start.saturating_add(separators);
            let next = rest.get(separators..)?.chars().next()?;
            if next.is_alphanumeric() {
                return Some(start);
            }
            start = start.saturating_add(next.len_utf8());
        }
    }

    /// Takes the word just handed out once more, with its signs.
    fn next_signed(&mut self, words: &mut Vec<u8>) -> bool {
        let (dot, tail) =
            if std::mem::take(&mut self.has_dot) { (".", "") } else { ("", std::mem::take(&mut self.tail)) };
        if dot.is_empty() && tail.is_empty() {
            return false;
        }
        let all = [dot, self.signed, tail];
        words.extend(all.iter().flat_map(|part| part.bytes()).map(|byte| byte.to_ascii_lowercase()));
        true
    }

    /// Takes the next word from the folded stretch.
    fn next_folded(&mut self, words: &mut Vec<u8>) -> bool {
        loop {
            let rest = self.folded.get(self.folded_offset..).unwrap_or("");
            let mut chars = rest.chars();
            let Some(first) = chars.next() else { return false };
            let mut taken = first.len_utf8();
            let mut word = "";
            if is_paired(first) {
                let second = chars.next().filter(|c| is_paired(*c));
                let was_paired = std::mem::replace(&mut self.paired, second.is_some());
                if second.is_some() || !was_paired {
                    let length = taken.saturating_add(second.map_or(0, char::len_utf8));
                    word = rest.get(..length).unwrap_or("");
                }
            } else if first.is_alphanumeric() {
                taken = rest.find(|c| !is_inside(c) || is_paired(c)).unwrap_or(rest.len());
                word = cut(rest.get(..taken).unwrap_or(""));
            }
            self.folded_offset = self.folded_offset.saturating_add(taken);
            if !word.is_empty() {
                words.extend_from_slice(word.as_bytes());
                return true;
            }
        }
    }
}

/// What a byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter or digit in ASCII.
    Letter,
    /// Anything else in ASCII.
    Separator,
    /// Part of another character.
    Other,
}

fn kind(byte: u8) -> Kind {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Kind::Letter,
        0..0x80 => Kind::Separator,
        0x80.. => Kind::Other,
    }
}

/// Says whether a dot at the end of what stands before a word belongs to it: where a word, a call or a
/// pattern ends before the dot, the dot separates (`example.net`, `f().net`, `*.net`), and so it does behind
/// another dot.
fn is_dotted(separator: &str, is_at_start: bool) -> bool {
    // This is asked for each word, and comparing one byte is much less than comparing strings.
    if separator.as_bytes().last() != Some(&b'.') {
        return false;
    }
    match separator.chars().rev().nth(1) {
        None => is_at_start,
        Some(c) => !goes_on(c) && !matches!(c, '.' | ')' | ']' | '}' | '_' | '*'),
    }
}

/// Returns the signs that belong to a word, from what follows it. Those of calculations, addresses and code
/// do not: `a+b`, `bob+list@example.org`, `x+=1`, `page.html#top`.
fn tail(rest: &str) -> &'static str {
    let following = |length: usize| rest.get(length..).and_then(|rest| rest.chars().next());
    match rest.as_bytes() {
        [b'+', b'+', ..] if following(2).is_none_or(|c| c != '+' && !c.is_alphabetic()) => "++",
        [b'+', ..] if following(1).is_none_or(|c| !c.is_alphanumeric() && !"+=([{$&%@_<\\".contains(c)) => {
            "+"
        }
        [b'#', ..] if following(1).is_none_or(|c| !c.is_alphanumeric() && !"#=_".contains(c)) => "#",
        _ => "",
    }
}

/// Returns as much of a word as is indexed.
fn cut(word: &str) -> &str {
    word.get(..word.floor_char_boundary(WORD_BYTES_MAX)).unwrap_or(word)
}

/// Returns whether the character is indexed in pairs. Characters of those scripts that are not letters
/// separate words.
pub fn is_paired(c: char) -> bool {
    is_paired_script(c) && c.is_alphanumeric()
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let mut text = Vec::new();
        let position = self.next_onto(&mut text)?;
        Some(Word { text: String::from_utf8(text).unwrap_or_default(), position })
    }
}

/// Returns whether a word that has begun goes on with this character.
pub fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || goes_on(c)
}

/// Returns whether the character belongs to the letter before it: no word begins with it.
pub(crate) fn goes_on(c: char) -> bool {
    !c.is_alphanumeric() && (is_combining_mark(c) || is_ignorable(c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fold::fold;

    fn split(text: &str) -> Vec<String> {
        words(text).map(|word| word.text).collect()
    }

    #[test]
    fn text_in_words() {
        for (text, expected) in [
            ("", &[][..]),
            (" -- ", &[]),
            ("Hello, World!", &["hello", "world"]),
            ("foo_bar", &["foo", "bar"]),
            ("Bob.O'Neil+x@mail.example.org", &["bob", "o", "neil", "x", "mail", "example", "org"]),
            ("http://example.org/a?b=1", &["http", "example", "org", "a", "b", "1"]),
            ("12:30", &["12", "30"]),
            ("Ångström's", &["angstrom", "s"]),
            ("A\u{30a}ngstro\u{308}m", &["angstrom"]),
            ("co\u{ad}operate naïve", &["cooperate", "naive"]),
            ("foo™ ½ 1⁄2", &["foo", "1", "2", "1", "2"]),
            ("日", &["日"]),
            ("日本", &["日本"]),
            ("日本語", &["日本", "本語"]),
            ("日本語。テスト", &["日本", "本語", "テス", "スト"]),
            ("ﾃｽﾄ", &["テス", "スト"]),
            ("がぎぐ か\u{3099}", &["がぎ", "ぎぐ", "が"]),
            ("한국어", &["한국", "국어"]),
            ("iPhone手机壳x", &["iphone", "手机", "机壳", "x"]),
            ("日 本語", &["日", "本語"]),
            ("हिन्दी में", &["हिन्दी", "में"]),
            ("🦀", &[]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn signs_make_another_word_of_a_word() {
        for (text, expected) in [
            ("C++", &["c", "c++"][..]),
            ("c++11, G++.", &["c", "c++", "11", "g", "g++"]),
            ("Notepad++/C#/.NET", &["notepad", "notepad++", "c", "c#", "net", ".net"]),
            ("an A+ from Google+\n", &["an", "a", "a+", "from", "google", "google+"]),
            (
                ".bashrc ~/.ssh (.net) \".so\"",
                &["bashrc", ".bashrc", "ssh", ".ssh", "net", ".net", "so", ".so"],
            ),
            (".c++", &["c", ".c", "c++"]),
            ("a+b x+=1 f+(y) bob+x@y", &["a", "b", "x", "1", "f", "y", "bob", "x", "y"]),
            ("c+++ c++ish c+++", &["c", "c", "ish", "c"]),
            ("bug#12 a.html#top x#_y c##", &["bug", "12", "a", "html", "top", "x", "y", "c"]),
            (
                "example.net f().net a[0].net *.net ...net _.net",
                &["example", "net", "f", "net", "a", "0", "net", "net", "net", "net"],
            ),
            ("#include + ++ # .", &["include"]),
            ("caf\u{e9}++ \u{e9}+ .\u{e9}t\u{e9} c\u{301}++", &["cafe", "e", "ete", "c"]),
            ("日本++ .日本 c++日", &["日本", "日本", "c", "日"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_with_signs_has_the_position_of_the_bare_one() {
        let all: Vec<(String, u32)> = words("a .NET c++ b").map(|word| (word.text, word.position)).collect();
        let expected = [("a", 0), ("net", 1), (".net", 1), ("c", 2), ("c++", 2), ("b", 3)];
        assert_eq!(all, expected.map(|(word, position)| (word.to_owned(), position)));
    }

    #[test]
    fn a_word_that_is_asked_for_with_signs_is_no_other() {
        let asked = |text, dot| asked_words(text, dot).map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(asked("c++ code in .NET", Dot::IsPart), ["c++", "code", "in", ".net"]);
        assert_eq!(asked("c++ code in .NET", Dot::Separates), ["c++", "code", "in", "net"]);
        assert_eq!(asked(".c++", Dot::IsPart), ["c++"]);
        assert_eq!(asked("example.net", Dot::IsPart), ["example", "net"]);
    }

    #[test]
    fn long_words_have_no_signs() {
        let longest = "a".repeat(SIGNED_WORD_BYTES_MAX);
        assert_eq!(split(&format!("{longest}+")), [longest.clone(), format!("{longest}+")]);
        assert_eq!(split(&format!(".{longest}a+")), [format!("{longest}a")]);
    }

    #[test]
    fn positions_count_words() {
        let positions: Vec<u32> = words("a 日本語 b").map(|word| word.position).collect();
        assert_eq!(positions, [0, 1, 2, 3]);
    }

    #[test]
    fn long_words_are_cut_at_a_character() {
        let longest = "a".repeat(WORD_BYTES_MAX);
        assert_eq!(split(&longest), [longest.as_str()]);
        assert_eq!(split(&format!("{longest}b c")), [&longest, "c"]);
        assert_eq!(split(&format!("a{} c", "д".repeat(100))), [&format!("a{}", "д".repeat(31)), "c"]);
    }

    #[test]
    fn words_are_appended() {
        let (mut all, mut joined) = (words("One två Drei"), b"zero".to_vec());
        let positions: Vec<u32> = std::iter::from_fn(|| all.next_onto(&mut joined)).collect();
        assert_eq!((positions, &joined[..]), (vec![0, 1, 2], &b"zeroonetvadrei"[..]));
    }

    /// Returns what a word of ASCII comes again as. The signs are found as people would: by what stands on
    /// either side.
    fn with_signs(text: &str, piece: &str) -> Vec<String> {
        let start = (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let (before, rest) = text.split_at(start);
        let behind = &rest[piece.len()..];
        let folded = piece.to_ascii_lowercase();
        let mut found = Vec::new();
        if !piece.is_ascii() || piece.len() > SIGNED_WORD_BYTES_MAX {
            return found;
        }
        if let Some(before) = before.strip_suffix('.')
            && !before.ends_with(['.', ')', ']', '}', '_', '*'])
            && !before.ends_with(is_inside)
        {
            found.push(format!(".{folded}"));
        }
        let follows = |sign: &str, refused: &str| {
            behind.strip_prefix(sign).is_some_and(|rest| !rest.starts_with(|c| refused.contains(c)))
        };
        let starts = |length: usize, test: fn(char) -> bool| behind.chars().nth(length).is_some_and(test);
        if follows("++", "+") && !starts(2, char::is_alphabetic) {
            found.push(format!("{folded}++"));
        } else if follows("+", "+=([{$&%@_<\\") && !starts(1, char::is_alphanumeric) {
            found.push(format!("{folded}+"));
        } else if follows("#", "#=_") && !starts(1, char::is_alphanumeric) {
            found.push(format!("{folded}#"));
        }
        found
    }

    /// The slow and obvious twin: separators out, fold each piece, split again, then pairs.
    fn split_naively(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for piece in text.split(|c: char| !is_inside(c)) {
            let Some(start) = piece.find(char::is_alphanumeric) else { continue };
            let folded: Vec<char> = fold(&piece[start..]).chars().collect();
            let paired = |c: &char| is_paired_script(*c) && c.is_alphanumeric();
            for run in folded.chunk_by(|a, b| paired(a) == paired(b)) {
                if run.len() > 1 && run.iter().all(paired) {
                    found.extend(run.windows(2).map(String::from_iter));
                    continue;
                }
                for word in run.split(|c| !is_inside(*c)) {
                    let word = String::from_iter(word.iter().skip_while(|c| !c.is_alphanumeric()));
                    found.push(word[..word.floor_char_boundary(WORD_BYTES_MAX)].to_owned());
                }
            }
            found.extend(with_signs(text, &piece[start..]));
        }
        found.retain(|word| !word.is_empty());
        found
    }

    /// Text of many scripts, separators and signs.
    fn texts() -> impl Strategy<Value = String> {
        let ascii = "[a-zA-Z0-9 _.@-]{0,90}";
        let signs = "[a-c1é.+#)*_=\n -]{0,20}";
        let paired = "[ぁ-ん一-俿가-깋ａ-ｚäßéø\u{300}-\u{308}ㄱ-ㄵ -]{0,9}";
        prop::collection::vec(prop_oneof!["\\PC{0,8}", ascii, signs, paired], 0..4)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_naive_twin(text in texts()) {
            prop_assert_eq!(split(&text), split_naively(&text));
        }

        #[test]
        fn a_word_asks_for_itself_alone(text in "\\PC{0,30}|[a-c.+# é]{0,20}") {
            for word in split(&text) {
                let asked: Vec<String> = asked_words(&word, Dot::IsPart).map(|word| word.text).collect();
                prop_assert_eq!(asked, [word.as_str()]);
            }
        }
    }
}
