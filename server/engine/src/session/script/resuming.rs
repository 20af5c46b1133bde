//! Resuming: the log of a session whose server died, in each stage of a turn.

use super::check;
use expect_test::expect;

#[test]
fn a_session_at_rest_resumes_as_it_was() {
    check(
        r#"
> mode auto
> prompt "one"
> model thought "Hm."
> model text "First."
> model end
> restart
> prompt "two"
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "one"
            ask-model #0: user "one"

            show thought "Hm."

            show text "First."

            append assistant a0 "First." thought "Hm."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant "First." thought "Hm." | user "two"
        "#]],
    );
}

#[test]
fn death_before_the_first_word_ends_the_turn() {
    check(
        r#"
> prompt "one"
> restart
> model text "late"
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append ended t0 failed "the server stopped"

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" + "two"
        "#]],
    );
}

#[test]
fn death_while_the_model_speaks_loses_what_was_not_recorded() {
    check(
        r#"
> prompt "one"
> model text "I beg"
> restart
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "I beg"

            append ended t0 failed "the server stopped"

            append user t1 "two"
            ask-model #0: user "one" + "two"
        "#]],
    );
}

#[test]
fn death_while_a_call_is_planned_closes_it_as_unknown() {
    check(
        r#"
> prompt "one"
> model text "I look."
> model call read_file {"path":"a"}
> restart
> planned read /p/a
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "I look."

            append assistant a0 "I look."
            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant "I look." call c0 read_file {"path":"a"} | results c0 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on." | user "two"
        "#]],
    );
}

#[test]
fn death_while_a_question_is_open_closes_it_as_unknown() {
    check(
        r#"
> prompt "one"
> model call run_command {"command":"make"}
> planned run "make"
> restart
> decided once
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant call c0 run_command {"command":"make"} | results c0 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on." | user "two"
        "#]],
    );
}

#[test]
fn death_while_calls_run_closes_the_open_ones_as_unknown() {
    check(
        r#"
> mode full_access
> prompt "one"
> model call run_command {"command":"make a"}
> model call run_command {"command":"make b"}
> model end tool_calls
> planned 0 run "make a"
> planned 1 run "make b"
> finished 1 ok "built b"
> restart
> finished 0 ok "built a"
> prompt "two"
"#,
        expect![[r#"
            append mode full_access
            show mode full_access

            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 run_command {"command":"make a"}
            show call 0 run_command {"command":"make a"}
            plan-call 0 run_command {"command":"make a"}

            append call 1 a0 c1 run_command {"command":"make b"}
            show call 1 run_command {"command":"make b"}
            plan-call 1 run_command {"command":"make b"}

            (nothing)

            show call 0 "Run make a" command "make a" in /p
            show call 0 running
            run-call 0

            show call 1 "Run make b" command "make b" in /p
            show call 1 running
            run-call 1

            append result 1 ok "built b" 7 ms
            show call 1 ok "built b" 7 ms

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant call c0 run_command {"command":"make a"} call c1 run_command {"command":"make b"} | results c0 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on.", c1 "built b" | user "two"
        "#]],
    );
}

#[test]
fn death_between_answers_ends_the_turn() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> model end tool_calls
> planned read /p/a
> finished ok "text of a"
> restart
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} | results c0 "text of a"

            append ended t0 failed "the server stopped"

            append user t1 "two"
            ask-model #0: user "one" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "two"
        "#]],
    );
}

#[test]
fn a_repaired_log_needs_no_repair() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> restart
> restart
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            (nothing)
        "#]],
    );
}

#[test]
fn what_waited_when_the_server_died_is_gone() {
    check(
        r#"
> prompt "one"
> prompt "two"
> restart
> prompt "three"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            (nothing)

            append ended t0 failed "the server stopped"

            append user t1 "three"
            ask-model #0: user "one" + "three"
        "#]],
    );
}

