//! Detects the language of a text.
//!
//! Input: the text of a message. Output: a code of ISO 639-1, or nothing if there is too little text or it
//! could be two languages. Only the beginning is read, and only lines that the author wrote. Does not
//! depend on parts.
//!
//! Two libraries are used, because an index may have millions of messages: whichlang takes 5 us for what
//! takes whatlang 85 us, but it always answers, and knows 16 languages. If whichlang calls both halves of a
//! text English, or both the same one of the large languages, whatlang has to tell apart only a few
//! languages, or none.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::cut;
use crate::text::snippet::author_lines;
use whatlang::{Detector, Lang, Script};

/// Bytes of text that are read.
const SAMPLE_BYTES_MAX: usize = 1 << 10;
/// Bytes of text that whatlang reads.
const SHORT_BYTES_MAX: usize = 512;
/// Fewer letters are never certain. Letters of two bytes count as one, letters of three as one and a half:
/// scripts with more letters need fewer for a word.
const LETTER_COUNT_MIN: usize = 32;

/// Returns the language, or nothing if it is not certain.
pub(crate) fn language(text: &str) -> &'static str {
    let sample = sample(text);
    let ascii = sample.bytes().filter(u8::is_ascii_alphabetic).count();
    let wide = sample.bytes().filter(|byte| !byte.is_ascii()).count() / 2;
    if ascii.saturating_add(wide) < LETTER_COUNT_MIN {
        return "";
    }
    let agreed = agreed(&sample);
    if agreed == Some(whichlang::Lang::Eng) && whatlang::detect_script(&sample) == Some(Script::Latin) {
        return "en";
    }
    let detector =
        agreed.and_then(relatives).map_or_else(Detector::new, |few| Detector::with_allowlist(few.to_vec()));
    let found = detector.detect(cut(&sample, SHORT_BYTES_MAX));
    // An unreliable answer counts if both libraries agree.
    let is_sure = |info: &whatlang::Info| {
        info.is_reliable() || agreed.is_some_and(|agreed| agreed.three_letter_code() == info.lang().code())
    };
    found.filter(is_sure).map_or("", |info| code(info.lang()))
}

/// Returns the beginning of the lines that the author wrote, or of all text if there are none.
fn sample(text: &str) -> String {
    let mut sample = String::with_capacity(SAMPLE_BYTES_MAX);
    for line in author_lines(text) {
        let room = SAMPLE_BYTES_MAX.saturating_sub(sample.len().saturating_add(1));
        if room == 0 {
            break;
        }
        sample.push_str(cut(line, room));
        sample.push(' ');
    }
    if sample.trim_ascii().is_empty() { cut(text, SAMPLE_BYTES_MAX).to_owned() } else { sample }
}

/// Returns the language of both halves, if it is the same.
fn agreed(sample: &str) -> Option<whichlang::Lang> {
    let middle = sample.floor_char_boundary(sample.len() / 2);
    let (first, second) = sample.split_at_checked(middle)?;
    let language = whichlang::detect_language(first);
    (language == whichlang::detect_language(second)).then_some(language)
}

/// Returns the languages that such a text may be in: related ones, and English, for texts with many words
/// that belong to no language.
fn relatives(language: whichlang::Lang) -> Option<&'static [Lang]> {
    Some(match language {
        whichlang::Lang::Deu => &[Lang::Deu, Lang::Nld, Lang::Eng],
        whichlang::Lang::Nld => &[Lang::Nld, Lang::Afr, Lang::Deu, Lang::Eng],
        whichlang::Lang::Fra => &[Lang::Fra, Lang::Cat, Lang::Ron, Lang::Eng],
        whichlang::Lang::Ita => &[Lang::Ita, Lang::Ron, Lang::Lat, Lang::Eng],
        whichlang::Lang::Spa => &[Lang::Spa, Lang::Cat, Lang::Por, Lang::Eng],
        whichlang::Lang::Por => &[Lang::Por, Lang::Spa, Lang::Cat, Lang::Eng],
        _ => return None,
    })
}

