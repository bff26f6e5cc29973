//! The config: a repository's version, its id, and the polynomial that determines where files are cut.
//!
//! Created from random bytes, or read from the file `config`.
//!
//! The config is JSON, sealed and never compressed
//! (<https://restic.readthedocs.io/en/stable/100_references.html>, "Repository Format"). Its polynomial over
//! two elements, irreducible and of degree 53, decides where files are cut. It is as secret as the key:
//! otherwise the sizes of pieces would tell which known file is stored.

use crate::crypto::key::Key;
use crate::encoding::id::Id;
use crate::encoding::json::JsonWriter;
use crate::encoding::json::parse::json_fault;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::unpacked::{self, Parts, Version};
use crate::storage::Storage;
use crate::surroundings::Surroundings;
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt::{Debug, Formatter};

/// The config of a repository.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The version of the format.
    pub version: Version,
    /// The repository's id, chosen at random.
    pub id: Id,
    /// Bit `n` is the coefficient of the power `n`.
    pub chunker_polynomial: u64,
}

/// The degree of new polynomials: the largest prime that leaves 8 bits for the next byte.
const DEGREE: u32 = 53;
/// Other degrees are read if the chunker can work with them.
const DEGREES: std::ops::RangeInclusive<u32> = 8..=53;
/// One in about 53 polynomials is irreducible, so this many tries never fail by chance.
const TRY_COUNT_MAX: u32 = 1_000_000;

/// Chooses a config for a new repository of that version.
///
/// # Panics
/// If the source of random bytes is not random.
pub fn choose(surroundings: &Surroundings, version: Version) -> Config {
    let mut id = Id::default();
    (surroundings.fill_random)(&mut id.0);
    assert!(id != Id::default(), "random bytes are not all zero");
    let random = || {
        let mut bytes = [0; 8];
        (surroundings.fill_random)(&mut bytes);
        u64::from_le_bytes(bytes) & ((1 << (DEGREE + 1)) - 1) | 1 << DEGREE | 1
    };
    let found = (0..TRY_COUNT_MAX).map(|_| random()).find(|&polynomial| is_irreducible(polynomial));
    Config { version, id, chunker_polynomial: found.expect("random bytes are random") }
}

/// Stores a new repository's config. Its version is that of `parts`.
///
/// # Errors
/// Storage errors.
pub fn create(parts: &Parts) -> Result<Config> {
    let config = choose(&parts.surroundings, parts.version);
    unpacked::save(parts, FileKind::Config, &config.to_json())?;
    Ok(config)
}

/// What exists where a repository is to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Nothing.
    Nothing,
    /// Only keys: an `init` was interrupted between the key and the config, which is written last.
    Keys,
}

/// Checks that no repository exists yet. Any file except a key counts as one, because a config that is not
/// listed need not be missing.
///
/// # Errors
/// [`Error::Exists`], [`Error::NoConfig`], or a storage error.
pub fn refuse_existing(storage: &dyn Storage) -> Result<Begun> {
    if storage.size(FileName::CONFIG)?.is_some() {
        return Err(Error::Exists { address: storage.address() });
    }
    let is_any = |kind| storage.list(kind).map(|list| !list.is_empty());
    let has_keys = is_any(FileKind::Key)?;
    // Without a key, nothing that may be there can ever be read.
    let is_used =
        is_any(FileKind::Snapshot)? || has_keys && (is_any(FileKind::Index)? || is_any(FileKind::Pack)?);
    match (is_used, has_keys) {
        (true, _) => Err(Error::NoConfig { address: storage.address() }),
        (false, true) => Ok(Begun::Keys),
        (false, false) => Ok(Begun::Nothing),
    }
}

/// Returns the error for a storage without a config: there is no repository, or only the remains of one.
///
/// # Errors
/// Storage errors.
pub fn absence(storage: &dyn Storage) -> Result<Error> {
    match refuse_existing(storage) {
        Ok(_) => Ok(Error::NoRepository { address: storage.address() }),
        Err(lost @ Error::NoConfig { .. }) => Ok(lost),
        Err(other) => Err(other),
    }
}

/// Reads the config.
///
/// # Errors
/// [`Error::NoConfig`], [`Error::NoRepository`], [`Error::Damage`], [`Error::Unsupported`] for versions
/// that this program does not know, or a storage error.
pub fn load(storage: &dyn Storage, key: &Key) -> Result<Config> {
    match unpacked::load(storage, key, FileKind::Config, FileName::CONFIG.id) {
        Err(Error::NoRepository { .. }) => Err(absence(storage)?),
        json => Config::from_json(&json?),
    }
}