#[test]
fn mode_and_session_answers_survive() {
    check(
        r#"
> mode auto
> prompt "build"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> decided session
> finished ok "built"
> model end
> restart
> prompt "again"
> model call run_command {"command":"make"}
> model call write_file {"path":"a"}
> planned 1 run "make"
> planned 2 write /p/a
"#,
        expect![[r#"
            append mode auto
            show mode auto

            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            ask-classifier 0 of m

            (nothing, 3 times)

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            append user t1 "again"
            ask-model #0: user "build" | assistant call c0 run_command {"command":"make"} | results c0 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on." | user "again"

            append call 1 a1 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            append call 2 a1 c2 write_file {"path":"a"}
            show call 2 write_file {"path":"a"}
            plan-call 2 write_file {"path":"a"}

            show call 1 "Run make" command "make" in /p
            ask-classifier 1 of m

            show call 2 "Edit /p/a" diff /p/a ""
            show call 2 running
            run-call 2
        "#]],
    );
}

#[test]
fn numbers_of_turns_calls_and_answers_go_on() {
    check(
        r#"
> prompt "one"
> model call read_file {"path":"a"}
> model end tool_calls
> planned-error "no"
> model text "Done."
> model end
> restart
> prompt "two"
> model call read_file {"path":"b"}
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            append result 0 error "no"
            show call 0 error "no"
            ask-model #1: user "one" | assistant call c0 read_file {"path":"a"} | results c0 error "no"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            append user t1 "two"
            ask-model #0: user "one" | assistant call c0 read_file {"path":"a"} | results c0 error "no" | assistant "Done." | user "two"

            append call 1 a2 c1 read_file {"path":"b"}
            show call 1 read_file {"path":"b"}
            plan-call 1 read_file {"path":"b"}
        "#]],
    );
}

#[test]
fn text_around_calls_is_one_answer_again() {
    check(
        r#"
> prompt "one"
> model text "Before. "
> model call read_file {"path":"a"}
> model text "After."
> model end tool_calls
> planned read /p/a
> finished ok "text of a"
> restart
> prompt "two"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "Before. "

            append assistant a0 "Before. "
            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            show text "After."

            append assistant a0 "After."

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-model #1: user "one" | assistant "Before. After." call c0 read_file {"path":"a"} | results c0 "text of a"

            append ended t0 failed "the server stopped"

            append user t1 "two"
            ask-model #0: user "one" | assistant "Before. After." call c0 read_file {"path":"a"} | results c0 "text of a" | user "two"
        "#]],
    );
}

#[test]
fn a_loaded_session_shows_what_was_said_and_done() {
    check(
        r#"
> prompt "build"
> model thought "Hm."
> model text "I build."
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> decided once
> finished ok "built"
> model call run_command {"command":"make"
> model call run_command {"command":"make install"}
> cancel
> load
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            show thought "Hm."

            show text "I build."

            append assistant a0 "I build." thought "Hm."
            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 once
            show call 0 running
            run-call 0

            append result 0 ok "built" 7 ms
            show call 0 ok "built" 7 ms
            ask-model #1: user "build" | assistant "I build." thought "Hm." call c0 run_command {"command":"make"} | results c0 "built"

            append call 1 a1 c1 run_command {"command":"make"
            show call 1 run_command null
            append result 1 error "The arguments are not valid JSON (EOF while parsing an object at line 1 column 17); nothing was done. Send the call again."
            show call 1 error "The arguments are not valid JSON (EOF while parsing an object at line 1 column 17); nothing was done. Send the call again."

            append call 2 a1 c2 run_command {"command":"make install"}
            show call 2 run_command {"command":"make install"}
            plan-call 2 run_command {"command":"make install"}

            stop-model #1
            stop-call 2
            append result 2 cancelled "Cancelled by the person before it ran; nothing was done."
            show call 2 cancelled
            append ended t0 cancelled
            answer p0 cancelled

            show user "build"
            show thought "Hm."
            show text "I build."
            show call 0 run_command {"command":"make"}
            show call 0 ok "Run make" "built" 7 ms
            show call 1 run_command null
            show call 1 error "The arguments are not valid JSON (EOF while parsing an object at line 1 column 17); nothing was done. Send the call again."
            show call 2 run_command {"command":"make install"}
            show call 2 cancelled
        "#]],
    );
}

#[test]
fn death_while_files_are_written_is_told_file_by_file() {
    check(
        r#"
> prompt "one"
> model call edit {}
> model end
> planned write /p/old
> decided once
> writes old new torn
> restart
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            append call 0 a0 c0 edit {}
            show call 0 edit {}
            plan-call 0 edit {}

            (nothing)

            show call 0 "Edit /p/old" diff /p/old ""
            show call 0 waiting
            ask-person 0 "Edit /p/old" to write /p/old showing diff /p/old "" [once, session: edit the project, always: edit the project, no]

            append decision 0 once
            show call 0 running
            run-call 0

            append result 0 cancelled "The server stopped while these files were being changed:\n- old: not changed\n- new: changed\n- torn: neither as before nor as it was to be; read it"
            append ended t0 failed "the server stopped"
        "#]],
    );
}
