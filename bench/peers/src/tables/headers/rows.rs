//! The names of the work of the tables on headers, and their rows.
//!
//! Input: sizes. Output: names of work, and rows with their goals. Does not know how anything is measured.

use super::caches;
use super::caches::{CODECS, DICTIONARY};
use super::folder::label;
use super::names::{INIT, RELOAD, UNVERIFIED, cold, work};
use crate::options::Sizes;
use crate::peers::neomutt::{COMPRESSIONS, STORES};
use crate::stores::{Codec, StoreKind};
use measure::{Goal, Quantity, Row, Table, Trial, named};

/// The programs.
pub(crate) const PROGRAMS: [&str; 4] = ["pneu", "neomutt", "mutt", "Dovecot"];
/// The stores of neomutt besides pneu.
const CACHES: [&str; 9] =
    ["pneu", "lmdb", "rocksdb", "tokyocabinet", "kyotocabinet", "gdbm", "qdbm", "bdb", "tdb"];
/// The stores that our small program fills.
const KEEPERS: [&str; 8] = [
    "pneu's store",
    "LMDB",
    "RocksDB",
    "RocksDB, its own blocks",
    "redb",
    "fjall",
    "fjall, its own blocks",
    "SQLite",
];

pub(super) const AFTER_PASS: &str = "reload, after a pass over the folder";
pub(super) const EXAMINE: &str = "EXAMINE alone";
pub(super) const NEWEST: &str = "the newest 50";
pub(super) const WALK: &str = "getdents64";
pub(super) const READ: &str = "reading every file";
pub(super) const NOTHING: &str = "a process that does nothing";

pub(super) const FILL: &str = "fill";
pub(super) const READ_ALL: &str = "read all";
pub(super) const BYTES: &str = "reading the records' bytes";
pub(super) const PACKED: &str = "all records in one frame of zstd at its level 19";

/// Returns the heading of a store.
pub(super) fn heading(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::Pneu => KEEPERS[0],
        StoreKind::Lmdb => KEEPERS[1],
        StoreKind::Rocksdb => KEEPERS[2],
        StoreKind::RocksdbBlocks => KEEPERS[3],
        StoreKind::Redb => KEEPERS[4],
        StoreKind::Fjall => KEEPERS[5],
        StoreKind::FjallBlocks => KEEPERS[6],
        StoreKind::Sqlite => KEEPERS[7],
    }
}

/// Returns the work of a store on a folder's records.
pub(super) fn kept(folder: &str, codec: Codec, work: &str) -> String {
    format!("records of {folder}, {}: {work}", codec.argument())
}

/// Returns the tables: programs, neomutt's caches, embedded stores.
pub(crate) fn tables(sizes: &Sizes) -> Vec<Table> {
    let label = label(sizes);
    let table = |name, title: &str, about: &str, columns: &[&'static str], rows| Table {
        name,
        title: title.to_owned(),
        about: about.to_owned(),
        columns: columns.to_vec(),
        rows,
        growths: Vec::new(),
    };
    vec![
        table(
            "headers",
            "Header cache: open a folder",
            "One folder of messages with text; all headers, sorted by date. Init: without a cache; pneu \
             then builds its whole index, including the text. Reload: with the cache; pneu lists its index, \
             and in another row first makes a pass over the folder, as the other programs do. The column \
             neomutt is neomutt with the fastest of its caches; the next table has all of them. Dovecot: \
             EXAMINE and FETCH (UID FLAGS INTERNALDATE ENVELOPE), without a daemon. Size of pneu: for \
             reload, what lists need; for init, the index with the text. The goal for the size is to be \
             smaller than that of every other program.",
            &PROGRAMS,
            program_rows(&label),
        ),
        table(
            "header-caches",
            "Header cache: neomutt's stores and compressions",
            "The same folder, opened by neomutt with each of its stores and compressions, and by pneu with \
             each codec of its header records. pneu has no zlib; neomutt has no dictionaries, which are \
             pneu's default.",
            &CACHES,
            COMPRESSIONS.iter().chain([&DICTIONARY]).flat_map(|name| cache_rows(&label, name)).collect(),
        ),
        table(
            "header-stores",
            "Header cache: the same records in embedded stores",
            "The header records of the same folder (From, To, Cc, Subject, Date, Message-ID, References), \
             written to each store in one pass in key order, durable at the end, and read by key by new \
             processes. Records are compressed one by one, so that all stores hold the same bytes. The \
             exceptions are pneu's store without a dictionary, and columns that say that the store makes \
             its own blocks: these compress blocks of 64 KiB. The digests of all records that were read are \
             equal.",
            &KEEPERS,
            Codec::ALL.into_iter().flat_map(|codec| keeper_rows(&label, codec)).collect(),
        ),
    ]
}

/// Everything that is known of some work.
const QUANTITIES: [Quantity; 8] = [
    Quantity::Wall,
    Quantity::User,
    Quantity::System,
    Quantity::Peak,
    Quantity::Size,
    Quantity::MinorFaults,
    Quantity::MajorFaults,
    Quantity::Outputs,
];

