//! What holds for every member of the family, over random configurations.

mod causality;
mod combinations;
mod equivalences;
mod sums;

use glassformer::num::Float;
use glassformer::trace::Trace;
use glassformer_tests::{family_digest, Picker, FAMILY_DIGESTS};

/// Random values for every parameter, so that gains and biases show.
fn values(picker: &mut Picker, count: usize) -> Vec<f64> {
    (0..count).map(|_| 0.5 * picker.0.normal()).collect()
}

/// Gives a model's parameters random values.
macro_rules! fill {
    ($model:expr, $picker:expr) => {
        let list: Vec<(String, usize)> =
            $model.parameters().list().iter().map(|p| (p.name(), p.count())).collect();
        for (name, count) in list {
            let new: Vec<_> =
                crate::values($picker, count).into_iter().map(glassformer::num::Float::from_f64).collect();
            $model.parameters_mut().set(&name, &new).unwrap();
        }
    };
}
use fill;

fn cells<F: Float>(trace: &Trace<F>, name: &str) -> Vec<F> {
    trace.get(name).unwrap().into_data()
}

fn bits<F: Float>(cells: &[F]) -> Vec<u64> {
    cells.iter().map(|x| x.bits()).collect()
}

/// The cells of a stage that a shorter prompt's trace has too.
fn shared<F: Float>(whole: &Trace<F>, part: &Trace<F>, name: &str) -> Vec<u64> {
    let (tensor, sizes) = (whole.get(name).unwrap(), part.get(name).unwrap().shape().to_vec());
    let is_shared = |flat: usize| {
        let mut rest = flat;
        tensor.shape().iter().zip(&sizes).rev().all(|(&size, &least)| {
            let index = rest % size;
            rest /= size;
            index < least
        })
    };
    tensor.data().iter().enumerate().filter(|&(flat, _)| is_shared(flat)).map(|(_, x)| x.bits()).collect()
}

#[test]
fn every_style_has_its_digest() {
    for (style, wide, narrow) in FAMILY_DIGESTS {
        assert_eq!(family_digest::<f64>(style), wide, "{style} in float64");
        assert_eq!(family_digest::<f32>(style), narrow, "{style} in float32");
    }
}
