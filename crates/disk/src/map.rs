//! The bytes of a whole file: mapped, or owned.
//!
//! Input: an open file, or bytes. Output: a [`Map`], which dereferences to the bytes and costs a reference
//! count to clone. Does not depend on what the bytes mean.

#![expect(
    unsafe_code,
    reason = "a map is memory that another process could change; the promise that none does is made here"
)]

use crate::{Error, Result, Seen, fault};
use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The smallest pages of memory there are: each begins at a multiple of this.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Linux limits advice to the read-ahead size of the disk, which is seldom smaller.
const ADVICE_BYTES: usize = 128 << 10;

/// The looks at single pieces by the whole process.
static LOOKS: Looks = Looks::new();

/// The bytes of a file that never changes. They begin at an address divisible by 8, so that columns of
/// numbers are used in place.
#[derive(Clone)]
pub struct Map {
    /// The bytes inside `storage`, kept here for access without a look at `storage`.
    bytes: NonNull<[u8]>,
    storage: Arc<Storage>,
    /// The file that was mapped.
    seen: Option<Seen>,
}

/// Owns the bytes of a [`Map`] and keeps their address fixed.
enum Storage {
    Mapped {
        /// Declared, and so dropped, before `map`, so that the table never names memory that has been
        /// reused.
        _registered: fault::Registered,
        map: memmap2::Mmap,
    },
    /// Words and not bytes for their alignment.
    Owned { _words: Box<[u64]> },
}

// SAFETY: `bytes` points into memory that `storage` owns and that nobody writes to; both may be used from any
// thread.
unsafe impl Send for Map {}
// SAFETY: As above: there is no way to change anything through a shared `Map`.
unsafe impl Sync for Map {}
// SAFETY: The bytes lie in a file map or in a boxed slice, both behind an `Arc`: moving or cloning a `Map`
// moves neither.
unsafe impl stable_deref_trait::StableDeref for Map {}
// SAFETY: A clone shares the `Arc`, and so derefs to the same address.
unsafe impl stable_deref_trait::CloneStableDeref for Map {}

impl Map {
    /// Returns the first bytes, at most `length_bytes`, without copying them.
    pub fn prefix(&self, length_bytes: usize) -> Map {
        let bytes = self.get(..length_bytes).unwrap_or(self);
        Map { bytes: NonNull::from(bytes), storage: Arc::clone(&self.storage), seen: self.seen }
    }

    /// Returns which file was mapped, to recognise it later; `None` if the bytes are not those of a file.
    pub fn seen(&self) -> Option<Seen> {
        self.seen
    }

    /// Maps all of `file`, which `path` names in errors. An empty file gives an empty owned map.
    ///
    /// # Errors
    /// An error of the system: the file cannot be mapped, or there is no address space left.
    pub(crate) fn of_file(file: &std::fs::File, path: &Path) -> Result<Map> {
        let seen = Seen::of(&file.metadata().map_err(|source| Error::io("map", path, source))?);
        let length_bytes = seen.length_bytes;
        if length_bytes == 0 {
            return Ok(Map { seen: Some(seen), ..Map::from(&[][..]) });
        }
        let length_bytes = usize::try_from(length_bytes)
            .map_err(|_| Error::io("map", path, io::Error::from(io::ErrorKind::FileTooLarge)))?;
        // SAFETY: The file is finished, and lies in a directory of ours with mode 0700: by our rules no
        // program writes to it again. If its bytes change against the rules, checksums are wrong and readers,
        // which check all they index by, say so; if it is cut, a touch is SIGBUS, which `fault` turns into a
        // message and an exit.
        let map = unsafe { memmap2::MmapOptions::new().len(length_bytes).map(file) }
            .map_err(|source| Error::io("map", path, source))?;
        let registered = fault::Registered::new(&map, path);
        let bytes = NonNull::from(&map[..]);
        let storage = Arc::new(Storage::Mapped { _registered: registered, map });
        Ok(Map { bytes, storage, seen: Some(seen) })
    }

