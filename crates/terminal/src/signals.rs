//! Handles the signals that ask a process to end: Ctrl-C (SIGINT), SIGTERM and SIGHUP.
//!
//! The program reports whether it works or waits for another process, and which locks it holds. This module
//! returns whether a signal arrived, and its exit code. A signal that is ignored when the process starts
//! stays ignored, as nohup(1) requires. SIGQUIT is not handled: it ends the process at once.

use crate::{complaint, environment, exit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{SigId, flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The signals that ask a process to end.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// How often a process that waits, and has something to do before its end, looks whether it shall end.
const LOOK: Duration = Duration::from_millis(50);

/// The state that signals set and read, from the first [`Signals::get`] on.
#[derive(Debug, Default)]
pub struct Signals {
    is_asked: Arc<AtomicBool>,
    /// Whether a signal ends the process: it waits for another one, and nothing checks whether to stop.
    may_end: Arc<AtomicBool>,
    /// The last signal; 0 if there was none.
    signal: Arc<AtomicUsize>,
    /// Whether a thread of the process ends it: there is something to do before the end.
    ends_itself: AtomicBool,
    locks: Mutex<Vec<Box<dyn Lock>>>,
    /// The handler of Ctrl-C; none while a pager has it.
    interrupt: Mutex<Vec<SigId>>,
}

/// A lock that other processes wait for.
pub trait Lock: Send + std::fmt::Debug {
    /// Returns whether the process still holds it.
    fn is_held(&self) -> bool;

    /// Releases it; the process ends next.
    fn give_up(&self);
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) an error, where it would end the
/// process: what is half done can be told then.
///
/// # Errors
/// The system refuses the signal's handler.
pub fn survive_file_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(|_| ())
}

static HEARD: OnceLock<Signals> = OnceLock::new();

impl Signals {
    /// Makes signals request an end instead of ending the process, and a Ctrl-C after them end it. Done once,
    /// since handlers add up. A second SIGTERM or SIGHUP only requests again: timeout(1) and closing
    /// terminals send theirs twice.
    ///
    /// # Errors
    /// The system refuses the signal's handler.
    pub fn get() -> io::Result<&'static Signals> {
        if let Some(signals) = HEARD.get() {
            return Ok(signals);
        }
        let signals = Signals::default();
        for signal in SIGNALS.into_iter().filter(|signal| !environment::is_ignored(*signal)) {
            let does = signals.hear(signal)?;
            if signal == SIGINT {
                *guarded(&signals.interrupt) = does;
            }
        }
        Ok(HEARD.get_or_init(|| signals))
    }

    /// Makes a signal request an end.
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

    /// Returns whether an end was requested.
    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Records that the process works, and checks by itself whether to stop.
    pub fn works(&self) {
        self.may_end.store(false, Ordering::Relaxed);
        self.ends_itself.store(false, Ordering::Relaxed);
    }

    /// Records that the process waits for another one: a signal ends it, after its locks are released.
    pub fn waits(&'static self) {
        let is_locked = self.locks().iter().any(|lock| lock.is_held());
        if !(is_locked && self.starts_to_end_itself()) {
            self.let_end();
        }
    }

    /// Takes note that the process waits for its pager: a signal ends it, once its locks are given up and the
    /// user was told what was kept back.
    fn waits_for_pager(&'static self) {
        if self.starts_to_end_itself() {
            self.may_end.store(false, Ordering::SeqCst);
        } else {
            self.let_end();
        }
    }

    /// Starts a thread that ends the process after a signal. Returns whether it runs.
    fn starts_to_end_itself(&'static self) -> bool {
        self.ends_itself.store(true, Ordering::Relaxed);
        let runs = thread::Builder::new().name("ending".to_owned()).spawn(|| self.end_when_asked()).is_ok();
        self.ends_itself.store(runs, Ordering::Relaxed);
        runs
    }

    /// Lets a signal end the process, from now on or if one came already: at once, unless a thread does it.
    fn let_end(&self) {
        if self.ends_itself.load(Ordering::Relaxed) {
            return;
        }
        self.may_end.store(true, Ordering::SeqCst);
        if self.signal.load(Ordering::SeqCst) > 0 {
            low_level::exit(i32::from(self.code()));
        }
    }

    fn end_when_asked(&self) {
        while self.ends_itself.load(Ordering::Relaxed) {
            self.end_if_asked();
            thread::sleep(LOOK);
        }
    }

    fn end_if_asked(&self) {
        if self.is_asked() {
            self.locks().iter().for_each(|lock| lock.give_up());
            // Standard error may be a pipe that nobody reads: another signal then ends the process.
            self.may_end.store(true, Ordering::SeqCst);
            complaint::tell_kept_back();
            low_level::exit(i32::from(self.code()));
        }
    }

    fn locks(&self) -> MutexGuard<'_, Vec<Box<dyn Lock>>> {
        guarded(&self.locks)
    }

    fn code(&self) -> u8 {
        let signal = i32::try_from(self.signal.load(Ordering::SeqCst)).unwrap_or(0);
        exit::of_signal(if signal == 0 { SIGINT } else { signal })
    }
}

