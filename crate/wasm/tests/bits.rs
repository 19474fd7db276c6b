//! The digests that the native tests check, again in wasm: the same code must give the same bits.

use glassformer::config::Init;
use glassformer_tests::{
    family_digest, stream_digest, trace_digest, FAMILY_DIGESTS, STREAM_DIGESTS, TRACE_DIGESTS,
};
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_version_is_the_packages() {
    assert_eq!(glassformer_wasm::version(), env!("CARGO_PKG_VERSION"));
}

#[wasm_bindgen_test]
fn the_streams_have_the_native_bits() {
    for (kind, want) in STREAM_DIGESTS {
        assert_eq!(stream_digest(kind), want, "{kind}");
    }
}

#[wasm_bindgen_test]
fn every_stage_has_the_native_bits() {
    for (activation, float64, float32) in TRACE_DIGESTS {
        assert_eq!(trace_digest::<f64>(activation, Init::Lesson), float64, "{activation:?}");
        assert_eq!(trace_digest::<f32>(activation, Init::Gpt2), float32, "{activation:?}");
    }
}

#[wasm_bindgen_test]
fn every_style_of_the_family_has_the_native_bits() {
    for (style, float64, float32) in FAMILY_DIGESTS {
        assert_eq!(family_digest::<f64>(style), float64, "{style}");
        assert_eq!(family_digest::<f32>(style), float32, "{style}");
    }
}