impl Config {
    /// Reads the config's JSON. Ignores fields of other programs.
    ///
    /// # Errors
    /// [`Error::Damage`], [`Error::Unsupported`].
    pub fn from_json(json: &[u8]) -> Result<Config> {
        let damage = |what: String| Error::damage(FileName::CONFIG, what);
        let raw: RawConfig<'_> = serde_json::from_slice(json).map_err(|error| damage(json_fault(&error)))?;
        let version = match raw.version {
            1 => Version::One,
            2 => Version::Two,
            other => {
                let what = format!("the repository is of version {other}, but this program supports 1 and 2");
                return Err(Error::Unsupported { file: FileName::CONFIG.to_string(), what });
            }
        };
        let id = raw.id.parse().map_err(|_| damage("its id is not valid".to_owned()))?;
        let polynomial = u64::from_str_radix(&raw.chunker_polynomial, 16)
            .ok()
            .filter(|&polynomial| polynomial.checked_ilog2().is_some_and(|degree| DEGREES.contains(&degree)))
            .filter(|&polynomial| is_irreducible(polynomial));
        let chunker_polynomial =
            polynomial.ok_or_else(|| damage("its polynomial is not irreducible".to_owned()))?;
        Ok(Config { version, id, chunker_polynomial })
    }

    /// Returns the config as restic writes it.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut json = JsonWriter::new(&mut out);
        json.begin_object();
        json.field("version");
        json.number(match self.version {
            Version::One => 1,
            Version::Two => 2,
        });
        json.field("id");
        json.id(&self.id);
        json.field("chunker_polynomial");
        json.string(format!("{:x}", self.chunker_polynomial).as_bytes());
        json.end_object();
        out
    }
}

/// Does not print the polynomial.
impl Debug for Config {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Config { version, id, .. } = self;
        formatter.debug_struct("Config").field("version", version).field("id", id).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct RawConfig<'a> {
    version: u64,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    chunker_polynomial: Cow<'a, str>,
}

/// Returns whether no other polynomial divides this one, by Ben-Or's test: it has no common divisor with
/// `x^(2^i) - x` for any i up to half its degree. That polynomial is the product of all irreducible ones
/// whose degree divides i.
pub(crate) fn is_irreducible(polynomial: u64) -> bool {
    let Some(degree) = polynomial.checked_ilog2() else { return false };
    let x = 2;
    let mut power = x;
    degree > 0
        && (0..degree / 2).all(|_| {
            power = multiply(power, power, polynomial);
            common_divisor(polynomial, power ^ x) == 1
        })
}

/// Multiplies without carries, modulo a polynomial that is longer than both factors.
fn multiply(left: u64, right: u64, modulus: u64) -> u64 {
    let top = 1 << modulus.ilog2();
    let (mut product, mut shifted, mut rest) = (0, left, right);
    while rest != 0 {
        if rest & 1 == 1 {
            product ^= shifted;
        }
        shifted <<= 1;
        if shifted & top != 0 {
            shifted ^= modulus;
        }
        rest >>= 1;
    }
    product
}

