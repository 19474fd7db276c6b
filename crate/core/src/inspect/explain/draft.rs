//! How one number comes from others: the parts of an explanation, and its texts.

use crate::num::Float;
use crate::stage::Stage;
use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

/// How the terms of an explanation make its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Their sum, in their order, from 0.
    Sum,
    /// Their product, in their order.
    Product,
    /// The first divided by the second.
    Quotient,
    /// A function of them, which the texts name.
    Function,
    /// Nothing: the value is given.
    Given,
}

impl Op {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Op::Sum => "sum",
            Op::Product => "product",
            Op::Quotient => "quotient",
            Op::Function => "function",
            Op::Given => "given",
        }
    }
}

/// The exact arithmetic of one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The number.
    pub value: f64,
    /// How the terms make it.
    pub op: Op,
    /// Its formula in letters.
    pub symbols: String,
    /// Its formula with the numbers put in; of long sums the first and the last terms.
    pub numbers: String,
    /// What it is made of, in the order of the forward pass.
    pub terms: Vec<Term>,
    /// The terms recombined, minus the value: 0 where nothing was rounded in another way.
    pub check: f64,
    /// What hides it, or what a caller did to it.
    pub note: Option<String>,
}

/// One term: the product of its factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// What it stands for, in a word or two.
    pub label: String,
    /// What it is the product of, in their order.
    pub factors: Vec<Factor>,
    /// The product.
    pub value: f64,
}

/// One factor of a term.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What it is.
    pub of: Of,
    /// Its value.
    pub value: f64,
}

/// What a factor is, and where it can be asked again.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// A cell of a stage.
    Cell(Stage, Vec<usize>),
    /// An entry of a parameter, by the index of its layout.
    Parameter(String, Vec<usize>),
    /// A number that is written down, under this name.
    Constant(String),
    /// A number on the way that is no cell, under this name, explained here.
    Derived(String, Box<Explanation>),
}

/// A factor while an explanation is made: its value in the pass's own type.
#[derive(Clone)]
pub(super) struct Part<F> {
    pub(super) of: Of,
    pub(super) value: F,
}

impl<F: Float> Part<F> {
    pub(super) fn constant(name: impl ToString, value: F) -> Self {
        Part { of: Of::Constant(name.to_string()), value }
    }

    fn finish(self) -> Factor {
        // What was computed on the way in float64 is shown as it was.
        let value = match &self.of {
            Of::Derived(_, from) => from.value,
            _ => self.value.to_f64(),
        };
        Factor { of: self.of, value }
    }
}

/// A term while an explanation is made.
#[derive(Clone)]
pub(super) struct Piece<F> {
    label: String,
    parts: Vec<Part<F>>,
    value: F,
}

/// The product of some parts.
pub(super) fn piece<F: Float>(label: impl ToString, parts: Vec<Part<F>>) -> Piece<F> {
    let mut values = parts.iter().map(|part| part.value);
    let first = values.next().unwrap_or(F::ONE);
    let value = values.fold(first, |product, x| product * x);
    Piece { label: label.to_string(), parts, value }
}

/// Minus a part.
pub(super) fn minus<F: Float>(label: impl ToString, part: Part<F>) -> Piece<F> {
    piece(label, vec![Part::constant("-1", -F::ONE), part])
}

/// An explanation while it is made.
#[derive(Clone)]
pub(super) struct Draft<F> {
    op: Op,
    symbols: String,
    shown: Option<String>,
    pieces: Vec<Piece<F>>,
    result: F,
    note: Option<String>,
}

impl<F: Float> Draft<F> {
    fn new(op: Op, symbols: &str, pieces: Vec<Piece<F>>, result: F) -> Self {
        Draft { op, symbols: symbols.to_string(), shown: None, pieces, result, note: None }
    }

    pub(super) fn sum(symbols: &str, pieces: Vec<Piece<F>>) -> Self {
        let result = pieces.iter().fold(F::ZERO, |sum, piece| sum + piece.value);
        Self::new(Op::Sum, symbols, pieces, result)
    }

    /// One part as it is.
    pub(super) fn same(symbols: &str, label: &str, part: Part<F>) -> Self {
        let result = part.value;
        Self::new(Op::Sum, symbols, vec![piece(label, vec![part])], result)
    }

    pub(super) fn product(symbols: &str, parts: Vec<(&str, Part<F>)>) -> Self {
        let pieces: Vec<Piece<F>> = parts.into_iter().map(|(label, part)| piece(label, vec![part])).collect();
        let mut values = pieces.iter().map(|piece| piece.value);
        let first = values.next().unwrap_or(F::ONE);
        let result = values.fold(first, |product, x| product * x);
        Self::new(Op::Product, symbols, pieces, result)
    }

    pub(super) fn quotient(symbols: &str, [over, under]: [(&str, Part<F>); 2]) -> Self {
        let result = over.1.value / under.1.value;
        let pieces = [over, under].map(|(label, part)| piece(label, vec![part])).to_vec();
        Self::new(Op::Quotient, symbols, pieces, result)
    }

