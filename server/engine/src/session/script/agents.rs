//! A session that works for another one, and what its work costs there.

use super::check;
use expect_test::expect;

/// A subagent's session ends with its work, so there is no later.
#[test]
fn what_a_subagent_needs_an_answer_for_is_refused_where_nobody_can_be_asked() {
    check(
        r#"
> agent "tidy up"
> nobody
> prompt "edit a"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "text"
"#,
        expect![[r#"
            append user t0 "edit a"
            ask-model #0: user "edit a"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "text"
            append result 0 error "Not done: \"Edit /p/a\" needs the person's approval, nobody can be asked in this run, and it is of no use later. Go on without it, or say what you would need."
            show call 0 error "Not done: \"Edit /p/a\" needs the person's approval, nobody can be asked in this run, and it is of no use later. Go on without it, or say what you would need."
            ask-model #1: user "edit a" | assistant call c0 edit_file {"path":"a"} | results c0 error "Not done: \"Edit /p/a\" needs the person's approval, nobody can be asked in this run, and it is of no use later. Go on without it, or say what you would need."
        "#]],
    );
}

#[test]
fn a_subagent_has_none_of_the_tools_that_a_session_answers_by_itself() {
    check(
        r#"
> agent "tidy up"
> prompt "edit a"
> model call compact_context {}
> planned-error "There is no such tool."
"#,
        expect![[r#"
            append user t0 "edit a"
            ask-model #0: user "edit a"

            append call 0 a0 c0 compact_context {}
            show call 0 compact_context {}
            plan-call 0 compact_context {}

            append result 0 error "There is no such tool."
            show call 0 error "There is no such tool."
        "#]],
    );
}

#[test]
fn bug_088_what_a_subagent_used_is_recorded_where_it_was_started() {
    check(
        r#"
> prompt "go"
> spent p/other 40 2
> model text "done"
> model end
> spent p/other 7 1
"#,
        expect![[r#"
            append user t0 "go"
            ask-model #0: user "go"

            append usage Subagent p/other 40 in, 2 out
            show usage 0 in, 0 out

            show text "done"

            append assistant a0 "done"
            append ended t0 done
            answer p0 ended EndTurn

            append usage Subagent p/other 7 in, 1 out
            show usage 0 in, 0 out
        "#]],
    );
}
