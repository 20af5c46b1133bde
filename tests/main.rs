//! What the product promises, one module a promise.

mod demo;
#[cfg(target_os = "linux")]
mod process;
mod pump;
