//! Memory that was freed goes back to the system.

use std::fs;
use terminal::allocator::give_back_memory;

#[test]
fn freed_memory_between_memory_in_use_is_given_back() {
    // How many pages of this process are in memory.
    let resident = || -> u64 {
        let pages = fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let mut blocks: Vec<Box<[u8; 256]>> = (0..200_000).map(|_| Box::new([1; 256])).collect();
    let full = resident();
    // The last block stays, so that not even the end of the memory is free.
    let last = blocks.pop();
    drop(blocks);
    give_back_memory();
    let rest = resident();
    assert!(rest + 10_000 < full, "{full} pages before, {rest} after");
    assert_eq!(last.map(|block| block[255]), Some(1));
}
