//! How a target is found that is not written as the file is.

use super::{AUTO, edit};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use serde_json::{Value, json};

/// The file after the call, and what the model is told.
fn edited(text: &str, call: Value) -> (String, String) {
    let (text, result, _) = flagged(text, call);
    (text, result)
}

/// As [`edited`], and whether the editor is told that the edit was fuzzy.
fn flagged(text: &str, call: Value) -> (String, String, bool) {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("a.txt", text);
    let (session, prompt) = stage.call("edit_file", call);
    let mut asked = stage.model.next();
    let result = asked.result();
    asked.say("done");
    asked.end();
    let is_flagged = |updates: Vec<Value>| {
        let mut metas = updates.iter().map(|it| &it["_meta"]["undine"]["fuzzy"]);
        metas.any(|it| *it == true)
    };
    let is_fuzzy = is_flagged(stage.editor.end(&prompt).of_kind("tool_call_update"));
    // The log knows it too.
    let replayed = stage.editor.load(&session).unwrap();
    let replayed = replayed.iter().map(|it| serde_json::to_value(it).unwrap());
    assert_eq!(is_flagged(replayed.collect()), is_fuzzy);
    (stage.workspace.read("a.txt"), result, is_fuzzy)
}

#[test]
fn r_006_a_target_that_stands_twice_is_refused_with_the_count() {
    let (text, result) = edited("same\nsame\n", edit("a.txt", "same\n", "other\n"));
    assert_eq!(text, "same\nsame\n");
    assert!(result.contains("occurs 2 times"), "{result}");
}

#[test]
fn r_007_allow_multiple_changes_every_match() {
    let mut call = edit("a.txt", "same", "other");
    call["allow_multiple"] = json!(true);
    assert_eq!(edited("same\nsame\n", call).0, "other\nother\n");
}

#[test]
fn r_008_each_looser_step_applies_and_is_told_to_the_model() {
    let cases = [
        ("let a = 1;\n", "let a = 1;\n", "let a = 2;\n", false),
        ("let a = 1;  \n", "let a = 1;\n", "let a = 2;\n", true),
        ("\tlet a = 1;\n", "    let a = 1;\n", "\tlet a = 2;\n", true),
        (
            "say(\u{201c}a\u{a0}b\u{201d})\n",
            "say(\"a b\")\n",
            "let a = 2;\n",
            true,
        ),
    ];
    for (text, target, expected, is_fuzzy) in cases {
        let blanks = &target[..target.len() - target.trim_start().len()];
        let (new, result, is_flagged) = flagged(
            text,
            edit("a.txt", target, &format!("{blanks}let a = 2;\n")),
        );
        assert_eq!(new, expected);
        assert_eq!(result.contains("verify"), is_fuzzy, "{result}");
        assert_eq!(is_flagged, is_fuzzy, "{text:?}");
    }
}

#[test]
fn r_009_a_stricter_step_wins_over_a_looser_one() {
    let (text, result) = edited("a = 1  \na = 1\n", edit("a.txt", "a = 1", "a = 2"));
    assert_eq!(text, "a = 1  \na = 2\n");
    assert!(!result.contains("verify"), "{result}");
}

#[test]
fn r_010_an_unrelated_target_is_refused_and_the_file_stays() {
    let (text, result) = edited("one\ntwo\n", edit("a.txt", "nothing like it", "x"));
    assert_eq!(text, "one\ntwo\n");
    assert!(result.contains("does not occur"), "{result}");
}

#[test]
fn a_line_is_inserted_behind_another_and_not_past_the_end() {
    let insert =
        |line: u32| json!({"path": "a.txt", "insert_line": line, "replacement_content": "x\n"});
    assert_eq!(edited("a\r\nb", insert(0)).0, "x\r\na\r\nb");
    assert_eq!(edited("a\r\nb", insert(2)).0, "a\r\nb\r\nx");
    let (text, result) = edited("a\r\nb", insert(3));
    assert_eq!(text, "a\r\nb");
    assert!(result.contains("2 lines"), "{result}");
}
