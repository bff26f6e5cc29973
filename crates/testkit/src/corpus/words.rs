//! The words of ten languages, drawn with realistic frequencies: few words very often, most hardly ever
//! (Zipf).
//!
//! Input: a language and a [`Random`]. Output: words. Each list begins with real words; the others are built
//! from the language's syllables: a few thousand each, always the same. Does not depend on mail.

use crate::random::Random;
use std::collections::HashSet;
use std::sync::OnceLock;

/// A language of the generated mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
    French,
    Spanish,
    Polish,
    Russian,
    Greek,
    Chinese,
    Japanese,
    Korean,
}

/// How many words a language has.
const WORD_COUNT: usize = 6000;
/// The resolution of the frequencies. The rarest word of a list gets about one slot.
const SLOT_COUNT: usize = 1 << 16;
/// The seed of the built words. It is not an option, so the words are the same in all corpora.
const WORD_SEED: u64 = 0x006f_6c64_6d61_696c;

/// The material of a language.
struct Source {
    /// Real words, most frequent first, with spaces between.
    words: &'static str,
    /// Given names.
    given: &'static str,
    /// Beginnings and ends of syllables.
    onsets: &'static str,
    rhymes: &'static str,
    /// The charsets of its mail, from usual to rare.
    charsets: &'static [&'static str],
    /// The separator of words.
    gap: &'static str,
}

/// The words of one language.
pub(super) struct Vocabulary {
    words: Vec<String>,
    slots: Vec<u16>,
    /// Given names.
    pub(super) given: Vec<&'static str>,
    /// The charsets of its mail, from usual to rare.
    pub(super) charsets: &'static [&'static str],
    /// The separator of words: empty in Chinese and Japanese.
    pub(super) gap: &'static str,
}

impl Vocabulary {
    /// Returns a word. Frequent words come more often.
    pub(super) fn word(&self, random: &mut Random) -> &str {
        &self.words[usize::from(self.slots[random.index(SLOT_COUNT)])]
    }

    /// Returns one of the built words, all with the same probability: good for names.
    pub(super) fn rare_word(&self, random: &mut Random) -> &str {
        &self.words[1000 + random.index(WORD_COUNT - 1000)]
    }
}

/// Returns the words of `language`, built at the first call.
pub(super) fn vocabulary(language: Language) -> &'static Vocabulary {
    static ALL: [OnceLock<Vocabulary>; 10] = [const { OnceLock::new() }; 10];
    ALL[language as usize].get_or_init(|| build(source(language), language as u64))
}

/// Draws a language: over half of the mail is English.
pub(super) fn draw_language(random: &mut Random) -> Language {
    match random.below(100) {
        0..58 => Language::English,
        58..69 => Language::German,
        69..77 => Language::French,
        77..83 => Language::Spanish,
        83..86 => Language::Polish,
        86..92 => Language::Russian,
        92..94 => Language::Greek,
        94..97 => Language::Chinese,
        97..99 => Language::Japanese,
        _ => Language::Korean,
    }
}

