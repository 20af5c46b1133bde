//! OpenAI's `apply_patch`: one call is one operation on one file, whose diff is the body of our own envelope.
//!
//! The operation's path is the only one that a call may touch. What the envelope made of it means is read back before it
//! goes on, so that neither a path nor a diff can add a section to it.

use serde_json::{Value, json};

use super::{Answer, Rewritten};
use crate::text::patch::{self, FileKind};

const SUPPORTED: &str = "Supported are create_file and update_file, each with a path and a diff, and delete_file with a path. Nothing was changed.";

/// What a call becomes. `input` is its `operation`.
pub(super) fn rewrite(input: &str) -> Rewritten {
    match envelope(input) {
        Ok(patch) => Rewritten::Call("apply_patch", json!({ "patch": patch })),
        Err(fault) => Rewritten::Answer(Answer {
            text: format!("{fault}. {SUPPORTED}"),
            is_error: true,
        }),
    }
}

fn envelope(input: &str) -> Result<String, String> {
    let operation: Value = serde_json::from_str(input).unwrap_or_default();
    let text = |name: &str| operation[name].as_str();
    let (kind, mark) = match text("type") {
        Some("create_file") => (FileKind::Create, "*** Add File: "),
        Some("update_file") => (FileKind::Update, "*** Update File: "),
        Some("delete_file") => (FileKind::Delete, "*** Delete File: "),
        Some(other) => return Err(format!("There is no operation `{other}`")),
        None => return Err("The call names no operation".to_owned()),
    };
    let path = text("path").unwrap_or_default();
    // Blanks at its ends would be lost in the envelope: another file than the one named.
    if path.is_empty() || path.trim() != path || path.chars().any(char::is_control) {
        return Err(format!("{path:?} is no path of a file"));
    }
    let diff = match (kind, text("diff")) {
        (FileKind::Delete, _) => "",
        (FileKind::Create | FileKind::Update, Some(diff)) => body(diff),
        (FileKind::Create | FileKind::Update, None) => {
            return Err(format!("The operation on {path} has no diff"));
        }
    };
    let end = match diff.is_empty() || diff.ends_with('\n') {
        true => "",
        false => "\n",
    };
    let patch = format!("*** Begin Patch\n{mark}{path}\n{diff}{end}*** End Patch\n");
    match patch::parse(&patch) {
        Ok(read) => {
            let is_meant =
                |it: &patch::FilePatch| it.path == path && it.kind == kind && it.new_path.is_none();
            match read.files.as_slice() {
                [file] if is_meant(file) => Ok(patch),
                _ => Err(format!("The diff reaches beyond {path}")),
            }
        }
        // Our tool reads it the same way, and says which line is wrong.
        Err(_) => Ok(patch),
    }
}

