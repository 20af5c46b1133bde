//! The script reacts to what it is sent.

use super::*;
use expect_test::{Expect, expect};

/// A conversation after the prompt, as tool and result, and what the model says then.
fn check(turns: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&told(reply(&request(turns))));
}

fn told(reply: Result<Reply, String>) -> String {
    match reply {
        Ok(Reply { text, call: None }) => format!("{text}\n"),
        Ok(Reply {
            text,
            call: Some(call),
        }) => format!("{text}\n{} {}\n", call.tool, call.arguments),
        Err(why) => format!("400 {why}\n"),
    }
}

fn request(turns: &[(&str, &str)]) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "`sh t.sh` fails; repair `a.sh`."}),
    ];
    for (at, (tool, result)) in turns.iter().enumerate() {
        let id = format!("call_{at}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}});
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    let tools: Vec<Value> = ["read_file", "execute_command", "edit_file"]
        .iter()
        .map(|it| json!({"type": "function", "function": {"name": it, "parameters": {"type": "object"}}}))
        .collect();
    json!({"model": MODEL, "stream": true, "messages": messages, "tools": tools})
}

const TEXT: &str = "# percent\necho $(($1 * $2 / 10))\n";
const RED: &str = "FAIL\n[exit code 1]";

#[test]
fn it_reads_then_tests_then_edits_what_it_read_then_tests_again() {
    check(
        &[],
        expect![[r#"
        First I read a.sh, as it stands in the editor.
        read_file {"path":"a.sh"}
    "#]],
    );
    check(
        &[("read_file", TEXT)],
        expect![[r#"
        a.sh has 2 lines. Now the test, to see what fails.
        execute_command {"command":"sh t.sh"}
    "#]],
    );
    check(
        &[("read_file", TEXT), ("execute_command", RED)],
        expect![[r#"
        I see what is wrong:
        - Line 2: a percentage is divided by 10, but percent means hundredths.

        edit_file {"path":"a.sh","target_content":"echo $(($1 * $2 / 10))\n","replacement_content":"echo $(($1 * $2 / 100))\n"}
    "#]],
    );
    let edited = [
        ("read_file", TEXT),
        ("execute_command", RED),
        ("edit_file", "Changed a.sh (+1 -1 lines)."),
    ];
    check(
        &edited,
        expect![[r#"
        The change is in. The test again:
        execute_command {"command":"sh t.sh"}
    "#]],
    );
    check(
        &[edited.as_slice(), &[("execute_command", "ok")]].concat(),
        expect![[r#"
        The test passes. I changed one line of a.sh and left everything else as it was.
    "#]],
    );
}

#[test]
fn another_text_gives_another_edit() {
    check(
        &[
            ("read_file", "# 3 or more\nif [ $n -gt 3 ]; then\n"),
            ("execute_command", RED),
        ],
        expect![[r#"
        I see what is wrong:
        - Line 2: the comment says "or more", but -gt leaves the limit itself out.

        edit_file {"path":"a.sh","target_content":"if [ $n -gt 3 ]; then\n","replacement_content":"if [ $n -ge 3 ]; then\n"}
    "#]],
    );
    check(
        &[("read_file", "echo fine\n"), ("execute_command", RED)],
        expect![[r#"
        I have read a.sh and find nothing in it that I know how to repair, so I stop here.
    "#]],
    );
}

#[test]
fn a_test_that_passes_already_needs_no_edit() {
    check(
        &[("read_file", TEXT), ("execute_command", "ok")],
        expect![[r#"
        The test passes already, so there is nothing to repair.
    "#]],
    );
}

#[test]
fn a_refusal_is_said_and_ends_it() {
    let before = [("read_file", TEXT), ("execute_command", RED)];
    let denied = "Denied by the person. Nothing was done; do not try it again unasked.";
    check(
        &[before.as_slice(), &[("edit_file", denied)]].concat(),
        expect![[r#"
        That was refused (Denied by the person. Nothing was done; do not try it again unasked), so I stop here.
    "#]],
    );
    check(
        &[
            before.as_slice(),
            &[("edit_file", "The text is not there.")],
        ]
        .concat(),
        expect![[r#"
        That was refused (The text is not there), so I stop here.
    "#]],
    );
    check(
        &[("read_file", "There is no file a.sh.")],
        expect![[r#"
        That was refused (There is no file a.sh), so I stop here.
    "#]],
    );
}

#[test]
fn a_test_that_still_fails_is_looked_into_once_more() {
    let round = [
        ("read_file", TEXT),
        ("execute_command", RED),
        ("edit_file", "Changed a.sh"),
        ("execute_command", RED),
    ];
    check(
        &round,
        expect![[r#"
        The test still fails. I read a.sh once more.
        read_file {"path":"a.sh"}
    "#]],
    );
    let again = [
        round.as_slice(),
        &[("read_file", "# at least 3\n[ $1 -gt 3 ]\n")],
    ]
    .concat();
    check(
        &again,
        expect![[r#"
        I see what is wrong:
        - Line 2: the comment says "at least", but -gt leaves the limit itself out.

        edit_file {"path":"a.sh","target_content":"[ $1 -gt 3 ]\n","replacement_content":"[ $1 -ge 3 ]\n"}
    "#]],
    );
    let twice = [
        again.as_slice(),
        &[("edit_file", "Changed a.sh"), ("execute_command", RED)],
    ]
    .concat();
    check(
        &twice,
        expect![[r#"
        The test still fails, and I have looked twice. I stop here; please look yourself.
    "#]],
    );
}

#[test]
fn a_request_that_breaks_the_rules_of_the_wire_is_refused_with_the_reason() {
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut request = request(&[("read_file", TEXT)]);
        change(&mut request);
        told(reply(&request))
    };
    let texts = [
        broken(&|it| it["model"] = json!("gpt")),
        broken(&|it| it["stream"] = json!(false)),
        broken(&|it| it["messages"] = json!([])),
        broken(&|it| drop(it["messages"].as_array_mut().unwrap().pop())),
        broken(&|it| it["messages"][3]["tool_call_id"] = json!("other")),
        broken(&|it| it["messages"][1]["role"] = json!("assistant")),
        broken(&|it| it["messages"][3]["role"] = json!("user")),
        broken(&|it| {
            it["messages"]
                .as_array_mut()
                .unwrap()
                .insert(1, json!({"role": "user", "content": "x"}))
        }),
        broken(&|it| {
            it["messages"]
                .as_array_mut()
                .unwrap()
                .push(json!({"role": "assistant", "content": "x"}))
        }),
        broken(&|it| it["tools"] = json!([])),
    ];
    expect![[r#"
        400 there is no model "gpt"; there is rehearsal-1
        400 only streams are served; set stream to true
        400 there is nothing to answer
        400 the call call_0 has no result
        400 messages[3]: no open call has the id "other"
        400 messages[1]: the role "assistant" cannot stand after "system"
        400 messages[3]: the call call_0 has no result
        400 messages[2]: the role "user" cannot stand after "user"
        400 there is nothing to answer
        400 the request offers no tool execute_command
    "#]]
    .assert_eq(&texts.concat());
}
