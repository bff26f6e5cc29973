//! How many threads of a process run, over its time.
//!
//! Input: a command. Output: [`Threads`], and what can be computed of it. Does not know what runs.
//!
//! The state of every thread is read again and again. A thread runs if it is in the state R: it has a core or
//! waits for one. A thread that waits for the disk does not run. Shares of time are right on a quiet machine
//! only: other processes slow down several threads more than one that runs alone.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often the states are read.
const PERIOD: Duration = Duration::from_millis(4);
/// The state of a thread that runs.
const RUNS: char = 'R';

/// The number of running threads over the time of one process.
#[derive(Debug, Clone, PartialEq)]
pub struct Threads {
    /// From here on this many threads ran, until the next entry. In order of time.
    seen: Vec<(f64, usize)>,
    /// The end, in seconds after the start.
    seconds: f64,
}

/// A range of numbers of running threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// What a reader sees.
    pub name: String,
    least: usize,
    most: usize,
}

/// Runs `command` to its end, and watches its threads. Its output is not kept. This costs it some time: the
/// run must not count as a measurement of time.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn run(command: &mut Command) -> Result<Threads> {
    let described = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {described}"))?;
    let mut seen = Vec::new();
    let status = loop {
        let at_seconds = begin.elapsed().as_secs_f64();
        let running = running_threads(child.id());
        if let Some(status) = child.try_wait().with_context(|| format!("cannot wait for {described}"))? {
            break status;
        }
        // It had not ended, so this is no half of a process that was ending.
        seen.extend(running.map(|running| (at_seconds, running)));
        thread::sleep(PERIOD);
    };
    ensure!(status.success(), "{described} failed: {status}");
    Ok(Threads { seen, seconds: begin.elapsed().as_secs_f64() })
}

/// Returns how many threads of a process run, or `None` if the process is gone.
fn running_threads(process: u32) -> Option<usize> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    // A thread may end before its state is read.
    let states = threads.flatten().filter_map(|thread| fs::read(thread.path().join("stat")).ok());
    Some(states.filter(|stat| state(&String::from_utf8_lossy(stat)) == Some(RUNS)).count())
}

/// Returns the state in a line of the system about a thread. Its name, in brackets, may contain any
/// characters.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

impl Threads {
    /// Returns threads that were seen in a process of this many seconds: at each second, how many ran from
    /// then on.
    pub fn of(seen: &[(f64, usize)], seconds: f64) -> Threads {
        Threads { seen: seen.to_vec(), seconds }
    }

    /// Returns how long the process took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns how long exactly this many threads ran.
    pub fn seconds_with(&self, running: usize) -> f64 {
        self.pieces().filter(|piece| piece.running == running).map(Piece::seconds).sum()
    }

    /// Returns the work, in seconds of one core: each moment counts as many times as threads ran on that many
    /// cores. A moment in which no thread ran counts once, because no further core shortens it.
    pub fn work_seconds(&self, cores: usize) -> f64 {
        let weight = |running: usize| running.clamp(1, cores.max(1)) as f64;
        self.pieces().map(|piece| weight(piece.running) * piece.seconds()).sum()
    }

    /// Predicts by Amdahl's law how long the same work takes on another number of cores, from a run on
    /// `cores`: moments in which at most one thread ran stay as long as they are, and everything else is
    /// divided among all cores.
    pub fn predicted_seconds(&self, cores: usize, other_cores: usize) -> f64 {
        let serial = self.seconds_with(0) + self.seconds_with(1);
        serial + (self.work_seconds(cores) - serial) / other_cores.max(1) as f64
    }

    /// Cuts the time into slices of the same length, and returns for each slice the share of time in each
    /// band.
    pub fn slices(&self, count: usize, bands: &[Band]) -> Vec<Vec<f64>> {
        let length = self.seconds / count as f64;
        let mut slices = vec![vec![0.0; bands.len()]; count];
        for (place, slice) in slices.iter_mut().enumerate() {
            let (from, to) = (length * place as f64, length * (place + 1) as f64);
            for piece in self.pieces() {
                let seconds = (piece.to.min(to) - piece.from.max(from)).max(0.0);
                let band = bands.iter().position(|band| band.has(piece.running));
                if let Some(share) = band.and_then(|band| slice.get_mut(band)) {
                    *share += seconds / length;
                }
            }
        }
        slices
    }

    /// Returns the time in pieces with one number of running threads each. Before the first entry nothing is
    /// known; that time, of less than a period, counts as the first entry.
    fn pieces(&self) -> impl Iterator<Item = Piece> {
        let ends = self.seen.iter().skip(1).map(|&(at, _)| at).chain([self.seconds]);
        let begins = [0.0].into_iter().chain(self.seen.iter().skip(1).map(|&(at, _)| at));
        let running = self.seen.iter().map(|&(_, running)| running);
        begins.zip(ends).zip(running).map(|((from, to), running)| Piece { from, to, running })
    }
}

/// A piece of time in which the same number of threads ran.
#[derive(Clone, Copy)]
struct Piece {
    from: f64,
    to: f64,
    running: usize,
}

impl Piece {
    fn seconds(self) -> f64 {
        self.to - self.from
    }
}