/// Makes signals request an end, instead of ending the process.
///
/// # Errors
/// The system refuses the signal's handler.
pub fn listen() -> io::Result<()> {
    Signals::get().map(|_| ())
}

/// Calls `act` on another thread as soon as a signal asks the process to end, or now if one did. For a main
/// thread that waits for more than signals: one that arrives before it sleeps would not wake it.
///
/// # Errors
/// The system refuses the signal's handler, a pair of sockets or a thread.
pub fn when_asked(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let signals = Signals::get()?;
    let (mut told, tells) = UnixStream::pair()?;
    for signal in SIGNALS.into_iter().filter(|signal| !environment::is_ignored(*signal)) {
        low_level::pipe::register(signal, tells.try_clone()?)?;
    }
    let wait = move || {
        // Each signal writes a byte. If they cannot be read, there is an end all the same.
        if !signals.is_asked() {
            let _ = told.read_exact(&mut [0]);
        }
        drop(tells);
        act();
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).map(|_| ())
}

/// Returns whether an end was requested since [`listen`]. Before that, signals end the process.
pub fn is_interrupted() -> bool {
    HEARD.get().is_some_and(Signals::is_asked)
}

/// Returns the exit code of the last signal.
pub fn code() -> u8 {
    HEARD.get().map_or(exit::of_signal(SIGINT), Signals::code)
}

/// Records a lock that must be released before the process ends while it waits.
pub fn holds(lock: Box<dyn Lock>) {
    if let Some(signals) = HEARD.get() {
        signals.locks().push(lock);
    }
}

/// Lets signals end the process at once: only printing remains, and nothing checks whether to stop.
pub fn only_prints() {
    if let Some(signals) = HEARD.get() {
        signals.let_end();
    }
}

/// Ends the process if a signal asked for that while its pager ran, as the thread would that looks for
/// signals now and then.
pub(crate) fn end_if_asked() {
    if let Some(signals) = HEARD.get().filter(|signals| signals.ends_itself.load(Ordering::Relaxed)) {
        signals.end_if_asked();
    }
}

/// Leaves Ctrl-C to a pager that is about to start, which reads from the terminal: we end when it does. Other
/// signals end the process, once its locks are given up and the user was told what was kept back.
pub fn leave_to_pager() -> Interrupt {
    let is_heard = !environment::is_ignored(SIGINT);
    if is_heard {
        let _ = flag::register(SIGINT, Arc::new(AtomicBool::new(false)));
    }
    // Without handlers, signals end the process as the system does, and what was kept back is lost.
    if let Ok(signals) = Signals::get() {
        for does in guarded(&signals.interrupt).drain(..) {
            low_level::unregister(does);
        }
        signals.waits_for_pager();
    }
    Interrupt { is_heard }
}

/// Ctrl-C, which was left to a pager.
pub struct Interrupt {
    /// Whether it was handled before, and not ignored.
    is_heard: bool,
}

impl Interrupt {
    /// Makes it request an end again, because the pager did not start.
    pub fn take_back(self) {
        if !self.is_heard {
            return;
        }
        // If Ctrl-C can no longer be handled, it ends nothing; other signals do.
        let _ = match HEARD.get() {
            Some(signals) => signals.hear(SIGINT).map(|does| *guarded(&signals.interrupt) = does),
            None => {
                let code = i32::from(exit::of_signal(SIGINT));
                flag::register_conditional_shutdown(SIGINT, code, Arc::new(AtomicBool::new(true))).map(|_| ())
            }
        };
    }
}

/// Locks a mutex. A panic leaves no partial change here.
fn guarded<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
