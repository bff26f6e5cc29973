//! The allocator of static programs, which are linked with musl.
//!
//! Input: requests for memory by the whole program. Output: memory. Does not depend on the code that asks.
//! The allocator of musl serves one thread at a time, and indexing allocates on all cores.

use disk::LazyZeros;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: LazyZeros<MiMalloc> = LazyZeros(MiMalloc);
