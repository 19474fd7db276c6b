//! The bindings load.
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn the_version_is_the_packages() {
    assert_eq!(glassformer_wasm::version(), env!("CARGO_PKG_VERSION"));
}
