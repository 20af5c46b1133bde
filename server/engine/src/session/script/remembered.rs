//! Answers for the session: what they cover, and for how long.

use super::check;
use expect_test::expect;

#[test]
fn a_session_answer_covers_the_same_command_and_no_other() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> model end tool_calls
> planned run "make"
> decided session
> finished ok "built"
> model call run_command {"command":"make"}
> model call run_command {"command":"make install"}
> model call run_command {"command":"make"}
> model end tool_calls
> planned 1 run "  make "
> planned 2 run "make install"
> planned 3 run "make" in /p/sub
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

            append decision 0 session from now on run "make" in /p
            show call 0 running
            run-call 0

            append result 0 ok "built" 7 ms
            show call 0 ok "built" 7 ms
            ask-model #1: user "build" | assistant call c0 run_command {"command":"make"} | results c0 "built"

            append call 1 a1 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            append call 2 a1 c2 run_command {"command":"make install"}
            show call 2 run_command {"command":"make install"}
            plan-call 2 run_command {"command":"make install"}

            append call 3 a1 c3 run_command {"command":"make"}
            show call 3 run_command {"command":"make"}
            plan-call 3 run_command {"command":"make"}

            (nothing)

            show call 1 "Run   make " command "  make " in /p
            show call 1 waiting
            ask-person 1 "Run   make " to run "  make " in /p showing command "  make " in /p [once, session: run "  make " in /p, always: run "  make " in /p, no]

            show call 2 "Run make install" command "make install" in /p
            show call 2 waiting
            ask-person 2 "Run make install" to run "make install" in /p showing command "make install" in /p [once, session: run "make install" in /p, always: run "make install" in /p, no]

            show call 3 "Run make" command "make" in /p/sub
            show call 3 waiting
            ask-person 3 "Run make" to run "make" in /p/sub showing command "make" in /p/sub [once, session: run "make" in /p/sub, always: run "make" in /p/sub, no]
        "#]],
    );
}

#[test]
fn a_session_answer_settles_the_open_questions_that_it_covers() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make"}
> model call run_command {"command":"make"}
> model call run_command {"command":"make install"}
> model end tool_calls
> planned 0 run "make"
> planned 1 run "make"
> planned 2 run "make install"
> decided 1 session
> decided 0 no "too late"
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            append call 1 a0 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            append call 2 a0 c2 run_command {"command":"make install"}
            show call 2 run_command {"command":"make install"}
            plan-call 2 run_command {"command":"make install"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            show call 1 "Run make" command "make" in /p
            show call 1 waiting
            ask-person 1 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            show call 2 "Run make install" command "make install" in /p
            show call 2 waiting
            ask-person 2 "Run make install" to run "make install" in /p showing command "make install" in /p [once, session: run "make install" in /p, always: run "make install" in /p, no]

            append decision 1 session from now on run "make" in /p
            show call 1 running
            run-call 1
            stop-asking 0
            show call 0 running
            run-call 0

            (nothing)
        "#]],
    );
}

