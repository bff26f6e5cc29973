//! All modes agree with each other and with a naive walk, whatever changes the mail.

use super::Ground;
use super::follower::Follower;
use crate::rows::{self, Subdirectory};
use crate::tables::{files, messages};
use crate::{Cleanup, Environment, Loss, Mode, Places, Summary, UpdateOptions, open, update, update_places};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::SimDisk;
use work::Silent;

const FOLDERS: [&str; 5] = ["", "a", "a/b", ".c.d", "Drafts"];
const FLAGS: [&str; 4] = ["", ":2,S", ":2,DS", ":2,FS"];

/// A change by another program. Its numbers choose a file or a folder.
#[derive(Clone, Debug)]
enum Change {
    Add(usize, Subdirectory),
    Remove(usize),
    Move(usize, usize),
    Flag(usize, usize),
    Replace(usize),
    Rewrite(usize),
    RemoveFolder(usize),
    RenameFolder(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let number = 0..1000_usize;
    prop_oneof![
        4 => (number.clone(), prop_oneof![Just(Subdirectory::Cur), Just(Subdirectory::New)])
            .prop_map(|(a, b)| Change::Add(a, b)),
        3 => number.clone().prop_map(Change::Remove),
        3 => (number.clone(), number.clone()).prop_map(|(a, b)| Change::Move(a, b)),
        3 => (number.clone(), number.clone()).prop_map(|(a, b)| Change::Flag(a, b)),
        2 => number.clone().prop_map(Change::Replace),
        2 => number.clone().prop_map(Change::Rewrite),
        1 => number.clone().prop_map(Change::RemoveFolder),
        1 => (number.clone(), number).prop_map(|(a, b)| Change::RenameFolder(a, b)),
    ]
}

/// A changing mailbox, and a directory for removed files: as they still exist, their inodes are not reused.
struct World {
    ground: Ground,
    count: usize,
    /// The unique parts of the names of drafts at the last pass.
    drafts: BTreeSet<String>,
    /// Those of files that were rewritten since then.
    rewritten: BTreeSet<String>,
}

impl World {
    fn new() -> World {
        let (drafts, rewritten) = Default::default();
        let mut world = World { ground: Ground::new(), count: 0, drafts, rewritten };
        fs::create_dir(world.ground.directory.path().join("removed")).unwrap();
        for number in 0..8 {
            world.apply(&Change::Add(number, Subdirectory::Cur));
        }
        world.end_round();
        world
    }

    /// Ends what happens between two passes. No mode promises to see that a file was rewritten which is a
    /// draft at neither of them. Such a file is replaced here, which all modes see.
    fn end_round(&mut self) {
        let unseen = |world: &World, file: &Path| {
            let unique = unique_part(file);
            world.rewritten.contains(&unique) && !world.drafts.contains(&unique) && !is_draft(file)
        };
        let files: Vec<PathBuf> = walk(self.ground.root()).into_keys().collect();
        for file in files.iter().filter(|file| unseen(self, file)).cloned().collect::<Vec<_>>() {
            let path = self.ground.root().join(file);
            self.replace(&path);
        }
        self.drafts = files.iter().filter(|file| is_draft(file)).map(|file| unique_part(file)).collect();
        self.rewritten.clear();
    }

