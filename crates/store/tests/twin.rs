//! Random work on a store and on maps, compared after each step.

use crate::support::{Change, Twin, check, directory, item, key_of, link, options, schemas, shared};
use disk::Disk;
use proptest::prelude::*;
use std::sync::Arc;
use store::{MergeOptions, Options, Outcome, Prepared, Snapshot, Writer, merge, merge_all, verify};
use testkit::SimDisk;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit(Change),
    Group(Vec<Change>),
    Load(Change),
    Prepared(Change),
    Flush,
    Merge,
    MergeAll,
    Reopen,
}

fn put() -> impl Strategy<Value = (usize, Vec<store::OwnedValue>)> {
    let item = (0_u32..40, 0_u32..6).prop_map(|(number, version)| (0, item(number, version)));
    let link = (0_u64..5, prop::sample::select(vec!["", "a", "a\0", "b", "long enough for a hint"]), 0_u8..3)
        .prop_map(|(left, right, weight)| (1, link(left, right, weight)));
    prop_oneof![3 => item, 2 => link]
}

fn change(put_count: usize) -> impl Strategy<Value = Change> {
    let puts = prop::collection::vec(put(), 0..put_count);
    let deletes = prop::collection::vec(put().prop_map(|(table, row)| (table, key_of(table, &row))), 0..4);
    let attachments = prop::collection::vec(
        (prop::sample::select(vec!["a", "b"]), prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(name, bytes)| (name.to_owned(), bytes)),
        0..2,
    );
    (puts, deletes, attachments).prop_map(|(puts, deletes, attachments)| Change {
        puts,
        deletes,
        attachments,
    })
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => change(5).prop_map(Step::Commit),
        2 => change(40).prop_map(Step::Commit),
        2 => prop::collection::vec(change(4), 1..5).prop_map(Step::Group),
        2 => change(30).prop_map(Step::Load),
        2 => change(20).prop_map(Step::Prepared),
        2 => Just(Step::Flush),
        2 => Just(Step::Merge),
        1 => Just(Step::MergeAll),
        2 => Just(Step::Reopen),
    ]
}

pub(crate) struct Run {
    pub(crate) disk: Arc<dyn Disk>,
    options: Options,
    writer: Option<Writer>,
    pub(crate) twin: Twin,
}

impl Run {
    /// Creates a store without rows.
    pub(crate) fn new(disk: &SimDisk, journal_rows: u32) -> Run {
        let (disk, options) = (shared(disk), options(journal_rows));
        let writer = Writer::create(&disk, directory(), &schemas(), options.clone()).unwrap();
        Run { disk, options, writer: Some(writer), twin: Twin::default() }
    }

    fn writer(&mut self) -> &mut Writer {
        let Run { disk, options, writer, .. } = self;
        writer.get_or_insert_with(|| Writer::open(disk, directory(), options.clone()).unwrap())
    }

    pub(crate) fn step(&mut self, step: &Step) {
        let options = MergeOptions { seed: 3, ..MergeOptions::default() };
        match step {
            Step::Commit(change) => {
                self.writer().commit(change.transaction()).unwrap();
                self.twin.apply(change);
            }
            Step::Group(changes) => {
                let group: Vec<_> = changes.iter().map(Change::transaction).collect();
                self.writer().commit_group(&group).unwrap();
                changes.iter().for_each(|change| self.twin.apply(change));
            }
            Step::Load(change) => {
                self.writer().load_transaction(change.transaction()).unwrap();
                self.twin.apply(change);
            }
            Step::Prepared(change) => {
                let snapshot = Snapshot::open(&self.disk, directory()).unwrap();
                let prepared = Prepared::new(&snapshot, change.transaction(), &self.options).unwrap();
                let outcome = self.writer().commit_prepared(prepared).unwrap();
                assert!(matches!(outcome, Outcome::Committed(_)));
                self.twin.apply(change);
            }
            Step::Flush => drop(self.writer().flush().unwrap()),
            Step::Merge => {
                self.writer = None;
                let before = Snapshot::open(&self.disk, directory()).unwrap();
                let report = merge(&self.disk, directory(), &options).unwrap();
                let after = Snapshot::open(&self.disk, directory()).unwrap();
                if let Some(report) = report {
                    // A merge also seals the rows of the journal, and drops segments in which all rows died.
                    let sealed = usize::from(has_journal_rows(&before, &report.table));
                    let table = before.table(&report.table).unwrap();
                    let (_, segments) = table.parts().split_last().unwrap();
                    let dead = segments.iter().filter(|part| part.live_count() == 0).count();
                    let most =
                        segments.len() - report.segment_count + usize::from(report.row_count > 0) + sealed;
                    let count = after.segment_count(&report.table).unwrap();
                    assert!(
                        count <= most && count + dead >= most,
                        "{count} segments, at most {most}, {dead} dead"
                    );
                } else {
                    assert_eq!(after.version(), before.version());
                }
            }
            Step::MergeAll => {
                self.writer().flush().unwrap();
                self.writer = None;
                while merge_all(&self.disk, directory(), &options).unwrap().is_some() {}
                let after = Snapshot::open(&self.disk, directory()).unwrap();
                for table in after.tables() {
                    let segments = &table.parts()[..table.parts().len() - 1];
                    assert!(segments.len() <= 1 && segments.iter().all(|part| !part.has_dead()));
                }
            }
            Step::Reopen => self.writer = None,
        }
    }
}

fn has_journal_rows(snapshot: &Snapshot, table: &str) -> bool {
    snapshot.table(table).unwrap().parts().last().is_some_and(|memtable| memtable.live_count() > 0)
}

fn run(journal_rows: u32, steps: &[Step]) {
    let disk = SimDisk::new(1);
    let mut run = Run::new(&disk, journal_rows);
    let mut reader = Snapshot::open(&run.disk, directory()).unwrap();
    let mut held = (reader.clone(), run.twin.clone());
    for (number, step) in steps.iter().enumerate() {
        run.step(step);
        if let Some(writer) = &run.writer {
            check(&writer.snapshot().unwrap(), &run.twin).unwrap();
        }
        let newest = reader.newest().unwrap();
        assert!(newest.version() >= reader.version());
        reader = newest;
        check(&reader, &run.twin).unwrap();
        if number == steps.len() / 2 {
            held = (reader.clone(), run.twin.clone());
        }
    }
    let opened = Snapshot::open(&run.disk, directory()).unwrap();
    check(&opened, &run.twin).unwrap();
    assert_eq!(verify(&opened), []);
    check(&held.0, &held.1).expect("a snapshot stays as it was");
    assert_eq!(verify(&held.0), [], "what a newer manifest replaced is no damage");
    // The directory has only the files that the manifest names.
    run.writer = None;
    run.writer();
    let segments = opened.tables().iter().map(|table| table.parts().len() - 1).sum::<usize>();
    let dead = opened.tables().iter().flat_map(store::Table::parts).filter(|part| part.has_dead()).count();
    assert!(disk.files().len() <= segments + dead + 5, "{:?}", disk.files());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_store_answers_as_maps_do(
        journal_rows in prop::sample::select(vec![0_u32, 10, 40, 4096]),
        steps in prop::collection::vec(step(), 1..24),
    ) {
        run(journal_rows, &steps);
    }
}
