//! Compares the scanner with a slow twin made of serde: on the JSON of restic and rustic, on the same JSON
//! in other layouts, and on damage.

use super::{IndexFileWriter, scan};
use crate::{BlobKind, Error, FileKind, FileName, Id, PackedBlob};
use proptest::prelude::*;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::marker::PhantomData;
use testkit::Random;

type Packs = Vec<(Id, Vec<PackedBlob>)>;

const NAME: FileName = FileName { kind: FileKind::Index, id: Id([0xab; 32]) };

fn scanned(json: &[u8]) -> crate::Result<Packs> {
    let mut packs = Vec::new();
    scan(NAME, json, |id, blobs| {
        packs.push((*id, blobs.to_vec()));
        Ok(())
    })?;
    Ok(packs)
}

fn written(packs: &Packs) -> Vec<u8> {
    let mut writer = IndexFileWriter::default();
    for (id, blobs) in packs {
        writer.add(id, blobs);
    }
    assert_eq!(writer.blob_count(), packs.iter().map(|(_, blobs)| blobs.len()).sum::<usize>());
    writer.finish()
}

// The twin.

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    packs: Option<Vec<OnlyMap<Pack>>>,
}

#[derive(Deserialize)]
struct Pack {
    id: Digits,
    #[serde(default)]
    blobs: Option<Vec<OnlyMap<Blob>>>,
}

#[derive(Deserialize)]
struct Blob {
    id: Digits,
    #[serde(rename = "type")]
    kind: String,
    offset: u32,
    length: u32,
    #[serde(default)]
    uncompressed_length: Option<u32>,
}

struct Digits(Id);

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Digits(text.to_ascii_lowercase().parse().map_err(D::Error::custom)?))
    }
}

/// A structure that is written as an object: serde would take an array of its fields too.
struct OnlyMap<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OnlyMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Only<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Only<T> {
            type Value = OnlyMap<T>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OnlyMap<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OnlyMap)
            }
        }
        deserializer.deserialize_map(Only(PhantomData))
    }
}

fn twin(json: &[u8]) -> serde_json::Result<Packs> {
    let file: OnlyMap<File> = serde_json::from_slice(json)?;
    let blob = |OnlyMap(blob): OnlyMap<Blob>| {
        let kind = match blob.kind.as_str() {
            "data" => BlobKind::Data,
            "tree" => BlobKind::Tree,
            _ => return Err(serde_json::Error::custom("neither data nor tree")),
        };
        let uncompressed_length = blob.uncompressed_length.unwrap_or(0);
        Ok(PackedBlob { kind, id: blob.id.0, offset: blob.offset, length: blob.length, uncompressed_length })
    };
    let pack = |OnlyMap(pack): OnlyMap<Pack>| {
        let blobs =
            pack.blobs.unwrap_or_default().into_iter().map(blob).collect::<serde_json::Result<_>>()?;
        Ok((pack.id.0, blobs))
    };
    file.0.packs.unwrap_or_default().into_iter().map(pack).collect()
}

// The scanned contents.

fn packs() -> impl Strategy<Value = Packs> {
    let id = || any::<[u8; 32]>().prop_map(Id);
    let kind = prop_oneof![Just(BlobKind::Data), Just(BlobKind::Tree)];
    // As many numbers of each count of digits.
    let size = || (any::<u32>(), 0..32_u32).prop_map(|(number, shift)| number >> shift);
    let blob = (kind, id(), size(), size(), prop_oneof![Just(0), size()]).prop_map(
        |(kind, id, offset, length, uncompressed_length)| PackedBlob {
            kind,
            id,
            offset,
            length,
            uncompressed_length,
        },
    );
    proptest::collection::vec((id(), proptest::collection::vec(blob, 0..6)), 0..4)
}

/// Writes the same in one of many ways: space, order of keys, other keys, escapes, null.
struct Otherwise(Random);

