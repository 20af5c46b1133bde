//! Cancelling, in each stage of a turn.

use super::check;
use expect_test::expect;

#[test]
fn cancel_before_the_first_word() {
    check(
        r#"
> prompt "one"
> cancel
> model text "late"
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            stop-model #0
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)

            append user t1 "two"
            ask-model #1: user "one" + "two"
        "#]],
    );
}

#[test]
fn cancel_while_the_model_speaks_keeps_its_text_as_cut() {
    check(
        r#"
> prompt "one"
> model thought "Hm."
> model text "I beg"
> cancel
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show thought "Hm."

            show text "I beg"

            stop-model #0
            append assistant a0 "I beg" thought "Hm." cut
            append ended t0 cancelled
            answer p0 cancelled

            append user t1 "two"
            ask-model #1: user "one" | assistant "I beg" thought "Hm." | user "two"
        "#]],
    );
}

#[test]
fn cancel_while_a_call_is_planned() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> model end tool_calls
> cancel
> planned read /p/a
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            stop-call 0
            append result 0 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 0 cancelled
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)

            append user t1 "two"
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} | results c0 error "Cancelled by the person before it ran; nothing was done." | user "two"
        "#]],
    );
}

#[test]
fn cancel_while_a_question_is_open() {
    check(
        r#"
> prompt "one"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> cancel
> decided once
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            stop-asking 0
            append result 0 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 0 cancelled
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)
        "#]],
    );
}

#[test]
fn cancel_while_a_call_runs() {
    check(
        r#"
> mode full_access
> prompt "one"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> output "cc a.c"
> cancel
> output "cc b.c"
> finished ok "built"
> prompt "two"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            show call 0 "cc a.c"

            stop-call 0
            append result 0 cancelled "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on."
            show call 0 cancelled
            append ended t0 cancelled
            answer p0 cancelled

            (nothing, 2 times)

            append user t1 "two"
            ask-model #1: user "one" | assistant call c0 run_command {"command":"make"} | results c0 error "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on." | user "two"
        "#]],
    );
}

#[test]
fn cancel_in_all_stages_at_once() {
    check(
        r#"
> prompt "one"
> model text "All at once."
> model call read_file {"path":"a"}
> model call run_command {"command":"make"}
> model call read_file {"path":"b"}
> model call read_file {"path":"c"}
> planned 0 read /p/a
> planned 1 run "make"
> planned 3 read /p/c
> finished 3 ok "text of c"
> model text "Next I"
> cancel
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "All at once."

            append assistant a0 "All at once."
            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            append call 2 a0 c2 read_file {"path":"b"}
            show call 2 read_file {"path":"b"}
            plan-call 2 read_file {"path":"b"}

            append call 3 a0 c3 read_file {"path":"c"}
            show call 3 read_file {"path":"c"}
            plan-call 3 read_file {"path":"c"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Run make" command "make" in /p
            show call 1 waiting
            ask-person 1 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            show call 3 "Read /p/c"
            show call 3 running
            run-call 3

            append result 3 ok "text of c" 7 ms
            show call 3 ok "text of c" 7 ms

            show text "Next I"

            stop-model #0
            append assistant a0 "Next I" cut
            stop-call 0
            append result 0 cancelled "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on."
            show call 0 cancelled
            stop-asking 1
            append result 1 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 1 cancelled
            stop-call 2
            append result 2 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 2 cancelled
            append ended t0 cancelled
            answer p0 cancelled
        "#]],
    );
}

#[test]
fn cancel_drops_what_waits() {
    check(
        r#"
> prompt "one"
> prompt "two"
> prompt "three"
> cancel
> cancel
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing, 2 times)

            stop-model #0
            append ended t0 cancelled
            answer p0 cancelled
            answer p1 p2 cancelled

            (nothing)
        "#]],
    );
}

#[test]
fn cancel_while_an_edit_is_planned_anew() {
    check(
        r#"
> mode auto
> prompt "write"
> model call edit_file {"path":"a"}
> planned write /p/a as "one"
> finished moved
> cancel
> planned write /p/a as "one"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            stop-model #0
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
fn cancel_with_nothing_running_does_nothing() {
    check(
        r#"
> cancel
> prompt "one"
> model text "Done."
> model end
> cancel
"#,
        expect![[r#"
            (nothing)

            append user t0 "one"
            ask-model #0: user "one"

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)
        "#]],
    );
}
