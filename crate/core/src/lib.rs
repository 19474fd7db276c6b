//! A transformer block with nothing hidden.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod num;
