//! The declarations, in execution order.
//!
//! Letters: t query position, s key position, d model coordinate, h head, g key and value head, k head coordinate, f
//! feed-forward unit, e expert, i choice, v vocabulary entry; ε is the norm's epsilon, c the score scale.
//!
//! In formulas `{name?a|b}` is a where the pass has the stage, parameter or choice `name`, and b (or nothing) where it
//! has not; `{norm r|PLACE}` is the normalization of row r by the norm whose parameters stand at PLACE; `{=NAME}` is a
//! text that the pass gives.

use super::{attention, ends, feed_forward, Declaration, Kind};

/// How many kinds of stages there are.
const KINDS: usize = Kind::Probabilities as usize + 1;

/// Every stage there is, in execution order; a stage's place is its [`Kind`] as a number.
pub const DECLARATIONS: &[&Declaration; KINDS] = &listed();

const fn listed() -> [&'static Declaration; KINDS] {
    let parts: [&'static [Declaration]; 4] =
        [ends::FRONT, attention::DECLARATIONS, feed_forward::DECLARATIONS, ends::BACK];
    let mut out = [&ends::FRONT[0]; KINDS];
    let (mut part, mut place) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            out[place] = &parts[part][i];
            place += 1;
            i += 1;
        }
        part += 1;
    }
    assert!(place == KINDS);
    out
}
