//! Names the file when a read through a map fails.
//!
//! Input: the address, length and path of every map, and the signal SIGBUS. Output: one sentence on standard
//! error and exit code 2, instead of "Bus error". Does not depend on what the files are for.
//!
//! A read through a map cannot return an error. If the disk cannot read a page, or another program cut the
//! file, the system sends SIGBUS to the thread that touched the page. A signal handler may call very few
//! functions (see signal-safety(7)), so the maps are kept in a fixed table of atomics. When the table is
//! full, a map still works, and a fault in it ends with the system's own "Bus error".

#![expect(unsafe_code, reason = "signal handlers are installed and run outside of Rust's rules")]

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How many maps can be named at once. A slot costs 32 bytes.
const SLOT_COUNT: usize = 4096;

/// An address that no map has: another thread is filling or emptying the slot.
const CLAIMED: usize = 1;

/// A live map. `address` is 0 in a free slot, and is written last when the slot is filled, first when it is
/// emptied.
struct Slot {
    address: AtomicUsize,
    length_bytes: AtomicUsize,
    path: AtomicPtr<u8>,
    path_length_bytes: AtomicUsize,
}

static SLOTS: [Slot; SLOT_COUNT] = [const {
    Slot {
        address: AtomicUsize::new(0),
        length_bytes: AtomicUsize::new(0),
        path: AtomicPtr::new(ptr::null_mut()),
        path_length_bytes: AtomicUsize::new(0),
    }
}; SLOT_COUNT];

/// Where the search for a free slot begins, so that a thousand maps need not skip each other's slots.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Makes a failed read through any map end the process with code 2 and a sentence that names the file.
///
/// The binary calls this once at its start. Any other SIGBUS ends the process as it would have without
/// this.
///
/// # Errors
/// What sigaction(2) says.
pub fn install() -> io::Result<()> {
    // SAFETY: All zeroes is a valid sigaction, with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_sigbus;
    action.sa_sigaction = handler as usize;
    // On the alternate stack that Rust gives its threads: the fault may come from deep within a stack.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: `action` is valid and the handler has the signature that SA_SIGINFO asks for.
    let code = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A map's place in the table, given back when dropped; it must be dropped before the map is.
pub(crate) struct Registered {
    slot: Option<&'static Slot>,
    /// Owns the bytes that the slot's `path` points to.
    _path: Box<[u8]>,
}

impl Registered {
    /// Writes `map`, a map of the file `path`, into the table, if there is room.
    pub(crate) fn new(map: &[u8], path: &Path) -> Registered {
        let path: Box<[u8]> = path.as_os_str().as_bytes().into();
        let slot = claim();
        if let Some(slot) = slot {
            slot.length_bytes.store(map.len(), Ordering::Relaxed);
            slot.path.store(path.as_ptr().cast_mut(), Ordering::Relaxed);
            slot.path_length_bytes.store(path.len(), Ordering::Relaxed);
            slot.address.store(map.as_ptr().addr(), Ordering::Release);
        }
        Registered { slot, _path: path }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.address.store(0, Ordering::Release);
        }
    }
}

/// Reserves a free slot for the caller; returns `None` if all are taken.
fn claim() -> Option<&'static Slot> {
    let start = NEXT.fetch_add(1, Ordering::Relaxed);
    (0..SLOT_COUNT)
        .map(|step| &SLOTS[start.wrapping_add(step) % SLOT_COUNT])
        .find(|slot| slot.address.compare_exchange(0, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok())
}

/// Returns the path of the map that holds `address`.
///
/// The slot found belongs to a live map: the thread that touched `address` holds the map, a slot is emptied
/// before its map is removed, and the address is given to another map only after that.
fn path_of(address: usize) -> Option<&'static [u8]> {
    let slot = SLOTS.iter().find(|slot| {
        let start = slot.address.load(Ordering::Acquire);
        start > CLAIMED && address.wrapping_sub(start) < slot.length_bytes.load(Ordering::Relaxed)
    })?;
    let path = slot.path.load(Ordering::Relaxed);
    let path_length_bytes = slot.path_length_bytes.load(Ordering::Relaxed);
    // SAFETY: `Registered` keeps the path until after it has emptied the slot, which it has not, see above.
    // The caller ends the process, so the lifetime may be as long as the process.
    Some(unsafe { std::slice::from_raw_parts(path, path_length_bytes) })
}

/// Runs within the thread that touched the page. Only atomics and async-signal-safe calls: sigaction, raise,
/// writev, _exit.
extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: The system hands a valid siginfo to a handler installed with SA_SIGINFO.
    let info = unsafe { &*info };
    // Sent by the system and not by kill(2): only then is there an address.
    let is_fault = info.si_code > 0;
    if is_fault {
        // SAFETY: A SIGBUS that the system sent for a fault carries the address.
        let address = unsafe { info.si_addr() };
        if let Some(path) = path_of(address.addr()) {
            die(path);
        }
    }
    // SAFETY: signal and sigaction are async-signal-safe; the default action ends the process.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    if !is_fault {
        // A fault happens again when this returns; a signal that was sent must be sent again.
        // SAFETY: raise is async-signal-safe.
        unsafe { libc::raise(signal) };
    }
}

/// Writes the sentence and ends the process.
fn die(path: &[u8]) -> ! {
    let parts = [
        &b"cannot read "[..],
        path,
        &b": I/O error while mapped, or the file was truncated while open\n"[..],
    ];
    // One call for the three, so that other threads' output does not come between.
    let vectors =
        parts.map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // SAFETY: The vectors name live memory that is only read; 3 is their count; both calls are
    // async-signal-safe.
    unsafe {
        libc::writev(libc::STDERR_FILENO, vectors.as_ptr(), 3);
        libc::_exit(2)
    }
}
