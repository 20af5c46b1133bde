//! What the product promises, one module a promise.

mod demo;
mod generated;
#[cfg(target_os = "linux")]
mod process;
mod pump;
mod requirements;
mod tidy;
