//! Asks the processor to load a cache line before it is needed.
//!
//! Input: a slice and an index. Output: none; it only saves time. Does not depend on what is looked up.

/// Starts loading the cache line of `slice[index]`. A hint: never reads, never faults, any `index` is
/// allowed.
///
/// Useful if many independent look-ups miss the cache: prefetch some of them, then do the first.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the instruction is only reachable through an intrinsic marked unsafe")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = slice.as_ptr().wrapping_add(index).cast::<i8>();
        // SAFETY: SSE, which has the instruction, is part of x86_64; the instruction does nothing for an
        // address that is not ours.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