fn common_divisor(mut left: u64, mut right: u64) -> u64 {
    while let Some(degree) = right.checked_ilog2() {
        while let Some(more) = left.checked_ilog2().and_then(|own| own.checked_sub(degree)) {
            left ^= right << more;
        }
        (left, right) = (right, left);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::chunker::Chunker;
    use crate::testing::{MemoryStorage, parts, surroundings};

    /// restic 0.19.1 wrote it.
    const JSON: &str = r#"{"version":2,"id":"914a52033fd3bd1ee7d8321ce62f5b674eb1e78d9ffae2806e0fdde71b18bd5b","chunker_polynomial":"2f5db5514532b5"}"#;

    #[test]
    fn there_and_back_as_restic_writes_it() {
        let config = Config::from_json(JSON.as_bytes()).unwrap();
        assert_eq!((config.version, config.chunker_polynomial), (Version::Two, 0x2f_5db5_5145_32b5));
        assert_eq!(String::from_utf8(config.to_json()).unwrap(), JSON);
        let older = Config { version: Version::One, ..config };
        assert_eq!(Config::from_json(&older.to_json()).unwrap(), older);
        let with_more = JSON.replace('}', r#","is_hot":true,"chunker":{"a":[1]}}"#);
        assert_eq!(Config::from_json(with_more.as_bytes()).unwrap(), config);
    }

    #[test]
    fn what_the_chunker_cannot_work_with_is_refused() {
        for degree in 1..64_u32 {
            let top = 1_u64 << degree;
            let polynomial = (top | 1..).step_by(2).find(|&polynomial| is_irreducible(polynomial)).unwrap();
            let json = JSON.replace("2f5db5514532b5", &format!("{polynomial:x}"));
            let is_usable = Chunker::new(polynomial).is_some();
            assert_eq!(Config::from_json(json.as_bytes()).is_ok(), is_usable, "{degree}");
        }
    }

    #[test]
    fn what_is_printed_has_no_secret() {
        let config = Config::from_json(JSON.as_bytes()).unwrap();
        let chunker = Chunker::new(config.chunker_polynomial).unwrap();
        let secret = config.chunker_polynomial.to_string();
        for printed in [format!("{config:?}"), format!("{config:#?}"), format!("{chunker:?}")] {
            assert!(!printed.contains(&secret) && printed.len() < 200, "{printed}");
        }
    }

    #[test]
    fn damage_and_what_is_not_known_yet_are_told_apart() {
        let said = |from: &str, to: &str| {
            Config::from_json(JSON.replace(from, to).as_bytes()).unwrap_err().to_string()
        };
        assert_eq!(
            said("2,", "3,"),
            "config: the repository is of version 3, but this program supports 1 and 2"
        );
        assert_eq!(
            said("2,", "0,"),
            "config: the repository is of version 0, but this program supports 1 and 2"
        );
        let reducible = "config is damaged: its polynomial is not irreducible; put a copy of the file back";
        for other in ["2f5db5514532b7", "0", "1", "2", "", "x", "8000000000000001", "10000000000000000000"] {
            assert_eq!(said("2f5db5514532b5", other), reducible, "{other}");
        }
        assert_eq!(
            said("914a", "914"),
            "config is damaged: its id is not valid; put a copy of the file back"
        );
        assert!(
            said("}", "")
                .starts_with("config is damaged: its content ends too early at line 1, column 122; ")
        );
    }

    #[test]
    fn what_is_chosen_is_random_irreducible_and_read_again() {
        let storage = MemoryStorage::new();
        let parts = parts(&storage);
        let config = create(&parts).unwrap();
        assert_eq!(load(&*storage, &parts.key).unwrap(), config);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20 {
            let config = choose(&surroundings(), Version::One);
            assert_eq!(config.chunker_polynomial.ilog2(), DEGREE);
            assert!(is_irreducible(config.chunker_polynomial));
            assert!(
                seen.insert(config.chunker_polynomial)
                    && seen.insert(u64::from(config.id.0[0]) << 60 | seen.len() as u64)
            );
        }
    }

    #[test]
    fn a_repository_is_never_made_over_another() {
        let storage = MemoryStorage::new();
        assert_eq!(refuse_existing(&*storage).unwrap(), Begun::Nothing);
        let name = |kind| FileName { kind, id: Id::default() };
        storage.put(FileName::CONFIG, Vec::new());
        assert!(matches!(refuse_existing(&*storage), Err(Error::Exists { .. })));
        storage.take(FileName::CONFIG);
        storage.put(name(FileKind::Snapshot), Vec::new());
        assert!(matches!(refuse_existing(&*storage), Err(Error::NoConfig { .. })));
        storage.take(name(FileKind::Snapshot));
        storage.put(name(FileKind::Key), Vec::new());
        assert_eq!(refuse_existing(&*storage).unwrap(), Begun::Keys);
        for kind in [FileKind::Snapshot, FileKind::Index, FileKind::Pack] {
            storage.put(name(kind), Vec::new());
            assert!(matches!(refuse_existing(&*storage), Err(Error::NoConfig { .. })), "{kind:?}");
            storage.take(name(kind));
        }
        storage.take(name(FileKind::Key));
        assert!(matches!(load(&*storage, &parts(&storage).key), Err(Error::NoRepository { .. })));
    }

    /// The slow twin: divides by all smaller ones.
    fn has_divisor(polynomial: u64) -> bool {
        (2..polynomial).any(|divisor: u64| {
            let mut rest = polynomial;
            while let Some(more) = rest.checked_ilog2().and_then(|own| own.checked_sub(divisor.ilog2())) {
                rest ^= divisor << more;
            }
            rest == 0
        })
    }

    #[test]
    fn irreducible_is_what_no_other_divides() {
        for polynomial in 2..2048 {
            assert_eq!(is_irreducible(polynomial), !has_divisor(polynomial), "{polynomial:#b}");
        }
        assert!(!is_irreducible(0) && !is_irreducible(1));
        // Gauss's formula: 99 of degree 10.
        assert_eq!((1024..2048).filter(|&polynomial| is_irreducible(polynomial)).count(), 99);
        // That of the tests of restic's chunker, and one that restic chose.
        assert!([0x3D_A335_8B4D_C173, 0x2f_5db5_5145_32b5].into_iter().all(is_irreducible));
        assert!(!is_irreducible(0x3D_A335_8B4D_C173 ^ 1) && !is_irreducible(u64::MAX));
    }
}
