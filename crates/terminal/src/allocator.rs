//! The allocator of the program.
//!
//! Input: requests for memory by the whole program. Output: memory. Does not depend on the code that asks.
//! Static programs are linked with musl, whose allocator serves one thread at a time; indexing allocates on
//! all cores. Other programs have the allocator of their system.

#![expect(unsafe_code, reason = "functions of libraries in C give memory back and end the process")]

#[cfg(target_env = "musl")]
mod static_program {
    use disk::LazyZeros;
    use libc::{c_int, c_long};
    use mimalloc::MiMalloc;

    #[global_allocator]
    static ALLOCATOR: LazyZeros<MiMalloc> = LazyZeros(MiMalloc);

    /// How much memory mimalloc lays claim to at first, in KiB: 128 MiB. It writes a table about all of it,
    /// which for its default of 1 GiB takes as long as a tenth of a short command. Later claims are larger.
    const RESERVE_KIB: c_long = 128 << 10;
    /// The number of mimalloc's option for that: `mi_option_arena_reserve`.
    const RESERVE: c_int = 23;

    unsafe extern "C" {
        fn mi_option_set(option: c_int, value: c_long);
    }

    extern "C" fn set_up() {
        // SAFETY: mimalloc is linked. The function stores a number, and may be called before any other.
        unsafe { mi_option_set(RESERVE, RESERVE_KIB) }
    }

    /// Is called before the first allocation: the C library calls what this section lists before `main`.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static SET_UP: extern "C" fn() = set_up;
}

/// Gives memory that this thread has freed back to the system; outside static programs, memory that any
/// thread has freed. An allocator keeps it for what comes next, which a program that waits for days does not
/// need. Takes milliseconds.
pub fn give_back_memory() {
    #[cfg(target_env = "musl")]
    {
        unsafe extern "C" {
            fn mi_collect(force: bool);
        }
        // SAFETY: mimalloc is linked, and its function takes no pointers and may be called at any time.
        unsafe { mi_collect(true) }
    }
    #[cfg(target_env = "gnu")]
    // SAFETY: the function takes no pointers and may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Ends the process at once.
#[cfg(target_env = "musl")]
pub(crate) fn end(code: u8) -> ! {
    // SAFETY: the function takes no pointers and does not return. The system frees what the process has.
    unsafe { libc::_exit(i32::from(code)) }
}
