//! A trace answers questions, for every member of the family: over random configurations.

mod edits;
mod explain;
mod residual;

use glassformer::config::{Config, Encoder, Mask};
use glassformer::model::{Given, Transformer};
use glassformer::num::Float;
use glassformer::trace::{Changes, Trace};
use glassformer_tests::Picker;

/// A model of any kind, with random values for every parameter, and a prompt for it.
struct Case<F> {
    model: Transformer<F>,
    target: Vec<u32>,
    source: Vec<u32>,
}

impl<F: Float> Case<F> {
    /// The next random one; one in four sees both ways, one in five is an encoder-decoder.
    fn next(picker: &mut Picker) -> Self {
        let mut config = picker.valid();
        if picker.maybe() {
            config.mask = Mask::None;
        }
        if picker.below(5) == 0 {
            let encoder = Encoder { n_vocab: 2 + picker.below(5), n_blocks: 1 + picker.below(2) };
            let other = Config { encoder: Some(encoder), parallel: false, ..config.clone() };
            if other.validate().is_ok() {
                config = other;
            }
        }
        Self::of(&config, picker)
    }

    fn of(config: &Config, picker: &mut Picker) -> Self {
        let mut model = Transformer::new(config, &mut config.init.stream(7)).unwrap();
        let block: Vec<F> =
            model.parameters().block().iter().map(|_| F::from_f64(0.5 * picker.0.normal())).collect();
        model.parameters_mut().set_block(&block).unwrap();
        let length = 2 + picker.below(4);
        let target = picker.ids(length, config.n_vocab);
        let source = config.encoder.as_ref().map_or(Vec::new(), |e| picker.ids(3, e.n_vocab));
        Case { model, target, source }
    }

    fn respond(&self) -> Trace<F> {
        self.changed(Changes::default())
    }

    fn changed(&self, changes: Changes<F>) -> Trace<F> {
        self.model
            .respond_changed(Given::Tokens { target: &self.target, source: &self.source }, changes)
            .unwrap()
    }
}

fn bits<F: Float>(trace: &Trace<F>, name: &str) -> Vec<u64> {
    trace.get(name).unwrap().data().iter().map(|x| x.bits()).collect()
}

fn same<F: Float>(a: &Trace<F>, b: &Trace<F>) {
    for stage in a.stages() {
        let name = stage.name();
        assert_eq!(bits(a, &name), bits(b, &name), "{name}");
    }
}