fn build(source: &Source, number: u64) -> Vocabulary {
    let mut words: Vec<String> = Vec::with_capacity(WORD_COUNT);
    let mut known = HashSet::with_capacity(WORD_COUNT);
    words.extend(
        source.words.split_whitespace().filter(|word| known.insert((*word).to_owned())).map(str::to_owned),
    );
    let onsets: Vec<&str> = source.onsets.split_whitespace().collect();
    let rhymes: Vec<&str> = source.rhymes.split_whitespace().collect();
    let mut random = Random::of(WORD_SEED, number, 0);
    while words.len() < WORD_COUNT {
        let syllables = 2 + u64::from(random.per_mille(450)) + u64::from(random.per_mille(150));
        let word: String =
            (0..syllables).flat_map(|_| [*random.pick(&onsets), *random.pick(&rhymes)]).collect();
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    let given = source.given.split_whitespace().collect();
    Vocabulary { slots: zipf_slots(), words, given, charsets: source.charsets, gap: source.gap }
}

/// Returns word numbers with the frequencies of Zipf and Mandelbrot: `1 / (rank + 2.7)`.
fn zipf_slots() -> Vec<u16> {
    let weight = |rank: u16| 1.0 / (f64::from(rank) + 2.7);
    let last = u16::try_from(WORD_COUNT - 1).expect("a word number fits in 16 bits");
    let total: f64 = (0..=last).map(weight).sum();
    let mut slots = Vec::with_capacity(SLOT_COUNT);
    let (mut rank, mut reached) = (0, weight(0));
    for slot in 0..u32::try_from(SLOT_COUNT).expect("65,536") {
        let wanted = (f64::from(slot) + 0.5) / f64::from(1 << 16) * total;
        while reached < wanted && rank < last {
            rank += 1;
            reached += weight(rank);
        }
        slots.push(rank);
    }
    slots
}

fn source(language: Language) -> &'static Source {
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        Language::Polish => &POLISH,
        Language::Russian => &RUSSIAN,
        Language::Greek => &GREEK,
        Language::Chinese => &CHINESE,
        Language::Japanese => &JAPANESE,
        Language::Korean => &KOREAN,
    }
}

const ENGLISH: Source = Source {
    words: "the to and of a in is that for it on you this with be we have are not as I at will from or if
        can but by all an was so there what would do your which when they one our out no up more has about
        just my any should some like time new get also been how only use then make who them now than think
        work could into may see good know over want here after because need last back these does first
        please thanks still code meeting patch file system problem report version change test list mail
        message server project question release build send today tomorrow week month budget invoice order
        customer contract review update issue draft schedule agenda minutes travel ticket hotel train flight
        dinner lunch coffee garden house school doctor appointment photos birthday weekend holiday summer
        winter recipe library book concert music film kernel driver module memory device buffer thread
        process queue lock cache index query table column archive backup restore snapshot storage network
        packet router address domain certificate password key signature letter parcel post office courier
        delivery tube pressure station capsule answer reply forward attached regards sincerely kind best
        cheers morning evening afternoon Monday Tuesday Wednesday Thursday Friday Saturday Sunday January
        February March April May June July August September October November December price offer payment
        account bank tax insurance salary office phone number street city country client proposal deadline
        milestone feature bug fix error warning crash log trace commit branch merge deploy monitor alert
        capacity latency throughput benchmark measurement figure result analysis paper conference talk
        slides abstract author editor chapter section page line word sentence paragraph",
    given: "Ada Alan Clara Edith George Grace Harriet Henry Mabel Oscar Ruth Walter Winifred Arthur Florence
        Edgar",
    onsets: "b c d f g h l m n p r s t v w br cl dr fl gr pl pr st tr th sh ch",
    rhymes: "a e i o u an en in on er ar or al el ing ess ent ate ine ous ern ick ove ame ild ound",
    charsets: &["us-ascii", "us-ascii", "us-ascii", "utf-8", "utf-8", "windows-1252", "iso-8859-1"],
    gap: " ",
};

const GERMAN: Source = Source {
    words: "die der und in zu den das nicht von sie ist des sich mit dem dass er es ein ich auf so eine auch
        als an nach wie im für man aber aus durch wenn nur war noch werden bei hat wir was wird sein einen
        welche sind oder zur um haben einer mir über ihm diese einem ihr uns da zum kann doch vor dieser
        mich ihn du hatte seine mehr am denn nun unter sehr selbst schon hier bis habe ihre dann ihnen
        seiner alle wieder Grüße Rechnung Angebot Besprechung Anhang Entwurf Änderung Überprüfung Straße
        Bücher Rohrpost Brief Schlüssel größer Verfügung Prüfung Gespräch später können möchte würde müssen
        schön",
    given: "Anna Björn Frieda Günter Jürgen Käthe Lotte Max Otto Ursula",
    onsets: "b d f g h k l m n r s t w z sch st br kr pf tr qu",
    rhymes: "a e i o u ä ö ü ei au eu ie en er un ich ung eit aft ich uß",
    charsets: &["utf-8", "iso-8859-1", "iso-8859-15", "windows-1252"],
    gap: " ",
};

