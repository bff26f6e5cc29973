//! `SimDisk` compared with its twin, the real disk: the same random operations give the same answers and the
//! same files.

use disk::{Disk, Error, File, RealDisk, Wait};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use testkit::{Random, SimDisk};

const FILES: [&str; 6] = ["a", "b", "one/a", "one/b", "one/two/a", "a/below"];
const DIRECTORIES: [&str; 5] = ["", "one", "one/two", "three/four", "b"];

/// The result of an operation, without the text that differs.
type Answer = Result<Vec<u8>, Option<ErrorKind>>;

/// A disk, the test's directory on it, and an open file.
struct Player {
    disk: Box<dyn Disk>,
    place: PathBuf,
    open: Option<Box<dyn File>>,
}

impl Player {
    /// Runs the next random operation.
    fn play(&mut self, random: &mut Random) -> Answer {
        let name = *random.pick(&FILES);
        let path = self.place.join(name);
        let directory = self.place.join(random.pick(&DIRECTORIES));
        let number = random.below(3000);
        answer(match random.index(13) {
            0 => self.disk.list(&directory).map(sorted),
            1 => self.disk.read(&path),
            2 => self.disk.map(&path).map(|map| map.to_vec()),
            3 => self.disk.create(&path).map(|file| self.hold(file)),
            4 => self.disk.append(&path, number % 7).map(|file| self.hold(file)),
            5 | 6 => self.write(usize::try_from(number).unwrap(), random),
            7 => {
                let to = path.with_file_name(random.pick(&["a", "b"]));
                // Only files are renamed.
                let is_directory = self.disk.list(&path).is_ok();
                if is_directory { Ok(Vec::new()) } else { self.disk.rename(&path, &to).map(|()| Vec::new()) }
            }
            8 => self.disk.remove(&path).map(|()| Vec::new()),
            9 => self.disk.read_range(&path, number % 11, random.index(2000)),
            10 => self.disk.size(&path).map(|length_bytes| length_bytes.to_le_bytes().to_vec()),
            11 => self.disk.create_directory(&directory).map(|()| Vec::new()),
            _ => self.disk.sync_directory(&directory).map(|()| Vec::new()),
        })
    }

    fn hold(&mut self, file: Box<dyn File>) -> Vec<u8> {
        self.open = Some(file);
        Vec::new()
    }

    /// Writes to the open file, if there is one, even if it was renamed or removed.
    fn write(&mut self, length_bytes: usize, random: &mut Random) -> disk::Result<Vec<u8>> {
        let mut bytes = vec![0; length_bytes];
        random.fill(&mut bytes);
        let Some(file) = &mut self.open else { return Ok(Vec::new()) };
        file.write(&bytes)?;
        if length_bytes.is_multiple_of(8) {
            file.sync()?;
        }
        Ok(Vec::new())
    }

    fn files(&self) -> BTreeMap<&'static str, Answer> {
        FILES.iter().map(|name| (*name, answer(self.disk.read(&self.place.join(name))))).collect()
    }
}

fn sorted(mut names: Vec<std::ffi::OsString>) -> Vec<u8> {
    names.sort();
    format!("{names:?}").into_bytes()
}

fn answer(result: disk::Result<Vec<u8>>) -> Answer {
    result.map_err(|error| match error {
        Error::Io { source, .. } => Some(source.kind()),
        Error::Locked { .. } => None,
    })
}

/// System calls name directories differently in errors. Only whether something is absent matters.
fn blurred(answer: Answer) -> Answer {
    answer.map_err(|kind| kind.filter(|kind| matches!(kind, ErrorKind::NotFound | ErrorKind::AlreadyExists)))
}

#[test]
fn the_simulated_disk_answers_as_the_real_one() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..25 {
        let place = tempfile::tempdir().unwrap();
        let simulated = SimDisk::new(seed);
        simulated.create_directory(place.path()).unwrap();
        let mut real = Player { disk: Box::new(RealDisk), place: place.path().to_owned(), open: None };
        let mut twin =
            Player { disk: Box::new(simulated.clone()), place: place.path().to_owned(), open: None };
        let mut random = Random::new(seed);
        for step in 0..100 {
            let mut same = random.clone();
            let expected = real.play(&mut random);
            let found = twin.play(&mut same);
            if expected.is_ok() {
                done += 1;
            } else {
                refused += 1;
            }
            let last = simulated.trace().last().map(ToString::to_string);
            assert_eq!(blurred(found), blurred(expected), "seed {seed}, step {step}, {last:?}");
            assert_eq!(twin.files(), real.files(), "seed {seed}, after step {step}, {last:?}");
        }
    }
    assert!(done > 800 && refused > 400, "{done} done, {refused} refused");
}

#[test]
fn a_lock_has_one_holder_whose_name_is_told() {
    let disk = SimDisk::new(1);
    let path = Path::new("/writer.lock");
    let held = disk.lock(path, "the first", Wait::Block).unwrap();
    let refused = disk.clone().lock(path, "the second", Wait::Refuse).unwrap_err();
    let said = "/writer.lock is locked by the first; wait until it has ended, and try again";
    assert_eq!(refused.to_string(), said);
    let endless = disk.lock(path, "the second", Wait::Block).unwrap_err();
    assert!(endless.to_string().contains("the wait would never end"), "{endless}");
    assert!(disk.fork().lock(path, "the next process", Wait::Refuse).is_ok());
    drop(held);
    let _held = disk.lock(path, "2nd", Wait::Refuse).unwrap();
    assert_eq!(disk.read(path).unwrap(), b"2nd");
    assert!(disk.lock(Path::new("/absent/writer.lock"), "me", Wait::Refuse).unwrap_err().is_not_found());
}

#[test]
fn damage_is_done_to_the_byte() {
    let disk = SimDisk::new(1);
    let path = Path::new("/file");
    disk.put(path, b"letters");
    disk.flip(path, 1);
    disk.cut(path, 4);
    assert_eq!(disk.read(path).unwrap(), b"ldtt");
    disk.put(path, b"new");
    assert_eq!(disk.read(path).unwrap(), b"new");
    assert_eq!(disk.files(), [path]);
    assert_eq!(disk.images().len(), 1, "damage is durable");
}
