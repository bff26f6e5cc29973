//! The priority of this process. Input: none. Effect: other processes get the processors first.

use rustix::process::{getpriority_process, setpriority_process};

/// The priority of a process that reads all mail, as nice(1) counts it.
const NICE: i32 = 10;

/// Lowers the priority. Reading all mail keeps all processors busy for a minute or more: other programs, and
/// a server of the same mail, answer at once meanwhile. Where nothing else runs, it takes no longer. Threads
/// that were started before keep theirs.
pub(crate) fn let_others_go_first() {
    if getpriority_process(None).is_ok_and(|nice| nice < NICE) {
        // It is no fault if it cannot be done.
        let _ = setpriority_process(None, NICE);
    }
}
