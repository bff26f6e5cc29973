//! Zeros from the system instead of by hand, for large pieces of memory.
//!
//! Input: an allocator, and requests for memory. Output: memory of that allocator. Does not know who asks.
//!
//! An allocator that keeps freed memory has to clear it before it hands it out as zeros. tantivy's writer
//! asks for 7 MiB of zeros, and needs a few pages of them for one message: clearing took a third of a
//! delivery.

#![expect(unsafe_code, reason = "an allocator, and advice about memory, which takes an address")]

use crate::map::PAGE_BYTES;
use std::alloc::{GlobalAlloc, Layout};

/// Smaller pieces are cleared by the allocator: a system call takes as long as to clear some pages.
const LARGE_BYTES: usize = 256 << 10;

/// An allocator whose large zeroed memory is empty until it is touched. `A` must hand out private memory of
/// the process, as all allocators do that get it from the system.
#[derive(Debug, Default)]
pub struct LazyZeros<A>(pub A);

// SAFETY: All memory comes from `A` and goes back to it, with the layout that it was asked for.
unsafe impl<A: GlobalAlloc> GlobalAlloc for LazyZeros<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's promises are those of `A`.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The memory is from `A`; the caller's other promises are those of `A`.
        unsafe { self.0.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE_BYTES {
            // SAFETY: The caller's promises are those of `A`.
            return unsafe { self.0.alloc_zeroed(layout) };
        }
        // SAFETY: As above.
        let pointer = unsafe { self.0.alloc(layout) };
        if !pointer.is_null() {
            // SAFETY: These bytes were just allocated, and nobody else knows of them.
            unsafe { clear(pointer, layout.size()) };
        }
        pointer
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The memory is from `A`; the caller's other promises are those of `A`.
        unsafe { self.0.realloc(pointer, layout, size) }
    }
}

/// Makes `size` bytes zeros. The system takes the whole pages among them back, and gives zeros at the next
/// touch.
///
/// # Safety
/// The bytes belong to the caller alone, and lie in private memory that belongs to no file.
unsafe fn clear(pointer: *mut u8, size: usize) {
    let before = pointer.align_offset(PAGE_BYTES).min(size);
    let inner = match has_such_pages() {
        true => (size - before) - (size - before) % PAGE_BYTES,
        // The system would take what lies behind them, too.
        false => 0,
    };
    // SAFETY: `before` and `before + inner` are at most `size`.
    let (pages, after) = unsafe { (pointer.add(before), pointer.add(before + inner)) };
    // SAFETY: The pages lie within the bytes, which nobody else uses.
    let is_taken = inner > 0 && unsafe { take_back(pages, inner) };
    // Locked memory, for example, is not taken.
    let by_hand = if is_taken { 0 } else { inner };
    // SAFETY: Each range lies within the bytes.
    unsafe {
        pointer.write_bytes(0, before);
        pages.write_bytes(0, by_hand);
        after.write_bytes(0, size - before - inner);
    }
}

/// Returns whether the system's pages have [`PAGE_BYTES`].
fn has_such_pages() -> bool {
    // SAFETY: It reads a number that the system gave to the process.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) == Ok(PAGE_BYTES)
}

/// Lets the system take whole pages back. Returns whether it did: an emulator may only say so, and of huge
/// pages a part may stay.
///
/// # Safety
/// As [`clear`], and `pages` begins a page, and `size` is a multiple of its bytes and not zero.
unsafe fn take_back(pages: *mut u8, size: usize) -> bool {
    let ends = [0, size - PAGE_BYTES];
    // SAFETY: Both ends lie within the pages.
    ends.into_iter().for_each(|place| unsafe { pages.add(place).write_volatile(1) });
    // SAFETY: The pages belong to the caller. What is dropped of private memory without a file reads as
    // zeros.
    let said = unsafe { libc::madvise(pages.cast(), size, libc::MADV_DONTNEED) };
    // SAFETY: As above.
    said == 0 && ends.into_iter().all(|place| unsafe { pages.add(place).read_volatile() } == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    /// Hands out memory that is full of something else, at places that are not at the start of a page.
    struct Dirty;

    const SHIFT: usize = 64;

    // SAFETY: All memory comes from the system's allocator, with room for the shift.
    unsafe impl GlobalAlloc for Dirty {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let whole = Layout::from_size_align(layout.size() + SHIFT, layout.align()).unwrap();
            // SAFETY: The size is not zero.
            unsafe {
                let pointer = System.alloc(whole);
                pointer.write_bytes(0xa5, whole.size());
                pointer.add(SHIFT)
            }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            let whole = Layout::from_size_align(layout.size() + SHIFT, layout.align()).unwrap();
            // SAFETY: It was allocated above.
            unsafe { System.dealloc(pointer.sub(SHIFT), whole) }
        }
    }

    #[test]
    fn zeroed_memory_is_zero_and_its_neighbours_stay() {
        let sizes = [1, 4096, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, LARGE_BYTES + 5000, 3 << 20];
        for size in sizes {
            for align in [1, 64] {
                let layout = Layout::from_size_align(size, align).unwrap();
                let allocator = LazyZeros(Dirty);
                // SAFETY: The size is not zero, and all that is read was allocated.
                unsafe {
                    let pointer = allocator.alloc_zeroed(layout);
                    let bytes = std::slice::from_raw_parts(pointer, size);
                    assert!(bytes.iter().all(|&byte| byte == 0), "{size}");
                    let before = std::slice::from_raw_parts(pointer.sub(SHIFT), SHIFT);
                    assert!(before.iter().all(|&byte| byte == 0xa5), "{size}");
                    allocator.dealloc(pointer, layout);
                }
            }
        }
    }

    #[test]
    fn a_range_within_other_bytes_is_cleared_exactly() {
        let mut bytes = vec![7_u8; 10 * PAGE_BYTES];
        for (start, end) in [(0, 1), (1, 2), (100, 5 * PAGE_BYTES + 3), (PAGE_BYTES - 1, 9 * PAGE_BYTES)] {
            bytes.fill(7);
            // SAFETY: The range lies within the vector, which is borrowed mutably.
            unsafe { clear(bytes[start..].as_mut_ptr(), end - start) };
            let is_right = |(place, &byte): (usize, &u8)| (byte == 0) == (start..end).contains(&place);
            assert!(bytes.iter().enumerate().all(is_right), "{start} to {end}");
        }
    }

    #[test]
    fn large_zeros_take_no_memory_until_they_are_touched() {
        let layout = Layout::from_size_align(64 << 20, 8).unwrap();
        let resident = || -> usize {
            let said = std::fs::read_to_string("/proc/self/statm").unwrap();
            said.split(' ').nth(1).unwrap().parse().unwrap()
        };
        // SAFETY: The size is not zero, and the memory is given back.
        unsafe {
            let pointer = LazyZeros(Dirty).alloc_zeroed(layout);
            let before = resident();
            std::slice::from_raw_parts_mut(pointer, layout.size()).fill(1);
            assert!(resident() - before > (32 << 20) / PAGE_BYTES, "it was taken before");
            LazyZeros(Dirty).dealloc(pointer, layout);
        }
    }
}
