//! Older history gives way to a summary, and the turn goes on.

use super::check;
use expect_test::expect;

#[test]
fn compact_when_idle_is_a_turn_without_an_answer_and_what_is_sent_meanwhile_waits() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model text "second"
> model end
> compact "the names"
> prompt "three"
> summary "They said one."
> model text "third"
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append ended t1 done
            answer p1 ended EndTurn

            ask-side 0 Summary: user "What the checkpoint is to keep above all: the names\n\nThe conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint. Keep what was named at the top above all."

            (nothing)

            append compacted c1 Person "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(1)
            show usage 74 in, 0 out
            append command "/compact" "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            show text "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            append ended t2 done
            answer p2 ended EndTurn
            append user t3 "three"
            show user "three"
            ask-model #2: user "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant "second" | user "three"

            show text "third"

            append assistant a2 "third"
            append ended t3 done
            answer p3 ended EndTurn
        "#]],
    );
}

#[test]
fn an_empty_session_has_too_little_to_summarise() {
    check(
        r#"
> compact
> prompt "one"
> model text "first"
> model end
> compact
"#,
        expect![[r#"
            append command "/compact" "There is too little history to summarise; all of it stays as it is."
            show text "There is too little history to summarise; all of it stays as it is."
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t1 done
            answer p1 ended EndTurn

            append command "/compact" "There is too little history to summarise; all of it stays as it is."
            show text "There is too little history to summarise; all of it stays as it is."
            append ended t2 done
            answer p2 ended EndTurn
        "#]],
    );
}

#[test]
fn the_model_s_wish_is_met_before_it_is_asked_again() {
    check(
        r#"
> prompt "go"
> model call compact_context {"focus":"names"}
> model end tool_calls
> summary "They said go."
> model text "on"
> model end
"#,
        expect![[r#"
            append user t0 "go"
            ask-model #0: user "go"

            append call 0 a0 c0 compact_context {"focus":"names"}
            show call 0 compact_context {"focus":"names"}
            show call 0 "Summarise older history"
            append result 0 ok "Noted: older history is summarised before your next step."
            show call 0 ok "Noted: older history is summarised before your next step."

            ask-side 0 Summary: user "What the checkpoint is to keep above all: names\n\nThe conversation:\n=====HISTORY-0=====\nThe person:\ngo\n\nThe agent called compact_context:\n{\"focus\":\"names\"}\n\ncompact_context gave:\nNoted: older history is summarised before your next step.\n=====HISTORY-0=====\n\nWrite the checkpoint. Keep what was named at the top above all."

            append compacted c1 Model "[Checkpoint c1, made because you asked for it. It stands for 3 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said go.\n\n[End of checkpoint c1. Go on from here.]" kept Nothing
            show usage 54 in, 0 out
            show notice "Older history was summarised (c1), as the model asked; the session's log keeps all of it. About 37 tokens became 54."
            ask-model #1: user "[Checkpoint c1, made because you asked for it. It stands for 3 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said go.\n\n[End of checkpoint c1. Go on from here.]"

            show text "on"

            append assistant a1 "on"
            append ended t0 done
            answer p0 ended EndTurn
        "#]],
    );
}

#[test]
fn bug_069_the_person_s_wish_during_a_turn_is_met_at_its_next_step_or_at_its_end() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> compact
> model text "second"
> model end
> prompt "three"
> summary "They said one."
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            append command "/compact" "Older history is summarised before the model is asked next."
            show text "Older history is summarised before the model is asked next."
            answer p2 ended EndTurn

            show text "second"

            append assistant a1 "second"
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            (nothing)

            append compacted c1 Person "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(1)
            show usage 74 in, 0 out
            show notice "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            append ended t1 done
            answer p1 ended EndTurn
            append user t2 "three"
            show user "three"
            ask-model #2: user "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant "second" | user "three"
        "#]],
    );
}

#[test]
fn the_threshold_is_held_against_what_the_provider_counted() {
    check(
        r#"
> limits window=100000
> prompt "one"
> model text "first"
> model usage 83000 1000
> model end
> prompt "two"
> model text "second"
> model usage 85000 1000
> model end
> prompt "three"
> summary "They said one."
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append usage Answer p/m 83000 in, 1000 out
            show usage 83000 in, 1000 out

            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append usage Answer p/m 85000 in, 1000 out
            show usage 85000 in, 1000 out

            append ended t1 done
            answer p1 ended EndTurn

            append user t2 "three"
            show notice "The window is 86 % full; older history is being summarised."
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Threshold "[Checkpoint c1, made because the window was getting full. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(2)
            show usage 81 in, 0 out
            show notice "Older history was summarised (c1), because the window was getting full; the session's log keeps all of it. About 86006 tokens became 81."
            ask-model #2: user "[Checkpoint c1, made because the window was getting full. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant "second" | user "three"
        "#]],
    );
}

#[test]
fn a_summary_that_fails_pauses_those_by_themselves_until_the_person_acts() {
    check(
        r#"
> limits window=100000
> prompt "one"
> model text "first"
> model usage 86000 0
> model end
> prompt "two"
> no-summary overloaded "It is overloaded."
> model text "second"
> model usage 86000 0
> model end
> prompt "three"
> model text "third"
> model usage 86000 0
> model end
> compact
> summary "They said one."
> prompt "four"
> model text "fourth"
> model usage 86000 0
> model end
> prompt "five"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append usage Answer p/m 86000 in, 0 out
            show usage 86000 in, 0 out

            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            show notice "The window is 86 % full; older history is being summarised."
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            show notice "Older history was not summarised: It is overloaded. It stays as it is, and is not tried again by itself; `/compact` does."
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append usage Answer p/m 86000 in, 0 out
            show usage 86000 in, 0 out

            append ended t1 done
            answer p1 ended EndTurn

            append user t2 "three"
            ask-model #2: user "one" | assistant "first" | user "two" | assistant "second" | user "three"

            show text "third"

            append assistant a2 "third"
            append usage Answer p/m 86000 in, 0 out
            show usage 86000 in, 0 out

            append ended t2 done
            answer p2 ended EndTurn

            ask-side 1 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Person "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(2)
            show usage 86 in, 0 out
            append command "/compact" "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 86000 tokens became 86."
            show text "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 86000 tokens became 86."
            append ended t3 done
            answer p3 ended EndTurn

            append user t4 "four"
            ask-model #3: user "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant "second" | user "three" | assistant "third" | user "four"

            show text "fourth"

            append assistant a3 "fourth"
            append usage Answer p/m 86000 in, 0 out
            show usage 86000 in, 0 out

            append ended t4 done
            answer p4 ended EndTurn

            append user t5 "five"
            show notice "The window is 86 % full; older history is being summarised."
            ask-side 2 Summary: user "The checkpoint of what came before, whose content yours must hold too:\n=====HISTORY-0=====\n[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]\n=====HISTORY-0=====\n\nThe conversation:\n=====HISTORY-0=====\nThe person:\ntwo\n\nThe agent:\nsecond\n\nThe person:\nthree\n\nThe agent:\nthird\n=====HISTORY-0=====\n\nWrite the checkpoint."
        "#]],
    );
}

#[test]
fn an_empty_summary_leaves_the_history_as_it_is() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model text "second"
> model end
> compact
> summary " "
> prompt "three"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append ended t1 done
            answer p1 ended EndTurn

            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append command "/compact" "Older history was not summarised: the model's summary was empty. It stays as it is."
            show text "Older history was not summarised: the model's summary was empty. It stays as it is."
            append ended t2 done
            answer p2 ended EndTurn

            append user t3 "three"
            ask-model #2: user "one" | assistant "first" | user "two" | assistant "second" | user "three"
        "#]],
    );
}

