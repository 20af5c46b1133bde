//! Calls: side by side, each with exactly one result beside it.

use super::check;
use expect_test::expect;

#[test]
fn text_before_a_call_is_recorded_before_the_call() {
    check(
        r#"
> prompt "look"
> model text "I look."
> model call read_file {"path":"a"}
> model text "And at the other."
> model call read_file {"path":"b"}
> model end tool_calls
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            show text "I look."

            append assistant a0 "I look."
            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            show text "And at the other."

            append assistant a0 "And at the other."
            append call 1 a0 c1 read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}

            (nothing)
        "#]],
    );
}

#[test]
fn a_call_is_planned_while_the_model_still_speaks() {
    check(
        r#"
> prompt "look"
> model call read_file {"path":"a"}
> planned read /p/a
> finished ok "one"
> model text "One done."
> model end tool_calls
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "one" 7 ms
            show call 0 ok "one" 7 ms

            show text "One done."

            append assistant a0 "One done."
            ask-model #1: user "look" | assistant "One done." call c0 read_file {"path":"a"} | results c0 "one"
        "#]],
    );
}

#[test]
fn calls_run_side_by_side_and_results_stand_beside_their_own_calls() {
    check(
        r#"
> prompt "look at both"
> model call read_file {"path":"a"}
> model call read_file {"path":"b"}
> model end tool_calls
> planned 1 read /p/b
> planned 0 read /p/a
> finished 1 ok "text of b"
> finished 0 ok "text of a"
"#,
        expect![[r#"
            append user t0 "look at both"
            ask-model #0: user "look at both"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}

            (nothing)

            show call 1 "Read /p/b"
            show call 1 running
            run-call 1

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 1 ok "text of b" 7 ms
            show call 1 ok "text of b" 7 ms

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1: user "look at both" | assistant call c0 read_file {"path":"a"} call c1 read_file {"path":"b"} | results c0 "text of a", c1 "text of b"
        "#]],
    );
}

#[test]
fn two_calls_of_one_provider_id_keep_their_own_results() {
    check(
        r#"
> prompt "look at both"
> model call-as same read_file {"path":"a"}
> model call-as same read_file {"path":"b"}
> model end tool_calls
> planned 0 read /p/a
> planned 1 read /p/b
> finished 1 ok "text of b"
> finished 0 error "no such file"
"#,
        expect![[r#"
            append user t0 "look at both"
            ask-model #0: user "look at both"

            append call 0 a0 same read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 same read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Read /p/b"
            show call 1 running
            run-call 1

            append result 1 ok "text of b" 7 ms
            show call 1 ok "text of b" 7 ms

            append result 0 error "no such file" 7 ms
            show call 0 error "no such file" 7 ms
            ask-model #1: user "look at both" | assistant call same read_file {"path":"a"} call same read_file {"path":"b"} | results same error "no such file", same "text of b"
        "#]],
    );
}

#[test]
fn a_running_call_shows_what_it_says() {
    check(
        r#"
> mode full_access
> prompt "build"
> model call run_command {"command":"make"}
> output "too early"
> planned run "make"
> output "cc a.c\n"
> finished ok "exit code 0"
> output "too late"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            show call 0 "cc a.c\n"

            append result 0 ok "exit code 0" 7 ms
            show call 0 ok "exit code 0" 7 ms

            (nothing)
        "#]],
    );
}

#[test]
fn arguments_that_are_no_json_never_run() {
    check(
        r#"
> prompt "look"
> model call read_file {"path": "a
> planned read /p/a
> model end tool_calls
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path": "a
            show call 0 read_file null
            append result 0 error "The arguments are not valid JSON (EOF while parsing a string at line 1 column 11); nothing was done. Send the call again."
            show call 0 error "The arguments are not valid JSON (EOF while parsing a string at line 1 column 11); nothing was done. Send the call again."

            (nothing)

            ask-model #1: user "look" | assistant call c0 read_file {"path": "a | results c0 error "The arguments are not valid JSON (EOF while parsing a string at line 1 column 11); nothing was done. Send the call again."
        "#]],
    );
}

#[test]
fn arguments_that_are_no_object_never_run() {
    check(
        r#"
> prompt "look"
> model call read_file ["a"]
> planned read /p/a
> model end tool_calls
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file ["a"]
            show call 0 read_file ["a"]
            append result 0 error "The arguments are not a JSON object; send the call again with an object."
            show call 0 error "The arguments are not a JSON object; send the call again with an object."

            (nothing)

            ask-model #1: user "look" | assistant call c0 read_file ["a"] | results c0 error "The arguments are not a JSON object; send the call again with an object."
        "#]],
    );
}

#[test]
fn missing_arguments_are_an_empty_object() {
    check(
        r#"
> prompt "look"
> model call list_files
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 list_files
            show call 0 list_files {}
            plan-call 0 list_files {}
        "#]],
    );
}

#[test]
fn a_plan_that_finds_a_fault_is_an_error_for_the_model() {
    check(
        r#"
> prompt "look"
> model call read_file {"path":"x"}
> model end tool_calls
> planned-error "there is no file x; look with list_files"
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"x"}
            show call 0 read_file {"path":"x"}
            plan-call 0 read_file {"path":"x"}

            (nothing)

            append result 0 error "there is no file x; look with list_files"
            show call 0 error "there is no file x; look with list_files"
            ask-model #1: user "look" | assistant call c0 read_file {"path":"x"} | results c0 error "there is no file x; look with list_files"
        "#]],
    );
}

#[test]
fn a_call_that_failed_is_an_error_for_the_model() {
    check(
        r#"
> mode full_access
> prompt "build"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> finished error "exit code 2"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            append result 0 error "exit code 2" 7 ms
            show call 0 error "exit code 2" 7 ms
            ask-model #1: user "build" | assistant call c0 run_command {"command":"make"} | results c0 error "exit code 2"
        "#]],
    );
}

#[test]
fn what_a_hook_made_of_a_call_is_what_is_judged_and_both_hear_of_it() {
    check(
        r#"
> mode auto
> prompt "go"
> model call run_command {"command":"make"}
> rewritten "{\"command\":\"make -n\"}"
> planned run "make -n"
> classifier "ALLOW"
> finished ok "done"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            show notice "A hook changed the arguments of run_command, which are now: {\"command\":\"make -n\"}"
            append told "[A hook changed the arguments of run_command, which are now: {\"command\":\"make -n\"}]"

            show call 0 "Run make -n" command "make -n" in /p
            ask-classifier 0 of m

            append reviewed 0 allowed
            show call 0 running
            run-call 0

            append result 0 ok "done" 7 ms
            show call 0 ok "done" 7 ms
        "#]],
    );
}

#[test]
fn arguments_that_a_hook_left_as_they_are_or_that_come_late_are_no_news() {
    check(
        r#"
> mode full_access
> prompt "go"
> model call run_command {"command":"make"}
> rewritten "{\"command\":\"make\"}"
> planned run "make"
> rewritten "{\"command\":\"make -n\"}"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            (nothing)
        "#]],
    );
}
