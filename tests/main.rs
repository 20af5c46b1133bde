//! What the product promises, one module a promise.

mod process;
mod pump;