const FRENCH: Source = Source {
    words:
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont nous
        avec son mais on été cette comme ont ou leur elle aux deux même ses tout bien entre fait sans peut
        très réunion facture commande pièce jointe déjà où être après général élève château garçon noël été
        français lettre pneumatique bonjour merci cordialement demain matin soir semaine année février août
        décembre",
    given: "Aurélie Chloé Élise François Hélène Jérôme Noémie René Théo Zoé",
    onsets: "b c d f g j l m n p r s t v ch br cl gr pr tr qu",
    rhymes: "a e i o u é è ê ai eau oi ou an on in eur ette ique ance ère ation ois",
    charsets: &["utf-8", "iso-8859-1", "iso-8859-15", "windows-1252"],
    gap: " ",
};

const SPANISH: Source = Source {
    words: "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha
        me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta
        desde está mi reunión factura mañana señor niño corazón árbol canción información según días aquí
        así después país gracias saludos carta correo oficina semana lunes miércoles sábado enero próximo
        teléfono",
    given: "Álvaro Begoña Inés Íñigo José Lucía María Raúl Sofía Tomás",
    onsets: "b c d f g j l m n ñ p r s t v ch ll br tr pr gr",
    rhymes: "a e i o u á é í ó ú an en ar er ir os as ción dad ero illo eza ura ante",
    charsets: &["utf-8", "iso-8859-1", "windows-1252"],
    gap: " ",
};

const POLISH: Source = Source {
    words:
        "i w nie na się z do to że jest o jak ale za po co tak od jego już czy być tylko przez który tym dla
        był ich może też są tego bardzo jeszcze kiedy spotkanie faktura zamówienie dziękuję proszę święta
        łódź źródło książka pięć środa tydzień miesiąc załącznik pozdrawiam list poczta",
    given: "Agnieszka Bożena Grażyna Jerzy Łukasz Małgorzata Paweł Stanisław",
    onsets: "b c d g k l ł m n p r s t w z ż cz sz rz prz krz st",
    rhymes: "a e i o u y ą ę ó ać eć ować nie ość ka ek owy ego ami",
    charsets: &["utf-8", "iso-8859-2", "windows-1250"],
    gap: " ",
};

const RUSSIAN: Source = Source {
    words: "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой от как так
        для вы же год о один такой или если только его бы себя ещё другой когда уже человек при время дело
        письмо встреча счёт договор вложение спасибо привет завтра неделя почта ответ вопрос отчёт проект
        версия город дом книга музыка понедельник среда январь июль ёлка",
    given: "Анна Борис Екатерина Иван Мария Николай Ольга Пётр",
    onsets: "б в г д ж з к л м н п р с т ф х ц ч ш пр ст тр кр вл",
    rhymes: "а е ё и о у ы э ю я ой ый ние ость ить ать ок ец ель ами ого",
    charsets: &["utf-8", "koi8-r", "windows-1251", "utf-8"],
    gap: " ",
};

const GREEK: Source = Source {
    words:
        "και το να του η της με που την από για είναι των σε ο οι στο θα τα τη δεν στην ένα τον ότι μια ήταν
        ή τους στη αλλά αν ως μας αυτό επιστολή συνάντηση τιμολόγιο ευχαριστώ καλημέρα αύριο εβδομάδα γράμμα
        ταχυδρομείο απάντηση ερώτηση βιβλίο μουσική σπίτι πόλη",
    given: "Αθηνά Γιώργος Ελένη Κώστας Μαρία Νίκος Σοφία Γιάννης",
    onsets: "β γ δ ζ θ κ λ μ ν π ρ σ τ φ χ στ πρ τρ κρ",
    rhymes: "α ε η ι ο υ ω ά έ ή ί ό ύ ώ ος ης ας ια ου ων εια ικό",
    charsets: &["utf-8", "iso-8859-7", "windows-1253"],
    gap: " ",
};