    /// Asks the system to start reading `range` (in bytes; cut to the map's length). Skips pieces of 128 KiB
    /// that seem to be in memory, judging by their first page. Does not wait for the disk, unless too many
    /// requests are pending. This is only a hint: a later access to a page that is not in memory still reads
    /// it, with the system's usual read-ahead.
    ///
    /// Costs a microsecond for each piece in memory. So when the last 16 single pieces of this process were
    /// in memory, only one in four is looked at, until one is not in memory.
    pub fn will_need(&self, range: Range<usize>) -> Look {
        let is_mapped = matches!(&*self.storage, Storage::Mapped { .. });
        let length = range.end.min(self.len()).saturating_sub(range.start);
        if is_mapped && length <= ADVICE_BYTES && !LOOKS.is_due() {
            return Look::LeftOut;
        }
        self.will_need_surely(range)
    }

    /// Does what [`Map::will_need`] does, and looks at every piece.
    pub fn will_need_surely(&self, range: Range<usize>) -> Look {
        let mut look = Look::InMemory;
        if let Storage::Mapped { map, .. } = &*self.storage {
            let end = range.end.min(map.len());
            for start in (range.start..end).step_by(ADVICE_BYTES) {
                if !is_in_memory(map, start) {
                    look = Look::Requested;
                    LOOKS.missed();
                    // A refused hint changes nothing, and the caller could do nothing about it.
                    let _ = map.advise_range(memmap2::Advice::WillNeed, start, ADVICE_BYTES.min(end - start));
                }
            }
        }
        look
    }
}

impl Map {
    /// Lets go of the whole pages in `range` (in bytes; cut to the map's length): they stay in the system's
    /// memory as long as it has room, but are no longer memory of this process until they are read again.
    /// For what is read once from begin to end.
    pub fn let_go(&self, range: Range<usize>) {
        if let Storage::Mapped { map, .. } = &*self.storage {
            let start = range.start.next_multiple_of(PAGE_BYTES);
            let end = range.end.min(map.len());
            if start < end {
                // SAFETY: The map is shared with the file and never written to, so what is read again has the
                // same bytes.
                // A refused hint changes nothing, and the caller could do nothing about it.
                let _ = unsafe {
                    map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
                };
            }
        }
    }
}

/// What [`Map::will_need`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It did not look: the range probably is in memory.
    LeftOut,
    /// It found all pieces in memory.
    InMemory,
    /// It asked the system for pieces that were not in memory.
    Requested,
}

/// Decides which pieces of maps are looked at, because each look is a system call. After many pieces in
/// memory the next ones probably are, too.
struct Looks {
    /// How many pieces were asked for since one was not in memory.
    seen: AtomicU32,
}

impl Looks {
    /// After so many pieces in memory, most of the next ones are not looked at.
    const SEEN_COUNT: u32 = 16;
    /// One in so many is looked at then: so few pieces in a row are read without advice.
    const EVERY: u32 = 4;

    const fn new() -> Looks {
        Looks { seen: AtomicU32::new(0) }
    }

    /// Returns whether to look at the next piece.
    fn is_due(&self) -> bool {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        seen < Looks::SEEN_COUNT || seen.is_multiple_of(Looks::EVERY)
    }

    /// Begins anew, because a piece was not in memory.
    fn missed(&self) {
        self.seen.store(0, Ordering::Relaxed);
    }
}

/// Returns whether the page of the byte at `place`, which is within `map`, is in memory. If the file is
/// neither ours nor writable for us, Linux always says yes, and then nothing is requested. Where pages are
/// larger, a question about an address within a page is refused, and the page counts as not in memory.
fn is_in_memory(map: &memmap2::Mmap, place: usize) -> bool {
    let mut state = 0;
    let page = map.as_ptr().wrapping_add(place - place % PAGE_BYTES);
    // SAFETY: The page lies within a map that lives, and the call writes one byte a page, for one page.
    let answer = unsafe { libc::mincore(page.cast_mut().cast::<libc::c_void>(), 1, &raw mut state) };
    answer == 0 && state & 1 == 1
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `bytes` was taken from what `storage` holds, which lives as long as `self` and never moves
        // or changes.
        unsafe { self.bytes.as_ref() }
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<&[u8]> for Map {
    /// Copies the bytes, for their alignment.
    fn from(bytes: &[u8]) -> Map {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)].into_boxed_slice();
        for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(whole);
        }
        let start = NonNull::from(&words[..]).cast::<u8>();
        let bytes = NonNull::slice_from_raw_parts(start, bytes.len());
        Map { bytes, storage: Arc::new(Storage::Owned { _words: words }), seen: None }
    }
}

