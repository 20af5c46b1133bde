//! Modes: what each allows, asks about and denies, and what a change of mode touches.

use super::check;
use expect_test::expect;

#[test]
fn read_only_denies_with_a_reason() {
    check(
        r#"
> mode read_only
> prompt "do all"
> model call read_file {"path":"a"}
> model call write_file {"path":"a"}
> model call run_command {"command":"make"}
> model call read_file {"path":"/q/a"}
> planned 0 read /p/a
> planned 1 write /p/a
> planned 2 run "make"
> planned 3 read /q/a
"#,
        expect![[r#"
            append mode read_only
            show mode read_only

            append user t0 "do all"
            ask-model #0: user "do all"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 write_file {"path":"a"}
            show call 1 write_file {"path":"a"}
            plan-call 1 write_file {"path":"a"}

            append call 2 a0 c2 run_command {"command":"make"}
            show call 2 run_command {"command":"make"}
            plan-call 2 run_command {"command":"make"}

            append call 3 a0 c3 read_file {"path":"/q/a"}
            show call 3 read_file {"path":"/q/a"}
            plan-call 3 read_file {"path":"/q/a"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Edit /p/a" diff /p/a ""
            append result 1 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            show call 1 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            show call 2 "Run make" command "make" in /p
            append result 2 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."
            show call 2 error "Denied: the session is in read_only mode, which does not allow running programs. Say what you would do instead, or ask the person to change the mode."

            show call 3 "Read /q/a"
            append result 3 error "Denied: the session is in read_only mode, which does not allow reading /q/a outside the project. Say what you would do instead, or ask the person to change the mode."
            show call 3 error "Denied: the session is in read_only mode, which does not allow reading /q/a outside the project. Say what you would do instead, or ask the person to change the mode."
        "#]],
    );
}

#[test]
fn what_ran_held_is_held_again_when_its_folder_has_moved_and_else_asked_about() {
    check(
        r#"
> can-hold
> mode auto
> prompt "look"
> model call run_command {"command":"ls"}
> model end tool_calls
> planned run reading "ls"
> finished moved
> planned run reading "ls"
> mode ask
> finished moved
> planned run reading "ls"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 run_command {"command":"ls"}
            show call 0 run_command {"command":"ls"}
            plan-call 0 run_command {"command":"ls"}

            (nothing)

            show call 0 "Run ls" command "ls" in /p
            show call 0 running
            run-call 0 held to reading

            plan-call 0 run_command {"command":"ls"}

            show call 0 "Run ls" command "ls" in /p
            show call 0 running
            run-call 0 held to reading

            append mode ask
            show mode ask

            plan-call 0 run_command {"command":"ls"}

            show call 0 "Run ls" command "ls" in /p
            show call 0 waiting
            ask-person 0 "Run ls" to run "ls" in /p showing command "ls" in /p [once, session: run "ls" in /p, always: run "ls" in /p, no]
        "#]],
    );
}

#[test]
fn full_access_never_asks() {
    check(
        r#"
> mode full_access
> prompt "do all"
> model call do_all {}
> planned read /q/a and write /p/a and write /q/b and run "make" in /q
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "do all"
            ask-model #0: user "do all"

            append call 0 a0 c0 do_all {}
            show call 0 do_all {}
            plan-call 0 do_all {}

            show call 0 "Read /q/a" diff /p/a "" diff /q/b "" command "make" in /q
            show call 0 running
            run-call 0
        "#]],
    );
}

#[test]
fn auto_applies_edits_of_the_project_and_asks_for_the_rest() {
    check(
        r#"
> mode auto
> prompt "do all"
> model call write_file {"path":"a"}
> model call write_file {"path":"/q/a"}
> model call run_command {"command":"make"}
> planned 0 write /p/a
> planned 1 write /q/a
> planned 2 run "make"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "do all"
            ask-model #0: user "do all"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            append call 1 a0 c1 write_file {"path":"/q/a"}
            show call 1 write_file {"path":"/q/a"}
            plan-call 1 write_file {"path":"/q/a"}

            append call 2 a0 c2 run_command {"command":"make"}
            show call 2 run_command {"command":"make"}
            plan-call 2 run_command {"command":"make"}

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 running
            run-call 0

            show call 1 "Edit /q/a" diff /q/a ""
            ask-classifier 1 of m

            show call 2 "Run make" command "make" in /p
            ask-classifier 2 of m
        "#]],
    );
}

#[test]
fn what_belongs_to_undine_is_never_written() {
    check(
        r#"
> mode full_access
> prompt "loosen yourself"
> model call write_file {"path":"/u/config.toml"}
> model end tool_calls
> planned write /p/a and write /u/config.toml
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "loosen yourself"
            ask-model #0: user "loosen yourself"

            append call 0 a0 c0 write_file {"path":"/u/config.toml"}
            show call 0 write_file {"path":"/u/config.toml"}
            plan-call 0 write_file {"path":"/u/config.toml"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a "" diff /u/config.toml ""
            append result 0 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."
            show call 0 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."
            ask-model #1: user "loosen yourself" | assistant call c0 write_file {"path":"/u/config.toml"} | results c0 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."
        "#]],
    );
}

#[test]
fn a_question_of_the_model_is_never_gated() {
    check(
        r#"
> mode read_only
> prompt "ask me"
> model call ask_user_question {}
> planned ask
"#,
        expect![[r#"
            append mode read_only
            show mode read_only

            append user t0 "ask me"
            ask-model #0: user "ask me"

            append call 0 a0 c0 ask_user_question {}
            show call 0 ask_user_question {}
            plan-call 0 ask_user_question {}

            show call 0 "Ask"
            show call 0 running
            run-call 0
        "#]],
    );
}

#[test]
fn a_change_of_mode_applies_to_the_next_plan() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> planned write /p/a
> mode auto
> mode auto
> model call write_file {"path":"b"}
> planned write /p/b
> mode read_only
> model call write_file {"path":"c"}
> planned write /p/c
> finished 1 ok "written"
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "" [once, session: edit the project, always: edit the project, no]

            append mode auto
            show mode auto
            stop-asking 0
            show call 0 running
            run-call 0

            (nothing)

            append call 1 a0 c1 write_file {"path":"b"}
            show call 1 write_file {"path":"b"}
            plan-call 1 write_file {"path":"b"}

            show call 1 "Edit /p/b" diff /p/b ""
            show call 1 running
            run-call 1

            append mode read_only
            show mode read_only

            append call 2 a0 c2 write_file {"path":"c"}
            show call 2 write_file {"path":"c"}
            plan-call 2 write_file {"path":"c"}

            show call 2 "Edit /p/c" diff /p/c ""
            append result 2 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            show call 2 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            append result 1 ok "written" 7 ms
            show call 1 ok "written" 7 ms
        "#]],
    );
}

#[test]
fn a_question_that_a_stricter_mode_denies_is_refused() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> mode read_only
> decided once
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "" [once, session: edit the project, always: edit the project, no]

            append mode read_only
            show mode read_only
            stop-asking 0
            append result 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            show call 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            (nothing)
        "#]],
    );
}

#[test]
fn a_question_that_a_looser_mode_allows_is_not_asked_any_more() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> mode full_access
> decided once
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "" [once, session: edit the project, always: edit the project, no]

            append mode full_access
            show mode full_access
            stop-asking 0
            show call 0 running
            run-call 0

            (nothing)
        "#]],
    );
}

