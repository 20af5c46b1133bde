//! What comes too late, twice, or for nobody is dropped.

use super::check;
use expect_test::expect;

#[test]
fn words_of_an_ended_stream_are_dropped() {
    check(
        r#"
> prompt "hello"
> model text "Done."
> model end
> model text "late"
> model call read_file {"path":"a"}
> model fail "late"
> prompt "more"
> model #0 text "later still"
> model #0 end
> model #1 text "Now."
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing, 3 times)

            append user t1 "more"
            ask-model #1: user "hello" | assistant "Done." | user "more"

            (nothing, 2 times)

            show text "Now."
        "#]],
    );
}

#[test]
fn what_comes_for_no_call_is_dropped() {
    check(
        r#"
> planned 7 read /p/a
> planned-error 7 "no"
> decided 7 once
> output 7 "text"
> finished 7 ok "text"
> finished 7 moved
> model text "text"
> cancel
> cancel-prompt 7
"#,
        expect![[r#"
            (nothing, 9 times)
        "#]],
    );
}

#[test]
fn a_second_plan_and_a_second_end_of_a_call_are_dropped() {
    check(
        r#"
> prompt "look"
> model call read_file {"path":"a"}
> model call read_file {"path":"b"}
> planned 0 read /p/a
> planned 0 write /u/config.toml
> finished 0 ok "text of a"
> finished 0 error "again"
> planned 0 read /p/a
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            (nothing)

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms

            (nothing, 2 times)
        "#]],
    );
}

#[test]
fn a_second_decision_is_dropped() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> planned run "make"
> decided no
> decided once
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

            append decision 0 no
            append result 0 error "Denied by the person. Nothing was done; do not try it again unasked."
            show call 0 error "Denied by the person. Nothing was done; do not try it again unasked."

            (nothing)
        "#]],
    );
}

#[test]
fn a_decision_before_the_question_is_dropped() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> decided once
> planned run "make"
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]
        "#]],
    );
}
