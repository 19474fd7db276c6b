//! Which experts a row goes to, and with what weight.

use crate::num::Float;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// What becomes of a choice whose expert has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It is left out: nothing takes its place, and the other gates stay as they were
    /// (Fedus, Zoph & Shazeer 2021, arXiv:2101.03961).
    Drop,
    /// The row's next most probable expert that has room, and is not among its own, takes its place.
    Reroute,
    /// It is refused.
    Error,
}

impl Overflow {
    /// All three, in the order the documentation lists them.
    pub const ALL: [Overflow; 3] = [Overflow::Drop, Overflow::Reroute, Overflow::Error];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Overflow::Drop => "drop",
            Overflow::Reroute => "reroute",
            Overflow::Error => "error",
        }
    }
}

/// A mixture's rule of choice: each row goes to its `selected` most probable experts
/// (Shazeer et al. 2017, arXiv:1701.06538; gates from a softmax over all experts: Jiang et al. 2024, arXiv:2401.04088).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Router {
    /// E.
    pub experts: usize,
    /// k, from 1 to E.
    pub selected: usize,
    /// Whether the gates of a row are divided by their sum.
    pub renormalize: bool,
    /// How many choices each expert takes of one prompt.
    pub capacity: Option<usize>,
    /// What becomes of the others.
    pub overflow: Overflow,
}

impl Router {
    /// The choices of one row, most probable first; of equal ones the expert with the lower index is first.
    ///
    /// The gate of a choice is its probability, with `renormalize` divided by the sum of the row's choices. Then each choice,
    /// in that order, takes a place of its expert while `capacity` has one; what becomes of the others is [`Overflow`]'s.
    /// Rows of one prompt come in their order, so a later row changes nothing for an earlier one. After a rerouting,
    /// renormalized gates are the probabilities of what is kept, divided by their sum.
    ///
    /// # Shapes
    /// `probabilities` E. `selected` (indices, as numbers; -1 where a choice was dropped) and `gates` (0 there) k, both
    /// written. Of length E, 0 before a prompt's first row and added to: `filled`, choices that each expert took;
    /// `importance`, the gates placed on each, and `load`, the number of choices of each, both before capacity;
    /// `overflow`, how many of those choices found their expert full.
    ///
    /// # Numerics
    /// Sums of gates go in the order of choices. A row whose chosen probabilities sum to 0 keeps gates of 0.
    ///
    /// # Errors
    /// The index of the expert that was full, under [`Overflow::Error`]; what is added to has been changed by then.
    ///
    /// # Panics
    /// When lengths do not fit.
    ///
    /// ```
    /// # use glassformer::math::{Overflow, Router};
    /// let router =
    ///     Router { experts: 3, selected: 2, renormalize: true, capacity: None, overflow: Overflow::Drop };
    /// let (mut selected, mut gates, mut filled) = ([0.0; 2], [0.0; 2], [0; 3]);
    /// let (mut importance, mut load, mut overflow) = ([0.0; 3], [0.0; 3], [0.0; 3]);
    /// let probabilities = [0.56, 0.24, 0.20];
    /// router
    ///     .choose(&probabilities, &mut filled, &mut selected, &mut gates, &mut importance, &mut load, &mut overflow)
    ///     .unwrap();
    /// assert_eq!(selected, [0.0, 1.0]);
    /// assert_eq!(gates.map(|gate: f64| (gate * 1e9).round() / 1e9), [0.7, 0.3]); // 0.56 / 0.80, 0.24 / 0.80
    /// ```
    // Each list is a stage of its own to its caller, who has them in different places.
    #[allow(clippy::too_many_arguments)]
    pub fn choose<F: Float>(
        &self,
        probabilities: &[F],
        filled: &mut [usize],
        selected: &mut [F],
        gates: &mut [F],
        importance: &mut [F],
        load: &mut [F],
        overflow: &mut [F],
    ) -> Result<(), usize> {
        assert_eq!(probabilities.len(), self.experts);
        assert_eq!((selected.len(), gates.len()), (self.selected, self.selected));
        assert!(self.selected <= self.experts);
        let ranked = ranked(probabilities);
        for (choice, &e) in selected.iter_mut().zip(&ranked) {
            *choice = number(e);
        }
        self.weigh(probabilities, selected, gates);
        for (&choice, &gate) in selected.iter().zip(gates.iter()) {
            let e = index(choice);
            importance[e] += gate;
            load[e] += F::ONE;
        }
        let Some(capacity) = self.capacity else { return Ok(()) };
        let mut rerouted = false;
        // What was full stays full, and what was taken is the row's own: each is looked at once.
        let mut others = ranked[self.selected..].iter().copied();
        for i in 0..self.selected {
            let e = index(selected[i]);
            if filled[e] < capacity {
                filled[e] += 1;
                continue;
            }
            overflow[e] += F::ONE;
            let other = match self.overflow {
                Overflow::Error => return Err(e),
                Overflow::Drop => None,
                Overflow::Reroute => others.find(|&other| filled[other] < capacity),
            };
            rerouted |= self.overflow == Overflow::Reroute;
            match other {
                Some(other) => {
                    filled[other] += 1;
                    selected[i] = number(other);
                }
                None => {
                    selected[i] = -F::ONE;
                    gates[i] = F::ZERO;
                }
            }
        }
        if rerouted {
            self.weigh(probabilities, selected, gates);
        }
        Ok(())
    }

