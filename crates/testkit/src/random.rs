//! A small random generator (splitmix64). Everything that the testkit generates can be generated again from
//! its seed.
//!
//! Input: a seed. Output: random-looking numbers that are the same on every machine, forever: generated mail
//! and known facts depend on them. Must not be used where an attacker must not guess.

/// A stream of numbers that its seed fully determines.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the stream that belongs to `seed`.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Returns the stream of one item among many: of item `index`, for the purpose `stream`, under `seed`.
    ///
    /// Streams of different items are independent, so items can be generated in any order and on any thread.
    pub fn of(seed: u64, stream: u64, index: u64) -> Random {
        let mut outer = Random::new(seed ^ stream.rotate_left(40));
        let mut random = Random::new(outer.next_u64() ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        random.next_u64();
        random
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `from` up to and including `to`.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// Returns the index of one of `count` items. There must be at least one.
    #[expect(clippy::cast_possible_truncation, reason = "the result is below a usize")]
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// Returns true `count` times in a thousand.
    pub fn per_mille(&mut self, count: u64) -> bool {
        self.below(1000) < count
    }

    /// Returns one of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.index(items.len());
        &items[index]
    }

    /// Fills `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64_so_that_old_corpora_can_be_made_again() {
        let mut random = Random::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_below_a_bound_reach_all_of_it_and_stay_below() {
        let mut random = Random::of(1, 2, 3);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[random.index(7)] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn streams_of_neighbours_differ() {
        let first = Random::of(1, 2, 3).next_u64();
        assert_ne!(first, Random::of(1, 2, 4).next_u64());
        assert_ne!(first, Random::of(1, 3, 3).next_u64());
        assert_ne!(first, Random::of(2, 2, 3).next_u64());
        assert_eq!(first, Random::of(1, 2, 3).next_u64());
    }

    #[test]
    fn fills_every_length() {
        let mut bytes = [0_u8; 29];
        Random::new(5).fill(&mut bytes);
        assert!(bytes.iter().filter(|&&byte| byte == 0).count() < 4);
    }
}
