//! The house rules that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

fn core_files() -> Vec<PathBuf> {
    fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut out = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../crate/core/src")), &mut out);
    assert!(out.len() > 20);
    out
}

/// The floors of the house, lowest first: a room may use its own floor and those below.
const FLOORS: [&[&str]; 8] = [
    &["error", "memory"],
    &["num", "stage", "tensor"],
    &["math"],
    &["config", "params", "init", "mask", "options"],
    &["trace"],
    &["layer"],
    &["model"],
    &["inspect", "generate"],
];

fn floor(module: &str) -> usize {
    FLOORS.iter().position(|rooms| rooms.contains(&module)).unwrap_or_else(|| panic!("{module} has no floor"))
}

fn module_of(path: &Path) -> String {
    let inside = path.to_str().unwrap().split("core/src/").nth(1).unwrap().to_string();
    inside.split(['/', '.']).next().unwrap().to_string()
}

#[test]
fn imports_never_go_upward() {
    for path in core_files() {
        let module = module_of(&path);
        if module == "lib" {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let Some(used) = line.trim().strip_prefix("use crate::") else { continue };
            let used = used.split([':', ';', ' ']).next().unwrap();
            assert!(floor(used) <= floor(&module), "{} uses {used}", path.display());
        }
    }
}

#[test]
fn transcendental_functions_are_called_through_libm_in_num_and_at_set_up_only() {
    for path in core_files() {
        let module = module_of(&path);
        let text = fs::read_to_string(&path).unwrap();
        let code: String = text.split("#[cfg(test)]").next().unwrap().into();
        assert!(!code.contains("std::"), "{} uses std", path.display());
        if !["num", "config", "init"].contains(&module.as_str()) {
            assert!(!code.contains("libm::"), "{} calls libm", path.display());
        }
    }
}

#[test]
fn files_stay_short_enough_to_read() {
    for path in core_files().into_iter().filter(|p| !p.to_str().unwrap().ends_with("_tables.rs")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 350, "{} has {lines} lines", path.display());
    }
}
