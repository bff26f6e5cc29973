//! Words in many languages, whose order shows how a collation works.

/// Returns words: some are equal in some collations, some differ only in accents, in case, or in their form
/// of Unicode.
pub(crate) fn words() -> Vec<String> {
    let mut words: Vec<String> =
        LANGUAGES.iter().flat_map(|line| line.split(' ')).map(str::to_owned).collect();
    words.extend(SPECIAL.iter().map(|&word| word.to_owned()));
    words.sort();
    words.dedup();
    words
}

const LANGUAGES: [&str; 35] = [
    // English, with digits.
    "apple Apple APPLE apples zebra Zebra résumé resume Resume co-op \
     coop Coop file1 file2 file10 file02 10 9 1 2",
    // French.
    "cote côte coté côté Côte élève eleve ÉLÈVE œuvre oeuvre Oeuvre noël noel été ete aigu aiguë maïs mais",
    // German.
    "Straße Strasse straße STRASSE Ärger arger Aerger ärger Öl \
     Ol Oel über uber ueber Müller Mueller Muller ẞ ss",
    // Swedish and Finnish.
    "vän wän van wan åka aka älv alv öga oga ångström angstrom Åland zon visa wisa vas was",
    // Danish and Norwegian.
    "aalborg Aalborg Ålborg ålborg ærlig aerlig østers osters Aarhus Århus AA aa Aa å Å fjord",
    // Czech and Slovak.
    "chata Chata cukr čas cas hora ihla řeka reka žena zena šach sach ďábel dabel ch c h i ů u ú",
    // Polish.
    "łódź lodz Łódź ćma cma żaba zaba źródło zrodlo ąb ab ęb eb ńb nb ób ob śb sb",
    // Turkish and Azerbaijani.
    "ılık ilik İzmir izmir Izmir ISPARTA ısparta çay cay şeker seker ğ g ö o ü u dağ dag",
    // Spanish.
    "ñandú nandu llama luna lado chico cosa dado año ano niño nino mañana manana Ñu nu ch ll cz",
    // Hungarian.
    "csak cukor dzsungel dzeta gyerek galamb lyuk labda nyár nap szép \
     só tyúk tál zseb zab ccs cscs őr or űr ur",
    // Romanian, Croatian, Albanian, Maltese.
    "țară tara șarpe sarpe țânc inimă îngheț ljeto luka njuh \
     nula džep dan đak dhe dora gjak gur ħobż hobz għar",
    // Estonian, Latvian, Lithuanian.
    "õhk ohk žest šokk zoo šaahk ķirsis kirsis ģimene gimene ļoti loti yra ilgas įdomus idomus ėda eda",
    // Icelandic, Faroese, Welsh, Esperanto.
    "þorn thorn ðað dad ýta yta ddraig dafad ffordd fel llan lan rhys rys ĉu cu ĝi gi ŭa ua",
    // Greek.
    "αβγ Αθήνα αθηνα ΑΘΗΝΑ άλφα αλφα ὀδός οδός οδος σοφός σοφοσ ϊ ΐ ι ω ώ Ω",
    // Russian.
    "ёлка елка Ёлка еда ель яблоко Яблоко йод иод борщ БОРЩ ъ ь ы объект обект щука",
    // Ukrainian and Belarusian.
    "ґанок ганок їжак іжак ієрархія єдність ёсць ўсё усе мʼята м'ята гай ґрунт",
    // Serbian, Macedonian, Kazakh.
    "љубав лубав њива нива џеп ђак ћуд ќерка ѓон ѕид әке аке ғалым галым қала кала ұл үй",
    // Hebrew.
    "שלום שָׁלוֹם אבא אַבָּא תורה כלב ךלב מים יין",
    // Arabic, Persian, Urdu.
    "كتاب كِتَاب أحمد احمد آدم ادم إسلام مدرسة مدرسه پدر چشم ژاله گل یک يك کتاب ہاتھ",
    // Hindi, Marathi, Nepali.
    "हिन्दी हिंदी कमल कमाल क क़ अंक अङ्क ऑफिस ज्ञान त्रिशूल श्री ळ",
    // Bengali, Punjabi, Gujarati, Tamil, Telugu, Kannada, Malayalam, Sinhala.
    "বাংলা অংশ ড় ড ਪੰਜਾਬ ગુજરાતી தமிழ் க்ஷ తెలుగు ಕನ್ನಡ മലയാളം ൺ සිංහල ඥ ජ්ඤ",
    // Thai and Lao.
    "ไทย กา ก่า เก แก ไก ข้าว เขา ขา น้ำ นำ ฯลฯ ລາວ ເກ ກາ",
    // Korean.
    "한국 한글 가나 각 간 갂 가 ㄱ 大韓 나라 하늘",
    // Japanese.
    "かな カナ ｶﾅ がな ガナ かー カー カア はは ハハ ばば ぱぱ さっか さつか きゃく きやく 日本 日本語 東京 漢字 仮名 亜 一",
    // Chinese.
    "中文 北京 上海 阿 安 一 丁 乙 七 重庆 张 王 李 赵 龍 龙 國 国 ㄅㄆ ㄓ",
    // Vietnamese.
    "ma má mà mả mã mạ ăn an ân đi di ơn on ưa ua êm em Đà Da thế the",
    // Georgian, Armenian, Amharic.
    "საქართველო ქართული Ქართული հայերեն և եւ Եվ አማርኛ ሀ ሐ",
    // African and Hawaiian.
    "ɛka eka ɔba oba ŋa na ƙasa kasa ɗan dan ʻāina aina āina ọba ṣe se gba ga",
    // Sanskrit, Burmese, Khmer, Tibetan.
    "संस्कृतम् मराठी မြန်မာ ခ္မ ខ្មែរ ភាសា བོད་ཡིག",
    // Emoji and symbols.
    "😀 😃 👍 👍🏽 ❤️ ❤ ☀ ☂ 👨‍👩‍👧 🇩🇪 🇫🇷 € $ £ © ™ ½ ² ₂ №",
    // Punctuation.
    "- -- _ . , ; : ! ? ' \" ( ) [ ] { } @ * / \\ & # % ` ^ + < = > | ~ a-b ab a_b a.b a/b",
    // Other forms of digits and letters.
    "Ａ ａ １ ①  Ⅳ IV iv ﬁne fine ﬀ ff ٣ 3 ३ ๓ ª a º o",
    // Lao and Cherokee and Deseret and old scripts.
    "ꭰ Ꭰ 𐐀 𐐨 𒀀 ᚠ ⰰ Ⰰ",
    // Lower and upper case of the same.
    "denmark Denmark DENMARK dEnmark vice-president Vicepresident vice president vicepresident",
    // Numbers in text.
    "a1 a2 a10 a01 a1b a1a A1 A2 1a 01 001 1.5 1,5 -1 +1",
];