#[test]
fn r_214_a_session_answer_counts_in_this_session_and_not_in_a_new_one() {
    check(
        r#"
> prompt "build twice"
> model call run_command {"command":"make"}
> model call run_command {"command":"make"}
> model end tool_calls
> planned 0 run "make"
> decided 0 session
> planned 1 run "make"
> finished 0 ok "built"
> finished 1 ok "built again"
> model text "Done."
> model end
> new-session
> prompt "build"
> model call run_command {"command":"make"}
> planned run "make"
"#,
        expect![[r#"
            append user t0 "build twice"
            ask-model #0: user "build twice"

            append call 0 a0 c0 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            append call 1 a0 c1 run_command {"command":"make"}
            show call 1 run_command {"command":"make"}
            plan-call 1 run_command {"command":"make"}

            (nothing)

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]

            append decision 0 session from now on run "make" in /p
            show call 0 running
            run-call 0

            show call 1 "Run make" command "make" in /p
            show call 1 running
            run-call 1

            append result 0 ok "built" 7 ms
            show call 0 ok "built" 7 ms

            append result 1 ok "built again" 7 ms
            show call 1 ok "built again" 7 ms
            ask-model #1: user "build twice" | assistant call c0 run_command {"command":"make"} call c1 run_command {"command":"make"} | results c0 "built", c1 "built again"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append started ask p/m

            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c2 run_command {"command":"make"}
            show call 0 run_command {"command":"make"}
            plan-call 0 run_command {"command":"make"}

            show call 0 "Run make" command "make" in /p
            show call 0 waiting
            ask-person 0 "Run make" to run "make" in /p showing command "make" in /p [once, session: run "make" in /p, always: run "make" in /p, no]
        "#]],
    );
}

#[test]
fn a_session_answer_lasts_over_turns() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> decided session
> finished ok "written"
> model text "Done."
> model end
> prompt "another"
> model call write_file {"path":"b"}
> model end tool_calls
> planned write /p/b
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

            append decision 0 session from now on edit the project
            show call 0 running
            run-call 0

            append result 0 ok "written" 7 ms
            show call 0 ok "written" 7 ms
            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 "written"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "another"
            ask-model #2: user "write" | assistant call c0 write_file {"path":"a"} | results c0 "written" | assistant "Done." | user "another"

            append call 1 a2 c1 write_file {"path":"b"}
            show call 1 write_file {"path":"b"}
            plan-call 1 write_file {"path":"b"}

            (nothing)

            show call 1 "Edit /p/b" diff /p/b ""
            show call 1 running
            run-call 1
        "#]],
    );
}