impl Band {
    fn has(&self, running: usize) -> bool {
        (self.least..=self.most).contains(&running)
    }
}

/// Returns the bands of a machine: no thread, one, more, and at least as many as it has cores.
pub fn bands(cores: usize) -> Vec<Band> {
    let band = |name: String, least, most| Band { name, least, most };
    let full = cores.max(2);
    let some = match full {
        2 => None,
        3 => Some(band("2".to_owned(), 2, 2)),
        _ => Some(band(format!("2 to {}", full - 1), 2, full - 1)),
    };
    let ends = [band("none".to_owned(), 0, 0), band("1".to_owned(), 1, 1)];
    ends.into_iter().chain(some).chain([band(format!("{full} or more"), full, usize::MAX)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::time::{ClockId, clock_gettime};
    use std::env;

    /// The variable with the number of threads that a child keeps busy.
    const BUSY: &str = "PNEU_MEASURE_BUSY_THREADS";
    /// For so much CPU time of all threads, which takes longer if there are few cores or other work.
    const BUSY_SECONDS: f64 = 0.3;

    /// In a child of another test: keeps threads busy, which all stop at the same time. Otherwise does
    /// nothing.
    #[test]
    fn busy_child() {
        let Some(count) = env::var(BUSY).ok().and_then(|count| count.parse().ok()) else { return };
        let is_over = || {
            let used = clock_gettime(ClockId::ProcessCPUTime);
            used.tv_sec as f64 + used.tv_nsec as f64 / 1e9 > BUSY_SECONDS
        };
        thread::scope(|scope| (0..count).for_each(|_| drop(scope.spawn(|| while !is_over() {}))));
    }

    /// Returns the number of running threads that a child had for most of its time.
    fn usual(busy: usize) -> usize {
        let mut command = Command::new(env::current_exe().unwrap());
        let threads =
            run(command.args(["--exact", "threads::tests::busy_child"]).env(BUSY, busy.to_string()));
        let threads = threads.unwrap();
        (0..10)
            .max_by(|&one, &other| threads.seconds_with(one).total_cmp(&threads.seconds_with(other)))
            .unwrap()
    }

    #[test]
    fn busy_threads_of_a_child_are_counted() {
        assert_eq!([1, 3, 5].map(usual), [1, 3, 5]);
    }

    #[test]
    fn a_child_that_fails_is_an_error() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().contains("exit 3"), "{error}");
        assert_eq!(running_threads(u32::MAX), None);
    }

    #[test]
    fn names_of_threads_may_contain_anything() {
        assert_eq!(state("12 (pneu) R 1 2"), Some('R'));
        assert_eq!(state("12 (a) R (b) S 1 2"), Some('S'));
        assert_eq!(state("12"), None);
    }

    /// 1 s with one thread, 2 s with none, 3 s with three, 4 s with two.
    fn threads() -> Threads {
        Threads { seen: vec![(0.004, 1), (1.0, 0), (3.0, 3), (6.0, 2)], seconds: 10.0 }
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn time_and_work_are_those_between_the_entries() {
        let threads = threads();
        let times = [0, 1, 2, 3, 4].map(|running| threads.seconds_with(running));
        assert!(times.iter().zip([2.0, 1.0, 4.0, 3.0, 0.0]).all(|(&one, other)| is_near(one, other)));
        assert!(is_near(threads.work_seconds(2), 1.0 + 2.0 + 6.0 + 8.0), "two cores do no work of three");
        assert!(is_near(threads.work_seconds(4), 1.0 + 2.0 + 9.0 + 8.0));
    }

    #[test]
    fn a_prediction_is_amdahls() {
        let threads = threads();
        let (work, serial) = (17.0, 3.0);
        let share = serial / work;
        let speed_up = 1.0 / (share + (1.0 - share) / 16.0);
        assert!(is_near(threads.predicted_seconds(2, 16), work / speed_up));
        assert!(
            is_near(threads.predicted_seconds(2, 2), threads.seconds()),
            "two cores are what was measured"
        );
        assert!(is_near(threads.predicted_seconds(2, 1), work));
    }

    #[test]
    fn slices_have_shares_of_bands() {
        let slices = threads().slices(2, &bands(2));
        let expected = [[0.4, 0.2, 0.4], [0.0, 0.0, 1.0]];
        for (slice, expected) in slices.iter().flatten().zip(expected.iter().flatten()) {
            assert!(is_near(*slice, *expected), "{slices:?}");
        }
        assert_eq!(Threads { seen: Vec::new(), seconds: 0.5 }.slices(1, &bands(2)), [[0.0, 0.0, 0.0]]);
    }

    #[test]
    fn every_number_of_threads_has_one_band() {
        for cores in [1, 2, 3, 4, 16] {
            for running in [0, 1, 2, 3, 15, 16, 17, 1000] {
                assert_eq!(bands(cores).iter().filter(|band| band.has(running)).count(), 1);
            }
        }
        let names = |cores| bands(cores).into_iter().map(|band| band.name).collect::<Vec<_>>().join(", ");
        assert_eq!(names(2), "none, 1, 2 or more");
        assert_eq!(
            (names(3), names(16)),
            ("none, 1, 2, 3 or more".into(), "none, 1, 2 to 15, 16 or more".into())
        );
    }
}