    /// Puts another file in the place of one.
    fn replace(&mut self, path: &Path) {
        let (_, text) = self.fresh();
        let (grave, new) = (self.grave(), self.grave());
        fs::hard_link(path, grave).unwrap();
        fs::write(&new, format!("Subject: replaced\n\n{text}\n")).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// Returns a new name and a new content. Each content has a different length.
    fn fresh(&mut self) -> (String, String) {
        self.count += 1;
        (format!("{}.m", self.count), format!("number {} {}", self.count, "x".repeat(self.count)))
    }

    fn grave(&mut self) -> PathBuf {
        self.count += 1;
        self.ground.directory.path().join("removed").join(self.count.to_string())
    }

    fn file(&self, number: usize) -> Option<PathBuf> {
        let files: Vec<PathBuf> = walk(self.ground.root()).into_keys().collect();
        (!files.is_empty()).then(|| self.ground.root().join(&files[number % files.len()]))
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Add(number, subdirectory) => {
                let (name, text) = self.fresh();
                let name = if *subdirectory == Subdirectory::New {
                    name
                } else {
                    name + FLAGS[number % FLAGS.len()]
                };
                self.ground.put(FOLDERS[number % FOLDERS.len()], subdirectory.name(), &name, &text);
            }
            Change::RemoveFolder(number) => {
                let path = self.ground.root().join(FOLDERS[number % FOLDERS.len()]).join("cur");
                let grave = self.grave();
                if path.exists() {
                    fs::create_dir(&grave).unwrap();
                    for subdirectory in Subdirectory::ALL {
                        let path = path.with_file_name(subdirectory.name());
                        fs::rename(path, grave.join(subdirectory.name())).unwrap();
                    }
                }
            }
            Change::RenameFolder(from, to) => {
                let path = |number: usize| self.ground.root().join(FOLDERS[1 + number % (FOLDERS.len() - 1)]);
                if path(*from).exists() && !path(*to).exists() && path(*to).parent().unwrap().exists() {
                    fs::rename(path(*from), path(*to)).unwrap();
                }
            }
            Change::Remove(number) => {
                let grave = self.grave();
                self.file(*number).into_iter().for_each(|path| fs::rename(path, &grave).unwrap());
            }
            Change::Move(number, to) => {
                let folder = self.ground.root().join(FOLDERS[to % FOLDERS.len()]).join("cur");
                if let Some(path) = self.file(*number).filter(|_| folder.exists()) {
                    fs::rename(&path, folder.join(path.file_name().unwrap())).unwrap();
                }
            }
            Change::Flag(number, flags) => self.in_place(*number, |_, path, name| {
                let unique = name.split(':').next().unwrap();
                fs::rename(path, path.with_file_name(format!("{unique}{}", FLAGS[flags % FLAGS.len()])))
                    .unwrap();
            }),
            Change::Replace(number) => self.in_place(*number, |world, path, _| world.replace(path)),
            // For other files, the default mode does not see a change in place; that is intended.
            Change::Rewrite(number) => self.in_place(*number, |world, path, _| {
                if is_draft(path) {
                    let (_, text) = world.fresh();
                    fs::write(path, format!("Subject: rewritten\n\n{text}\n")).unwrap();
                    world.rewritten.insert(unique_part(path));
                }
            }),
        }
    }

    fn in_place(&mut self, number: usize, change: impl FnOnce(&mut World, &Path, &str)) {
        if let Some(path) = self.file(number) {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            change(self, &path, &name);
        }
    }
}

/// Returns whether a file is a draft, by its flags or its folder.
fn is_draft(path: &Path) -> bool {
    mail::is_draft(path.file_name().unwrap().as_bytes()) || path.to_str().unwrap().contains("Drafts/")
}

/// Returns the part of a file's name that no change of flags changes.
fn unique_part(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().split(':').next().unwrap().to_owned()
}

/// The state of a file: its inode, its size and the SHA-256 of its content.
type Facts = (u64, u64, [u8; 32]);

/// Returns every message file below a root, by a naive walk.
fn walk(root: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if directory.ends_with("cur") || directory.ends_with("new") {
                let content = fs::read(&path).unwrap();
                let metadata = fs::metadata(&path).unwrap();
                let facts = (metadata.ino(), metadata.len(), Sha256::digest(&content).into());
                found.insert(path.strip_prefix(root).unwrap().to_owned(), facts);
            }
        }
    }
    found
}

/// An index that is updated by passes of one kind.
struct PassedIndex {
    name: &'static str,
    environment: Environment,
    passes: Vec<UpdateOptions>,
}

