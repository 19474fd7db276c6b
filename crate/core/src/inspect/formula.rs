//! Declared texts, filled in for the pass they stand in.
//!
//! `{name?a|b}` is a where the pass has the stage, parameter or choice `name`, else b (or nothing); `{norm r|PLACE}` is
//! the normalization of row r by the norm whose parameters stand at PLACE; `{=NAME}` is a text that the pass gives.

use alloc::{format, string::String};

/// What a pass knows of itself.
pub(super) trait Facts {
    /// Whether it has a stage, a parameter or a choice.
    fn has(&self, name: &str) -> bool;
    /// A text of its own, which may have such places itself.
    fn text(&self, name: &str) -> String;
    /// The normalization of a row by the norm at a place.
    fn norm(&self, row: &str, place: &str) -> String;
}

/// A declared text with its places filled in.
pub(super) fn fill_in(text: &str, facts: &impl Facts) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside, after)) = first_place(rest) {
        out.push_str(before);
        out.push_str(&place(inside, facts));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text before the first place, what stands in it, and what follows.
fn first_place(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find('{')?;
    let mut depth = 0;
    for (i, c) in text[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[..start], &text[start + 1..start + i], &text[start + i + 1..]));
        }
    }
    None
}

fn place(inside: &str, facts: &impl Facts) -> String {
    if let Some(name) = inside.strip_prefix('=') {
        return fill_in(&facts.text(name), facts);
    }
    if let Some(norm) = inside.strip_prefix("norm ") {
        let (row, place) = halves(norm);
        return facts.norm(&fill_in(row, facts), place);
    }
    let Some((name, choices)) = inside.split_once('?') else { return format!("{{{inside}}}") };
    let (yes, no) = halves(choices);
    fill_in(if facts.has(name) { yes } else { no }, facts)
}

/// The two sides of the first bar that stands in no inner place.
fn halves(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '|' if depth == 0 => return (&text[..i], &text[i + 1..]),
            _ => {}
        }
    }
    (text, "")
}
