//! What the product promises, one module a promise.

#[cfg(target_os = "linux")]
mod process;
mod pump;