impl PassedIndex {
    fn new(name: &'static str, disk: &SimDisk, ground: &Ground, passes: Vec<UpdateOptions>) -> PassedIndex {
        let disk = Arc::new(disk.clone());
        PassedIndex {
            name,
            environment: Environment { disk, data: "/data".into(), ..ground.environment.clone() },
            passes,
        }
    }

    fn update(&self, ground: &Ground, loss: Loss) -> Vec<Summary> {
        let pass = |options: &UpdateOptions| {
            let options = UpdateOptions { loss, ..options.clone() };
            update(&self.environment, &ground.roots, &options, &Silent).unwrap()
        };
        let summaries = self.passes.iter().map(pass).collect();
        let damage = crate::check(&self.environment, crate::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{}: {damage:#?}", self.name);
        summaries
    }

    /// Runs one pass over these places only.
    fn update_places(&self, places: &Places) -> Summary {
        let options = UpdateOptions { loss: Loss::Accept, ..self.passes[0].clone() };
        let summary = update_places(&self.environment, places, &options, &Silent).unwrap();
        let damage = crate::check(&self.environment, crate::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{}: {damage:#?}", self.name);
        summary
    }

    fn version(&self) -> u64 {
        open::snapshot(&self.environment).unwrap().version().sequence
    }

    /// Returns the contents of the rows, by path.
    fn rows(&self) -> BTreeMap<PathBuf, Facts> {
        let snapshot = open::snapshot(&self.environment).unwrap();
        let folders: HashMap<u32, Vec<u8>> =
            rows::folders(&snapshot).unwrap().into_iter().map(|row| (row.number, row.path)).collect();
        let mut contents = HashMap::new();
        for part in snapshot.table(messages::TABLE).unwrap().parts() {
            for row in part.live_rows() {
                let number = part.u32_at(messages::NUMBER, row).unwrap();
                contents.insert(number, part.id_at(messages::SHA256, row).unwrap());
            }
        }
        let mut found = BTreeMap::new();
        for part in snapshot.table(files::TABLE).unwrap().parts() {
            for row in part.live_rows() {
                let row = rows::file(part, row).unwrap();
                let folder = std::ffi::OsStr::from_bytes(&folders[&row.folder]);
                let name = std::ffi::OsStr::from_bytes(&row.name);
                let path = Path::new(folder).join(row.subdirectory.name()).join(name);
                assert_eq!(row.flags.contains(mail::Flags::DRAFT), mail::is_draft(&row.name));
                // Searches read the columns, lists read the name.
                let parsed = mail::parse_name(&row.name);
                assert_eq!(
                    (row.flags, row.keywords),
                    (row.subdirectory.flags(parsed.flags), parsed.keywords)
                );
                found.insert(path, (row.inode, row.size_bytes, contents[&row.message]));
            }
        }
        found
    }
}

fn all_kinds(disk: &SimDisk, ground: &Ground) -> Vec<PassedIndex> {
    let pass = |mode, cleanup| UpdateOptions { mode, cleanup, ..UpdateOptions::default() };
    let of = |name, passes| PassedIndex::new(name, &disk.fork(), ground, passes);
    vec![
        of("default", vec![pass(Mode::Default, Cleanup::Pass)]),
        of("lazy", vec![pass(Mode::Lazy, Cleanup::Pass)]),
        of("thorough", vec![pass(Mode::Thorough, Cleanup::Pass)]),
        of("brief", vec![pass(Mode::Brief, Cleanup::Pass)]),
        of("legacy", vec![pass(Mode::Default, Cleanup::Legacy)]),
        of("lazy and legacy", vec![pass(Mode::Lazy, Cleanup::Legacy)]),
        of(
            "kept, then default",
            vec![pass(Mode::Default, Cleanup::Keep), pass(Mode::Default, Cleanup::Pass)],
        ),
        of("kept, then lazy", vec![pass(Mode::Lazy, Cleanup::Keep), pass(Mode::Lazy, Cleanup::Pass)]),
    ]
}

/// The state of a folder: the inodes and times of its two directories, and the state of their files.
type FolderFacts = (Vec<Option<(u64, i64, i64)>>, BTreeMap<PathBuf, Facts>);

/// Returns every folder below a root with its state.
fn folders_of(root: &Path) -> BTreeMap<PathBuf, FolderFacts> {
    let files = walk(root);
    let facts = |folder: &mail::Folder| {
        let path = mail::join(root, &folder.path);
        let directories = Subdirectory::ALL.map(|subdirectory| path.join(subdirectory.name()));
        let time = |path: &PathBuf| {
            fs::metadata(path).ok().map(|found| (found.ino(), found.ctime(), found.ctime_nsec()))
        };
        let is_here = |file: &Path| directories.contains(&root.join(file.parent().unwrap()));
        let here = files.iter().filter(|(file, _)| is_here(file));
        let here = here.map(|(file, facts)| (file.clone(), *facts)).collect();
        (path, (directories.iter().map(time).collect(), here))
    };
    mail::find_folders(root).unwrap().folders.iter().map(facts).collect()
}

/// Returns the folders that were added, removed or changed.
fn changed(before: &BTreeMap<PathBuf, FolderFacts>, after: &BTreeMap<PathBuf, FolderFacts>) -> Vec<PathBuf> {
    let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// Returns the files that were added, removed or changed, and the folders whose directories did.
fn changed_places(
    root: &Path,
    before: &(BTreeMap<PathBuf, Facts>, BTreeMap<PathBuf, FolderFacts>),
    after: &(BTreeMap<PathBuf, Facts>, BTreeMap<PathBuf, FolderFacts>),
) -> Places {
    let mut places = Places::default();
    for file in before.0.keys().chain(after.0.keys()) {
        if before.0.get(file) != after.0.get(file) {
            places.add_file(&root.join(file));
        }
    }
    let inodes = |folders: &BTreeMap<PathBuf, FolderFacts>, path: &PathBuf| -> Option<Vec<Option<u64>>> {
        let (directories, _) = folders.get(path)?;
        Some(directories.iter().map(|facts| facts.map(|(inode, _, _)| inode)).collect())
    };
    for folder in before.1.keys().chain(after.1.keys()) {
        if inodes(&before.1, folder) != inodes(&after.1, folder) {
            places.add_folder(folder);
        }
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn all_modes_agree_with_each_other_and_with_the_disk(
        rounds in prop::collection::vec(prop::collection::vec(change(), 0..10), 1..4),
    ) {
        let mut world = World::new();
        world.ground.age();
        let disk = SimDisk::new(9);
        let first = PassedIndex::new("first", &disk, &world.ground, vec![UpdateOptions::default()]);
        first.update(&world.ground, Loss::Refuse);
        let all = all_kinds(&disk, &world.ground);
        let mut followers: Vec<_> = all.iter().map(|kept| Follower::new(&kept.environment)).collect();
        for changes in rounds {
            changes.iter().for_each(|change| world.apply(change));
            world.end_round();
            world.ground.age();
            let expected = walk(world.ground.root());
            for (kept, follower) in all.iter().zip(&mut followers) {
                kept.update(&world.ground, Loss::Accept);
                follower.follow(&kept.environment);
                // A root without any folder is assumed to be unmounted.
                if world.ground.has_folder() {
                    prop_assert_eq!(&kept.rows(), &expected, "{}", kept.name);
                }
            }
        }
    }

    #[test]
    fn a_pass_over_all_folders_that_changed_does_what_a_pass_over_all_does(
        rounds in prop::collection::vec(prop::collection::vec(change(), 0..10), 1..4),
    ) {
        let mut world = World::new();
        world.ground.age();
        let disk = SimDisk::new(11);
        PassedIndex::new("first", &disk, &world.ground, vec![UpdateOptions::default()])
            .update(&world.ground, Loss::Refuse);
        for mode in [Mode::Default, Mode::Lazy, Mode::Thorough] {
            let options = UpdateOptions { mode, ..UpdateOptions::default() };
            let named = PassedIndex::new("named", &disk.fork(), &world.ground, vec![options.clone()]);
            let all = PassedIndex::new("all", &disk.fork(), &world.ground, vec![options]);
            // This mode did not see the changes made for the modes before it. A rename changes a time of the
            // file, which the next pass sees.
            for _ in 0..2 {
                all.update(&world.ground, Loss::Accept);
                named.update(&world.ground, Loss::Accept);
            }
            for changes in &rounds {
                let before = folders_of(world.ground.root());
                changes.iter().for_each(|change| world.apply(change));
                world.end_round();
                world.ground.age();
                let folders = changed(&before, &folders_of(world.ground.root()));
                let counts = |summary: &Summary| (summary.added, summary.new_messages, summary.moved,
                    summary.changed, summary.gone);
                let of_all = all.update(&world.ground, Loss::Accept).remove(0);
                let of_named = named.update_places(&folders.iter().map(PathBuf::as_path).collect());
                prop_assert_eq!(counts(&of_named), counts(&of_all));
                prop_assert_eq!(named.rows(), all.rows());
                // A full pass finds only what it would find after another full pass: nothing, or changed
                // times of renamed files.
                let second = |kept: &PassedIndex| {
                    let before = kept.version();
                    (counts(&kept.update(&world.ground, Loss::Accept).remove(0)), kept.version() - before)
                };
                prop_assert_eq!(second(&named), second(&all), "{:?}", folders);
            }
        }
    }

    #[test]
    fn a_pass_over_all_files_that_changed_does_what_a_pass_over_all_does(
        rounds in prop::collection::vec(prop::collection::vec(change(), 0..10), 1..4),
    ) {
        let mut world = World::new();
        world.ground.age();
        let disk = SimDisk::new(12);
        let options = || vec![UpdateOptions::default()];
        PassedIndex::new("first", &disk, &world.ground, options()).update(&world.ground, Loss::Refuse);
        let named = PassedIndex::new("named", &disk.fork(), &world.ground, options());
        for changes in &rounds {
            let before = (walk(world.ground.root()), folders_of(world.ground.root()));
            changes.iter().for_each(|change| world.apply(change));
            world.end_round();
            world.ground.age();
            let after = (walk(world.ground.root()), folders_of(world.ground.root()));
            let places = changed_places(world.ground.root(), &before, &after);
            named.update_places(&places);
            if world.ground.has_folder() {
                prop_assert_eq!(&named.rows(), &after.0, "{:?}", places);
            }
            named.update(&world.ground, Loss::Accept);
        }
    }

    #[test]
    fn all_modes_refuse_the_same_losses(changes in prop::collection::vec(change(), 0..16)) {
        let mut world = World::new();
        world.ground.age();
        let disk = SimDisk::new(10);
        let options = vec![UpdateOptions::default()];
        PassedIndex::new("first", &disk, &world.ground, options).update(&world.ground, Loss::Refuse);
        changes.iter().for_each(|change| world.apply(change));
        world.end_round();
        world.ground.age();
        let all = all_kinds(&disk, &world.ground);
        let told = |kept: &PassedIndex| {
            let summary = kept.update(&world.ground, Loss::Refuse).remove(0);
            (summary.added, summary.moved, summary.gone, summary.problems)
        };
        let expected = (told(&all[0]), all[0].rows());
        for kept in all[1..].iter().filter(|kept| kept.passes.len() == 1) {
            prop_assert_eq!(&(told(kept), kept.rows()), &expected, "{}", kept.name);
        }
    }
}