const SPECIAL: [&str; 32] = [
    "",
    " ",
    "  ",
    "black bird",
    "blackbird",
    "black-bird",
    "Black Bird",
    "\u{a0}",
    "a\u{a0}b",
    "a b",
    // The same letters, composed and decomposed.
    "caf\u{e9}",
    "cafe\u{301}",
    "\u{c5}ngstr\u{f6}m",
    "A\u{30a}ngstro\u{308}m",
    "\u{212b}ngstr\u{f6}m",
    "\u{1ec7}",
    "e\u{323}\u{302}",
    "\u{1e69}",
    "s\u{323}\u{307}",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}",
    "\u{3099}",
    "\u{304b}\u{3099}\u{306a}",
    // Ignorable and invisible characters.
    "a\u{ad}b",
    "a\u{200d}b",
    "a\u{200b}b",
    "\u{feff}ab",
    "\u{1}",
    "a\u{1}b",
    "\u{7f}",
    "\u{301}",
    "\u{fffd}",
    "\u{10ffff}",
];

/// Words whose accents are not in the order of any normal form.
pub(crate) const OUT_OF_ORDER: [&str; 4] =
    ["e\u{302}\u{323}", "s\u{307}\u{323}", "xe\u{302}\u{323}y", "xs\u{307}\u{323}y"];