#[test]
fn bug_067_too_long_in_the_middle_of_an_answer_is_summarised_and_the_turn_goes_on() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model text "sec"
> model fail-as context-overflow "It is too long."
> summary "They said one."
> model text "second"
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "sec"

            append assistant a1 "sec" cut
            append void a1
            show text "\n\n(The answer broke off here and is asked for again.)\n\n"
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Overflow "[Checkpoint c1, made because the conversation had become too long. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(1)
            show usage 71 in, 0 out
            show notice "Older history was summarised (c1), because the conversation was too long for the model; the session's log keeps all of it. About 16 tokens became 71."
            ask-model #2: user "[Checkpoint c1, made because the conversation had become too long. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two"

            show text "second"

            append assistant a2 "second"
            append ended t1 done
            answer p1 ended EndTurn
        "#]],
    );
}

#[test]
fn what_stays_too_long_is_cut_harder_and_at_last_in_the_request() {
    check(
        r#"
> prompt "one"
> model text "first"
> model call read_file {"path":"a"}
> model end tool_calls
> planned 0 read /p/a
> finished 0 ok "a very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on, on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on"
> model fail-as context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> no-summary context-overflow "It is too long."
> model fail-as context-overflow "It is too long."
> summary "They said one."
> model text "done"
> model end
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append call 0 a0 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            (nothing)

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "a very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on, on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on" 7 ms
            show call 0 ok "a very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on, on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on" 7 ms
            ask-model #1: user "one" | assistant "first" call c0 read_file {"path":"a"} | results c0 "a very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on, on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on"

            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n\nThe agent called read_file:\n{\"path\":\"a\"}\n\nread_file gave:\na very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on and on, and on and on and on and on and on and on and on and on and on and on and on, on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on\n=====HISTORY-0=====\n\nWrite the checkpoint."

            show notice "Older history was not summarised: It is too long. It stays as it is; long texts of it are left out for now."
            ask-model #2: user "one" | assistant "first" call c0 read_file {"path":"a"} | results c0 "a very long result of a file that does not fit, and goes on and on and on and on and on and on and on and on and o\n[236 characters are left out here]\non and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on and on"

            (nothing, 5 times)

            append ended t0 failed "It is too long."
            answer p0 failed "It is too long."

            (nothing, 3 times)
        "#]],
    );
}

#[test]
fn an_answer_that_the_window_cut_off_goes_on_behind_a_summary_so_often_in_a_row() {
    check(
        r#"
> limits recoveries=1
> prompt "one"
> model text "fir"
> model end window_full
> summary "They said one."
> model text "st"
> model end window_full
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "fir"

            append assistant a0 "fir"
            append told "[Your last answer stopped because the window was full. Go on exactly where it stopped.]"
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfir\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Overflow "[Checkpoint c1, made because the conversation had become too long. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. Go on from here.]" kept Nothing
            show usage 59 in, 0 out
            show notice "Older history was summarised (c1), because the conversation was too long for the model; the session's log keeps all of it. About 10 tokens became 59."
            ask-model #1: user "[Checkpoint c1, made because the conversation had become too long. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. Go on from here.]" + "[Your last answer stopped because the window was full. Go on exactly where it stopped.]"

            show text "st"

            append assistant a1 "st"
            append ended t0 max_tokens
            answer p0 ended WindowFull
        "#]],
    );
}

#[test]
fn a_limit_of_the_answer_is_no_full_window() {
    check(
        r#"
> limits window=100000
> prompt "one"
> model text "fir"
> model usage 50000 4000
> model end max_tokens
> prompt "two"
> model text "sec"
> model usage 50000 50000
> model end max_tokens
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "fir"

            append assistant a0 "fir"
            append usage Answer p/m 50000 in, 4000 out
            show usage 50000 in, 4000 out

            append told "[Your reply reached its output cap and was cut off. Go on exactly where it stopped; repeat nothing and say nothing about the cut.]"
            ask-model #1: user "one" | assistant "fir" | user "[Your reply reached its output cap and was cut off. Go on exactly where it stopped; repeat nothing and say nothing about the cut.]"

            (nothing)

            show text "sec"

            append assistant a1 "sec"
            append usage Answer p/m 50000 in, 50000 out
            show usage 50000 in, 50000 out

            append told "[Your last answer stopped because the window was full. Go on exactly where it stopped.]"
            append user t0 "two"
            show user "two"
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfir\n\nTold to the agent:\n[Your reply reached its output cap and was cut off. Go on exactly where it stopped; repeat nothing and say nothing about the cut.]\n\nThe agent:\nsec\n=====HISTORY-0=====\n\nWrite the checkpoint."
        "#]],
    );
}

#[test]
fn a_cancel_stops_the_summary() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model text "second"
> model end
> compact
> prompt "three"
> cancel
> summary "too late"
> compact
> cancel-prompt 4
> prompt "four"
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append ended t1 done
            answer p1 ended EndTurn

            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            (nothing)

            stop-side 0
            append ended t2 cancelled
            answer p2 cancelled
            answer p3 cancelled

            (nothing)

            ask-side 1 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            stop-side 1
            append ended t3 cancelled
            answer p4 withdrawn

            append user t4 "four"
            ask-model #2: user "one" | assistant "first" | user "two" | assistant "second" | user "four"
        "#]],
    );
}