    /// The gates of what is selected: each choice's probability, with `renormalize` divided by their sum; 0 for -1.
    pub(crate) fn weigh<F: Float>(&self, probabilities: &[F], selected: &[F], gates: &mut [F]) {
        for (gate, &choice) in gates.iter_mut().zip(selected) {
            *gate = if choice < F::ZERO { F::ZERO } else { probabilities[index(choice)] };
        }
        let sum = gates.iter().fold(F::ZERO, |sum, &gate| sum + gate);
        if self.renormalize && sum != F::ZERO {
            gates.iter_mut().for_each(|gate| *gate = *gate / sum);
        }
    }
}

/// The experts, the most probable first; of equal ones the lower index, as a stable sort leaves them.
pub(crate) fn ranked<F: Float>(probabilities: &[F]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].partial_cmp(&probabilities[a]).unwrap_or(Ordering::Equal));
    order
}

fn number<F: Float>(e: usize) -> F {
    F::from_f64(e as f64)
}

fn index<F: Float>(choice: F) -> usize {
    choice.to_f64() as usize
}

/// The squared coefficient of variation: the population variance divided by the square of the mean, a measure of how
/// unequally experts are used (Shazeer et al. 2017, arXiv:1701.06538, section 4). 0 where the mean is 0.
///
/// ```
/// # use glassformer::math::squared_variation;
/// assert_eq!(squared_variation(&[3.0, 1.0]), 0.25); // mean 2, variance 1
/// assert_eq!(squared_variation(&[2.0, 2.0]), 0.0);
/// ```
pub fn squared_variation<F: Float>(x: &[F]) -> F {
    let count = F::from_f64(x.len() as f64);
    let mean = x.iter().fold(F::ZERO, |sum, &x| sum + x) / count;
    if mean == F::ZERO || x.is_empty() {
        return F::ZERO;
    }
    let variance = x.iter().fold(F::ZERO, |sum, &x| sum + (x - mean) * (x - mean)) / count;
    variance / (mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// What the rows of one prompt choose.
    #[derive(Debug, PartialEq)]
    struct Chosen {
        selected: Vec<[f64; 2]>,
        gates: Vec<[f64; 2]>,
        importance: Vec<f64>,
        load: Vec<f64>,
        overflow: Vec<f64>,
    }

    fn choose(router: Router, rows: &[&[f64]]) -> Result<Chosen, usize> {
        let zeros = vec![0.0; router.experts];
        let mut filled = vec![0; router.experts];
        let (mut importance, mut load, mut overflow) = (zeros.clone(), zeros.clone(), zeros);
        let (mut selected, mut gates) = (Vec::new(), Vec::new());
        for row in rows {
            let (mut s, mut g) = ([9.0; 2], [9.0; 2]);
            router.choose(row, &mut filled, &mut s, &mut g, &mut importance, &mut load, &mut overflow)?;
            selected.push(s);
            gates.push(g);
        }
        Ok(Chosen { selected, gates, importance, load, overflow })
    }

    const PLAIN: Router =
        Router { experts: 3, selected: 2, renormalize: true, capacity: None, overflow: Overflow::Drop };

    #[test]
    fn gates_are_the_chosen_probabilities_divided_by_their_sum() {
        let chosen = choose(PLAIN, &[&[0.56, 0.24, 0.20]]).unwrap();
        let [a, b] = chosen.gates[0];
        assert!((a - 0.7).abs() < 1e-15 && (b - 0.3).abs() < 1e-15);
        assert!((a * 2.0 + b * 5.0 - 2.9).abs() < 1e-14, "outputs 2 and 5");
        let kept = choose(Router { renormalize: false, ..PLAIN }, &[&[0.56, 0.24, 0.20]]).unwrap();
        assert_eq!(kept.gates[0], [0.56, 0.24]);
    }

    #[test]
    fn of_equal_experts_the_lower_index_comes_first() {
        let chosen = choose(PLAIN, &[&[0.2, 0.4, 0.4], &[0.3, 0.3, 0.4], &[0.25, 0.25, 0.25]]).unwrap();
        assert_eq!(chosen.selected, [[1.0, 2.0], [2.0, 0.0], [0.0, 1.0]]);
        assert_eq!(chosen.load, [2.0, 2.0, 2.0]);
        assert_eq!(choose(PLAIN, &[&[0.0, 0.0, 0.0]]).unwrap().gates, [[0.0, 0.0]]);
    }

    #[test]
    fn variation_of_use() {
        assert_eq!(squared_variation(&[3.0, 1.0]), 0.25);
        assert_eq!(squared_variation(&[2.0f32, 2.0]), 0.0);
        assert_eq!(squared_variation(&[0.0f64; 3]), 0.0);
        assert_eq!(squared_variation::<f64>(&[]), 0.0);
    }

    #[test]
    fn counts_of_three_and_one_at_capacity_two_overflow_by_one() {
        let one = Router { experts: 2, selected: 1, renormalize: true, capacity: Some(2), ..PLAIN };
        let (mut filled, mut selected, mut gates) = ([0; 2], [0.0], [0.0]);
        let (mut importance, mut load, mut overflow) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for row in [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]] {
            one.choose(
                &row,
                &mut filled,
                &mut selected,
                &mut gates,
                &mut importance,
                &mut load,
                &mut overflow,
            )
            .unwrap();
        }
        assert_eq!((load, overflow, filled), ([3.0f64, 1.0], [1.0, 0.0], [2, 1]));
        assert_eq!(importance, [3.0, 1.0]);
        assert_eq!((selected, gates), ([-1.0], [0.0]), "the last row finds no room");
    }

    #[test]
    fn a_dropped_choice_leaves_the_other_gate_as_it_was() {
        let router = Router { capacity: Some(1), ..PLAIN };
        let chosen = choose(router, &[&[0.6, 0.3, 0.1], &[0.5, 0.1, 0.4]]).unwrap();
        assert_eq!(chosen.selected, [[0.0, 1.0], [-1.0, 2.0]]);
        assert_eq!(chosen.gates[1], [0.0, 0.4 / 0.9]);
        assert_eq!(chosen.overflow, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_rerouted_choice_goes_to_the_next_expert_with_room_at_its_probability() {
        let reroute = Router { experts: 4, capacity: Some(1), overflow: Overflow::Reroute, ..PLAIN };
        let rows: [&[f64]; 2] = [&[0.6, 0.3, 0.06, 0.04], &[0.5, 0.15, 0.25, 0.1]];
        let chosen = choose(reroute, &rows).unwrap();
        // 0 is full; 2 is the row's own already; 1 is full too; so 3, and then 2 itself.
        assert_eq!(chosen.selected, [[0.0, 1.0], [3.0, 2.0]]);
        assert_eq!(chosen.gates[1], [0.1 / 0.35, 0.25 / 0.35]);
        assert_eq!(chosen.overflow, [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(chosen.load, [2.0, 1.0, 1.0, 0.0], "as chosen first");
        let plain = choose(Router { renormalize: false, ..reroute }, &rows).unwrap();
        assert_eq!(plain.gates[1], [0.1, 0.25]);
        let three = choose(reroute, &[rows[0], rows[1], rows[1]]).unwrap();
        assert_eq!((three.selected[2], three.gates[2]), ([-1.0, -1.0], [0.0, 0.0]), "none has room");
    }

    #[test]
    fn an_overflow_can_be_refused_and_earlier_rows_do_not_see_it() {
        let router = Router { capacity: Some(1), overflow: Overflow::Error, ..PLAIN };
        assert_eq!(choose(router, &[&[0.6, 0.3, 0.1], &[0.1, 0.4, 0.5]]), Err(1));
        assert!(choose(router, &[&[0.6, 0.3, 0.1]]).is_ok());
    }
}
