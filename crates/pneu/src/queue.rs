//! A queue: those who ask for a turn get it one after the other, in the order in which they asked.
//!
//! A mutex would do but for two things: it may prefer who came last, and whoever waits for it cannot be
//! stopped.

use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a cancelled wait may go on. Nobody wakes a waiter when a request is cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// A queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    tickets: Mutex<Tickets>,
    is_moving: Condvar,
}

#[derive(Debug, Default)]
struct Tickets {
    /// How many were given out.
    count: u64,
    /// The first has its turn; the others wait.
    queue: VecDeque<u64>,
}

/// A turn. It ends with this value, also by a panic.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    queue: &'a Queue,
    ticket: u64,
}

impl Queue {
    /// Waits for a turn.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if `is_cancelled` returns true meanwhile.
    pub(crate) fn wait(&self, is_cancelled: impl Fn() -> bool) -> Result<Turn<'_>> {
        let mut tickets = self.tickets();
        tickets.count += 1;
        let ticket = tickets.count;
        tickets.queue.push_back(ticket);
        // Leaves the queue if the wait ends early.
        let turn = Turn { queue: self, ticket };
        loop {
            if is_cancelled() {
                // Leaving takes the lock.
                drop(tickets);
                return Err(Error::Cancelled);
            }
            if tickets.queue.front() == Some(&ticket) {
                return Ok(turn);
            }
            let waited = self.is_moving.wait_timeout(tickets, CANCEL_CHECK);
            tickets = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.tickets().queue.retain(|ticket| *ticket != self.ticket);
        self.queue.is_moving.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Waits until this many have asked and not left.
    fn wait_for_length(queue: &Queue, length: usize) {
        while queue.tickets().queue.len() < length {
            std::thread::yield_now();
        }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        let (queue, order) = (Queue::default(), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            let first = queue.wait(|| false).unwrap();
            for number in 0..20 {
                scope.spawn({
                    let (queue, order) = (&queue, &order);
                    move || {
                        let _turn = queue.wait(|| false).unwrap();
                        order.lock().unwrap().push(number);
                    }
                });
                wait_for_length(&queue, number + 2);
            }
            assert!(order.lock().unwrap().is_empty(), "the first has its turn");
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn who_is_cancelled_leaves_the_queue() {
        let (queue, is_cancelled) = (Queue::default(), AtomicBool::new(false));
        let first = queue.wait(|| false).unwrap();
        std::thread::scope(|scope| {
            let stopped = scope.spawn(|| queue.wait(|| is_cancelled.load(Ordering::Relaxed)).map(|_| ()));
            wait_for_length(&queue, 2);
            let next = scope.spawn(|| queue.wait(|| false).map(|_| ()));
            wait_for_length(&queue, 3);
            is_cancelled.store(true, Ordering::Relaxed);
            assert!(matches!(stopped.join().unwrap(), Err(Error::Cancelled)));
            drop(first);
            next.join().unwrap().unwrap();
        });
        assert!(queue.tickets().queue.is_empty());
    }
}
