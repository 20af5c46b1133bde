//! A provider in trouble that passes: waits, and asks again.

use super::check;
use expect_test::expect;

#[test]
fn what_passes_is_waited_for_and_the_waits_double() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model fail-as overloaded "Busy."
> woke 0
> model fail-as unreachable "Gone."
> woke 1
> model fail-as rate-limit "Slow down." after 7000
> woke 2
> model text "Hi."
> model end
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Busy."

            show no retry
            ask-model #1: user "hello"

            wake 1 after 1000 ms
            show retry 2 of 3 in 1000 ms "Gone."

            show no retry
            ask-model #2: user "hello"

            wake 2 after 7000 ms
            show retry 3 of 3 in 7000 ms "Slow down."

            show no retry
            ask-model #3: user "hello"

            show text "Hi."

            append assistant a3 "Hi."
            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn waits_that_a_provider_asks_for_are_capped_and_get_nothing_added() {
    check(
        r#"
> limits model_retries=9 spread=25
> prompt "hello"
> model fail-as rate-limit "Slow down." after 3600000
> woke 0
> model fail-as overloaded "Busy."
> woke 1
> model fail-as overloaded "Busy."
> woke 2
> model fail-as overloaded "Busy."
> woke 3
> model fail-as overloaded "Busy."
> woke 4
> model fail-as overloaded "Busy."
> cancel
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 60000 ms
            show retry 1 of 9 in 60000 ms "Slow down."

            show no retry
            ask-model #1: user "hello"

            wake 1 after 1250 ms
            show retry 2 of 9 in 1250 ms "Busy."

            show no retry
            ask-model #2: user "hello"

            wake 2 after 2500 ms
            show retry 3 of 9 in 2500 ms "Busy."

            show no retry
            ask-model #3: user "hello"

            wake 3 after 5000 ms
            show retry 4 of 9 in 5000 ms "Busy."

            show no retry
            ask-model #4: user "hello"

            wake 4 after 10000 ms
            show retry 5 of 9 in 10000 ms "Busy."

            show no retry
            ask-model #5: user "hello"

            wake 5 after 10000 ms
            show retry 6 of 9 in 10000 ms "Busy."

            stop-timer 5
            show no retry
            append ended t0 cancelled
            answer p0 cancelled
        "#]],
    );
}

#[test]
fn when_all_tries_are_used_up_the_error_says_how_many_they_were() {
    check(
        r#"
> limits model_retries=1
> prompt "hello"
> model fail-as overloaded "Busy."
> woke 0
> model fail-as overloaded "Busy."
> prompt "again"
> model fail-as overloaded "busy; wait"
> woke 1
> model fail-as overloaded "busy; wait"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 500 ms
            show retry 1 of 1 in 500 ms "Busy."

            show no retry
            ask-model #1: user "hello"

            append ended t0 failed "Busy (tried 2 times)."
            answer p0 failed "Busy (tried 2 times)."

            append user t1 "again"
            ask-model #2: user "hello" + "again"

            wake 1 after 500 ms
            show retry 1 of 1 in 500 ms "busy; wait"

            show no retry
            ask-model #3: user "hello" + "again"

            append ended t1 failed "busy; wait (tried 2 times)"
            answer p1 failed "busy; wait (tried 2 times)"
        "#]],
    );
}

