//! `memcpy` and `memmove` of static programs.
//!
//! Input: addresses and a length. Output: copied bytes. Does not depend on what they mean.
//!
//! musl copies everything with the instruction `rep movsq`, which takes some thirty cycles to begin. Most
//! copies are short: texts, and structures that are moved. Here copies of up to 128 bytes are a few loads and
//! stores. In a first index of 200,000 small messages musl's copies took 21 % of all time.
//!
//! This is assembly, because a compiler turns a loop that copies into a call of `memcpy`. Everything is read
//! before what it overlaps is written. Tests of other targets know the functions by another name.
#![expect(unsafe_code, reason = "these are functions that the compiler calls by name")]

#[cfg(target_env = "musl")]
macro_rules! named {
    ($name:literal) => {
        $name
    };
}
#[cfg(not(target_env = "musl"))]
macro_rules! named {
    ($name:literal) => {
        concat!("pneu_", $name)
    };
}

// rdi: to, rsi: from, rdx: length. Changes rcx, r8 to r10, and xmm0 to xmm7, as every function may.
core::arch::global_asm!(
    ".pushsection .text.pneu_copy, \"ax\", @progbits",
    concat!(".globl ", named!("memcpy")),
    concat!(".globl ", named!("memmove")),
    concat!(".type ", named!("memcpy"), ", @function"),
    concat!(".type ", named!("memmove"), ", @function"),
    ".p2align 5",
    concat!(named!("memcpy"), ":"),
    concat!(named!("memmove"), ":"),
    ".cfi_startproc",
    "mov rax, rdi",
    "cmp rdx, 16",
    "jae .Lpneu_copy_16",
    "cmp edx, 8",
    "jae .Lpneu_copy_8",
    "cmp edx, 4",
    "jae .Lpneu_copy_4",
    "test edx, edx",
    "je .Lpneu_copy_0",
    // The first, the middle, and the last of up to three bytes.
    "mov r9d, edx",
    "shr r9d, 1",
    "movzx ecx, byte ptr [rsi]",
    "movzx r8d, byte ptr [rsi + rdx - 1]",
    "movzx r10d, byte ptr [rsi + r9]",
    "mov byte ptr [rdi + r9], r10b",
    "mov byte ptr [rdi], cl",
    "mov byte ptr [rdi + rdx - 1], r8b",
    ".Lpneu_copy_0:",
    "ret",
    // Beginning and end, which may overlap.
    ".Lpneu_copy_4:",
    "mov ecx, dword ptr [rsi]",
    "mov r8d, dword ptr [rsi + rdx - 4]",
    "mov dword ptr [rdi], ecx",
    "mov dword ptr [rdi + rdx - 4], r8d",
    "ret",
    ".Lpneu_copy_8:",
    "mov rcx, qword ptr [rsi]",
    "mov r8, qword ptr [rsi + rdx - 8]",
    "mov qword ptr [rdi], rcx",
    "mov qword ptr [rdi + rdx - 8], r8",
    "ret",
    ".Lpneu_copy_16:",
    "cmp rdx, 32",
    "ja .Lpneu_copy_33",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + rdx - 16]",
    "movups [rdi], xmm0",
    "movups [rdi + rdx - 16], xmm1",
    "ret",
    ".Lpneu_copy_33:",
    "cmp rdx, 64",
    "ja .Lpneu_copy_65",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + 16]",
    "movups xmm2, [rsi + rdx - 32]",
    "movups xmm3, [rsi + rdx - 16]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm1",
    "movups [rdi + rdx - 32], xmm2",
    "movups [rdi + rdx - 16], xmm3",
    "ret",
    ".Lpneu_copy_65:",
    "mov rcx, rdi",
    "sub rcx, rsi",
    "cmp rcx, rdx",
    // From the end if the end of what is read would be overwritten first.
    "jb .Lpneu_copy_back",
    "cmp rdx, 4096",
    "jae .Lpneu_copy_4096",
    // 64 bytes at a time; the last 64 were read before.
    ".Lpneu_copy_forth:",
    "movups xmm4, [rsi + rdx - 64]",
    "movups xmm5, [rsi + rdx - 48]",
    "movups xmm6, [rsi + rdx - 32]",
    "movups xmm7, [rsi + rdx - 16]",
    "lea r8, [rdi + rdx - 64]",
    ".Lpneu_copy_64_forth:",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + 16]",
    "movups xmm2, [rsi + 32]",
    "movups xmm3, [rsi + 48]",
    "movups [rdi], xmm0",
    "movups [rdi + 16], xmm1",
    "movups [rdi + 32], xmm2",
    "movups [rdi + 48], xmm3",
    "add rsi, 64",
    "add rdi, 64",
    "cmp rdi, r8",
    "jb .Lpneu_copy_64_forth",
    "movups [r8], xmm4",
    "movups [r8 + 16], xmm5",
    "movups [r8 + 32], xmm6",
    "movups [r8 + 48], xmm7",
    "ret",
    // Much, without an overlap: by the instruction for it, to a multiple of 16.
    ".Lpneu_copy_4096:",
    "mov rcx, rsi",
    "sub rcx, rdi",
    "cmp rcx, rdx",
    "jb .Lpneu_copy_forth",
    "movups xmm0, [rsi]",
    "movups xmm1, [rsi + rdx - 16]",
    "lea r8, [rdi + rdx - 16]",
    "movups [rdi], xmm0",
    "mov ecx, edi",
    "and ecx, 15",
    "mov r9d, 16",
    "sub r9d, ecx",
    "add rsi, r9",
    "add rdi, r9",
    "sub rdx, r9",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep movsq",
    "movups [r8], xmm1",
    "ret",
    ".Lpneu_copy_back:",
    "movups xmm4, [rsi]",
    "movups xmm5, [rsi + 16]",
    "movups xmm6, [rsi + 32]",
    "movups xmm7, [rsi + 48]",
    "add rsi, rdx",
    "add rdi, rdx",
    "lea r8, [rax + 64]",
    ".Lpneu_copy_64_back:",
    "movups xmm0, [rsi - 16]",
    "movups xmm1, [rsi - 32]",
    "movups xmm2, [rsi - 48]",
    "movups xmm3, [rsi - 64]",
    "movups [rdi - 16], xmm0",
    "movups [rdi - 32], xmm1",
    "movups [rdi - 48], xmm2",
    "movups [rdi - 64], xmm3",
    "sub rsi, 64",
    "sub rdi, 64",
    "cmp rdi, r8",
    "ja .Lpneu_copy_64_back",
    "movups [rax], xmm4",
    "movups [rax + 16], xmm5",
    "movups [rax + 32], xmm6",
    "movups [rax + 48], xmm7",
    "ret",
    ".cfi_endproc",
    concat!(".size ", named!("memcpy"), ", . - ", named!("memcpy")),
    concat!(".size ", named!("memmove"), ", . - ", named!("memmove")),
    ".popsection",
);

