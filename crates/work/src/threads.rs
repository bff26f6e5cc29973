//! Threads for parallel work. Input: how many may work, and the work. Output: its result.
//!
//! Libraries run parallel work on the current rayon pool. Outside of any pool that is rayon's global one,
//! which has a thread for each processor. So whoever is given another count runs the work in here.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// How many threads may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One for each processor. The system reads files to tell how many there are, so a short command must not
    /// ask.
    All,
    /// So many; 0 counts as 1.
    Exactly(usize),
}

impl Threads {
    /// Returns how many that are, at least 1.
    pub fn count(self) -> usize {
        match self {
            Threads::All => processor_count(),
            Threads::Exactly(count) => count.max(1),
        }
    }
}

impl From<usize> for Threads {
    fn from(count: usize) -> Threads {
        Threads::Exactly(count)
    }
}

/// Threads that are started when work first needs them, and end with this value.
#[derive(Debug)]
pub struct Workers {
    threads: Threads,
    /// `None` if the system refuses new threads.
    pool: OnceLock<Option<ThreadPool>>,
}

impl Workers {
    /// Returns as many threads as may work. Starts none of them.
    pub fn new(threads: impl Into<Threads>) -> Workers {
        Workers { threads: threads.into(), pool: OnceLock::new() }
    }

    /// Runs `work`, and whatever it runs in parallel, on these threads.
    ///
    /// If there is one for each processor, the global pool will do: it is started only if something runs in
    /// parallel, and is shared with the whole program.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let is_in_pool = rayon::current_thread_index().is_some();
        let will_do = match is_in_pool {
            true => rayon::current_num_threads() == self.threads.count(),
            false => self.threads == Threads::All || self.threads.count() == processor_count(),
        };
        if will_do { work() } else { self.run_apart(work) }
    }

    /// Runs `work`, and whatever it runs in parallel, on these threads, and never on those of others, whose
    /// own work would wait for it.
    pub fn run_apart<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let start = || ThreadPoolBuilder::new().num_threads(self.threads.count()).build().ok();
        match self.pool.get_or_init(start) {
            Some(pool) => pool.install(work),
            // The current pool may have some threads already.
            None => work(),
        }
    }
}

/// Runs `work`, and whatever it runs in parallel, on so many threads.
pub fn on_threads<T: Send>(threads: impl Into<Threads>, work: impl FnOnce() -> T + Send) -> T {
    Workers::new(threads).run(work)
}

/// Returns how many threads can run at once on this machine.
fn processor_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    // The system reads files to tell.
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::collections::HashSet;
    use std::thread::ThreadId;

    /// Returns which threads take part in parallel work.
    fn threads_used() -> HashSet<ThreadId> {
        (0..10_000).into_par_iter().map(|_| std::thread::current().id()).collect()
    }

    #[test]
    fn work_has_as_many_threads_as_allowed() {
        for (allowed, expected) in [(0, 1), (1, 1), (3, 3), (processor_count(), processor_count())] {
            assert_eq!(on_threads(allowed, rayon::current_num_threads), expected);
            assert!(on_threads(allowed, threads_used).len() <= expected);
        }
    }

    #[test]
    fn work_apart_keeps_nobody_waiting() {
        let workers = Workers::new(processor_count());
        let all = |_: rayon::BroadcastContext<'_>| std::thread::current().id();
        let others = rayon::broadcast(all);
        assert_eq!(workers.run(|| rayon::broadcast(all)), others);
        let own = workers.run_apart(|| rayon::broadcast(all));
        assert!(own.len() == others.len() && own.iter().all(|thread| !others.contains(thread)));
    }

    #[test]
    fn work_within_work_has_its_own_count() {
        on_threads(3, || {
            assert_eq!(on_threads(3, rayon::current_num_threads), 3);
            assert_eq!(on_threads(1, rayon::current_num_threads), 1);
            assert_eq!(on_threads(processor_count() + 1, rayon::current_num_threads), processor_count() + 1);
        });
    }
}