#[test]
fn each_answer_has_its_own_tries() {
    check(
        r#"
> limits model_retries=1
> mode full_access
> prompt "hello"
> model fail-as overloaded "Busy."
> woke 0
> model call read_file {"path":"a"}
> model end
> planned read /p/a
> finished ok "a"
> model fail-as overloaded "Busy."
> woke 1
> model text "Done."
> model end
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 500 ms
            show retry 1 of 1 in 500 ms "Busy."

            show no retry
            ask-model #1: user "hello"

            append call 0 a1 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "a" 7 ms
            show call 0 ok "a" 7 ms
            ask-model #2: user "hello" | assistant call c0 read_file {"path":"a"} | results c0 "a"

            wake 1 after 500 ms
            show retry 1 of 1 in 500 ms "Busy."

            show no retry
            ask-model #3: user "hello" | assistant call c0 read_file {"path":"a"} | results c0 "a"

            show text "Done."

            append assistant a3 "Done."
            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    check(
        r#"
> limits model_retries=3
> prompt "1"
> model fail-as quota "No credit."
> prompt "2"
> model fail-as auth "No key."
> prompt "3"
> model fail-as bad-request "No."
> prompt "4"
> model fail-as protocol "Not JSON."
> prompt "5"
> model fail-as limit "Too large."
> prompt "6"
> model fail-as rate-limit "Never again." final
> prompt "7"
> model fail-as protocol "A web page."
"#,
        expect![[r#"
            append user t0 "1"
            ask-model #0: user "1"

            append ended t0 failed "No credit."
            answer p0 failed "No credit."

            append user t1 "2"
            ask-model #1: user "1" + "2"

            append ended t1 failed "No key."
            answer p1 failed "No key."

            append user t2 "3"
            ask-model #2: user "1" + "2" + "3"

            append ended t2 failed "No."
            answer p2 failed "No."

            append user t3 "4"
            ask-model #3: user "1" + "2" + "3" + "4"

            append ended t3 failed "Not JSON."
            answer p3 failed "Not JSON."

            append user t4 "5"
            ask-model #4: user "1" + "2" + "3" + "4" + "5"

            append ended t4 failed "Too large."
            answer p4 failed "Too large."

            append user t5 "6"
            ask-model #5: user "1" + "2" + "3" + "4" + "5" + "6"

            append ended t5 failed "Never again."
            answer p5 failed "Never again."

            append user t6 "7"
            ask-model #6: user "1" + "2" + "3" + "4" + "5" + "6" + "7"

            append ended t6 failed "A web page."
            answer p6 failed "A web page."
        "#]],
    );
}

#[test]
fn bug_073_a_cut_answer_without_calls_is_void_and_asked_for_again() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model thought "hm"
> model text "Hel"
> model raw {"n":1}
> model fail-as cut "Cut."
> tell "the file is another now"
> woke 0
> model text "Hello."
> model end
> prompt "on"
> cancel
> load
> restart
> prompt "and"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show thought "hm"

            show text "Hel"

            (nothing)

            append assistant a0 "Hel" thought "hm" raw {"n":1} cut
            append void a0
            show text "\n\n(The answer broke off here and is asked for again.)\n\n"
            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Cut."

            append told "the file is another now"

            show no retry
            ask-model #1: user "hello" + "the file is another now"

            show text "Hello."

            append assistant a1 "Hello."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "on"
            ask-model #2: user "hello" + "the file is another now" | assistant "Hello." | user "on"

            stop-model #2
            append ended t1 cancelled
            answer p1 cancelled

            show user "hello"
            show thought "hm"
            show text "Hel"
            show text "\n\n(The answer broke off here and is asked for again.)\n\n"
            show text "Hello."
            show user "on"

            (nothing)

            append user t2 "and"
            ask-model #0: user "hello" + "the file is another now" | assistant "Hello." | user "on" + "and"
        "#]],
    );
}

#[test]
fn bug_073_a_cut_answer_keeps_its_finished_calls_and_ends_the_turn() {
    check(
        r#"
> limits model_retries=3
> mode full_access
> prompt "read"
> model call read_file {"path":"a"}
> planned read /p/a
> finished ok "text of a"
> model fail-as cut "Cut."
> prompt "go on"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "read"
            ask-model #0: user "read"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms

            append ended t0 failed "Cut."
            answer p0 failed "Cut."

            append user t1 "go on"
            ask-model #1: user "read" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "go on"
        "#]],
    );
}

#[test]
fn a_cancel_during_a_wait_ends_it_at_once_and_a_late_wake_is_nothing() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model text "Hel"
> model fail-as cut "Cut."
> cancel
> woke 0
> prompt "again"
> woke 0
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "Hel"

            append assistant a0 "Hel" cut
            append void a0
            show text "\n\n(The answer broke off here and is asked for again.)\n\n"
            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Cut."

            stop-timer 0
            show no retry
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)

            append user t1 "again"
            ask-model #1: user "hello" + "again"

            (nothing)
        "#]],
    );
}

#[test]
fn a_prompt_waits_while_the_turn_does_and_another_model_is_asked_next() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model fail-as overloaded "Busy."
> prompt "also this"
> use-model other
> woke 0
> model text "Hi."
> model end
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Busy."

            (nothing)

            append model p/other

            show no retry
            ask-model #1 of other: user "hello"

            show text "Hi."

            append assistant a1 "Hi."
            append ended t0 done
            answer p0 ended EndTurn
            append user t1 "also this"
            show user "also this"
            ask-model #2 of other: user "hello" | assistant "Hi." | user "also this"
        "#]],
    );
}

#[test]
fn a_prompt_that_is_withdrawn_during_a_wait_lets_the_next_one_begin() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model fail-as overloaded "Busy."
> prompt "also this"
> cancel-prompt 0
> woke 0
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Busy."

            (nothing)

            stop-timer 0
            show no retry
            append ended t0 cancelled
            answer p0 withdrawn
            append user t1 "also this"
            show user "also this"
            ask-model #1: user "hello" + "also this"

            (nothing)
        "#]],
    );
}

#[test]
fn a_server_that_dies_during_a_wait_leaves_a_valid_history() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model text "Hel"
> model fail-as cut "Cut."
> restart
> prompt "again"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "Hel"

            append assistant a0 "Hel" cut
            append void a0
            show text "\n\n(The answer broke off here and is asked for again.)\n\n"
            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Cut."

            append ended t0 failed "the server stopped"

            append user t1 "again"
            ask-model #0: user "hello" + "again"
        "#]],
    );
}
