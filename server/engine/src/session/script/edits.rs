//! Edits whose text moved under them: planned anew, and asked about anew if they show something else.

use super::check;
use expect_test::expect;

#[test]
fn an_edit_that_moved_runs_unasked_when_it_shows_the_same() {
    check(
        r#"
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "one"
> decided once
> finished moved
> planned write /p/a as "one"
> finished ok "written"
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "one" [once, session: edit the project, always: edit the project, no]

            append decision 0 once
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 running
            run-call 0

            append result 0 ok "written" 7 ms
            show call 0 ok "written" 7 ms
            ask-model #1: user "write" | assistant call c0 edit_file {"path":"a"} | results c0 "written"
        "#]],
    );
}

#[test]
fn an_edit_that_moved_asks_again_when_it_shows_something_else() {
    check(
        r#"
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "one"
> decided once
> finished moved
> planned write /p/a as "two"
> decided no "not that"
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "one" [once, session: edit the project, always: edit the project, no]

            append decision 0 once
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "two"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "two" [once, session: edit the project, always: edit the project, no]

            append decision 0 no "not that"
            append result 0 error "Denied by the person: not that"
            show call 0 error "Denied by the person: not that"
            ask-model #1: user "write" | assistant call c0 edit_file {"path":"a"} | results c0 error "Denied by the person: not that"
        "#]],
    );
}

#[test]
fn an_edit_that_was_allowed_as_something_else_is_not_good_for_what_was_shown_before() {
    check(
        r#"
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "one"
> decided once
> finished moved
> planned write /p/a as "two"
> decided once
> finished moved
> planned write /p/a as "one"
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "one" [once, session: edit the project, always: edit the project, no]

            append decision 0 once
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "two"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "two" [once, session: edit the project, always: edit the project, no]

            append decision 0 once
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "one" [once, session: edit the project, always: edit the project, no]
        "#]],
    );
}

#[test]
fn an_edit_that_nobody_was_asked_about_is_judged_anew() {
    check(
        r#"
> mode auto
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "one"
> mode ask
> finished moved
> planned write /p/a as "two"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "one"
            show call 0 running
            run-call 0

            append mode ask
            show mode ask

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "two"
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "two" [once, session: edit the project, always: edit the project, no]
        "#]],
    );
}

#[test]
fn an_edit_that_keeps_moving_is_given_up() {
    check(
        r#"
> limits edit_rounds=2
> mode auto
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> finished moved
> planned write /p/a
> finished moved
> planned write /p/a
> finished moved
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            append result 0 error "Not applied: in 3 tries the text was another than planned each time, or the editor left the edit undone. Read the file again before you go on."
            show call 0 error "Not applied: in 3 tries the text was another than planned each time, or the editor left the edit undone. Read the file again before you go on."
            ask-model #1: user "write" | assistant call c0 edit_file {"path":"a"} | results c0 error "Not applied: in 3 tries the text was another than planned each time, or the editor left the edit undone. Read the file again before you go on."
        "#]],
    );
}

#[test]
fn an_edit_whose_place_is_gone_when_planned_anew_is_an_error() {
    check(
        r#"
> mode auto
> prompt "write"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> finished moved
> planned-error "old_text is not in a any more; read it again"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            plan-call 0 edit_file {"path":"a"}

            append result 0 error "old_text is not in a any more; read it again"
            show call 0 error "old_text is not in a any more; read it again"
            ask-model #1: user "write" | assistant call c0 edit_file {"path":"a"} | results c0 error "old_text is not in a any more; read it again"
        "#]],
    );
}

#[test]
fn an_edit_that_is_planned_anew_lets_the_others_go_on() {
    check(
        r#"
> mode auto
> prompt "write"
> model call edit_file {"path":"a"}
> model call edit_file {"path":"b"}
> model end tool_calls
> planned 0 write /p/a
> planned 1 write /p/b
> finished 0 moved
> finished 1 ok "written b"
> planned 0 write /p/a
> finished 0 ok "written a"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            append call 1 a0 c1 edit_file {"path":"b"}
            show call 1 edit_file {"path":"b"}
            plan-call 1 edit_file {"path":"b"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            show call 1 "Edit /p/b" diff /p/b ""
            show call 1 running
            run-call 1

            plan-call 0 edit_file {"path":"a"}

            append result 1 ok "written b" 7 ms
            show call 1 ok "written b" 7 ms

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            append result 0 ok "written a" 7 ms
            show call 0 ok "written a" 7 ms
            ask-model #1: user "write" | assistant call c0 edit_file {"path":"a"} call c1 edit_file {"path":"b"} | results c0 "written a", c1 "written b"
        "#]],
    );
}