impl Otherwise {
    fn file(&mut self, packs: &Packs) -> String {
        let packs: Vec<String> = packs.iter().map(|(id, blobs)| self.pack(id, blobs)).collect();
        let packs = self.array(&packs);
        let json = self.object(vec![("packs", packs)]);
        format!("{}{json}{}", self.space(), self.space())
    }

    fn pack(&mut self, id: &Id, blobs: &[PackedBlob]) -> String {
        let blobs: Vec<String> = blobs.iter().map(|blob| self.blob(blob)).collect();
        let mut members = vec![("id", self.id(id))];
        if !blobs.is_empty() || self.0.per_mille(500) {
            members.push(("blobs", if blobs.is_empty() { "null".to_owned() } else { self.array(&blobs) }));
        }
        self.object(members)
    }

    fn blob(&mut self, blob: &PackedBlob) -> String {
        if self.0.per_mille(400) {
            // Most are as restic writes them, so that both ways follow each other.
            let mut writer = IndexFileWriter::default();
            writer.add(&Id::default(), &[*blob]);
            let json = String::from_utf8(writer.finish()).unwrap();
            let begin = json
                .find("[{\"id\":\"")
                .and_then(|packs| json[packs + 1..].find('[').map(|at| packs + at + 2));
            return json[begin.unwrap()..].trim_end_matches("]}]}\n").to_owned();
        }
        let kind = if blob.kind == BlobKind::Data { "data" } else { "tree" };
        let mut members = vec![
            ("id", self.id(&blob.id)),
            ("type", self.string(kind)),
            ("offset", blob.offset.to_string()),
            ("length", blob.length.to_string()),
        ];
        if blob.uncompressed_length != 0 {
            members.push(("uncompressed_length", blob.uncompressed_length.to_string()));
        } else if self.0.per_mille(500) {
            members.push(("uncompressed_length", self.0.pick(&["null", "0"]).to_string()));
        }
        self.object(members)
    }

    fn id(&mut self, id: &Id) -> String {
        let digits = id.to_string();
        let digits = if self.0.per_mille(200) { digits.to_ascii_uppercase() } else { digits };
        self.string(&digits)
    }

    fn object(&mut self, mut members: Vec<(&str, String)>) -> String {
        let others: [(&str, &str); 10] = [
            ("time", "\"2026-11-21T10:00:00.5+01:00\""),
            ("size", "-12.5e+3"),
            ("packs_to_delete", "[{\"id\":\"zz\",\"blobs\":[{},[[ ]],{\"a\":true , \"b\":false}]}]"),
            ("supersedes", "[\"a\\\"b\\\\\", \"\\u20ac\"]"),
            ("", "0"),
            ("Id", "null"),
            ("id\\u0000", "1E-7"),
            ("blob\\u6b7bs", "{\"a\":{}}"),
            ("p\\u0101cks", "7"),
            ("le\\ngth", "[1 , 0.5]"),
        ];
        for other in others {
            if self.0.per_mille(80) {
                members.push((other.0, other.1.to_owned()));
            }
        }
        if self.0.per_mille(300) {
            let by = self.0.index(members.len());
            members.rotate_left(by);
        }
        let members: Vec<String> = members
            .iter()
            .map(|(key, value)| {
                let key = if key.contains('\\') { format!("\"{key}\"") } else { self.string(key) };
                format!("{key}{}:{}{value}", self.space(), self.space())
            })
            .collect();
        self.between('{', &members, '}')
    }

    fn array(&mut self, elements: &[String]) -> String {
        self.between('[', elements, ']')
    }

    fn between(&mut self, begin: char, elements: &[String], end: char) -> String {
        let comma = format!("{},{}", self.space(), self.space());
        format!("{begin}{}{}{}{end}", self.space(), elements.join(&comma), self.space())
    }

