//! The parser: tree-sitter's grammar of bash, with bounds.
//!
//! `sh` may be dash or bash; what the two read differently is no read (`walk.rs`).

use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

/// Bytes of a line that are parsed. What is longer is scanned, never read.
pub const MAX_BYTES: usize = 16 * 1024;
/// Pipes, heredocs and tests of a line: the parser's time grows with the square of their number.
const MAX_PIPES: usize = 400;
const MAX_HEREDOCS: usize = 100;
const MAX_TESTS: usize = 100;
/// Nodes of a tree that are walked.
const MAX_NODES: usize = 20_000;
/// How often the parser may report that it is still at work: about every hundred steps of its own.
const MAX_REPORTS: usize = 2_000;

/// The tree of a text; none where the text is too long or too tangled to be read.
pub fn parse(text: &str) -> Option<Tree> {
    let n_pipes = text.bytes().filter(|it| *it == b'|').count();
    let n_heredocs = text.matches("<<").count();
    let n_tests = text.matches("[[").count();
    let is_long = text.len() > MAX_BYTES;
    if is_long || n_pipes > MAX_PIPES || n_heredocs > MAX_HEREDOCS || n_tests > MAX_TESTS {
        return None;
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let bytes = text.as_bytes();
    let mut n_reports = 0;
    let mut at_work = |_: &ParseState| {
        n_reports += 1;
        n_reports > MAX_REPORTS
    };
    let options = ParseOptions::new().progress_callback(&mut at_work);
    let mut rest = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut rest, None, Some(options))?;
    (tree.root_node().descendant_count() <= MAX_NODES).then_some(tree)
}

/// The children of a node, words of the grammar included.
pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Goes through a node and all below it without recursion, outermost first; `Break` leaves out what is below.
pub fn each<'t>(node: Node<'t>, mut look: impl FnMut(Node<'t>) -> ControlFlow<()>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if look(node).is_continue() {
            let mut below = children(node);
            below.reverse();
            open.append(&mut below);
        }
    }
}

/// The deepest nesting under a node.
pub fn height(node: Node<'_>) -> usize {
    let mut cursor = node.walk();
    let mut highest = 0;
    loop {
        highest = highest.max(cursor.depth() as usize);
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return highest;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// Whether nothing but blanks lies between the parts of a node: a guard against text that the grammar has stepped
/// over. In a command or a redirection a new line is no blank.
pub fn is_whole(node: Node<'_>, text: &str) -> bool {
    let is_one_line = match node.kind() {
        "command" | "file_redirect" => true,
        "redirected_statement" => !children(node)
            .iter()
            .any(|it| it.kind() == "heredoc_redirect"),
        _ => false,
    };
    let mut at = node.start_byte();
    let fits = |gap: Option<&str>| {
        gap.is_some_and(|it| {
            it.replace("\\\n", "")
                .bytes()
                .all(|it| matches!(it, b' ' | b'\t') || it == b'\n' && !is_one_line)
        })
    };
    for child in children(node) {
        if !fits(text.get(at..child.start_byte())) {
            return false;
        }
        at = child.end_byte();
    }
    fits(text.get(at..node.end_byte()))
}

/// Whether something ends each statement of a block before the next one begins.
pub fn are_parted(node: Node<'_>, text: &str) -> bool {
    let mut before: Option<Node<'_>> = None;
    for child in children(node) {
        if !child.is_named() {
            before = None;
            continue;
        }
        if let Some(before) = before
            && child.kind() != "comment"
            && !text[before.start_byte()..child.start_byte()]
                .replace("\\\n", "")
                .contains('\n')
        {
            return false;
        }
        before = Some(child);
    }
    true
}
