//! The `wasm-bindgen-test-runner` command: runs `#[wasm_bindgen_test]`s in Node or in a browser.

fn main() {
    let run = wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args;
    if let Err(error) = run(std::env::args_os()) {
        eprintln!("error: {error:?}");
        std::process::exit(1);
    }
}
