//! What a request to the model is made of.

use super::check;
use expect_test::expect;

#[test]
fn raw_items_go_back_to_the_same_model() {
    check(
        r#"
> prompt "one"
> model thought "Hm."
> model text "First."
> model raw {"reasoning_content":"Hm."}
> model end
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show thought "Hm."

            show text "First."

            (nothing)

            append assistant a0 "First." thought "Hm." raw {"reasoning_content":"Hm."}
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "First." thought "Hm." raw {"reasoning_content":"Hm."} | user "two"
        "#]],
    );
}

#[test]
fn raw_items_of_an_answer_with_calls_go_back_with_it() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> model raw {"reasoning_content":"Hm."}
> model end tool_calls
> planned read /p/a
> finished ok "text of a"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            append assistant a0 "" raw {"reasoning_content":"Hm."}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} raw {"reasoning_content":"Hm."} | results c0 "text of a"
        "#]],
    );
}

#[test]
fn raw_items_do_not_go_to_another_model() {
    check(
        r#"
> prompt "one"
> model text "First."
> model raw {"reasoning_content":"Hm."}
> model end
> use-model other
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "First."

            (nothing)

            append assistant a0 "First." raw {"reasoning_content":"Hm."}
            append ended t0 done
            answer p0 ended EndTurn

            append model p/other

            append user t1 "two"
            ask-model #1 of other: user "one" | assistant "First." | user "two"
        "#]],
    );
}

#[test]
fn raw_items_go_again_to_the_model_that_gave_them() {
    check(
        r#"
> prompt "one"
> model text "First."
> model raw {"reasoning_content":"Hm."}
> model end
> use-model other
> use-model m
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "First."

            (nothing)

            append assistant a0 "First." raw {"reasoning_content":"Hm."}
            append ended t0 done
            answer p0 ended EndTurn

            append model p/other

            append model p/m

            append user t1 "two"
            ask-model #1: user "one" | assistant "First." raw {"reasoning_content":"Hm."} | user "two"
        "#]],
    );
}

#[test]
fn raw_items_survive_a_restart_with_the_same_model() {
    check(
        r#"
> prompt "one"
> model text "First."
> model raw {"reasoning_content":"Hm."}
> model end
> restart
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "First."

            (nothing)

            append assistant a0 "First." raw {"reasoning_content":"Hm."}
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant "First." raw {"reasoning_content":"Hm."} | user "two"
        "#]],
    );
}

#[test]
fn raw_items_do_not_survive_a_restart_with_another_model() {
    check(
        r#"
> prompt "one"
> model text "First."
> model raw {"reasoning_content":"Hm."}
> model end
> use-model other
> restart
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "First."

            (nothing)

            append assistant a0 "First." raw {"reasoning_content":"Hm."}
            append ended t0 done
            answer p0 ended EndTurn

            append model p/other

            (nothing)

            append user t1 "two"
            ask-model #0 of other: user "one" | assistant "First." | user "two"
        "#]],
    );
}

#[test]
fn raw_items_alone_are_no_message() {
    check(
        r#"
> prompt "one"
> model raw {"reasoning_content":"Hm."}
> model end
> model raw {"reasoning_content":"Hm."}
> model end
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing)

            append assistant a0 "" raw {"reasoning_content":"Hm."}
            append void a0
            ask-model #1: user "one"

            (nothing)

            append assistant a1 "" raw {"reasoning_content":"Hm."}
            show notice "The model answered twice with nothing. Write what to do in other words, or choose another model with /model."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #2: user "one" + "two"
        "#]],
    );
}

#[test]
fn prompts_without_an_answer_between_them_are_one_message() {
    check(
        r#"
> prompt "one"
> cancel
> prompt "two"
> cancel
> prompt "three"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            stop-model #0
            append ended t0 cancelled
            answer p0 cancelled

            append user t1 "two"
            ask-model #1: user "one" + "two"

            stop-model #1
            append ended t1 cancelled
            answer p1 cancelled

            append user t2 "three"
            ask-model #2: user "one" + "two" + "three"
        "#]],
    );
}

/// The answer that was under way when the model was changed kept its raw items, and the next model
/// was sent them.
#[test]
fn raw_items_that_come_after_the_model_was_changed_do_not_go_to_the_other() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> use-model other
> model raw {"reasoning_content":"Hm."}
> model end tool_calls
> planned read /p/a
> finished ok "text of a"
> model call read_file {"path":"b"}
> model raw {"other":"items"}
> model end tool_calls
> planned read /p/b
> finished ok "text of b"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append model p/other

            (nothing, 2 times)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1 of other: user "one" | assistant call c0 read_file {"path":"a"} | results c0 "text of a"

            append call 1 a1 c1 read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}

            (nothing)

            append assistant a1 "" raw {"other":"items"}

            show call 1 "Read /p/b"
            show call 1 running
            run-call 1

            append result 1 ok "text of b" 7 ms
            show call 1 ok "text of b" 7 ms
            ask-model #2 of other: user "one" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | assistant call c1 read_file {"path":"b"} raw {"other":"items"} | results c1 "text of b"
        "#]],
    );
}
