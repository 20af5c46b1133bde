//! What the host does without the model: commands of the person, and what the model is told of them.

use super::check;
use expect_test::expect;

#[test]
fn a_command_is_shown_and_replayed_and_the_model_never_sees_it() {
    check(
        r#"
> command "/checkpoints" "There are none."
> prompt "go"
> model text "Hm"
> command "/checkpoints" "One."
> model text "m."
> model end
> restart
> load
> prompt "on"
"#,
        expect![[r#"
            append command "/checkpoints" "There are none."
            show text "There are none."

            append user t0 "go"
            ask-model #0: user "go"

            show text "Hm"

            append assistant a0 "Hm"
            append command "/checkpoints" "One."
            show text "One."

            show text "m."

            append assistant a0 "m."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            show user "/checkpoints"
            show text "There are none."
            show user "go"
            show text "Hm"
            show user "/checkpoints"
            show text "One."
            show text "m."

            append user t1 "on"
            ask-model #0: user "go" | assistant "Hmm." | user "on"
        "#]],
    );
}

/// The note stands behind the results or before the prompt, in a request and in the history that a restart folds.
#[test]
fn what_happened_is_told_when_the_model_is_asked_next() {
    check(
        r#"
> prompt "go"
> model call read_file {"path":"a"}
> tell "a was restored"
> model end tool_calls
> planned 0 read /p/a
> finished 0 ok "text of a"
> model text "Done."
> model end
> tell "b was restored"
> prompt "on"
> model text "Done."
> model end
> restart
> tell "c was restored"
> restart
> prompt "and on"
"#,
        expect![[r#"
            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append told "a was restored"

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1: user "go" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "a was restored"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append told "b was restored"

            append user t1 "on"
            ask-model #2: user "go" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "a was restored" | assistant "Done." | user "b was restored" + "on"

            show text "Done."

            append assistant a2 "Done."
            append ended t1 done
            answer p1 ended EndTurn

            (nothing)

            append told "c was restored"

            (nothing)

            append user t2 "and on"
            ask-model #0: user "go" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "a was restored" | assistant "Done." | user "b was restored" + "on" | assistant "Done." | user "c was restored" + "and on"
        "#]],
    );
}
