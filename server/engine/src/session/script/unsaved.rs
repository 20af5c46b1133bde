//! A command that would not see the person's unsaved work: saved first, or run anyway.

use super::check;
use expect_test::expect;

#[test]
fn a_question_names_unsaved_documents_and_saving_comes_before_the_command() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs,b.rs
> decided save
> output "Save a.rs"
> saved
> finished ok "made"
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs and b.rs have unsaved edits, which the command does not see unless they are saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 save
            save-first 0

            show call 0 "Save a.rs"

            show call 0 command "make" in /p
            show call 0 running
            run-call 0

            append result 0 ok "made" 7 ms
            show call 0 ok "made" 7 ms
            ask-model #1: user "test it" | assistant call c0 run_command {"command":"make"} | results c0 "made"
        "#]],
    );
}

#[test]
fn what_is_not_saved_is_asked_about_again_and_an_old_answer_does_not_count() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs,b.rs
> decided save
> not-saved b.rs "The editor has not saved b.rs."
> decided once
> saved
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs and b.rs have unsaved edits, which the command does not see unless they are saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 save
            save-first 0

            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "The editor has not saved b.rs. b.rs has unsaved edits, which the command does not see unless it is saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 once
            show call 0 running
            run-call 0

            (nothing)
        "#]],
    );
}

#[test]
fn a_command_waits_for_saving_whatever_is_allowed_meanwhile_but_not_past_a_denial() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs
> decided save
> mode full_access
> mode read_only
> saved
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs has unsaved edits, which the command does not see unless it is saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 save
            save-first 0

            append mode full_access
            show mode full_access

            append mode read_only
            show mode read_only
            stop-call 0
            append result 0 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."
            show call 0 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."
            ask-model #1: user "test it" | assistant call c0 run_command {"command":"make"} | results c0 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."

            (nothing)
        "#]],
    );
}

#[test]
fn a_cancel_ends_the_waiting_and_nothing_has_run() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs
> decided save
> cancel
> saved
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs has unsaved edits, which the command does not see unless it is saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 save
            save-first 0

            stop-call 0
            append result 0 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 0 cancelled
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)
        "#]],
    );
}

#[test]
fn saving_is_only_an_answer_where_it_is_offered() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> decided save
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 no
            append result 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            show call 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            ask-model #1: user "test it" | assistant call c0 run_command {"command":"make"} | results c0 error "Denied by the person. Nothing was done; do not try it again unasked."
        "#]],
    );
}

#[test]
fn a_command_that_was_allowed_is_not_asked_about_again_for_being_saved_meanwhile() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs
> decided save
> saved
> finished moved
> planned run "make"
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs has unsaved edits, which the command does not see unless it is saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 save
            save-first 0

            show call 0 command "make" in /p
            show call 0 running
            run-call 0

            plan-call 0 run_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0
        "#]],
    );
}

#[test]
fn a_remembered_answer_runs_it_as_it_is() {
    check(
        r#"
> prompt "test it"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make" unsaved a.rs
> decided session
> finished ok "made"
> model call run_command {"command":"make"}
> planned run "make" unsaved a.rs
"#,
        expect![[r#"
            append user t0 "test it"
            ask-model #0: user "test it"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p noting "a.rs has unsaved edits, which the command does not see unless it is saved." [save, once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 session from now on run "make" in /p
            show call 0 running
            run-call 0

            append result 0 ok "made" 7 ms
            show call 0 ok "made" 7 ms
            ask-model #1: user "test it" | assistant call c0 run_command {"command":"make"} | results c0 "made"

            append call 1 a1 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            show call 1 "Run make" command "make" in /p
            show call 1 running
            run-call 1
        "#]],
    );
}