#[test]
fn a_session_goes_on_from_its_summary_after_a_restart() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model text "second"
> model end
> compact
> summary "They said one."
> restart
> prompt "three"
> load
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            show text "second"

            append assistant a1 "second"
            append ended t1 done
            answer p1 ended EndTurn

            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Person "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(1)
            show usage 74 in, 0 out
            append command "/compact" "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            show text "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            append ended t2 done
            answer p2 ended EndTurn

            (nothing)

            append user t3 "three"
            ask-model #0: user "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant "second" | user "three"

            show user "one"
            show text "first"
            show user "two"
            show text "second"
            show user "/compact"
            show text "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 22 tokens became 74."
            show user "three"
        "#]],
    );
}

#[test]
fn bug_065_what_the_model_is_told_during_a_call_stands_behind_its_result_also_after_a_summary() {
    check(
        r#"
> prompt "one"
> model text "first"
> model end
> prompt "two"
> model call read_file {"path":"a"}
> tell "The mode is another."
> model end tool_calls
> compact
> planned 0 read /p/a
> finished 0 ok "text of a"
> summary "They said one."
"#,
        expect![[r#"
            append user t0 "one"
            ask-model #0: user "one"

            show text "first"

            append assistant a0 "first"
            append ended t0 done
            answer p0 ended EndTurn

            append user t1 "two"
            ask-model #1: user "one" | assistant "first" | user "two"

            append call 0 a1 c0 read_file {"path":"a"}
            show call 0 read_file {"path":"a"}
            plan-call 0 read_file {"path":"a"}

            append told "The mode is another."

            (nothing)

            append command "/compact" "Older history is summarised before the model is asked next."
            show text "Older history is summarised before the model is asked next."
            answer p2 ended EndTurn

            show call 0 "Read /p/a"
            show call 0 running
            run-call 0

            append result 0 ok "text of a" 7 ms
            show call 0 ok "text of a" 7 ms
            ask-side 0 Summary: user "The conversation:\n=====HISTORY-0=====\nThe person:\none\n\nThe agent:\nfirst\n=====HISTORY-0=====\n\nWrite the checkpoint."

            append compacted c1 Person "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" kept Prompts(1)
            show usage 85 in, 0 out
            show notice "Older history was summarised (c1), as you asked; the session's log keeps all of it. About 33 tokens became 85."
            ask-model #2: user "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages of this session; each can be read whole with context_archive.]\n\nThey said one.\n\n[End of checkpoint c1. What follows is the conversation as it was.]" + "two" | assistant call c0 read_file {"path":"a"} | results c0 "text of a" | user "The mode is another."
        "#]],
    );
}
