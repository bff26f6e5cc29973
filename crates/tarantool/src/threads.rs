//! Limits the store's parallel work to the number of threads that the caller allows.
//!
//! The store works on the current rayon pool. Work here runs in a pool of its own and never in the global
//! one, which has a thread for each core.

/// Runs `work`, and whatever it runs in parallel, on `thread_count` threads.
pub(crate) fn on_threads<T: Send>(thread_count: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(thread_count.max(1)).build() {
        Ok(pool) => pool.install(work),
        // If the system refuses new threads, the global pool may have some already.
        Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_has_as_many_threads_as_allowed() {
        for (allowed, expected) in [(0, 1), (1, 1), (3, 3)] {
            assert_eq!(on_threads(allowed, rayon::current_num_threads), expected);
        }
    }
}