/// Returns the ISO 639-1 code. whatlang has ISO 639-3 codes.
fn code(language: Lang) -> &'static str {
    match language {
        Lang::Afr => "af",
        Lang::Aka => "ak",
        Lang::Amh => "am",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Cym => "cy",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jav => "jv",
        Lang::Jpn => "ja",
        Lang::Kan => "kn",
        Lang::Kat => "ka",
        Lang::Khm => "km",
        Lang::Kor => "ko",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mal => "ml",
        Lang::Mar => "mr",
        Lang::Mkd => "mk",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        // The usual code for both kinds of Norwegian.
        Lang::Nob => "no",
        other => code_continued(other),
    }
}

fn code_continued(language: Lang) -> &'static str {
    match language {
        Lang::Ori => "or",
        Lang::Pan => "pa",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Sin => "si",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Sna => "sn",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tel => "te",
        Lang::Tgl => "tl",
        Lang::Tha => "th",
        Lang::Tuk => "tk",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Yid => "yi",
        Lang::Zul => "zu",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_known() {
        for (expected, text) in [
            (
                "en",
                "Dear colleagues, the meeting on Thursday has been moved to next week, \
                 because the room is not free.",
            ),
            (
                "de",
                "Liebe Kollegen, die Sitzung am Donnerstag ist leider auf die nächste \
                 Woche verschoben, weil der Raum nicht frei ist.",
            ),
            (
                "nl",
                "Beste allemaal, de vergadering van donderdag is helaas verplaatst naar \
                 volgende week, omdat de zaal niet vrij is.",
            ),
            (
                "fr",
                "Chers collègues, la réunion de jeudi est malheureusement reportée à la \
                 semaine prochaine, car la salle n'est pas libre.",
            ),
            (
                "pl",
                "Szanowni Państwo, w załączeniu przesyłam fakturę za usługi wykonane w \
                 zeszłym miesiącu. Proszę o potwierdzenie.",
            ),
            (
                "ru",
                "Уважаемые коллеги, встреча в четверг, к сожалению, перенесена на \
                 следующую неделю, потому что комната занята.",
            ),
            (
                "uk",
                "Шановні колеги, зустріч у четвер, на жаль, перенесено на наступний \
                 тиждень, бо кімната зайнята.",
            ),
            (
                "el",
                "Αγαπητοί συνάδελφοι, η συνάντηση της Πέμπτης δυστυχώς μεταφέρθηκε στην \
                 επόμενη εβδομάδα.",
            ),
            ("ja", "皆様、木曜日の会議は残念ながら来週に延期されました。部屋が空いていないためです。"),
            ("zh", "各位同事，周四的会议很遗憾推迟到下周，因为会议室没有空。请大家注意。"),
            ("ko", "여러분, 목요일 회의는 아쉽게도 다음 주로 연기되었습니다."),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn too_little_text_has_no_language() {
        for text in
            ["", "ok", "Thanks!", "12 34 56 78 90 12 34 56 78 90 12 34", "好的", "+++ --- @@ 1,2 3,4 @@"]
        {
            assert_eq!(language(text), "", "{text}");
        }
    }

    #[test]
    fn what_was_quoted_does_not_count() {
        let english = "> Dear colleagues, the meeting on Thursday has been moved to next week.\n".repeat(9);
        let own = "Das ist sehr schade, denn ich hätte mich gefreut, euch alle wiederzusehen. Bis bald!";
        assert_eq!(language(&format!("{english}\n{own}")), "de");
        assert_eq!(language(&english), "en");
    }

    #[test]
    fn every_language_has_a_code_of_two_letters() {
        let mut seen = std::collections::HashSet::new();
        for language in Lang::all() {
            assert_eq!(code(*language).len(), 2, "{language:?}");
            assert!(seen.insert(code(*language)), "{language:?}");
        }
    }
}
