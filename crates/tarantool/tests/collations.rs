//! Collations: the order of text, compared with Tarantool's; and what is told of those that cannot be carried
//! out.

use crate::collation_words::{OUT_OF_ORDER, words};
use std::path::Path;
use tarantool::key::{COLLATION_DATA, Collation, CollationDefinition, PartKind, normalise_part};
use tarantool::msgpack::{self, Reader};
use tarantool::space::Spaces;
use tarantool::{Header, OnDamage, SnapshotFile, blocks, read_spaces};

/// For each collation: a space with an index that uses it, for its definition; and a line with the numbers of
/// all words in its order, then how many words equal each.
const SCRIPT: &str = r"
box.cfg{memtx_dir = '.', wal_dir = '.', log = 'tarantool.log', wal_mode = 'none'}
local function filled(name)
    local space, words = box.schema.space.create(name), {}
    space:create_index('pk')
    for line in io.lines(name) do
        words[#words + 1] = line:gsub('..', function(hex) return string.char(tonumber(hex, 16)) end)
        space:insert{#words, words[#words]}
    end
    return {space = space, words = words}
end
local ordered, any = filled('ordered'), filled('any')
local function create(name, locale, options) box.internal.collation.create(name, 'ICU', locale, options) end
create('any_form', '', {normalization_mode = 'on'})
create('any_form_2', 'vi', {normalization_mode = 'on', strength = 'secondary'})
create('shifted', '', {alternate_handling = 'shifted'})
create('shifted_4', '', {alternate_handling = 'shifted', strength = 'quaternary'})
create('not_shifted', 'th', {alternate_handling = 'non_ignorable', strength = 'quaternary'})
create('identical', 'de', {strength = 'identical'})
create('case_level', '', {strength = 'primary', case_level = 'on'})
create('no_case_level', 'ja', {strength = 'tertiary', case_level = 'off', french_collation = 'off'})
create('upper_first', 'fr', {case_first = 'upper_first'})
create('lower_first', 'da', {case_first = 'lower_first'})
create('no_case_first', 'da', {case_first = 'off'})
create('numbers', 'en', {numeric_collation = 'on', strength = 'secondary'})
create('french', 'fr_CA', {french_collation = 'on'})
create('all', 'sv_SE', {numeric_collation = 'on', case_level = 'on', case_first = 'upper_first', alternate_handling = 'shifted',
    strength = 'identical'})
for _, row in box.space._collation:pairs() do
    local name = row[2]
    if row[4] == 'ICU' then
        local parts = {{2, 'string', collation = name}}
        box.schema.space.create('by ' .. name):create_index('pk', {parts = parts})
        local chosen = name:find('^any_form') and any or ordered
        local index = chosen.space:create_index('by_word', {unique = false, parts = parts})
        local ids, counts = {}, {}
        for _, tuple in index:pairs() do table.insert(ids, tuple[1]) end
        for number, word in ipairs(chosen.words) do counts[number] = index:count(word) end
        print(name .. '\t' .. table.concat(ids, ' ') .. '\t' .. table.concat(counts, ' '))
        index:drop()
    end
end
box.snapshot()
os.exit(0)
";

/// Languages whose order is another one in the data of ICU 72, which the Tarantool of the tests uses.
const CHANGED: [&str; 4] = ["lv", "mr", "nso", "tn"];
/// Languages and orders that ICU4X does not have.
const MISSING: [&str; 7] = ["haw", "kl", "lkt", "ln", "se", "zh__big5han", "zh__gb2312han"];

#[test]
fn text_sorts_as_in_tarantool() {
    let directory = tempfile::tempdir().unwrap();
    let ordered = words();
    let any = [ordered.clone(), OUT_OF_ORDER.map(str::to_owned).to_vec()].concat();
    for (name, words) in [("ordered", &ordered), ("any", &any)] {
        let hexadecimal =
            |word: &String| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
        std::fs::write(directory.path().join(name), words.iter().map(hexadecimal).collect::<String>())
            .unwrap();
    }
    let Some(printed) = testkit::tarantool(directory.path(), SCRIPT) else { return };
    let spaces = newest_spaces(directory.path());
    let (mut compared, mut changed, mut missing) = (0, 0, 0);
    for line in printed.lines() {
        let [name, ids, counts] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let space = spaces.named(&format!("by {name}")).unwrap().unwrap();
        let is_of = |languages: &[&str]| {
            languages
                .iter()
                .any(|language| (1..=3).any(|strength| name == format!("unicode_{language}_s{strength}")))
        };
        let index = &space.indexes[0];
        assert_eq!(index.left_out.is_some(), is_of(&MISSING), "{name}: {:?}", index.left_out);
        if index.left_out.is_some() {
            missing += 1;
            continue;
        }
        let words = if name.starts_with("any_form") { &any } else { &ordered };
        let keys: Vec<Vec<u8>> = words.iter().map(|word| sort_key(word, &index.parts[0].kind)).collect();
        let theirs: Vec<usize> = ids.split(' ').map(|id| id.parse::<usize>().unwrap() - 1).collect();
        let mut ours = theirs.clone();
        ours.sort_by_key(|&number| (&keys[number], number));
        let counts: Vec<usize> = counts.split(' ').map(|count| count.parse().unwrap()).collect();
        let equal = |key: &Vec<u8>| keys.iter().filter(|other| *other == key).count();
        let our_counts: Vec<usize> = keys.iter().map(equal).collect();
        if is_of(&CHANGED) {
            assert_ne!(ours, theirs, "{name} is the same now: the list of languages is too long");
            changed += 1;
            continue;
        }
        let spelt =
            |numbers: &[usize]| numbers.iter().map(|&number| words[number].as_str()).collect::<Vec<_>>();
        assert_eq!(spelt(&ours), spelt(&theirs), "{name}");
        assert_eq!(our_counts, counts, "{name}: words are equal to others");
        compared += 1;
    }
    assert!(compared > 250, "{compared}");
    assert_eq!((changed, missing), (3 * CHANGED.len(), 3 * MISSING.len()));
}

/// Returns the spaces of the newest snapshot in a directory.
fn newest_spaces(directory: &Path) -> Spaces {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let path = paths.filter(|path| path.extension().is_some_and(|end| end == "snap")).max().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let (_, begin) = Header::parse(&bytes).unwrap();
    let blocks = blocks(&path, &bytes, begin).unwrap();
    read_spaces(SnapshotFile { path: &path, bytes: &bytes, blocks: &blocks }, OnDamage::Refuse).unwrap()
}

fn sort_key(text: &str, kind: &PartKind) -> Vec<u8> {
    let (mut value, mut key) = (Vec::new(), Vec::new());
    msgpack::put_str(&mut value, text.as_bytes());
    normalise_part(&mut Reader::new(&value), kind, &mut key).unwrap();
    key
}

fn collation(locale: &str, options: &[(&str, &str)]) -> Result<Collation, String> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Collation::new(CollationDefinition { locale: locale.to_owned(), options })
}

#[test]
fn what_cannot_be_carried_out_is_told() {
    for (locale, options, why) in [
        (
            "de@collation=phonebook",
            [].as_slice(),
            "with the locale \"de@collation=phonebook\", which is not understood",
        ),
        ("de_u_kn", &[], "with the locale \"de_u_kn\", which is not understood"),
        ("en_US_POSIX", &[], "with the locale \"en_US_POSIX\", which is not understood"),
        ("de_x_own", &[], "with the locale \"de_x_own\", which is not understood"),
        ("\u{7}", &[], "with the locale \"\\u{7}\", which is not understood"),
        ("zh_u_co_gb2312", &[], "in the order gb2312, which ICU4X does not have"),
        ("haw_US", &[], "for the language haw, whose order ICU4X does not have"),
        ("de", &[("french_collation", "on")], "with french_collation = on, which ICU4X does not have"),
        ("fr_CA", &[("french_collation", "off")], "with french_collation = off, which ICU4X does not have"),
        ("", &[("strength", "?")], "with strength = ?, which ICU4X does not have"),
        ("", &[("colour", "on")], "with colour = on, which ICU4X does not have"),
    ] {
        assert_eq!(collation(locale, options).err().as_deref(), Some(why), "{locale} {options:?}");
    }
    for locale in ["", "de", "de_DE_u_co_phonebk", "sv_u_co_reformed", "xx_YY", "root"] {
        assert!(collation(locale, &[("strength", "primary")]).is_ok(), "{locale}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_count_as_replacement_characters() {
    let collation = collation("", &[]).unwrap();
    let key = |text: &[u8]| {
        let mut out = Vec::new();
        collation.put_sort_key(text, &mut out);
        out
    };
    assert_eq!(key(b"a\xffb"), key("a\u{fffd}b".as_bytes()));
    assert!(key(b"a") < key(b"a\xff") && key(b"").is_empty() == key(b"\0").is_empty());
}

/// Sort keys in stores are only right for the data that made them.
#[test]
fn the_version_of_the_data_is_that_of_the_libraries() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    for name in ["icu_collator", "icu_collator_data", "icu_normalizer_data"] {
        let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).unwrap();
        let version = after.split('"').next().unwrap();
        assert_eq!(COLLATION_DATA, format!("icu4x {version}"), "{name}");
    }
}