    fn string(&mut self, text: &str) -> String {
        let mut string = String::from("\"");
        for letter in text.chars() {
            if self.0.per_mille(4) {
                string += &format!("\\u{:04x}", letter as u32);
            } else {
                string.push(letter);
            }
        }
        string + "\""
    }

    fn space(&mut self) -> &'static str {
        let spaces: [&str; 5] = [" ", "\n", "\r\n", "\t", "  "];
        if self.0.per_mille(900) { "" } else { self.0.pick::<&str>(&spaces) }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_scanned(packs in packs()) {
        let json = written(&packs);
        prop_assert_eq!(&twin(&json).unwrap(), &packs);
        prop_assert_eq!(scanned(&json).unwrap(), packs);
    }

    #[test]
    fn any_way_of_writing_it_says_the_same(packs in packs(), seed in any::<u64>()) {
        let json = Otherwise(Random::new(seed)).file(&packs);
        prop_assert_eq!(&twin(json.as_bytes()).unwrap(), &packs, "{}", json);
        prop_assert_eq!(scanned(json.as_bytes()).unwrap(), packs, "{}", json);
    }

    #[test]
    fn damage_is_found_where_the_twin_finds_it(packs in packs(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut json = if random.per_mille(500) {
            written(&packs)
        } else {
            Otherwise(random.clone()).file(&packs).into_bytes()
        };
        for _ in 0..random.between(1, 2) {
            let at = random.index(json.len());
            match random.below(5) {
                0 => drop(json.remove(at)),
                1 => json.insert(at, *random.pick(br#"{}[]",:\ 0123456789abdefu-+.nE"#)),
                2 => json[at] = *random.pick(br#"{}[]",:\ 0123456789abdefu-+.nE"#),
                3 => json[at] ^= 1 << random.below(7),
                _ => {
                    let to = json.len().min(at + random.index(90));
                    let piece = json[at..to].to_vec();
                    json.splice(at..at, piece);
                }
            }
            if json.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&json);
        // Half of a surrogate pair in a key is an error for serde, but a key like any other here.
        prop_assume!(!text.contains("\\ud"));
        match (twin(text.as_bytes()), scanned(text.as_bytes())) {
            (Ok(expected), Ok(packs)) => prop_assert_eq!(packs, expected, "{}", text),
            (Err(_), Err(Error::Damage { file, what })) => {
                prop_assert_eq!(file, NAME.to_string());
                prop_assert!(what.starts_with("at byte "), "{}", what);
            }
            (twin, scanned) => prop_assert!(false, "{:?}, {:?}: {}", twin, scanned, text),
        }
    }
}

#[test]
fn every_beginning_of_a_file_is_damage() {
    let blob =
        PackedBlob { kind: BlobKind::Data, id: Id([1; 32]), offset: 7, length: 40, uncompressed_length: 12 };
    let packs = vec![(Id([2; 32]), vec![blob; 2]), (Id([3; 32]), vec![blob])];
    let json = written(&packs);
    // Without the line's end it is whole.
    assert_eq!(scanned(&json[..json.len() - 1]).unwrap(), packs);
    for end in 0..json.len() - 1 {
        assert!(matches!(scanned(&json[..end]), Err(Error::Damage { .. })), "{end}");
    }
}

#[test]
fn files_are_written_as_restic_writes_them() {
    let blob = PackedBlob {
        kind: BlobKind::Tree,
        id: Id([0x1f; 32]),
        offset: 0,
        length: 385,
        uncompressed_length: 1024,
    };
    let plain = PackedBlob { kind: BlobKind::Data, offset: 385, uncompressed_length: 0, ..blob };
    let (pack, id) = ("2e".repeat(32), "1f".repeat(32));
    let expected = format!(
        "{{\"packs\":[{{\"id\":\"{pack}\",\"blobs\":[{{\"id\":\"{id}\",\"type\":\"tree\",\"offset\":0,\"length\":385,\
         \"uncompressed_length\":1024}},{{\"id\":\"{id}\",\"type\":\"data\",\"offset\":385,\"length\":385}}]}},\
         {{\"id\":\"{pack}\",\"blobs\":[]}}]}}\n"
    );
    let packs = vec![(Id([0x2e; 32]), vec![blob, plain]), (Id([0x2e; 32]), Vec::new())];
    assert_eq!(String::from_utf8(written(&packs)).unwrap(), expected);
    assert_eq!(written(&Vec::new()), b"{\"packs\":[]}\n");
}

/// Returns the fault of a file in which one text was replaced.
fn told(from: &str, to: &str) -> String {
    let id = "00".repeat(32);
    let json = format!(
        "{{\"packs\":[{{\"id\":\"{id}\",\"blobs\":[{{\"id\":\"{id}\",\"type\":\"data\",\"offset\":0,\"length\":40}}]}}]}}"
    );
    assert!(json.contains(from), "{from}");
    match scanned(json.replacen(from, to, 1).as_bytes()) {
        Err(Error::Damage { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn damage_says_what_and_where() {
    let ones = "1".repeat(63);
    for (from, to, what) in [
        ("{", "[", "at byte 0: expected '{', found '['"),
        ("[", "7", "at byte 9: expected '[', found '7'"),
        ("\"blobs\"", "blobs", "at byte 83: expected text, found 'b'"),
        (":0", " 0", "at byte 188: expected ':', found '0'"),
        (":0", ":-0", "at byte 188: expected a whole number from 0, found '-'"),
        (":0", ":4294967296", "at byte 188: a number is above 4294967295"),
        (":0", ":01", "at byte 188: a number begins with a zero too many"),
        (":0", ":1.", "at byte 188: a number is not whole"),
        ("data", "bata", "at byte 172: a blob is \"data\" or \"tree\""),
        ("\"data\"", "null", "at byte 172: expected text, found 'n'"),
        ("offset", "offs\\et", "at byte 184: no such escape"),
        ("offset", "off\\u12gset", "at byte 183: no such escape"),
        ("offset", "offs\u{1}et", "at byte 184: a control character within a text"),
        ("offset", "length", "at byte 199: a key occurs twice"),
        (",\"length\":40", "", "at byte 190: the blob before has no id, type, offset or length"),
        ("\"id\"", "\"di\"", "at byte 204: the pack before has no id"),
        ("}]}]", "}]},]", "at byte 205: expected '{', found ']'"),
        ("]}]}", "]}]} x", "at byte 207: more follows after the end"),
        ("]}]}", "]}", "at byte 204: expected ',' or ']', found the end"),
        (&"00".repeat(32), &ones, "at byte 16: an id has 64 hexadecimal digits"),
        ("length\":40", "le", "at byte 198: a text has no end"),
    ] {
        assert_eq!(told(from, to), what, "{from} -> {to}");
    }
}

#[test]
fn values_that_nobody_asked_for_are_nested_only_so_deep() {
    let nested =
        |depth: usize| format!("{{\"other\":{}{}}}", "[".repeat(depth), "]".repeat(depth)).into_bytes();
    assert_eq!(scanned(&nested(64)).unwrap(), []);
    let too_deep = scanned(&nested(65)).unwrap_err().to_string();
    assert!(too_deep.contains(": at byte 73: values are nested more than 64 deep; "), "{too_deep}");
    let objects = "{\"a\":".repeat(1 << 20).into_bytes();
    assert!(scanned(&objects).unwrap_err().to_string().contains("values are nested more than 64 deep; "));
}

#[test]
fn the_visitor_ends_it() {
    let packs = vec![(Id([1; 32]), Vec::new()), (Id([2; 32]), Vec::new())];
    let mut seen = 0;
    let ended = scan(NAME, &written(&packs), |_, _| {
        seen += 1;
        Err(Error::Interrupted)
    });
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    assert_eq!(seen, 1);
}