impl From<Vec<u8>> for Map {
    /// Copies the bytes, for their alignment.
    fn from(bytes: Vec<u8>) -> Map {
        Map::from(&bytes[..])
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match *self.storage {
            Storage::Mapped { .. } => "mapped",
            Storage::Owned { .. } => "owned",
        };
        write!(formatter, "Map({} bytes, {kind})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::{Duration, Instant};

    /// A mapped file of 8 MiB, dropped from memory as far as the system does that.
    fn dropped() -> (tempfile::TempDir, Map) {
        // Beside the test, since a file system for temporary files may be one that has all in memory.
        let here = std::env::current_exe().unwrap();
        let directory = tempfile::tempdir_in(here.parent().unwrap()).unwrap();
        let path = directory.path().join("sealed");
        std::fs::write(&path, vec![7; 8 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let map = Map::of_file(&file, &path).unwrap();
        (directory, map)
    }

    fn is_here(map: &Map, place: usize) -> bool {
        matches!(&*map.storage, Storage::Mapped { map, .. } if is_in_memory(map, place))
    }

    #[test]
    fn a_prefix_shares_the_memory_and_outlives_the_map() {
        let map = Map::from(&b"some bytes"[..]);
        let (short, long) = (map.prefix(4), map.prefix(99));
        assert_eq!(short.as_ptr(), map.as_ptr());
        drop(map);
        assert_eq!((&short[..], &long[..]), (&b"some"[..], &b"some bytes"[..]));
    }

    #[test]
    fn memory_that_is_let_go_of_is_read_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(PAGE_BYTES * 64).collect();
        std::fs::write(&path, &bytes).unwrap();
        let map = Map::of_file(&File::open(&path).unwrap(), &path).unwrap();
        let resident = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let mut of_file = maps.lines().skip_while(|line| !line.ends_with(path.to_str().unwrap()));
            let line = of_file.find(|line| line.starts_with("Rss:")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
        };
        assert!(map[..] == bytes[..]);
        assert_eq!(resident(), bytes.len());
        // The first page is not whole, and the end is beyond the file.
        map.let_go(1..usize::MAX);
        assert_eq!(resident(), PAGE_BYTES);
        assert!(map[..] == bytes[..]);
        Map::from(&bytes[..]).let_go(0..usize::MAX);
    }

    #[test]
    fn after_many_pieces_in_memory_one_in_four_is_looked_at_until_one_is_not() {
        let looks = Looks::new();
        let due = || (0..32).filter(|_| looks.is_due()).count();
        assert_eq!((due(), due()), (16 + 4, 8));
        looks.missed();
        assert_eq!(due(), 16 + 4);
    }

    #[test]
    fn what_is_asked_for_comes_into_memory_and_no_more() {
        let (_directory, map) = dropped();
        let (asked, not_asked) = (1_000_000..5_000_000, 6_000_000);
        let lives_in_memory = is_here(&map, asked.start) || is_here(&map, not_asked);
        let look = map.will_need(asked.clone());
        assert!(lives_in_memory || look == Look::Requested);
        let begin = Instant::now();
        while !asked.clone().step_by(PAGE_BYTES).chain([asked.end - 1]).all(|place| is_here(&map, place)) {
            assert!(begin.elapsed() < Duration::from_secs(60), "it was never read: is advice heard here?");
            std::thread::yield_now();
        }
        assert!(lives_in_memory || !is_here(&map, not_asked), "what lies elsewhere was read, too");
        assert!(map.iter().all(|&byte| byte == 7));
        assert!(is_here(&map, not_asked), "what was touched is in memory");
        assert_eq!(map.will_need(asked), Look::InMemory);
    }
}
