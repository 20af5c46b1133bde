//! A run in which nobody can be asked, and the actions of it that the person approves later.

use super::check;
use expect_test::expect;

#[test]
fn r_020_what_needs_an_answer_is_stored_and_the_model_hears_how_it_is_approved() {
    check(
        r#"
> nobody
> prompt "tidy up"
> model call edit_file {"path":"a"}
> model end tool_calls
> planned write /p/a as "text"
> queued k7
"#,
        expect![[r#"
            append user t0 "tidy up"
            ask-model #0: user "tidy up"

            append call 0 a0 c0 edit_file {"path":"a"}
            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "text"
            show call 0 waiting
            queue-approval 0 edit_file {"path":"a"} shown as "Edit /p/a"

            append result 0 error "Approval required (k7): nothing was done. Nobody can be asked in this run, so the action is kept; the person runs it later with `undine approve k7`. Do not try it another way; go on with what does not need it, and say at the end what waits."
            show call 0 error "Approval required (k7): nothing was done. Nobody can be asked in this run, so the action is kept; the person runs it later with `undine approve k7`. Do not try it another way; go on with what does not need it, and say at the end what waits."
            ask-model #1: user "tidy up" | assistant call c0 edit_file {"path":"a"} | results c0 error "Approval required (k7): nothing was done. Nobody can be asked in this run, so the action is kept; the person runs it later with `undine approve k7`. Do not try it another way; go on with what does not need it, and say at the end what waits."
        "#]],
    );
}

#[test]
fn what_is_of_no_use_later_is_refused_and_what_the_mode_allows_runs() {
    check(
        r#"
> nobody
> mode auto
> prompt "look"
> model call read_file {"path":"/etc/x"}
> planned read /etc/x
> model call edit_file {"path":"a"}
> planned write /p/a as "text"
> model call execute_command {"command":"make"}
> planned run "make"
> not-queued "the disk is full."
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"/etc/x"}
            show call 0 read_file {"path":"/etc/x"}
            plan-call 0 read_file {"path":"/etc/x"}

            show call 0 "Read /etc/x"
            ask-classifier 0 of m

            append call 1 a0 c1 edit_file {"path":"a"}
            show call 1 edit_file {"path":"a"}
            plan-call 1 edit_file {"path":"a"}

            show call 1 "Edit /p/a" diff /p/a "text"
            show call 1 running
            run-call 1

            append call 2 a0 c2 execute_command {"command":"make"}
            show call 2 execute_command {"command":"make"}
            plan-call 2 execute_command {"command":"make"}

            show call 2 "Run make" command "make" in /p
            ask-classifier 2 of m

            (nothing)
        "#]],
    );
}

#[test]
fn r_020_an_approved_action_runs_once_and_the_next_request_says_so() {
    check(
        r#"
> prompt "tidy up"
> model text "Done."
> model end
> approve k7 edit_file {"path":"a"} in ask shown write /p/a as "text"
> planned write /p/a as "text"
> finished ok "Changed a."
> approve k7 edit_file {"path":"a"} in ask shown write /p/a as "text"
> restart
> approve k7 edit_file {"path":"a"} in ask shown write /p/a as "text"
> prompt "go on"
"#,
        expect![[r#"
            append user t0 "tidy up"
            ask-model #0: user "tidy up"

            show text "Done."

            append assistant a0 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "text"
            show call 0 running
            run-call 0

            append replayed k7 t1 0 edit_file {"path":"a"} ok "Changed a." 7 ms
            show call 0 ok "Changed a." 7 ms
            end-replay k7 ok "Changed a."
            append ended t1 done

            end-replay k7 ok "It had been done before: the server stopped before it could be noted. Nothing was done now."

            (nothing)

            end-replay k7 ok "It had been done before: the server stopped before it could be noted. Nothing was done now."

            append user t2 "go on"
            ask-model #0: user "tidy up" | assistant "Done." | user "[The person has approved k7, \"Edit /p/a\", and it was done:]\nChanged a." + "go on"
        "#]],
    );
}

#[test]
fn an_approved_action_that_would_do_something_else_is_shown_and_not_done_in_any_mode() {
    check(
        r#"
> mode full_access
> approve k7 edit_file {"path":"a"} in full_access shown write /p/a as "text"
> planned write /p/a as "other"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            show call 0 edit_file {"path":"a"}
            plan-call 0 edit_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a "other"
            show call 0 error "Not done: it would do something else by now than what was shown."
            end-replay k7 changed, would now do diff /p/a "other"
            append ended t0 done
        "#]],
    );
}

#[test]
fn bug_021_an_approval_weakens_no_denial() {
    check(
        r#"
> approve k7 execute_command {"command":"rm"} in read_only shown run "rm"
> planned run "rm"
> approve k8 edit_file {"path":"/u/x"} in full_access shown write /u/x as "text"
> planned write /u/x as "text"
> mode read_only
> approve k9 edit_file {"path":"a"} in full_access shown write /p/a as "text"
> planned write /p/a as "text"
"#,
        expect![[r#"
            show call 0 execute_command {"command":"rm"}
            plan-call 0 execute_command {"command":"rm"}

            show call 0 "Run rm" command "rm" in /p
            show call 0 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."
            end-replay k7 refused "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."
            append ended t0 done

            show call 1 edit_file {"path":"/u/x"}
            plan-call 1 edit_file {"path":"/u/x"}

            show call 1 "Edit /u/x" diff /u/x "text"
            show call 1 error "Denied: /u/x belongs to Undine's own settings and history, which tools never write."
            end-replay k8 refused "Denied: /u/x belongs to Undine's own settings and history, which tools never write."
            append ended t1 done

            append mode read_only
            show mode read_only

            show call 2 edit_file {"path":"a"}
            plan-call 2 edit_file {"path":"a"}

            show call 2 "Edit /p/a" diff /p/a "text"
            show call 2 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            end-replay k9 refused "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            append ended t2 done
        "#]],
    );
}

#[test]
fn an_approval_waits_for_no_turn_and_a_prompt_waits_for_the_approval() {
    check(
        r#"
> approve k7 execute_command {"command":"make"} in ask shown run "make"
> planned run "make"
> approve k8 execute_command {"command":"make"} in ask shown run "make"
> prompt "and now?"
> finished 0 ok "made"
"#,
        expect![[r#"
            show call 0 execute_command {"command":"make"}
            plan-call 0 execute_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            end-replay k8 refused "The session is in the middle of a turn; approve when that has ended."

            (nothing)

            append replayed k7 t0 0 execute_command {"command":"make"} ok "made" 7 ms
            show call 0 ok "made" 7 ms
            end-replay k7 ok "made"
            append ended t0 done
            append user t1 "and now?"
            show user "and now?"
            ask-model #0: user "[The person has approved k7, \"Run make\", and it was done:]\nmade" + "and now?"
        "#]],
    );
}

#[test]
fn an_approved_action_that_is_cancelled_says_whether_it_had_begun() {
    check(
        r#"
> approve k7 execute_command {"command":"make"} in ask shown run "make"
> cancel
> approve k7 execute_command {"command":"make"} in ask shown run "make"
> planned run "make"
> cancel
> prompt "and now?"
"#,
        expect![[r#"
            show call 0 execute_command {"command":"make"}
            plan-call 0 execute_command {"command":"make"}

            stop-call 0
            show call 0 cancelled
            end-replay k7 refused "Cancelled by the person before it ran; nothing was done."
            append ended t0 cancelled

            show call 1 execute_command {"command":"make"}
            plan-call 1 execute_command {"command":"make"}

            show call 1 "Run make" command "make" in /p
            show call 1 running
            run-call 1

            stop-call 1
            append replayed k7 t1 1 execute_command {"command":"make"} cancelled "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on."
            show call 1 cancelled
            end-replay k7 cancelled "Cancelled by the person while it ran, so it may be done in part. Look at the present state before you go on."
            append ended t1 cancelled

            append user t2 "and now?"
            ask-model #0: user "[The person has approved k7, \"Run make\", and it was begun and cancelled:]\nCancelled by the person while it ran, so it may be done in part. Look at the present state before you go on." + "and now?"
        "#]],
    );
}

#[test]
fn bug_020_an_effect_that_is_there_already_is_noted_and_not_made_again() {
    check(
        r#"
> approve k7 edit_file {"path":"a"} in ask done shown write /p/a as "text"
> restart
> prompt "and now?"
"#,
        expect![[r#"
            append replayed k7 t0 0 edit_file {"path":"a"} ok "It had been done before: the server stopped before it could be noted. Nothing was done now."
            end-replay k7 ok "It had been done before: the server stopped before it could be noted. Nothing was done now."

            (nothing)

            append user t1 "and now?"
            ask-model #0: user "[The person has approved k7, \"Edit /p/a\", and it was done:]\nIt had been done before: the server stopped before it could be noted. Nothing was done now." + "and now?"
        "#]],
    );
}

#[test]
fn a_loaded_log_shows_what_was_approved_later() {
    check(
        r#"
> approve k7 execute_command {"command":"make"} in ask shown run "make"
> planned run "make"
> finished ok "made"
> load
"#,
        expect![[r#"
            show call 0 execute_command {"command":"make"}
            plan-call 0 execute_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 running
            run-call 0

            append replayed k7 t0 0 execute_command {"command":"make"} ok "made" 7 ms
            show call 0 ok "made" 7 ms
            end-replay k7 ok "made"
            append ended t0 done

            show call 0 execute_command {"command":"make"}
            show call 0 ok "Run make" "made" 7 ms
        "#]],
    );
}
