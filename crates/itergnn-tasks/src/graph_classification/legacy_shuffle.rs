//! The shuffle of numpy's legacy random state.

/// Words in the state of the generator.
const WORDS: usize = 624;

/// Distance of the word that is mixed in when the state is renewed.
const MIDDLE: usize = 397;

/// What `numpy.random.RandomState(seed)` draws from: the Mersenne twister MT19937 of Matsumoto and Nishimura (1998),
/// seeded by one word.
///
/// Published folds and splits of many data sets come from it, so being able to repeat it is worth sixty lines.
/// Everything of our own draws from ChaCha8.
#[derive(Debug, Clone)]
pub(super) struct LegacyRandomState {
    words: [u32; WORDS],
    next: usize,
}

impl LegacyRandomState {
    /// The state that numpy has after seeding with `seed`.
    pub(super) fn new(seed: u32) -> Self {
        let mut words = [seed; WORDS];
        for index in 1..WORDS {
            let before = words[index - 1];
            // The multiplier of the authors' initialisation of 2002.
            words[index] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(index as u32);
        }
        Self { words, next: WORDS }
    }

    fn next_word(&mut self) -> u32 {
        if self.next == WORDS {
            self.renew();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn renew(&mut self) {
        for index in 0..WORDS {
            let joined = (self.words[index] & 0x8000_0000) | (self.words[(index + 1) % WORDS] & 0x7fff_ffff);
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[index] = self.words[(index + MIDDLE) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// A number from 0 to `largest`: words cut to as many bits as it has, until one is not larger.
    fn up_to(&mut self, largest: u32) -> u32 {
        let mask = u32::MAX.checked_shr(largest.leading_zeros()).unwrap_or(0);
        loop {
            let drawn = self.next_word() & mask;
            if drawn <= largest {
                return drawn;
            }
        }
    }

    /// Shuffles as `RandomState.shuffle` does: from the end, each place with one not behind it.
    ///
    /// # Panics
    /// If the list has 2^32 places or more.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            let largest = u32::try_from(place).expect("fewer than 2^32 places");
            list.swap(place, self.up_to(largest) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_thousandth_word_is_that_of_the_standard() {
        // ISO C++ [rand.predef] asks this of mt19937 with its default seed 5489.
        let mut state = LegacyRandomState::new(5489);
        let last = (0..10_000).map(|_| state.next_word()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn a_shuffle_is_numpys() {
        // numpy 2.4.6: s = numpy.random.RandomState(0); a = numpy.arange(10); s.shuffle(a)
        let mut list: Vec<u32> = (0..10).collect();
        LegacyRandomState::new(0).shuffle(&mut list);
        assert_eq!(list, [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]);
    }

    #[test]
    fn nothing_is_drawn_for_a_single_place() {
        let mut state = LegacyRandomState::new(1);
        state.shuffle(&mut [7]);
        assert_eq!((state.next, state.up_to(0)), (WORDS, 0));
    }
}
