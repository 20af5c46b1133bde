//! The checklist in a session (spec 10).

use super::check;
use expect_test::expect;

#[test]
fn a_checklist_is_made_kept_and_shown_without_asking_anybody() {
    check(
        r#"
        > mode read_only
        > prompt "go"
        > model call task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"},{"subject":"Fix","active_form":"Fixing"}]}
        > model call task_list {}
        > model call task_update {"updates":[{"id":9,"status":"completed"}]}
        > model call task_update {"updates":[{"id":1,"status":"done"}]}
        > model end tool_calls
        > cancel
        > load
        "#,
        expect![[r##"
            append mode read_only
            show mode read_only

            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"},{"subject":"Fix","active_form":"Fixing"}]}
            show call 0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"},{"subject":"Fix","active_form":"Fixing"}]}
            append checklist [#1 InProgress "Look" 0.., #2 Pending "Fix"]
            show checklist of 2
            show call 0 "Plan 2 tasks"
            append result 0 ok "Created #1 [in_progress] Look\nCreated #2 [pending] Fix"
            show call 0 ok "Created #1 [in_progress] Look\nCreated #2 [pending] Fix"

            append call 1 a0 c1 task_list {}
            show call 1 task_list {}
            show call 1 "Look at the checklist"
            append result 1 ok "#1 [in_progress] Look\n#2 [pending] Fix\nTasks 0/2"
            show call 1 ok "#1 [in_progress] Look\n#2 [pending] Fix\nTasks 0/2"

            append call 2 a0 c2 task_update {"updates":[{"id":9,"status":"completed"}]}
            show call 2 task_update {"updates":[{"id":9,"status":"completed"}]}
            show call 2 "Update the checklist"
            append result 2 error "Not done: there is no task #9; task_list shows them."
            show call 2 error "Not done: there is no task #9; task_list shows them."

            append call 3 a0 c3 task_update {"updates":[{"id":1,"status":"done"}]}
            show call 3 task_update {"updates":[{"id":1,"status":"done"}]}
            show call 3 "Update the checklist"
            append result 3 error "Bad arguments for task_update: unknown variant `done`, expected one of `pending`, `in_progress`, `blocked`, `completed`, `deleted`. Nothing was done."
            show call 3 error "Bad arguments for task_update: unknown variant `done`, expected one of `pending`, `in_progress`, `blocked`, `completed`, `deleted`. Nothing was done."

            ask-model #1: user "go" | assistant call c0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"},{"subject":"Fix","active_form":"Fixing"}]} call c1 task_list {} call c2 task_update {"updates":[{"id":9,"status":"completed"}]} call c3 task_update {"updates":[{"id":1,"status":"done"}]} | results c0 "Created #1 [in_progress] Look\nCreated #2 [pending] Fix", c1 "#1 [in_progress] Look\n#2 [pending] Fix\nTasks 0/2", c2 error "Not done: there is no task #9; task_list shows them.", c3 error "Bad arguments for task_update: unknown variant `done`, expected one of `pending`, `in_progress`, `blocked`, `completed`, `deleted`. Nothing was done."

            stop-model #1
            append ended t0 cancelled
            answer p0 cancelled

            show user "go"
            show call 0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"},{"subject":"Fix","active_form":"Fixing"}]}
            show checklist of 2
            show call 0 ok "Plan 2 tasks" "Created #1 [in_progress] Look\nCreated #2 [pending] Fix"
            show call 1 task_list {}
            show call 1 ok "Look at the checklist" "#1 [in_progress] Look\n#2 [pending] Fix\nTasks 0/2"
            show call 2 task_update {"updates":[{"id":9,"status":"completed"}]}
            show call 2 error "Update the checklist" "Not done: there is no task #9; task_list shows them."
            show call 3 task_update {"updates":[{"id":1,"status":"done"}]}
            show call 3 error "Update the checklist" "Bad arguments for task_update: unknown variant `done`, expected one of `pending`, `in_progress`, `blocked`, `completed`, `deleted`. Nothing was done."
        "##]],
    );
}

#[test]
fn what_was_done_and_used_meanwhile_belongs_to_the_task_in_progress_also_after_a_restart() {
    check(
        r#"
        > clock 1000
        > prompt "go"
        > model call task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"}]}
        > model call read {}
        > model usage 30 12
        > model end tool_calls
        > planned read /p/a
        > finished ok "text"
        > cancel
        > restart
        > clock 5000
        > prompt "more"
        > model call task_list {}
        > model call task_update {"updates":[{"id":1,"status":"completed"}]}
        > cancel
        "#,
        expect![[r##"
            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"}]}
            show call 0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"}]}
            append checklist [#1 InProgress "Look" 1000..]
            show checklist of 1
            show call 0 "Plan 1 task"
            append result 0 ok "Created #1 [in_progress] Look"
            show call 0 ok "Created #1 [in_progress] Look"

            append call 1 a0 c1 read {}
            show call 1 read {}
            plan-call 1 read {}

            append usage Answer p/m 30 in, 12 out
            show usage 30 in, 12 out

            (nothing)

            show call 1 "Read /p/a"
            show call 1 running
            run-call 1

            append result 1 ok "text" 7 ms
            show call 1 ok "text" 7 ms
            ask-model #1: user "go" | assistant call c0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"}]} call c1 read {} | results c0 "Created #1 [in_progress] Look", c1 "text"

            stop-model #1
            append ended t0 cancelled
            answer p0 cancelled

            (nothing)

            append user t1 "more"
            ask-model #0: user "go" | assistant call c0 task_create {"tasks":[{"subject":"Look","active_form":"Looking","status":"in_progress"}]} call c1 read {} | results c0 "Created #1 [in_progress] Look", c1 "text" | user "more"

            append call 2 a1 c2 task_list {}
            show call 2 task_list {}
            show call 2 "Look at the checklist"
            append result 2 ok "#1 [in_progress] Look\n  - read: Read /p/a (ok)\nTasks 0/1"
            show call 2 ok "#1 [in_progress] Look\n  - read: Read /p/a (ok)\nTasks 0/1"

            append call 3 a1 c3 task_update {"updates":[{"id":1,"status":"completed"}]}
            show call 3 task_update {"updates":[{"id":1,"status":"completed"}]}
            append checklist [#1 Completed "Look" 1000..5000 42 tokens]
            show checklist of 1
            show call 3 "Update the checklist"
            append result 3 ok "Updated #1 [completed] Look\nTasks 1/1"
            show call 3 ok "Updated #1 [completed] Look\nTasks 1/1"

            stop-model #0
            append ended t1 cancelled
            answer p1 cancelled
        "##]],
    );
}

#[test]
fn what_the_person_changes_is_told_with_the_next_request() {
    check(
        r#"
        > todos add Write tests
        > todos done 1
        > todos rm 7
        > prompt "go"
        > todos clear
        > model end
        "#,
        expect![[r#"
            append checklist [#1 Pending "Write tests"]
            show checklist of 1
            append told "The user changed the checklist: added #1 \"Write tests\"."

            append checklist [#1 Completed "Write tests" ..0]
            show checklist of 1
            append told "The user changed the checklist: marked #1 \"Write tests\" as completed."

            (nothing)

            append user t0 "go"
            ask-model #0: user "The user changed the checklist: added #1 \"Write tests\"." + "The user changed the checklist: marked #1 \"Write tests\" as completed." + "go"

            append checklist [#1 Deleted "Write tests" ..0]
            show checklist of 1
            append told "The user changed the checklist: cleared the checklist."

            ask-model #1: user "The user changed the checklist: added #1 \"Write tests\"." + "The user changed the checklist: marked #1 \"Write tests\" as completed." + "go" + "The user changed the checklist: cleared the checklist."
        "#]],
    );
}

#[test]
fn who_is_guided_is_reminded_of_a_list_that_was_left_alone() {
    let script = |guided: &str| {
        let mut script = format!(
            "{guided}> prompt \"go\"\n\
             > model call task_create {{\"tasks\":[{{\"subject\":\"Look\",\"active_form\":\"Looking\"}}]}}\n\
             > model end tool_calls\n"
        );
        for _ in 0..9 {
            script += "> model call t {broken\n> model end tool_calls\n";
        }
        script
    };
    let told = |guided: &str| {
        let printed = super::print_of(&script(guided));
        let lines = printed.lines();
        { lines }.filter(|it| it.starts_with("append told")).count()
    };
    assert_eq!((told(""), told("> unguided\n")), (1, 0));
}
