//! How NumPy spreads a seed over the state of a generator.

const MULTIPLIER_A: u32 = 0x931e_8875;
const MULTIPLIER_B: u32 = 0x58f3_8ded;

/// NumPy's `SeedSequence(seed).generate_state(4, uint64)`, after M.E. O'Neill's `seed_seq_fe`
/// ("Developing a seed_seq Alternative", 2015).
pub(super) fn generate_state(seed: u64) -> [u64; 4] {
    let words = words(pool(seed));
    [0, 2, 4, 6].map(|i| u64::from(words[i]) | u64::from(words[i + 1]) << 32)
}

/// The seed's entropy, mixed so that every word depends on every bit.
fn pool(seed: u64) -> [u32; 4] {
    let mut constant = 0x43b0_d7e5;
    // A word of zero is mixed in like any other, so that short seeds fill the pool too.
    let mut pool =
        [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash(word, &mut constant, MULTIPLIER_A));
    for source in 0..pool.len() {
        for target in (0..pool.len()).filter(|&target| target != source) {
            pool[target] = mix(pool[target], hash(pool[source], &mut constant, MULTIPLIER_A));
        }
    }
    pool
}

/// Eight words drawn from the pool.
fn words(pool: [u32; 4]) -> [u32; 8] {
    let mut constant = 0x8b51_f9dd;
    [0, 1, 2, 3, 0, 1, 2, 3].map(|i| hash(pool[i], &mut constant, MULTIPLIER_B))
}

fn hash(word: u32, constant: &mut u32, multiplier: u32) -> u32 {
    let word = word ^ *constant;
    *constant = constant.wrapping_mul(multiplier);
    let word = word.wrapping_mul(*constant);
    word ^ (word >> 16)
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = 0xca01_f9dd_u32.wrapping_mul(x).wrapping_sub(0x4973_f715_u32.wrapping_mul(y));
    mixed ^ (mixed >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_seed_0_are_numpys() {
        let expected =
            [2968811710, 3677149159, 745650761, 2884920346, 2642120001, 549907821, 574372308, 742431198];
        assert_eq!(words(pool(0)), expected);
    }
}
