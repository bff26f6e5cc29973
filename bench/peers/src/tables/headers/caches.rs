//! Caches of neomutt: pairs of a store and a compression, and the best one.
//!
//! Input: series. Output: names, and copies of the best one's series under neomutt's own name. Does not know
//! how they were measured.

use super::names::{INIT, RELOAD, UNVERIFIED, cold, work};
use crate::peers::neomutt::{COMPRESSIONS, PEER, STORES};
use measure::{Series, named};
use std::path::{Path, PathBuf};

/// A store and a compression.
pub(super) type Cache = (&'static str, &'static str);

/// pneu's codecs of header records: the neomutt compression beside which each is shown, its option, and the
/// program's name in series.
///
/// The last one is the default.
pub(super) const CODECS: [HeaderCodec; 4] = [
    HeaderCodec { compression: "", option: "none", who: "pneu none" },
    HeaderCodec { compression: "lz4", option: "lz4", who: "pneu lz4" },
    HeaderCodec { compression: "zstd", option: "zstd", who: "pneu zstd" },
    HeaderCodec { compression: DICTIONARY, option: "zstd-dictionary-blocks", who: "pneu" },
];
/// A compression that neomutt does not have.
pub(super) const DICTIONARY: &str = "zstd with a dictionary";

/// A codec of pneu.
pub(super) struct HeaderCodec {
    pub(super) compression: &'static str,
    /// Its name on the command line of `pneu-codecs`.
    pub(super) option: &'static str,
    pub(super) who: &'static str,
}

impl HeaderCodec {
    /// Returns the program that makes an index with this codec: `program` for the default one. The others
    /// need a build beside it that has an option for codecs.
    pub(super) fn program(&self, program: &Path) -> PathBuf {
        if self.is_usual() { program.to_owned() } else { program.with_file_name("pneu-codecs") }
    }

    /// Returns whether it is pneu's default.
    pub(super) fn is_usual(&self) -> bool {
        self.compression == DICTIONARY
    }
}

/// Returns the name of the program with this cache in names of series.
pub(super) fn who((store, compression): Cache) -> String {
    let compression = if compression.is_empty() { "none" } else { compression };
    format!("neomutt {store} {compression}")
}

/// Returns the cache with which a folder is reopened in the least time, if any was measured.
pub(super) fn best_cache(series: &[Series], label: &str) -> Option<Cache> {
    let wall = |cache: Cache| {
        let name = named(&who(cache), &work(label, RELOAD));
        series
            .iter()
            .find(|series| series.name == name && !series.samples.is_empty())
            .map(|series| series.wall().0)
    };
    let all = STORES.iter().flat_map(|&store| COMPRESSIONS.map(|compression| (store, compression)));
    let measured = all.filter_map(|cache| Some((wall(cache)?, cache)));
    measured.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, cache)| cache)
}

/// Returns the series of the best cache under the name of neomutt.
pub(super) fn best(series: &[Series], label: &str) -> Vec<Series> {
    let Some(cache) = best_cache(series, label) else { return Vec::new() };
    let copy = |what: &&str| {
        let name = named(&who(cache), &work(label, what));
        let found = series.iter().find(|series| series.name == name)?;
        let note = format!("{}, the fastest of its caches", who(cache));
        Some(Series { name: named(PEER.name, &work(label, what)), note, ..found.clone() })
    };
    [INIT, RELOAD, UNVERIFIED, &cold(RELOAD)].iter().filter_map(copy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Sample;

    #[test]
    fn the_best_cache_opens_fastest() {
        let series = |cache, what: &str, wall_seconds| {
            Series::of(
                &named(&who(cache), &work("7 messages", what)),
                Sample { wall_seconds, ..Sample::default() },
            )
        };
        let (slow, fast) = (("lmdb", ""), ("tdb", "zstd"));
        let all = [
            series(slow, RELOAD, 2.0),
            series(slow, INIT, 1.0),
            series(fast, RELOAD, 1.0),
            series(fast, INIT, 3.0),
        ];
        assert_eq!(best_cache(&all, "7 messages"), Some(fast));
        let best = best(&all, "7 messages");
        let told: Vec<(&str, f64)> =
            best.iter().map(|series| (series.name.as_str(), series.wall().0)).collect();
        assert_eq!(told, [("neomutt: 7 messages: init", 3.0), ("neomutt: 7 messages: reload", 1.0)]);
        assert_eq!(best[0].note, "neomutt tdb zstd, the fastest of its caches");
        assert_eq!(best_cache(&all, "8 messages"), None);
    }
}
