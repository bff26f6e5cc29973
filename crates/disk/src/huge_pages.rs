//! Asks the system for large pages of memory.
//!
//! Input: a vector, before it is filled. Output: none; it only saves time. Does not depend on what the vector
//! holds.
//!
//! With pages of 2 MiB, random reads of a large table miss the processor's page table cache far less often.
//! Memory that is filled once, from front to back, gains little, and loses much where the host of a virtual
//! machine takes large free pages back (figures in ARCHITECTURE.md).

#![expect(unsafe_code, reason = "advice about memory is a system call that takes an address")]

#[cfg(target_os = "linux")]
use crate::map::PAGE_BYTES;

/// Vectors smaller than two large pages cannot be sure to hold one.
#[cfg(target_os = "linux")]
const WORTH_BYTES: usize = 4 << 20;

/// Asks for large pages where the memory of `vector` lies, its spare room included. A hint: without them all
/// works the same.
///
/// Worth it for a large vector that will be read here and there, before it is touched: or when it was just
/// made of zeros, which the system gives without touching them.
pub fn advise_huge<T>(vector: &Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        let start = vector.as_ptr().addr().next_multiple_of(PAGE_BYTES);
        let end = vector.as_ptr().addr() + vector.capacity() * size_of::<T>();
        let end = end - end % PAGE_BYTES;
        if end.saturating_sub(start) >= WORTH_BYTES {
            let address = vector.as_ptr().with_addr(start).cast_mut().cast();
            // SAFETY: The pages are within memory that the vector owns. The advice changes neither their
            // content nor their access rights. A refusal (on a system without large pages) has no effect.
            unsafe { libc::madvise(address, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = vector;
}

/// Returns a vector of `length` zeros, in large pages if it is large.
pub fn huge_zeroed<T: Clone + From<u8>>(length: usize) -> Vec<T> {
    let vector = vec![T::from(0); length];
    advise_huge(&vector);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_all_sizes_keep_what_is_in_them() {
        for length in [0_usize, 1, 1000, WORTH_BYTES / 4, 3_000_000] {
            let mut vector: Vec<u32> = (0..1000).collect();
            vector.reserve(length);
            advise_huge(&vector);
            assert!(vector.iter().copied().eq(0..1000));
            assert!(huge_zeroed::<u64>(length).iter().all(|&number| number == 0));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_vectors_are_advised_and_small_ones_are_not() {
        let advised = |vector: &Vec<u8>| {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let middle = vector.as_ptr().addr() + vector.capacity() / 2;
            let mut is_here = false;
            for line in maps.lines() {
                let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
                let ends = range
                    .map(|(start, end)| (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16)));
                if let Some((Ok(start), Ok(end))) = ends {
                    is_here = (start..end).contains(&middle);
                } else if is_here && line.starts_with("VmFlags:") {
                    return line.split(' ').any(|flag| flag == "hg");
                }
            }
            false
        };
        let with_capacity = |bytes: usize| {
            let vector = Vec::with_capacity(bytes);
            advise_huge(&vector);
            vector
        };
        assert!(advised(&with_capacity(64 << 20)));
        assert!(!advised(&Vec::with_capacity(64 << 20)));
        assert!(!advised(&with_capacity(2 << 20)));
    }
}