fn program_rows(label: &str) -> Vec<Row> {
    let floor = |what: &str| named("floor", &work(label, what));
    let mut rows = Vec::new();
    for what in [INIT, RELOAD] {
        for quantity in QUANTITIES {
            let row = Row::new(&work(label, what), quantity);
            rows.push(match (what, quantity) {
                (RELOAD, Quantity::Wall) => row.want(Goal::AtMost(0.25)).floor(&floor(BYTES)).plotted(),
                (RELOAD, Quantity::Size) => row.want(Goal::LessThanAll).floor(&floor(PACKED)).plotted(),
                (_, Quantity::Wall) => row.floor(&floor(READ)).plotted(),
                _ => row,
            });
        }
    }
    let shown = |what: &str| Row::new(&work(label, what), Quantity::Wall);
    let reload = |column| named(column, &work(label, RELOAD));
    let passed = shown(AFTER_PASS).of("neomutt", &reload("neomutt")).of("mutt", &reload("mutt"));
    rows.push(passed.of("Dovecot", &reload("Dovecot")).floor(&floor(WALK)).plotted());
    let unverified = shown(UNVERIFIED).of("pneu", &reload("pneu")).floor(&floor(BYTES));
    rows.push(unverified);
    rows.push(shown(NEWEST).want(Goal::AtMost(0.010)).floor(&floor(NOTHING)).plotted());
    rows.push(Row::new(&work(label, NEWEST), Quantity::Peak));
    rows.push(shown(EXAMINE).floor(&floor(NOTHING)));
    rows.push(shown(&cold(RELOAD)).cold().floor(&floor(&cold(BYTES))));
    let passed = shown(&cold(AFTER_PASS)).cold().floor(&floor(&cold(WALK)));
    let cold_reload = |column| named(column, &work(label, &cold(RELOAD)));
    rows.push(
        ["neomutt", "mutt", "Dovecot"]
            .iter()
            .fold(passed, |row, column| row.of(column, &cold_reload(column))),
    );
    rows.push(shown(&cold(NEWEST)).cold().floor(&floor(&cold(NOTHING))));
    rows
}

fn cache_rows(label: &str, compression: &'static str) -> Vec<Row> {
    let name = if compression.is_empty() { "not compressed" } else { compression };
    let mut rows = Vec::new();
    let floor = |what: &str| named("floor", &work(label, what));
    for (what, beneath) in [(INIT, READ), (RELOAD, BYTES)] {
        for quantity in QUANTITIES {
            let row = Row::new(&format!("{label}, {name}: {what}"), quantity);
            let row = match (what, quantity) {
                (RELOAD, Quantity::Size) => row.floor(&floor(PACKED)),
                (_, Quantity::Wall) => row.floor(&floor(beneath)),
                _ => row,
            };
            let row = STORES.iter().fold(row, |row, store| {
                row.of(store, &named(&caches::who((store, compression)), &work(label, what)))
            });
            let ours = CODECS.iter().find(|codec| codec.compression == compression);
            let row = ours
                .into_iter()
                .fold(row, |row, codec| row.of("pneu", &named(codec.who, &work(label, what))));
            rows.push(if what == RELOAD && quantity == Quantity::Wall { row.plotted() } else { row });
        }
    }
    rows
}

fn keeper_rows(label: &str, codec: Codec) -> Vec<Row> {
    let mut rows = Vec::new();
    let [bytes, packed, nothing] = [BYTES, PACKED, NOTHING].map(|what| named("floor", &work(label, what)));
    for what in [FILL, READ_ALL] {
        for quantity in QUANTITIES {
            let row = Row::new(&kept(label, codec, what), quantity);
            rows.push(match quantity {
                Quantity::Wall => row.floor(&bytes).plotted(),
                Quantity::Size if what == FILL => row.floor(&packed).plotted(),
                Quantity::Size => row.floor(&packed),
                _ => row,
            });
        }
    }
    for quantity in [Quantity::Wall, Quantity::Peak, Quantity::MinorFaults] {
        let row = Row::new(&kept(label, codec, NEWEST), quantity);
        rows.push(if quantity == Quantity::Wall { row.floor(&nothing) } else { row });
    }
    let started_cold = Row::new(&kept(label, codec, &cold(READ_ALL)), Quantity::Wall).cold();
    rows.push(started_cold.floor(&named("floor", &work(label, &cold(BYTES)))));
    rows
}

/// The state of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Warm,
    Cold,
}

impl Start {
    pub(super) fn work(self, work: &str) -> String {
        match self {
            Start::Warm => work.to_owned(),
            Start::Cold => cold(work),
        }
    }

    pub(super) fn of(self, trial: Trial<'_>) -> Trial<'_> {
        match self {
            Start::Warm => trial,
            Start::Cold => trial.cold(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_a_store() {
        let headings = StoreKind::ALL.map(heading);
        assert_eq!(headings, KEEPERS);
        assert!(STORES.iter().all(|store| CACHES.contains(store)));
        assert_eq!(STORES.len() + 1, CACHES.len());
    }

    #[test]
    fn all_columns_of_the_old_table_are_there() {
        let tables = tables(&Sizes::quick());
        let caches = &tables[1];
        assert_eq!(caches.rows.len(), (COMPRESSIONS.len() + 1) * 2 * QUANTITIES.len());
        assert!(tables.iter().all(|table| !table.rows.is_empty() && !table.about.is_empty()));
        assert_eq!(caches.rows[0].work, "10 k messages, not compressed: init");
    }
}