    /// A function's result; `shown` is what it looks like with the numbers put in.
    pub(super) fn function(symbols: &str, shown: String, pieces: Vec<Piece<F>>, result: F) -> Self {
        Draft { shown: Some(shown), ..Self::new(Op::Function, symbols, pieces, result) }
    }

    pub(super) fn given(symbols: &str, value: F, note: &str) -> Self {
        Self::new(Op::Given, symbols, Vec::new(), value).noted(note)
    }

    pub(super) fn noted(self, note: &str) -> Self {
        Draft { note: (!note.is_empty()).then(|| note.to_string()), ..self }
    }

    pub(super) fn named(self, symbols: String) -> Self {
        Draft { symbols, ..self }
    }

    /// This as a part of another explanation.
    pub(super) fn part(mut self, name: impl ToString) -> Part<F> {
        let (value, name) = (self.result, name.to_string());
        if self.symbols.is_empty() {
            self.symbols.clone_from(&name);
        }
        Part { of: Of::Derived(name, Box::new(self.finish(value))), value }
    }

    /// The same, computed in float64 on the way and rounded to the pass's type here.
    pub(super) fn rounded<G: Float>(self, name: impl ToString) -> Part<G> {
        let Part { of, value } = self.part(name);
        Part { of, value: G::from_f64(value.to_f64()) }
    }

    /// What explains the value that the pass had.
    pub(super) fn finish(self, value: F) -> Explanation {
        let numbers =
            format!("{} = {}", self.shown.clone().unwrap_or_else(|| self.written()), show(value.to_f64()));
        let check = if self.result.bits() == value.bits() || self.result == value {
            0.0
        } else {
            self.result.to_f64() - value.to_f64()
        };
        let terms = self.pieces.into_iter().map(|piece| Term {
            label: piece.label,
            factors: piece.parts.into_iter().map(Part::finish).collect(),
            value: piece.value.to_f64(),
        });
        Explanation {
            value: value.to_f64(),
            op: self.op,
            symbols: self.symbols,
            numbers,
            terms: terms.collect(),
            check,
            note: self.note,
        }
    }

    /// The terms with their numbers, between them what combines them.
    fn written(&self) -> String {
        let between = match self.op {
            Op::Product => " × ",
            Op::Quotient => " / ",
            _ => " + ",
        };
        if self.pieces.is_empty() {
            return match self.op {
                Op::Given => self.note.clone().unwrap_or_else(|| "given".to_string()),
                _ => "0".to_string(),
            };
        }
        let mut out = String::new();
        let count = self.pieces.len();
        for (i, piece) in self.pieces.iter().enumerate() {
            // A long sum shows its first terms and its last.
            if count > MOST_SHOWN && i == MOST_SHOWN - 2 {
                out.push_str(between);
                out.push('…');
            }
            if count > MOST_SHOWN && i >= MOST_SHOWN - 2 && i + 1 < count {
                continue;
            }
            if i > 0 {
                out.push_str(between);
            }
            let factors: Vec<String> =
                piece.parts.iter().map(|part| in_place(part.clone().finish().value)).collect();
            out.push_str(&factors.join(" × "));
        }
        out
    }
}

/// How many terms a formula with numbers shows.
const MOST_SHOWN: usize = 12;

/// A number for a reader: four decimals, or as many digits where it is small or large.
pub(super) fn show(x: f64) -> String {
    let size = x.abs();
    if x == f64::NEG_INFINITY {
        "-∞".to_string()
    } else if size < 1e6 && x == x as i64 as f64 {
        format!("{}", x as i64)
    } else if (1e-3..1e6).contains(&size) {
        format!("{x:.4}")
    } else {
        format!("{x:.4e}")
    }
}

/// The same within a formula.
pub(super) fn in_place(x: f64) -> String {
    if x < 0.0 {
        format!("({})", show(x))
    } else {
        show(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_put_in_where_letters_stood() {
        let of = |x: f64| Part::constant("x", x);
        let sum = Draft::sum("a b + c d", vec![piece("", vec![of(0.3988), of(0.4127)]), minus("", of(2.0))]);
        let value = sum.result;
        let explained = sum.finish(value);
        assert_eq!(explained.numbers, "0.3988 × 0.4127 + (-1) × 2 = -1.8354");
        assert_eq!(explained.check, 0.0);
        let long = Draft::sum("", (0..20).map(|i| piece("", vec![of(f64::from(i))])).collect());
        let value = long.result;
        assert_eq!(long.finish(value).numbers, "0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + … + 19 = 190");
        assert_eq!(show(1.5e-7), "1.5000e-7");
    }

    #[test]
    fn what_does_not_add_up_shows() {
        let sum = Draft::same("x", "", Part::constant("x", 1.0f64));
        assert_eq!(sum.finish(0.75).check, 0.25);
    }
}