const CHINESE: Source = Source {
    words: "的 是 在 了 我们 你 他 这 不 有 和 人 中 大 为 上 个 国 以 到 说 时 要 就 出 会 可 也 对 生 能 邮件 会议 发票 合同 附件 谢谢 您好 明天 星期 项目 问题
        报告 版本 测试 地址 电话 城市 音乐 图书 北京 上海",
    given: "明 建国 小红 志强 海燕 文华 秀英",
    onsets: "安 白 北 本 成 大 东 方 高 公 国 海 和 华 家 建 江 金 开 李",
    rhymes: "明 南 平 前 清 人 山 水 天 王 文 西 新 学 一 永 有 中 子 作",
    charsets: &["utf-8", "gbk", "gb18030", "utf-8"],
    gap: "",
};

const JAPANESE: Source = Source {
    words: "の に は を た が で て と し れ さ ある いる も する から な こと として い や など なっ ない この ため その 会議 請求書 添付 明日 来週 ありがとう
        お願いします メール 手紙 郵便 サーバー テスト 報告 東京 京都 音楽 電話 問題",
    given: "さくら 太郎 花子 健一 ゆき 直子",
    onsets: "あ か さ た な は ま や ら わ が ざ だ ば カ サ タ ナ ハ マ",
    rhymes: "い き し ち に ひ み り う く す つ ン ル ト ス 本 山 川 田",
    charsets: &["utf-8", "iso-2022-jp", "shift_jis", "iso-2022-jp"],
    gap: "",
};

const KOREAN: Source = Source {
    words: "이 그 저 것 수 등 들 및 에서 있는 하는 그리고 회의 계약 첨부 감사합니다 안녕하세요 내일 다음 주 편지 우편 서버 시험 보고 서울 음악 전화 문제 질문 답장",
    given: "민준 서연 지우 현우 은영 수진",
    onsets: "가 나 다 라 마 바 사 아 자 차 카 타 파 하 고 노 도 로",
    rhymes: "각 간 남 당 람 만 산 성 원 정 준 진 희 은 을 는 에 서",
    charsets: &["utf-8", "euc-kr"],
    gap: " ",
};

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::Encoding;

    const ALL: [Language; 10] = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Polish,
        Language::Russian,
        Language::Greek,
        Language::Chinese,
        Language::Japanese,
        Language::Korean,
    ];

    #[test]
    fn every_word_can_be_written_in_every_charset_of_its_language() {
        for language in ALL {
            let vocabulary = vocabulary(language);
            assert_eq!(vocabulary.words.len(), WORD_COUNT);
            for label in vocabulary.charsets.iter().filter(|&&label| label != "us-ascii") {
                let encoding = Encoding::for_label(label.as_bytes()).unwrap();
                for word in
                    vocabulary.words.iter().map(String::as_str).chain(vocabulary.given.iter().copied())
                {
                    let (bytes, used, lost) = encoding.encode(word);
                    assert!(!lost, "{word} cannot be written in {label}");
                    assert_eq!(used.decode(&bytes).0, word);
                }
            }
        }
    }

    #[test]
    fn few_words_are_frequent_and_most_are_rare() {
        let words = vocabulary(Language::English);
        let mut random = Random::new(1);
        let mut counts = std::collections::HashMap::new();
        for _ in 0..100_000 {
            *counts.entry(words.word(&mut random)).or_insert(0_u32) += 1;
        }
        assert!((3800..6000).contains(&counts["the"]), "{}", counts["the"]);
        assert!(counts["the"] > 2 * counts["in"]);
        assert!((4000..6000).contains(&counts.len()), "{}", counts.len());
        assert!(counts.values().filter(|&&count| count < 10).count() > 2500);
    }
}
