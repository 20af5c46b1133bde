//! Older history gives way to a summary, and nothing is lost (spec 12.2, 12.3).

mod native;
mod options;

use crate::support::editor::Setup;
use crate::support::model::{Asked, Said};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use serde_json::{Value, json};

/// A window of 100,000 tokens. It stands in the table of the provider, with which the stage's own part of the file ends.
pub(crate) const WINDOW: &str = "context_window = 100000\n";

pub(crate) fn stage(config: &str) -> Stage {
    Stage::with(Setup::agent(), "//- /a.txt\nalpha\n", config)
}

/// One prompt and its answer, which took so many tokens.
#[track_caller]
pub(crate) fn turn(stage: &Stage, session: &SessionId, prompt: &str, said: &str, tokens: u64) {
    let prompt = stage.editor.prompt(session, prompt);
    let asked = stage.model.next();
    assert!(!is_for_summary(&asked), "{:#}", asked.body);
    answer(asked, said, tokens);
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
}

pub(crate) fn answer(mut asked: Asked, said: &str, tokens: u64) {
    asked.say(said);
    asked.usage(tokens, 0);
    asked.end();
}

pub(crate) fn is_for_summary(asked: &Asked) -> bool {
    asked.system().starts_with("You write the checkpoint")
}

/// The next request, which is for a summary; answers it.
#[track_caller]
pub(crate) fn summarise(stage: &Stage, summary: &str) -> String {
    let mut asked = stage.model.next();
    assert!(is_for_summary(&asked), "{:#}", asked.body);
    assert!(asked.body["tools"].is_null(), "{:#}", asked.body);
    let question = asked.last_prompt();
    asked.say(summary);
    asked.end();
    question
}

fn all_said(asked: &Asked) -> String {
    format!("{:?}", asked.turns())
}

#[test]
fn r_108_after_compact_the_next_request_has_a_summary_and_the_tail_instead_of_the_old_messages() {
    let stage = stage("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "first prompt", "first answer", 10);
    turn(&stage, &session, "second prompt", "second answer", 10);
    turn(&stage, &session, "third prompt", "third answer", 10);
    let compact = stage.editor.prompt(&session, "/compact");
    let question = summarise(&stage, "They greeted each other.");
    assert!(question.contains("first prompt") && question.contains("first answer"));
    assert!(!question.contains("second prompt"), "{question}");
    let shown = stage.editor.end(&compact);
    assert_eq!(shown.end, Ok(StopReason::EndTurn));
    assert!(shown.text().contains("(c1)"), "{}", shown.text());
    let prompt = stage.editor.prompt(&session, "fourth prompt");
    let asked = stage.model.next();
    let said = all_said(&asked);
    assert!(
        !said.contains("first prompt") && !said.contains("first answer"),
        "{said}"
    );
    let turns = asked.turns();
    let Said::User(first) = &turns[0] else {
        panic!("{turns:?}")
    };
    assert!(first.starts_with(
        "[Checkpoint c1, made because the person asked for it. It stands for 2 earlier messages"
    ));
    assert!(first.contains("They greeted each other.") && first.ends_with("second prompt"));
    assert_eq!(turns.len(), 5);
    answer(asked, "fourth answer", 10);
    stage.editor.end(&prompt);
}

#[test]
fn r_117_r_119_the_model_checkpoints_when_it_wants_and_before_its_next_call() {
    let stage = stage(WINDOW);
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("compact_context", json!({}));
    asked.usage(100, 0);
    asked.end();
    let question = summarise(&stage, "They said go.");
    assert!(question.contains("The person:\ngo"), "{question}");
    let mut asked = stage.model.next();
    let last = asked.last_prompt();
    assert!(
        last.contains("They said go.") && last.contains("you asked for it"),
        "{last}"
    );
    asked.say("done");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert!(turn.text().ends_with("done"), "{}", turn.text());
}

#[test]
fn r_118_the_focus_is_in_the_summariser_s_request() {
    let stage = stage("");
    let (session, prompt, mut asked) = stage.ask("go");
    asked.call(
        "compact_context",
        json!({"focus": "the names of the tables"}),
    );
    asked.end();
    let question = summarise(&stage, "They said go.");
    assert!(question.contains("the names of the tables"), "{question}");
    answer(stage.model.next(), "done", 10);
    stage.editor.end(&prompt);
    turn(&stage, &session, "two", "second", 10);
    turn(&stage, &session, "three", "third", 10);
    let compact = stage.editor.prompt(&session, "/compact only the errors");
    let question = summarise(&stage, "s");
    assert!(
        question.contains("above all: only the errors"),
        "{question}"
    );
    // The checkpoint before is a part of it.
    assert!(question.contains("They said go."), "{question}");
    stage.editor.end(&compact);
}

#[test]
fn r_120_by_itself_it_happens_at_85_percent_of_the_window() {
    let stage = stage(WINDOW);
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 84_000);
    turn(&stage, &session, "two", "second", 86_000);
    let prompt = stage.editor.prompt(&session, "three");
    summarise(&stage, "They counted.");
    let asked = stage.model.next();
    assert!(all_said(&asked).contains("They counted."));
    answer(asked, "third", 1_000);
    let text = stage.editor.end(&prompt).text();
    assert!(
        text.contains("86 % full") && text.contains("(c1)"),
        "{text}"
    );
    turn(&stage, &session, "four", "fourth", 1_000);
}