#[cfg(test)]
mod tests {
    unsafe extern "C" {
        #[cfg_attr(target_env = "musl", link_name = "memmove")]
        #[cfg_attr(not(target_env = "musl"), link_name = "pneu_memmove")]
        fn copy(to: *mut u8, from: *const u8, length: usize) -> *mut u8;
    }

    /// Copies within `bytes`, and compares with what the standard library does.
    fn compare(bytes: &mut [u8], (from, to, length): (usize, usize, usize)) {
        let mut expected = bytes.to_vec();
        expected.copy_within(from..from + length, to);
        assert!(from.max(to) + length <= bytes.len());
        let base = bytes.as_mut_ptr();
        // SAFETY: both ranges are within the slice.
        let returned = unsafe { copy(base.add(to), base.add(from), length) };
        assert_eq!(returned, base.wrapping_add(to));
        assert!(bytes == expected, "{length} bytes from {from} to {to}");
    }

    fn numbered(count: usize) -> Vec<u8> {
        (0..count).map(|number| (number * 7 + number / 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn every_short_length_is_copied_at_every_distance() {
        for length in 0..300 {
            for to in [0, 1, 5, 63, 64, 65, 100, 127, 128, 129, 200, 256, 257, 300, 600] {
                compare(&mut numbered(1000), (200, to, length));
            }
        }
    }

    #[test]
    fn long_ones_are_copied_whether_they_overlap_or_not() {
        for length in [4095, 4096, 4097, 4111, 5000, 8191, 9001] {
            for to in [0, 1, 7, 15, 16, 17, 9_999, 10_000, 10_001, 14_000, 14_096, 19_001, 19_015] {
                compare(&mut numbered(30_000), (10_000, to, length));
            }
        }
    }
}
