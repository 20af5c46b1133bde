//! Laws by random input and the cases that led to a rule. Seeds are fixed, so a failure comes back.

mod change_set;
mod file;
mod hunks;
mod locate;
mod patch;
mod position;
mod whole_lines;

/// Pieces that texts of trouble are made of.
const PIECES: [&str; 22] = [
    "a",
    "b",
    "ab",
    " ",
    "\t",
    "fn x() {",
    "}",
    "\n",
    "\n",
    "\r\n",
    "\r\n",
    "\r",
    "é",
    "e\u{301}",
    "漢",
    "😀",
    "👩\u{200d}💻",
    "\u{2028}",
    "\u{85}",
    "\0",
    "\u{feff}",
    "\u{b}",
];

fn random_text(random: &mut fastrand::Rng, max_pieces: usize) -> String {
    (0..random.usize(..=max_pieces))
        .map(|_| PIECES[random.usize(..PIECES.len())])
        .collect()
}

/// Texts of lines, as files are; with few different ones, so that diffs find something in common.
fn random_lines(random: &mut fastrand::Rng, max_lines: usize) -> String {
    const LINES: [&str; 7] = ["", "a", "b", "  return é;", "  return 😀;", "}", "漢字"];
    const ENDINGS: [&str; 4] = ["\n", "\n", "\r\n", "\r"];
    let mut text: String = (0..random.usize(..=max_lines))
        .map(|_| {
            let line = LINES[random.usize(..LINES.len())];
            format!("{line}{}", ENDINGS[random.usize(..ENDINGS.len())])
        })
        .collect();
    if random.bool() {
        text.push_str("last");
    }
    text
}

/// One of the two, or the first with some of it changed.
fn random_variant(random: &mut fastrand::Rng, text: &str) -> String {
    let mut out = text.to_owned();
    for _ in 0..random.usize(..4) {
        let a = out.floor_char_boundary(random.usize(..=out.len()));
        let b = out
            .floor_char_boundary(random.usize(a..=out.len()).min(a + 6))
            .max(a);
        out.replace_range(a..b, &random_text(random, 3));
    }
    out
}
