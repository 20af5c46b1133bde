//! A provider that fails: the turn ends, what was said stands, open calls are closed.

use super::check;
use expect_test::expect;

#[test]
fn a_failing_provider_ends_the_turn_with_its_error() {
    check(
        r#"
> prompt "hello"
> model fail "The model's server is overloaded; try again later."
> prompt "again"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            append ended t0 failed "The model's server is overloaded; try again later."
            answer p0 failed "The model's server is overloaded; try again later."

            append user t1 "again"
            ask-model #1: user "hello" + "again"
        "#]],
    );
}

#[test]
fn a_failing_provider_leaves_its_text_as_cut_and_its_calls_closed() {
    check(
        r#"
> mode full_access
> prompt "build"
> model call read_file {"path":"a"}
> model call run_command {"command":"make"}
> model call write_file {"path":"b"}
> planned 0 read /p/a
> finished 0 ok "text of a"
> planned 1 run "make"
> model text "Now I "
> model fail "The stream ended before the answer did."
> finished 1 ok "too late"
> planned 2 write /p/b
> prompt "go on"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            append call 2 a0 c2 write_file {"path":"b"}
            show call 2 write_file {"path":"b"}
            plan-call 2 write_file {"path":"b"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms

            show call 1 "Run make" command "make" in /p
            show call 1 running
            run-call 1

            show text "Now I "

            append assistant a0 "Now I " cut
            stop-call 1
            append result 1 cancelled "Stopped while it ran, because the answer that asked for it broke off, so it may be done in part. Look at the present state before you go on."
            show call 1 cancelled "Stopped while it ran, because the answer that asked for it broke off, so it may be done in part. Look at the present state before you go on."
            stop-call 2
            append result 2 cancelled "Not run, because the answer that asked for it broke off; nothing was done."
            show call 2 cancelled "Not run, because the answer that asked for it broke off; nothing was done."
            append ended t0 failed "The stream ended before the answer did."
            answer p0 failed "The stream ended before the answer did."

            (nothing, 2 times)

            append user t1 "go on"
            ask-model #1: user "build" | assistant "Now I " call c0 read_file {"path":"a"} call c1 run_command {"command":"make"} call c2 write_file {"path":"b"} | results c0 "text of a", c1 error "Stopped while it ran, because the answer that asked for it broke off, so it may be done in part. Look at the present state before you go on.", c2 error "Not run, because the answer that asked for it broke off; nothing was done." | user "go on"
        "#]],
    );
}

#[test]
fn a_failing_provider_withdraws_its_open_questions() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> planned run "make"
> model fail "The stream ended before the answer did."
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

            stop-asking 0
            append result 0 cancelled "Not run, because the answer that asked for it broke off; nothing was done."
            show call 0 cancelled "Not run, because the answer that asked for it broke off; nothing was done."
            append ended t0 failed "The stream ended before the answer did."
            answer p0 failed "The stream ended before the answer did."

            (nothing)
        "#]],
    );
}