/// The options were made anew when the answer came, for the mode of that moment, so that a yes for
/// the session counted as a no.
#[test]
fn an_option_that_was_offered_stands_though_the_mode_has_changed_since() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> mode auto
> decided session
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append mode auto
            show mode auto

            append decision 0 session from now on run "make" in /p
            show call 0 running
            run-call 0
        "#]],
    );
}

#[test]
fn once_read_only_is_left_the_model_is_told_that_its_denials_no_longer_hold() {
    check(
        r#"
> mode read_only
> prompt "write"
> model call write_file {"path":"a"}
> planned write /p/a
> model end tool_calls
> model text "Done."
> model end
> mode auto
> mode ask
> restart
> prompt "again"
> model text "Done."
> model end
> mode read_only
> mode ask
> prompt "and again"
"#,
        expect![[r#"
            append mode read_only
            show mode read_only

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a ""
            append result 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            show call 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append mode auto
            show mode auto
            append told "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason."

            append mode ask
            show mode ask

            (nothing)

            append user t1 "again"
            ask-model #0: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode." | assistant "Done." | user "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason." + "again"

            show text "Done."

            append assistant a2 "Done."
            append ended t1 done
            answer p1 ended EndTurn

            append mode read_only
            show mode read_only

            append mode ask
            show mode ask

            append user t2 "and again"
            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode." | assistant "Done." | user "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason." + "again" | assistant "Done." | user "and again"
        "#]],
    );
}

#[test]
fn a_denial_for_another_reason_is_not_taken_back_with_read_only() {
    check(
        r#"
> mode read_only
> prompt "read, and loosen yourself"
> model call read_file {"path":"a"}
> model call write_file {"path":"/u/config.toml"}
> planned 0 read /p/a
> planned 1 write /u/config.toml
> finished 0 ok "Denied: the session is in read_only mode"
> model end tool_calls
> model text "Done."
> model end
> mode ask
> prompt "on"
"#,
        expect![[r#"
            append mode read_only
            show mode read_only

            append user t0 "read, and loosen yourself"
            ask-model #0: user "read, and loosen yourself"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append call 1 a0 c1 write_file {"path":"/u/config.toml"}
            show call 1 write_file {"path":"/u/config.toml"}
            plan-call 1 write_file {"path":"/u/config.toml"}

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            show call 1 "Edit /u/config.toml" diff /u/config.toml ""
            append result 1 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."
            show call 1 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."

            append result 0 ok "Denied: the session is in read_only mode" 7 ms
            show call 0 ok "Denied: the session is in read_only mode" 7 ms

            ask-model #1: user "read, and loosen yourself" | assistant call c0 read_file {"path":"a"} call c1 write_file {"path":"/u/config.toml"} | results c0 "Denied: the session is in read_only mode", c1 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write."

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append mode ask
            show mode ask

            append user t1 "on"
            ask-model #2: user "read, and loosen yourself" | assistant call c0 read_file {"path":"a"} call c1 write_file {"path":"/u/config.toml"} | results c0 "Denied: the session is in read_only mode", c1 error "Denied: /u/config.toml belongs to Undine's own settings and history, which tools never write." | assistant "Done." | user "on"
        "#]],
    );
}

#[test]
fn read_only_that_is_back_before_the_model_was_told_is_told_too() {
    check(
        r#"
> mode read_only
> prompt "write"
> model call write_file {"path":"a"}
> planned write /p/a
> model end tool_calls
> model text "Done."
> model end
> mode ask
> mode read_only
> prompt "again"
> model text "Done."
> model end
> restart
> mode ask
> prompt "and again"
"#,
        expect![[r#"
            append mode read_only
            show mode read_only

            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            show call 0 "Edit /p/a" diff /p/a ""
            append result 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."
            show call 0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode."

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append mode ask
            show mode ask
            append told "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason."

            append mode read_only
            show mode read_only
            append told "The session is in read_only mode again, and what that mode denied is denied again."

            append user t1 "again"
            ask-model #2: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode." | assistant "Done." | user "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason." + "The session is in read_only mode again, and what that mode denied is denied again." + "again"

            show text "Done."

            append assistant a2 "Done."
            append ended t1 done
            answer p1 ended EndTurn

            (nothing)

            append mode ask
            show mode ask
            append told "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason."

            append user t2 "and again"
            ask-model #0: user "write" | assistant call c0 write_file {"path":"a"} | results c0 error "Denied: the session is in read_only mode, which does not allow changing files. Say what you would do instead, or ask the person to change the mode." | assistant "Done." | user "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason." + "The session is in read_only mode again, and what that mode denied is denied again." + "again" | assistant "Done." | user "The session has left read_only mode. What was denied to you because of that mode is no longer denied for that reason." + "and again"
        "#]],
    );
}

#[test]
fn a_read_that_is_planned_again_is_judged_again_and_never_runs_as_more() {
    check(
        r#"
> can-hold
> mode auto
> prompt "look"
> model call run_command {"command":"ls"}
> model end tool_calls
> planned run reading "ls"
> finished moved
> planned run reading "ls"
> finished moved
> mode ask
> planned run reading "ls"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 run_command {"command":"ls"}
            show call 0 run_command {"command":"ls"}
            plan-call 0 run_command {"command":"ls"}

            (nothing)

            show call 0 "Run ls" command "ls" in /p
            show call 0 running
            run-call 0 held to reading

            plan-call 0 run_command {"command":"ls"}

            show call 0 "Run ls" command "ls" in /p
            show call 0 running
            run-call 0 held to reading

            plan-call 0 run_command {"command":"ls"}

            append mode ask
            show mode ask

            show call 0 "Run ls" command "ls" in /p
            show call 0 waiting
            ask-person 0 "Run ls" to run "ls" in /p showing command "ls" in /p [once, session: run "ls" in /p, always: run "ls" in /p, no]
        "#]],
    );
}
