//! A provider that refuses a part of a request by name, or what it has signed itself.

use super::check;
use expect_test::expect;

#[test]
fn what_a_model_refuses_is_left_out_and_learned_once_it_answers() {
    check(
        r#"
> prompt "hello"
> model fail-as bad-request "No temperature." refusing temperature
> model fail-as bad-request "No level." refusing level
> model fail-as bad-request "No level." refusing level medium
> model fail-as bad-request "Too long." refusing above 4096
> model usage 1 0
> model text "Hi."
> model end
> prompt "again"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            show retry 2 of 4 in 0 ms "p/m does not take the reasoning level max; it is asked again with xhigh."
            ask-model #2 with no temperature no level max: user "hello"

            show retry 3 of 4 in 0 ms "p/m does not take the reasoning level xhigh; it is asked again with medium."
            ask-model #3 with no temperature no level high no level xhigh no level max: user "hello"

            show retry 4 of 4 in 0 ms "p/m writes at most 4096 tokens in an answer; it is asked again within that."
            ask-model #4 with no temperature no level high no level xhigh no level max at most 4096 tokens: user "hello"

            append usage Answer p/m 1 in, 0 out
            show usage 1 in, 0 out

            show no retry
            learned no temperature no level high no level xhigh no level max at most 4096 tokens
            show text "Hi."

            append assistant a4 "Hi."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "again"
            ask-model #5 with no temperature no level high no level xhigh no level max at most 4096 tokens: user "hello" | assistant "Hi." | user "again"
        "#]],
    );
}

#[test]
fn what_does_not_help_is_not_learned() {
    check(
        r#"
> prompt "hello"
> model fail-as bad-request "No temperature." refusing temperature
> model raw {"n":1}
> model fail-as bad-request "Nothing at all."
> prompt "again"
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            (nothing)

            append assistant a1 "" raw {"n":1} cut
            show no retry
            append ended t0 failed "Nothing at all."
            answer p0 failed "Nothing at all."

            append user t1 "again"
            ask-model #2: user "hello" + "again"
        "#]],
    );
}

#[test]
fn a_refusal_of_what_is_left_out_already_ends_the_turn() {
    check(
        r#"
> prompt "hello"
> model fail-as bad-request "No temperature." refusing temperature
> model fail-as bad-request "No temperature." refusing temperature
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            show no retry
            append ended t0 failed "No temperature."
            answer p0 failed "No temperature."
        "#]],
    );
}

#[test]
fn one_answer_is_asked_for_at_most_four_times_with_less() {
    check(
        r#"
> prompt "hello"
> model fail-as bad-request "No." refusing temperature
> model fail-as bad-request "No." refusing max_tokens
> model fail-as bad-request "No." refusing thinking
> model fail-as bad-request "No." refusing cache_key
> model fail-as bad-request "No." refusing bash
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            show retry 2 of 4 in 0 ms "p/m does not take max tokens; it is asked again without."
            ask-model #2 with no temperature no max_tokens: user "hello"

            show retry 3 of 4 in 0 ms "p/m does not take thinking; it is asked again without."
            ask-model #3 with no temperature no max_tokens no thinking: user "hello"

            show retry 4 of 4 in 0 ms "p/m does not take cache key; it is asked again without."
            ask-model #4 with no temperature no max_tokens no thinking no cache_key: user "hello"

            show no retry
            append ended t0 failed "No."
            answer p0 failed "No."
        "#]],
    );
}

#[test]
fn what_was_left_out_stays_out_while_the_provider_is_waited_for() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model fail-as bad-request "No." refusing temperature
> model fail-as overloaded "Busy."
> woke 0
> model text "Hi."
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Busy."

            show no retry
            ask-model #2 with no temperature: user "hello"

            learned no temperature
            show text "Hi."
        "#]],
    );
}

#[test]
fn another_model_is_asked_with_everything() {
    check(
        r#"
> limits model_retries=3
> prompt "hello"
> model fail-as bad-request "No." refusing temperature
> model fail-as overloaded "Busy."
> use-model other
> woke 0
> model text "Hi."
> model end
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show retry 1 of 4 in 0 ms "p/m does not take temperature; it is asked again without."
            ask-model #1 with no temperature: user "hello"

            wake 0 after 500 ms
            show retry 1 of 3 in 500 ms "Busy."

            append model p/other

            show no retry
            ask-model #2 of other: user "hello"

            show text "Hi."

            append assistant a2 "Hi."
            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn a_refused_signature_is_left_out_once_and_for_all() {
    check(
        r#"
> prompt "hello"
> model text "Hi."
> model raw {"n":1}
> model end
> prompt "again"
> model fail-as signature "Thinking blocks cannot be modified."
> model text "Yes."
> model raw {"n":2}
> model end
> restart
> prompt "on"
> model fail-as signature "Invalid signature."
> model fail-as signature "Invalid signature."
"#,
        expect![[r#"
            append user t0 "hello"
            ask-model #0: user "hello"

            show text "Hi."

            (nothing)

            append assistant a0 "Hi." raw {"n":1}
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "again"
            ask-model #1: user "hello" | assistant "Hi." raw {"n":1} | user "again"

            append unsigned a1
            show retry 1 of 1 in 0 ms "The provider refused what it had signed itself in earlier answers; it is asked again without that."
            ask-model #2: user "hello" | assistant "Hi." | user "again"

            show no retry
            show text "Yes."

            (nothing)

            append assistant a2 "Yes." raw {"n":2}
            append ended t1 done
            answer p1 ended EndTurn

            (nothing)

            append user t2 "on"
            ask-model #0: user "hello" | assistant "Hi." | user "again" | assistant "Yes." raw {"n":2} | user "on"

            append unsigned a3
            show retry 1 of 1 in 0 ms "The provider refused what it had signed itself in earlier answers; it is asked again without that."
            ask-model #1: user "hello" | assistant "Hi." | user "again" | assistant "Yes." | user "on"

            show no retry
            append ended t2 failed "Invalid signature."
            answer p2 failed "Invalid signature."
        "#]],
    );
}
