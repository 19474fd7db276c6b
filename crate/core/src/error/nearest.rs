//! The names close to a misspelt one.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// The candidates closest to a misspelt name, best first, three at most, none that is far off.
///
/// Distance is the number of single-letter insertions, deletions and substitutions (Levenshtein 1966),
/// letter case set aside; the last parts of a dotted name stand for the whole, one letter dearer.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<String> {
    let letters = |text: &str| text.chars().map(|c| c.to_ascii_lowercase()).collect::<Vec<_>>();
    // A name of any length can be asked for; the work is bounded by looking at its head only.
    let wanted: Vec<char> = name.chars().take(64).map(|c| c.to_ascii_lowercase()).collect();
    let closest = |candidate: &str| {
        let parts = candidate.match_indices('.').map(|(dot, _)| (1, &candidate[dot + 1..]));
        let near = parts.chain([(0, candidate)]).filter_map(|(dearer, part)| {
            let distance = edit_distance(&wanted, &letters(part));
            (distance <= 1 + part.len() / 3).then_some(distance + dearer)
        });
        near.min()
    };
    let mut scored: Vec<(usize, &str)> = candidates.filter_map(|c| Some((closest(c)?, c))).collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, c)| c.to_string()).collect()
}

fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        let names = ["nHeads", "nModel", "headWidth", "seed"];
        assert_eq!(nearest("n_heads", names.into_iter()), ["nHeads"]);
        assert_eq!(nearest("NHEADS", names.into_iter()), ["nHeads"]);
        assert!(nearest("colour", names.into_iter()).is_empty());
        assert_eq!(nearest("hiden", ["blocks.0.hidden", "logits"].into_iter()), ["blocks.0.hidden"]);
    }
}