#[test]
fn r_121_the_percentage_can_be_set_also_for_one_model() {
    let percent = "[compaction]\nauto_threshold_percent = 50\n";
    let stage = stage(&format!("{WINDOW}{percent}"));
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 49_000);
    turn(&stage, &session, "two", "second", 51_000);
    let prompt = stage.editor.prompt(&session, "three");
    summarise(&stage, "They counted.");
    answer(stage.model.next(), "third", 1_000);
    stage.editor.end(&prompt);
    let percent = "[compaction.threshold_percent_per_model]\n\"scripted/scripted-1\" = 30\n";
    stage.workspace.configure(&format!(
        "{}{WINDOW}{percent}",
        crate::support::stage::config_for(&stage.model.url())
    ));
    let mut stage = stage;
    stage.editor.finish();
    stage.restart();
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 31_000);
    let prompt = stage.editor.prompt(&session, "two");
    summarise(&stage, "They counted.");
    answer(stage.model.next(), "second", 1_000);
    stage.editor.end(&prompt);
}

#[test]
fn bug_067_too_long_in_the_middle_of_an_answer_is_summarised_and_the_turn_goes_on() {
    let stage = stage("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 10);
    let prompt = stage.editor.prompt(&session, "two");
    let mut asked = stage.model.next();
    asked.say("I beg");
    let error = json!({"message": "This model's maximum context length is 4096 tokens", "type": "server_error"});
    asked.event(&json!({"error": error}).to_string());
    drop(asked);
    summarise(&stage, "They counted.");
    let mut asked = stage.model.next();
    let last = asked.last_prompt();
    assert!(
        last.contains("They counted.") && last.ends_with("two"),
        "{last}"
    );
    asked.say("I go on.");
    asked.end();
    let turn = stage.editor.end(&prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    assert!(turn.text().ends_with("I go on."), "{}", turn.text());
}

#[test]
fn a_result_that_no_summary_can_make_fit_is_cut_in_the_request_and_the_turn_goes_on() {
    let stage = stage("");
    stage
        .workspace
        .write("big.txt", "0123456789\n".repeat(1_000));
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("read_file", json!({"path": "big.txt"}));
    asked.end();
    let mut n_bytes = Vec::new();
    let too_long = "This model's maximum context length is 4096 tokens";
    loop {
        let mut asked = stage.model.next();
        if !is_for_summary(&asked) {
            n_bytes.push(asked.body["messages"].to_string().len());
            if asked.body["messages"].to_string().len() < 5_000 {
                asked.say("done");
                asked.end();
                break;
            }
        }
        asked.fail(400, too_long);
    }
    assert_eq!(stage.editor.end(&prompt).end, Ok(StopReason::EndTurn));
    assert!(
        n_bytes.is_sorted_by(|a, b| a >= b) && n_bytes.len() > 2,
        "{n_bytes:?}"
    );
}

#[test]
fn bug_068_a_small_window_gets_a_summary_that_fits_it_and_a_tiny_one_a_calm_note() {
    let stage = stage("context_window = 8000\n");
    let session = stage.editor.new_session();
    for n in 0..3 {
        turn(
            &stage,
            &session,
            &format!("prompt {n}"),
            &"word ".repeat(1_500),
            10,
        );
    }
    let compact = stage.editor.prompt(&session, "/compact");
    let mut asked = stage.model.next();
    let most = asked.body["max_tokens"]
        .as_u64()
        .or(asked.body["max_completion_tokens"].as_u64());
    assert_eq!(most, Some(2_000), "{:#}", asked.body);
    let n_bytes = asked.last_prompt().len() + asked.system().len();
    assert!(n_bytes / 4 + 2_000 <= 8_000, "{n_bytes}");
    asked.say("They wrote.");
    asked.end();
    assert!(stage.editor.end(&compact).text().contains("(c1)"));

    let tiny = self::stage("context_window = 2000\n[compaction]\nauto_enabled = false\n");
    let session = tiny.editor.new_session();
    turn(&tiny, &session, "one", "first", 10);
    let compact = tiny.editor.prompt(&session, "/compact");
    let turn = tiny.editor.end(&compact);
    assert!(
        turn.text().contains("too small for a summary"),
        "{}",
        turn.text()
    );
}

#[test]
fn bug_069_a_message_that_is_typed_during_compact_waits_and_is_sent() {
    let stage = stage("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 10);
    turn(&stage, &session, "two", "second", 10);
    let compact = stage.editor.prompt(&session, "/compact");
    let mut summary = stage.model.next();
    assert!(is_for_summary(&summary));
    let typed = stage.editor.prompt(&session, "typed meanwhile");
    stage.editor.round_trip();
    stage.model.assert_not_asked();
    summary.say("They counted.");
    summary.end();
    stage.editor.end(&compact);
    let asked = stage.model.next();
    assert!(asked.last_prompt().ends_with("typed meanwhile"));
    assert!(all_said(&asked).contains("They counted."));
    answer(asked, "third", 10);
    assert_eq!(stage.editor.end(&typed).end, Ok(StopReason::EndTurn));
}

#[test]
fn bug_066_one_prompt_and_a_very_long_run_is_cut_within_the_run() {
    let stage = stage(WINDOW);
    stage
        .workspace
        .write("big.txt", "0123456789\n".repeat(2_000));
    let (_, prompt, mut asked) = stage.ask("go");
    for n in 0..4 {
        asked.say(&format!("step {n}"));
        asked.call(
            "read_file",
            json!({"path": "big.txt", "view_range": [1 + n, 2_000]}),
        );
        asked.usage(if n == 3 { 90_000 } else { 1_000 }, 0);
        asked.end();
        if n == 3 {
            let question = summarise(&stage, "They read.");
            assert!(question.contains("step 0") && question.contains("The person:\ngo"));
        }
        asked = stage.model.next();
    }
    let said = all_said(&asked);
    assert!(
        said.contains("They read.") && !said.contains("step 0"),
        "{said}"
    );
    answer(asked, "done", 1_000);
    stage.editor.end(&prompt);
}

#[test]
fn a_cancel_during_the_summary_ends_it_and_the_history_stays() {
    let stage = stage("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one", "first", 10);
    turn(&stage, &session, "two", "second", 10);
    let compact = stage.editor.prompt(&session, "/compact");
    let summary = stage.model.next();
    stage.editor.cancel(&session);
    assert_eq!(stage.editor.end(&compact).end, Ok(StopReason::Cancelled));
    summary.wait_until_hung_up();
    let prompt = stage.editor.prompt(&session, "three");
    let asked = stage.model.next();
    assert!(all_said(&asked).contains("\"one\""));
    answer(asked, "third", 10);
    stage.editor.end(&prompt);
}

#[test]
fn an_empty_summary_leaves_the_history_as_it_is_and_too_little_of_it_is_said_calmly() {
    let stage = stage("");
    let session = stage.editor.new_session();
    let compact = stage.editor.prompt(&session, "/compact");
    let turn_of = stage.editor.end(&compact);
    assert_eq!(turn_of.end, Ok(StopReason::EndTurn));
    assert!(
        turn_of.text().contains("too little history"),
        "{}",
        turn_of.text()
    );
    turn(&stage, &session, "one", "first", 10);
    turn(&stage, &session, "two", "second", 10);
    let compact = stage.editor.prompt(&session, "/compact");
    summarise(&stage, " ");
    let text = stage.editor.end(&compact).text();
    assert!(text.contains("summary was empty"), "{text}");
    let prompt = stage.editor.prompt(&session, "three");
    let asked = stage.model.next();
    assert!(all_said(&asked).contains("\"one\""));
    answer(asked, "third", 10);
    stage.editor.end(&prompt);
}

#[test]
fn a_file_that_was_read_before_can_be_read_again_after_a_summary() {
    let stage = stage("");
    let read = |asked: &mut Asked| {
        asked.call("read_file", json!({"path": "a.txt"}));
    };
    let (_, prompt, mut asked) = stage.ask("go");
    read(&mut asked);
    asked.end();
    let mut asked = stage.model.next();
    assert!(asked.result().contains("alpha"));
    asked.call("compact_context", json!({}));
    asked.end();
    summarise(&stage, "They read a.txt.");
    let mut asked = stage.model.next();
    read(&mut asked);
    asked.end();
    let asked = stage.model.next();
    assert!(asked.result().contains("alpha"), "{}", asked.result());
    answer(asked, "done", 10);
    stage.editor.end(&prompt);
}

#[test]
fn what_a_summary_cost_is_counted_and_the_log_keeps_all() {
    let stage = stage("");
    let session = stage.editor.new_session();
    turn(&stage, &session, "one needle", "first", 10);
    turn(&stage, &session, "two", "second", 10);
    let compact = stage.editor.prompt(&session, "/compact");
    let mut asked = stage.model.next();
    asked.say(concat!(
        "They counted with gh",
        "p_abcdefghijklmnopqrstuvwxyz0123456789."
    ));
    asked.usage(500, 20);
    asked.end();
    stage.editor.end(&compact);
    let log = std::fs::read_to_string(&stage.workspace.logs()[0]).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let of = |kind: &str| {
        lines
            .iter()
            .filter(|it| it["type"] == kind)
            .collect::<Vec<_>>()
    };
    assert!(of("user").iter().any(|it| it["text"] == "one needle"));
    let compacted = of("compacted");
    assert_eq!((compacted.len(), &compacted[0]["id"]), (1, &json!(1)));
    assert!(!log.contains("ghp_"), "{log}");
    let usage = of("usage");
    let of_summary: Vec<_> = usage
        .iter()
        .filter(|it| it["purpose"] == "compaction")
        .collect();
    assert_eq!(
        (of_summary.len(), &of_summary[0]["input"]),
        (1, &json!(500))
    );
}