#[test]
fn a_session_answer_outside_the_project_covers_its_folder_only() {
    check(
        r#"
> prompt "look"
> model call read_file {"path":"/q/a"}
> model call read_file {"path":"/q/b"}
> model call read_file {"path":"/q/sub/c"}
> model end tool_calls
> planned 0 read /q/a
> planned 1 read /q/b
> planned 2 read /q/sub/c
> decided 0 session
"#,
        expect![[r#"
            append user t0 "look"
            ask-model #0: user "look"

            append call 0 a0 c0 read_file {"path":"/q/a"}
            show call 0 read_file {"path":"/q/a"}
            plan-call 0 read_file {"path":"/q/a"}

            append call 1 a0 c1 read_file {"path":"/q/b"}
            show call 1 read_file {"path":"/q/b"}
            plan-call 1 read_file {"path":"/q/b"}

            append call 2 a0 c2 read_file {"path":"/q/sub/c"}
            show call 2 read_file {"path":"/q/sub/c"}
            plan-call 2 read_file {"path":"/q/sub/c"}

            (nothing)

            show call 0 "Read /q/a"
            show call 0 waiting
            ask-person 0 "Read /q/a" to read /q/a [once, session: read /q, always: read /q, no]

            show call 1 "Read /q/b"
            show call 1 waiting
            ask-person 1 "Read /q/b" to read /q/b [once, session: read /q, always: read /q, no]

            show call 2 "Read /q/sub/c"
            show call 2 waiting
            ask-person 2 "Read /q/sub/c" to read /q/sub/c [once, session: read /q/sub, always: read /q/sub, no]

            append decision 0 session from now on read /q
            show call 0 running
            run-call 0
            stop-asking 1
            show call 1 running
            run-call 1
        "#]],
    );
}

#[test]
fn a_plan_that_no_one_rule_covers_is_not_offered_for_the_session() {
    check(
        r#"
> prompt "build"
> model call run_command {"command":"make >b"}
> planned run "make >b" and write /p/b
"#,
        expect![[r#"
            append user t0 "build"
            ask-model #0: user "build"

            append call 0 a0 c0 run_command {"command":"make >b"}
            show call 0 run_command {"command":"make >b"}
            plan-call 0 run_command {"command":"make >b"}

            show call 0 "Run make >b" command "make >b" in /p diff /p/b ""
            show call 0 waiting
            ask-person 0 "Run make >b" to run "make >b" in /p and write /p/b showing command "make >b" in /p and diff /p/b "" [once, no]
        "#]],
    );
}

#[test]
fn an_answer_for_always_is_kept_elsewhere_and_ends_where_it_is_taken_out() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> model call write_file {"path":"b"}
> model call write_file {"path":"c"}
> model end tool_calls
> planned 0 write /p/a
> decided 0 always
> planned 1 write /p/b
> taken-back
> planned 2 write /p/c
> restart
> prompt "write"
> model call write_file {"path":"d"}
> planned write /p/d
"#,
        expect![[r#"
            append user t0 "write"
            ask-model #0: user "write"

            append call 0 a0 c0 write_file {"path":"a"}
            show call 0 write_file {"path":"a"}
            plan-call 0 write_file {"path":"a"}

            append call 1 a0 c1 write_file {"path":"b"}
            show call 1 write_file {"path":"b"}
            plan-call 1 write_file {"path":"b"}

            append call 2 a0 c2 write_file {"path":"c"}
            show call 2 write_file {"path":"c"}
            plan-call 2 write_file {"path":"c"}

            (nothing)

            show call 0 "Edit /p/a" diff /p/a ""
            show call 0 waiting
            ask-person 0 "Edit /p/a" to write /p/a showing diff /p/a "" [once, session: edit the project, always: edit the project, no]

            append decision 0 always from now on edit the project
            show call 0 running
            run-call 0
            keep edit the project

            show call 1 "Edit /p/b" diff /p/b ""
            show call 1 running
            run-call 1

            show call 2 "Edit /p/c" diff /p/c ""
            show call 2 waiting
            ask-person 2 "Edit /p/c" to write /p/c showing diff /p/c "" [once, session: edit the project, always: edit the project, no]

            append result 0 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append result 1 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append result 2 cancelled "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on."
            append ended t0 failed "the server stopped"

            append user t1 "write"
            ask-model #0: user "write" | assistant call c0 write_file {"path":"a"} call c1 write_file {"path":"b"} call c2 write_file {"path":"c"} | results c0 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on.", c1 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on.", c2 error "Unknown: the server stopped while this ran or waited to run. Look at the present state before you go on." | user "write"

            append call 3 a1 c3 write_file {"path":"d"}
            show call 3 write_file {"path":"d"}
            plan-call 3 write_file {"path":"d"}

            show call 3 "Edit /p/d" diff /p/d ""
            show call 3 waiting
            ask-person 3 "Edit /p/d" to write /p/d showing diff /p/d "" [once, session: edit the project, always: edit the project, no]
        "#]],
    );
}

#[test]
fn an_answer_for_always_that_cannot_be_kept_counts_for_the_session_until_it_is_forgotten() {
    check(
        r#"
> prompt "write"
> model call write_file {"path":"a"}
> model end tool_calls
> planned write /p/a
> decided always
> remember
> taken-back
> finished ok "written"
> model text "Done."
> model end
> restart
> prompt "write"
> model call write_file {"path":"b"}
> model call write_file {"path":"c"}
> planned 1 write /p/b
> forget
> planned 2 write /p/c
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

            append decision 0 always from now on edit the project
            show call 0 running
            run-call 0
            keep edit the project

            append remembered edit the project

            append result 0 ok "written" 7 ms
            show call 0 ok "written" 7 ms
            ask-model #1: user "write" | assistant call c0 write_file {"path":"a"} | results c0 "written"

            show text "Done."

            append assistant a1 "Done."
            append ended t0 done
            answer p0 ended EndTurn

            (nothing)

            append user t1 "write"
            ask-model #0: user "write" | assistant call c0 write_file {"path":"a"} | results c0 "written" | assistant "Done." | user "write"

            append call 1 a2 c1 write_file {"path":"b"}
            show call 1 write_file {"path":"b"}
            plan-call 1 write_file {"path":"b"}

            append call 2 a2 c2 write_file {"path":"c"}
            show call 2 write_file {"path":"c"}
            plan-call 2 write_file {"path":"c"}

            show call 1 "Edit /p/b" diff /p/b ""
            show call 1 running
            run-call 1

            append forgot edit the project

            show call 2 "Edit /p/c" diff /p/c ""
            show call 2 waiting
            ask-person 2 "Edit /p/c" to write /p/c showing diff /p/c "" [once, session: edit the project, always: edit the project, no]
        "#]],
    );
}
