//! Turns: a prompt, the model's answers, their calls side by side, and the end.

use super::check;
use expect_test::expect;

#[test]
fn a_turn_is_a_prompt_an_answer_and_its_end() {
    check(
        r#"
> prompt "hello"
> model thought "They greet."
> model text "Good "
> model text "day."
> model usage 12 3
> model end
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show thought "They greet."

            show text "Good "

            show text "day."

            append assistant a0 "Good day." thought "They greet."
            append usage Answer p/m 12 in, 3 out
            show usage 12 in, 3 out

            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn a_model_that_pauses_goes_on_and_one_that_pauses_without_a_word_is_not_asked_for_ever() {
    check(
        r#"
> prompt "hello"
> model text "So far."
> model end paused
> model thought "Hm."
> model end paused
> prompt "go on"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "So far."

            append assistant a0 "So far."
            ask-model #1: user "hello" | assistant "So far." | user "[Go on.]"

            show thought "Hm."

            append assistant a1 "" thought "Hm."
            append ended t0 done
            answer p0 ended Paused

            append user t1 "go on"
            ask-model #2: user "hello" | assistant "So far." | user "go on"
        "#]],
    );
}

#[test]
fn an_answer_with_calls_goes_on_whatever_it_ended_with() {
    check(
        r#"
> prompt "look"
> model call read_file {"path":"a"}
> model end max_tokens
> planned read /p/a
> finished ok "text"
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text" 7 ms
            show call 0 ok "text" 7 ms
            ask-model #1: user "look" | assistant call c0 read_file {"path":"a"} | results c0 "text"
        "#]],
    );
}

#[test]
fn an_answer_at_its_output_cap_ends_the_turn_and_says_so() {
    check(
        r#"
> limits continuations=0
> prompt "write a book"
> model text "Chapter"
> model end max_tokens
"#,
        expect![[r#"
            append user t0 "write a book"
            ask-model #0: user "write a book"

            show text "Chapter"

            append assistant a0 "Chapter"
            append ended t0 max_tokens
            answer p0 ended MaxTokens
        "#]],
    );
}

#[test]
fn a_model_that_refuses_ends_the_turn_and_says_so() {
    check(
        r#"
> prompt "do harm"
> model end refusal
"#,
        expect![[r#"
            append user t0 "do harm"
            ask-model #0: user "do harm"

            append ended t0 refusal
            answer p0 ended Refusal
        "#]],
    );
}

#[test]
fn an_end_that_we_have_no_word_for_is_an_end() {
    check(
        r#"
> prompt "hello"
> model text "Hi."
> model end eos
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "Hi."

            append assistant a0 "Hi."
            append ended t0 done
            answer p0 ended Other("eos")
        "#]],
    );
}

#[test]
fn an_empty_answer_is_asked_for_once_more_and_is_not_sent_back() {
    check(
        r#"
> prompt "hello"
> model thought "Hm."
> model end
> model end
> prompt "are you there?"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show thought "Hm."

            append assistant a0 "" thought "Hm."
            append void a0
            ask-model #1: user "hello"

            show notice "The model answered twice with nothing. Write what to do in other words, or choose another model with /model."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "are you there?"
            ask-model #2: user "hello" + "are you there?"
        "#]],
    );
}

#[test]
fn a_turn_with_too_many_answers_is_stopped() {
    check(
        r#"
> limits turn_answers=2
> prompt "go on for ever"
> model call read_file {"path":"a"}
> model end tool_calls
> planned read /p/a
> finished ok "text"
> model call read_file {"path":"a"}
> model end tool_calls
> planned read /p/a
> finished ok "text"
> prompt "and now?"
"#,
        expect![[r#"
            append user t0 "go on for ever"
            ask-model #0: user "go on for ever"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text" 7 ms
            show call 0 ok "text" 7 ms
            ask-model #1: user "go on for ever" | assistant call c0 read_file {"path":"a"} | results c0 "text"

            append call 1 a1 c1 read_file {"path":"a"}
            show call 1 read_file {"path":"a"}
            plan-call 1 read_file {"path":"a"}

            (nothing)

            show call 1 "Read /p/a"
            show call 1 running
            run-call 1

            append result 1 ok "text" 7 ms
            show call 1 ok "text" 7 ms
            append ended t0 failed "the model was asked 2 times in one turn"
            answer p0 stopped after 2 answers

            append user t1 "and now?"
            ask-model #2: user "go on for ever" | assistant call c0 read_file {"path":"a"} | results c0 "text" | assistant call c1 read_file {"path":"a"} | results c1 "text" | user "and now?"
        "#]],
    );
}
