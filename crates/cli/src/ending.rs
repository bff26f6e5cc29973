//! Hears the signals that ask for an end: Ctrl-C (SIGINT), SIGTERM and SIGHUP.
//!
//! In: signals; whether the process works, or waits for others; which locks it holds. Out: whether somebody
//! asked for an end, and the exit code for it. A signal that is ignored when the process starts stays
//! ignored, as nohup wants it. SIGQUIT is left to the system: whoever sends it wants an end at once. Must not
//! know what is ended.

use crate::{environment, exit};
use archive::Surrender;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Which signals ask for an end.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// How often a process that waits under a lock looks whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// What signals set and ask, from the first [`Ends::get`] on.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    is_asked: Arc<AtomicBool>,
    /// Whether a signal ends the process: it waits for another one, so that nothing asks whether to stop.
    may_end: Arc<AtomicBool>,
    /// The signal that came last; 0 before.
    signal: Arc<AtomicUsize>,
    /// Whether the process waits for another one under locks, which have to go before it ends.
    waits_under_locks: AtomicBool,
    locks: Mutex<Vec<Surrender>>,
    /// What Ctrl-C does; nothing while a pager has it.
    interrupt: Mutex<Vec<SigId>>,
}

static ENDS: OnceLock<Ends> = OnceLock::new();

impl Ends {
    /// Makes signals ask for an end instead of ending the process, and a Ctrl-C after them end it; once,
    /// since handlers add up. A second one of the others asks again: timeout(1) and closing terminals send
    /// theirs twice.
    ///
    /// # Errors
    /// The system refuses the signal's handler.
    pub(crate) fn get() -> io::Result<&'static Ends> {
        if let Some(ends) = ENDS.get() {
            return Ok(ends);
        }
        let ends = Ends::default();
        for signal in SIGNALS.into_iter().filter(|signal| !environment::is_ignored(*signal)) {
            let does = ends.hear(signal)?;
            if signal == SIGINT {
                *guarded(&ends.interrupt) = does;
            }
        }
        Ok(ENDS.get_or_init(|| ends))
    }

    /// Makes a signal ask for an end.
    fn hear(&self, signal: i32) -> io::Result<Vec<SigId>> {
        let code = i32::from(exit::of_signal(signal));
        let mut does = Vec::new();
        // In this order: the first signal finds the flag unset and sets it, the second finds it set.
        if signal == SIGINT {
            does.push(flag::register_conditional_shutdown(signal, code, Arc::clone(&self.is_asked))?);
        }
        does.push(flag::register_conditional_shutdown(signal, code, Arc::clone(&self.may_end))?);
        does.push(flag::register_usize(signal, Arc::clone(&self.signal), signal.unsigned_abs() as usize)?);
        does.push(flag::register(signal, Arc::clone(&self.is_asked))?);
        Ok(does)
    }

    /// Asks for an end as a signal does.
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
    }

    /// Says whether somebody asked for an end.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Takes note that the process works, and asks by itself whether to stop.
    pub(crate) fn works(&self) {
        self.may_end.store(false, Ordering::Relaxed);
        self.waits_under_locks.store(false, Ordering::Relaxed);
    }

    /// Takes note that the process waits for another one: a signal ends it, once its locks are given up.
    pub(crate) fn waits(&'static self) {
        let is_locked = self.locks().iter().any(Surrender::is_held);
        let ends_itself = is_locked && {
            self.waits_under_locks.store(true, Ordering::Relaxed);
            thread::Builder::new().name("ending".to_owned()).spawn(|| self.end_when_asked()).is_ok()
        };
        if !ends_itself {
            self.let_end();
        }
    }

    /// Lets a signal end the process at once, from now on or if one came already.
    fn let_end(&self) {
        self.may_end.store(true, Ordering::SeqCst);
        if self.signal.load(Ordering::SeqCst) > 0 {
            low_level::exit(i32::from(self.code()));
        }
    }

    fn end_when_asked(&self) {
        while self.waits_under_locks.load(Ordering::Relaxed) {
            if self.is_asked() {
                self.locks().iter().for_each(Surrender::give_up);
                low_level::exit(i32::from(self.code()));
            }
            thread::sleep(LOOK);
        }
    }

    fn locks(&self) -> MutexGuard<'_, Vec<Surrender>> {
        guarded(&self.locks)
    }

    fn code(&self) -> u8 {
        let signal = i32::try_from(self.signal.load(Ordering::SeqCst)).unwrap_or(0);
        exit::of_signal(if signal == 0 { SIGINT } else { signal })
    }
}

/// Makes signals ask for an end, instead of ending the process.
///
/// # Errors
/// The system refuses the signal's handler.
pub(crate) fn listen() -> io::Result<()> {
    Ends::get().map(|_| ())
}

/// Returns an error if somebody asked for an end since [`listen`].
///
/// # Errors
/// [`archive::Error::Interrupted`].
pub(crate) fn check() -> archive::Result<()> {
    if is_interrupted() { Err(archive::Error::Interrupted) } else { Ok(()) }
}

/// Says whether somebody asked for an end since [`listen`]. Before that, signals end the process by
/// themselves.
pub(crate) fn is_interrupted() -> bool {
    ENDS.get().is_some_and(Ends::is_asked)
}

/// Returns the exit code of what was ended: that of the last signal.
pub(crate) fn code() -> u8 {
    ENDS.get().map_or(exit::of_signal(SIGINT), Ends::code)
}

/// Takes note of a lock that has to be given up before the process ends while it waits.
pub(crate) fn holds(lock: Surrender) {
    if let Some(ends) = ENDS.get() {
        ends.locks().push(lock);
    }
}

/// Lets signals end the process at once: what remains is to print, and nobody asks whether to stop.
pub(crate) fn only_prints() {
    if let Some(ends) = ENDS.get() {
        ends.let_end();
    }
}

/// Leaves Ctrl-C to a pager that is about to start, which reads from the terminal: we end when it does. Other
/// signals end the process, once its locks are given up.
pub(crate) fn leave_to_pager() -> Interrupt {
    let is_heard = !environment::is_ignored(SIGINT);
    if is_heard {
        let _ = flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
    }
    if let Some(ends) = ENDS.get() {
        for does in guarded(&ends.interrupt).drain(..) {
            low_level::unregister(does);
        }
        ends.waits();
    }
    Interrupt { is_heard }
}

/// Ctrl-C, which was left to a pager.
pub(crate) struct Interrupt {
    /// Whether it was heard before, and not ignored.
    is_heard: bool,
}

impl Interrupt {
    /// Makes it ask for an end again: the pager did not start.
    pub(crate) fn take_back(self) {
        if !self.is_heard {
            return;
        }
        // What cannot be heard any more ends nothing; other signals do.
        let _ = match ENDS.get() {
            Some(ends) => ends.hear(SIGINT).map(|does| *guarded(&ends.interrupt) = does),
            None => {
                let code = i32::from(exit::of_signal(SIGINT));
                flag::register_conditional_shutdown(SIGINT, code, Arc::new(AtomicBool::new(true))).map(|_| ())
            }
        };
    }
}

/// Locks a mutex; nothing here is left half done by a panic.
fn guarded<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
