//! Prompts while a turn runs: they steer it at the next tool boundary or wait for its end.

use super::check;
use expect_test::expect;

#[test]
fn a_waiting_prompt_steers_at_the_tool_boundary() {
    check(
        r#"
> prompt "look at both"
> model call read_file {"path":"a"}
> model call read_file {"path":"b"}
> prompt "only at a"
> prompt "and be quick"
> model end tool_calls
> planned 0 read /p/a
> planned 1 read /p/b
> finished 0 ok "text of a"
> finished 1 ok "text of b"
> model text "Done."
> model end
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

            (nothing, 3 times)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Read /p/b"
            show call 1 running
            run-call 1

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms

            append result 1 ok "text of b" 7 ms
            show call 1 ok "text of b" 7 ms
            append user t0 "only at a"
            show user "only at a"
            append user t0 "and be quick"
            show user "and be quick"
            ask-model #1: user "look at both" | assistant call c0 read_file {"path":"a"} call c1 read_file {"path":"b"} | results c0 "text of a", c1 "text of b" | user "only at a" + "and be quick"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 p1 p2 ended EndTurn
        "#]],
    );
}

#[test]
fn at_the_end_of_a_turn_what_waits_starts_its_own() {
    check(
        r#"
> prompt "one"
> model text "First."
> prompt "two"
> prompt "three"
> model end
> model text "Second and third."
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "First."

            (nothing, 2 times)

            append assistant a0 "First."
            append ended t0 done
            answer p0 ended EndTurn
            append user t1 "two"
            show user "two"
            append user t1 "three"
            show user "three"
            ask-model #1: user "one" | assistant "First." | user "two" + "three"

            show text "Second and third."

            append assistant a1 "Second and third."
            append ended t1 done
            answer p1 p2 ended EndTurn
        "#]],
    );
}

#[test]
fn a_failed_turn_is_followed_by_what_waits() {
    check(
        r#"
> prompt "one"
> prompt "two"
> model fail "overloaded"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing)

            append ended t0 failed "overloaded"
            answer p0 failed "overloaded"
            append user t1 "two"
            show user "two"
            ask-model #1: user "one" + "two"
        "#]],
    );
}

#[test]
fn a_turn_with_too_many_answers_is_followed_by_what_waits() {
    check(
        r#"
> limits turn_answers=1
> prompt "one"
> model call read_file {"path":"a"}
> prompt "two"
> model end tool_calls
> planned-error "no"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing, 2 times)

            append result 0 error "no"
            show call 0 error "no"
            append ended t0 failed "the model was asked 1 times in one turn"
            answer p0 stopped after 1 answers
            append user t1 "two"
            show user "two"
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} | results c0 error "no" | user "two"
        "#]],
    );
}

#[test]
fn of_too_many_waiting_prompts_the_oldest_is_dropped() {
    check(
        r#"
> limits queued_prompts=2
> prompt "one"
> prompt "two"
> prompt "three"
> prompt "four"
> model text "Done."
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing, 2 times)

            answer p1 dropped, more than 2 waited

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn
            append user t1 "three"
            show user "three"
            append user t1 "four"
            show user "four"
            ask-model #1: user "one" | assistant "Done." | user "three" + "four"
        "#]],
    );
}

#[test]
fn without_a_queue_a_prompt_in_a_turn_is_dropped_at_once() {
    check(
        r#"
> limits queued_prompts=0
> prompt "one"
> prompt "two"
> model text "Done."
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            answer p1 dropped, more than 0 waited

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn a_withdrawn_prompt_that_waits_is_never_sent() {
    check(
        r#"
> prompt "one"
> prompt "two"
> prompt "three"
> cancel-prompt 1
> cancel-prompt 1
> model text "Done."
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing, 2 times)

            answer p1 withdrawn

            (nothing)

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn
            append user t1 "three"
            show user "three"
            ask-model #1: user "one" | assistant "Done." | user "three"
        "#]],
    );
}

#[test]
fn withdrawing_the_running_prompt_ends_its_turn_and_starts_what_waits() {
    check(
        r#"
> prompt "one"
> model text "I beg"
> prompt "two"
> cancel-prompt 0
> model #0 text "in"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "I beg"

            (nothing)

            stop-model #0
            append assistant a0 "I beg" cut
            append ended t0 cancelled
            answer p0 withdrawn
            append user t1 "two"
            show user "two"
            ask-model #1: user "one" | assistant "I beg" | user "two"

            (nothing)
        "#]],
    );
}

#[test]
fn withdrawing_a_prompt_that_steered_ends_the_turn_for_all_of_its_prompts() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> prompt "two"
> model end tool_calls
> planned-error "no"
> cancel-prompt 1
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing, 2 times)

            append result 0 error "no"
            show call 0 error "no"
            append user t0 "two"
            show user "two"
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} | results c0 error "no" | user "two"

            stop-model #1
            append ended t0 cancelled
            answer p0 cancelled
            answer p1 withdrawn
        "#]],
    );
}

#[test]
fn withdrawing_an_answered_prompt_does_nothing() {
    check(
        r#"
> prompt "one"
> model text "Done."
> model end
> cancel-prompt 0
> prompt "two"
> cancel-prompt 0
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            append user t1 "two"
            ask-model #1: user "one" | assistant "Done." | user "two"

            (nothing)
        "#]],
    );
}

#[test]
fn the_33rd_waiting_prompt_drops_the_oldest() {
    let waiting = "> prompt \"more\"\n".repeat(33);
    check(
        &format!("> prompt \"one\"\n{waiting}"),
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing, 32 times)

            answer p1 dropped, more than 32 waited
        "#]],
    );
}