/// The diff without an envelope of its own, which some models write around it.
fn body(diff: &str) -> &str {
    let is_frame = |line: &str| {
        let line = line.trim_end();
        line == "*** Begin Patch"
            || line == "*** End Patch"
            || line.starts_with("*** Add File:")
            || line.starts_with("*** Update File:")
    };
    let mut rest = diff;
    while let Some((_, behind)) = rest.split_once('\n').filter(|it| is_frame(it.0)) {
        rest = behind;
    }
    let (before, last) = rest.trim_end().rsplit_once('\n').unwrap_or(("", rest));
    match is_frame(last) {
        true => before,
        false => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(operation: Value) -> Result<String, String> {
        match rewrite(&operation.to_string()) {
            Rewritten::Call(name, arguments) => {
                assert_eq!(name, "apply_patch");
                Ok(arguments["patch"].as_str().unwrap().to_owned())
            }
            Rewritten::Answer(answer) => {
                assert!(answer.is_error && answer.text.ends_with(SUPPORTED));
                Err(answer.text[..answer.text.len() - SUPPORTED.len()].to_owned())
            }
        }
    }

    #[test]
    fn each_operation_becomes_a_section_of_our_envelope() {
        let create = json!({"type": "create_file", "path": "a b/ü.md", "diff": "+# A\n+\n+b"});
        let update = json!({"type": "update_file", "path": "a/a.rs", "diff": "@@ fn a\n-x\n+y\n"});
        let delete = json!({"type": "delete_file", "path": "old.txt"});
        let empty = json!({"type": "create_file", "path": "e", "diff": ""});
        let all: Vec<String> = [create, update, delete, empty]
            .into_iter()
            .map(|it| rewritten(it).unwrap())
            .collect();
        expect_test::expect![[r#"
            *** Begin Patch
            *** Add File: a b/ü.md
            +# A
            +
            +b
            *** End Patch
            *** Begin Patch
            *** Update File: a/a.rs
            @@ fn a
            -x
            +y
            *** End Patch
            *** Begin Patch
            *** Delete File: old.txt
            *** End Patch
            *** Begin Patch
            *** Add File: e
            *** End Patch
        "#]]
        .assert_eq(&all.concat());
    }

    #[test]
    fn what_is_no_operation_runs_nothing_and_says_what_is_supported() {
        let cases = [
            json!({"type": "rename_file", "path": "a"}),
            json!({"path": "a"}),
            json!([1]),
            json!({"type": "update_file", "path": "a"}),
            json!({"type": "delete_file", "path": ""}),
            json!({"type": "delete_file", "path": 7}),
            json!({"type": "delete_file", "path": "a\n*** Delete File: b"}),
            json!({"type": "delete_file", "path": "a\r"}),
            json!({"type": "delete_file", "path": " a"}),
        ];
        let faults: String = cases
            .into_iter()
            .map(|it| rewritten(it).unwrap_err() + "\n")
            .collect();
        expect_test::expect![[r#"
            There is no operation `rename_file`. 
            The call names no operation. 
            The call names no operation. 
            The operation on a has no diff. 
            "" is no path of a file. 
            "" is no path of a file. 
            "a\n*** Delete File: b" is no path of a file. 
            "a\r" is no path of a file. 
            " a" is no path of a file. 
        "#]]
        .assert_eq(&faults);
        assert!(matches!(rewrite("{broken"), Rewritten::Answer(_)));
    }

    #[test]
    fn a_diff_never_reaches_another_file() {
        let diffs = [
            "@@\n-a\n+b\n*** Delete File: other",
            "@@\n-a\n+b\n*** Update File: other\n@@\n-a\n+b",
            "*** Move to: other\n@@\n-a\n+b",
            "@@\n-a\n+b\n*** Add File: other\n+x\n*** End Patch",
        ];
        for diff in diffs {
            let operation = json!({"type": "update_file", "path": "a", "diff": diff});
            assert_eq!(
                rewritten(operation),
                Err("The diff reaches beyond a. ".to_owned())
            );
        }
        let operation =
            json!({"type": "create_file", "path": "a", "diff": "+x\n*** Delete File: b"});
        assert!(rewritten(operation).is_err());
        // The envelope ends at its first mark, and what is behind it is no part of it.
        let operation = json!({"type": "update_file", "path": "a", "diff": "@@\n-a\n+b\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n*** End Patch\n"});
        let patch = rewritten(operation).unwrap();
        assert_eq!(patch::parse(&patch).unwrap().files.len(), 1);
    }

    #[test]
    fn an_envelope_inside_the_diff_is_taken_off() {
        let diff = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch\n";
        let operation = json!({"type": "update_file", "path": "a", "diff": diff});
        assert_eq!(
            rewritten(operation).unwrap(),
            "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch\n"
        );
    }

    #[test]
    fn a_diff_that_is_none_is_left_to_our_tool_to_refuse() {
        let operation = json!({"type": "update_file", "path": "a", "diff": "what?"});
        let patch = rewritten(operation).unwrap();
        assert!(patch::parse(&patch).is_err());
    }
}
