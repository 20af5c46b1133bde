//! Times the engine's own work on texts for `tests/bench`: one step, repeated; microseconds of each round on stdout.
//!
//!     text-speed patch FILE PATCH ROUNDS   reads both, places the patch, writes the file beside and renames it over, synced
//!     text-speed hunks OLD NEW ROUNDS      reads both and finds the hunks

#![allow(clippy::print_stdout, reason = "this program answers on stdout")]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use engine::text::{FileText, hunks, patch};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, one, two, rounds] = &arguments[..] else {
        panic!("patch|hunks ONE TWO ROUNDS");
    };
    let (one, two) = (Path::new(one), Path::new(two));
    let original = fs::read(one).unwrap();
    for _ in 0..rounds.parse().unwrap() {
        let begun;
        match what.as_str() {
            "patch" => {
                fs::write(one, &original).unwrap();
                begun = Instant::now();
                patched(one, two);
            }
            "hunks" => {
                begun = Instant::now();
                let found = hunks(
                    &fs::read_to_string(one).unwrap(),
                    &fs::read_to_string(two).unwrap(),
                );
                assert!(!found.is_empty());
            }
            other => panic!("{other} is neither patch nor hunks"),
        }
        println!("{}", begun.elapsed().as_micros());
    }
    fs::write(one, &original).unwrap();
}

/// As the tool does it: decoded and encoded again, beside, synced, renamed over.
fn patched(file: &Path, patch: &Path) {
    let FileText { text, form } = FileText::decode(fs::read(file).unwrap());
    let patch = patch::parse(&fs::read_to_string(patch).unwrap()).unwrap();
    let placed = patch::place(&patch.files[0], &text).unwrap();
    let new = placed.changes.apply(&text).unwrap();
    let beside = file.with_extension("beside");
    let mut written = File::create(&beside).unwrap();
    written.write_all(&form.encode(&new)).unwrap();
    written.sync_all().unwrap();
    fs::rename(&beside, file).unwrap();
}
