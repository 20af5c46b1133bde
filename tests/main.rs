//! What the product promises, one module a promise.

mod generated;
mod process;
mod pump;
mod requirements;
mod tidy;
