//! Approvals: what pauses, what an answer is good for, and what nobody is asked about.

use super::check;
use expect_test::expect;

#[test]
fn a_refusal_is_told_to_the_model() {
    check(
        r#"
> prompt "tidy up"
> model call run_command {"command":"rm -r build"}
> model end tool_calls
> planned run "rm -r build"
> decided no "keep build"
"#,
        expect![[r#"
            append user t0 "tidy up"
            ask-model #0: user "tidy up"

            append call 0 a0 c0 run_command {"command":"rm -r build"}
            show call 0 run_command {"command":"rm -r build"}
            plan-call 0 run_command {"command":"rm -r build"}

            (nothing)

            show call 0 "Run rm -r build" command "rm -r build" in /p
            show call 0 waiting
            ask-person 0 "Run rm -r build" to run "rm -r build" in /p showing command "rm -r build" in /p [once, session: run "rm -r build" in /p, always: run "rm -r build" in /p, no]

            append decision 0 no "keep build"
            append result 0 error "Denied by the person: keep build"
            show call 0 error "Denied by the person: keep build"
            ask-model #1: user "tidy up" | assistant call c0 run_command {"command":"rm -r build"} | results c0 error "Denied by the person: keep build"
        "#]],
    );
}

#[test]
fn r_215_a_refusal_without_a_word_is_told_to_the_model() {
    check(
        r#"
> prompt "tidy up"
> model call run_command {"command":"rm -r build"}
> model end tool_calls
> planned run "rm -r build"
> decided no
"#,
        expect![[r#"
            append user t0 "tidy up"
            ask-model #0: user "tidy up"

            append call 0 a0 c0 run_command {"command":"rm -r build"}
            show call 0 run_command {"command":"rm -r build"}
            plan-call 0 run_command {"command":"rm -r build"}

            (nothing)

            show call 0 "Run rm -r build" command "rm -r build" in /p
            show call 0 waiting
            ask-person 0 "Run rm -r build" to run "rm -r build" in /p showing command "rm -r build" in /p [once, session: run "rm -r build" in /p, always: run "rm -r build" in /p, no]

            append decision 0 no
            append result 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            show call 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            ask-model #1: user "tidy up" | assistant call c0 run_command {"command":"rm -r build"} | results c0 error "Denied by the person. Nothing was done; do not try it again unasked."
        "#]],
    );
}

#[test]
fn a_refusal_of_blanks_is_one_without_a_word() {
    check(
        r#"
> prompt "tidy up"
> model call run_command {"command":"rm -r build"}
> model end tool_calls
> planned run "rm -r build"
> decided no "  "
"#,
        expect![[r#"
            append user t0 "tidy up"
            ask-model #0: user "tidy up"

            append call 0 a0 c0 run_command {"command":"rm -r build"}
            show call 0 run_command {"command":"rm -r build"}
            plan-call 0 run_command {"command":"rm -r build"}

            (nothing)

            show call 0 "Run rm -r build" command "rm -r build" in /p
            show call 0 waiting
            ask-person 0 "Run rm -r build" to run "rm -r build" in /p showing command "rm -r build" in /p [once, session: run "rm -r build" in /p, always: run "rm -r build" in /p, no]

            append decision 0 no "  "
            append result 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            show call 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            ask-model #1: user "tidy up" | assistant call c0 run_command {"command":"rm -r build"} | results c0 error "Denied by the person. Nothing was done; do not try it again unasked."
        "#]],
    );
}

#[test]
fn r_211_in_ask_mode_a_gated_action_pauses_and_nothing_runs() {
    check(
        r#"
> prompt "build and write"
> model call run_command {"command":"make"}
> planned run "make"
> model call write_file {"path":"a"}
> planned write /p/a as "text"
> model end tool_calls
"#,
        expect![[r#"
            append user t0 "build and write"
            ask-model #0: user "build and write"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append call 1 a0 c1 write_file {"path":"a"}
            show call 1 write_file {"path":"a"}
            plan-call 1 write_file {"path":"a"}

            show call 1 "Edit /p/a" diff /p/a "text"
            show call 1 waiting
            ask-person 1 "Edit /p/a" to write /p/a showing diff /p/a "text" [once, session: edit the project, always: edit the project, no]

            (nothing)
        "#]],
    );
}

#[test]
fn r_213_once_runs_once_and_the_same_action_asks_again() {
    check(
        r#"
> prompt "build twice"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> decided once
> finished ok "built"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
"#,
        expect![[r#"
            append user t0 "build twice"
            ask-model #0: user "build twice"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 once
            show call 0 running
            run-call 0

            append result 0 ok "built" 7 ms
            show call 0 ok "built" 7 ms
            ask-model #1: user "build twice" | assistant call c0 run_command {"command":"make"} | results c0 "built"

            append call 1 a1 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            (nothing)

            show call 1 "Run make" command "make" in /p
            show call 1 waiting
            ask-person 1 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]
        "#]],
    );
}

#[test]
fn r_216_the_model_is_not_asked_while_a_question_is_open() {
    check(
        r#"
> prompt "look and build"
> model call read_file {"path":"a"}
> model call run_command {"command":"make"}
> model end tool_calls
> planned 0 read /p/a
> planned 1 run "make"
> finished 0 ok "text of a"
> prompt "by the way"
> decided 1 once
> finished 1 ok "built"
"#,
        expect![[r#"
            append user t0 "look and build"
            ask-model #0: user "look and build"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Run make" command "make" in /p
            show call 1 waiting
            ask-person 1 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms

            (nothing)

            append decision 1 once
            show call 1 running
            run-call 1

            append result 1 ok "built" 7 ms
            show call 1 ok "built" 7 ms
            append user t0 "by the way"
            show user "by the way"
            ask-model #1: user "look and build" | assistant call c0 read_file {"path":"a"} call c1 run_command {"command":"make"} | results c0 "text of a", c1 "built" | user "by the way"
        "#]],
    );
}

#[test]
fn an_option_that_was_not_offered_is_a_no() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make >b"}
> model end tool_calls
> planned run "make >b" and write /p/b
> decided session
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make >b"}
            show call 0 run_command {"command":"make >b"}
            plan-call 0 run_command {"command":"make >b"}

            (nothing)

            show call 0 "Run make >b" command "make >b" in /p diff /p/b ""
            show call 0 waiting
            ask-person 0 "Run make >b" to run "make >b" in /p and write /p/b showing command "make >b" in /p and diff /p/b "" [once, no]

            append decision 0 no
            append result 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            show call 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            ask-model #1: user "build" | assistant call c0 run_command {"command":"make >b"} | results c0 error "Denied by the person. Nothing was done; do not try it again unasked."
        "#]],
    );
}

#[test]
fn a_note_beside_a_yes_is_recorded() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> planned run "make"
> decided once "but only this time"
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 once "but only this time"
            show call 0 running
            run-call 0
        "#]],
    );
}
