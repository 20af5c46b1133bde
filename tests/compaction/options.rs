//! `/context` and `/autocompact`.

use super::{WINDOW, stage, summarise, turn};
use crate::support::stage::Stage;
use protocol::acp::SessionId;
use protocol::context::{ContextParams, ContextReport, Part};
use protocol::methods::SessionContext;
use std::fs;

fn said(stage: &Stage, session: &SessionId, command: &str) -> String {
    let prompt = stage.editor.prompt(session, command);
    stage.editor.end(&prompt).text()
}

fn report(stage: &Stage, session: &SessionId) -> ContextReport {
    let session_id = session.to_string();
    let report = stage
        .editor
        .ask::<SessionContext>(ContextParams { session_id });
    report.unwrap()
}

#[test]
fn what_fills_the_window_is_shown_part_by_part() {
    let stage = stage(WINDOW);
    stage
        .workspace
        .write("AGENTS.md", "Write tests. ".repeat(400));
    let session = stage.editor.new_session();
    turn(&stage, &session, &"long ".repeat(800), "first", 20_000);
    let report = report(&stage, &session);
    assert_eq!(
        (report.size, report.reserve, report.threshold),
        (100_000, 10_000, Some(85_000))
    );
    assert_eq!(report.used, 20_000);
    let of = |part: Part| {
        report
            .parts
            .iter()
            .find(|it| it.part == part)
            .map_or(0, |it| it.tokens)
    };
    assert!(
        of(Part::System) > 50 && of(Part::Tools) > 1_000,
        "{report:?}"
    );
    assert!(
        (1_300..1_500).contains(&of(Part::Instructions)),
        "{report:?}"
    );
    assert!((1_000..1_100).contains(&of(Part::User)), "{report:?}");
    let text = said(&stage, &session, "/context");
    assert!(
        text.starts_with("About 20000 of 100000 tokens are filled (20 %)"),
        "{text}"
    );
    assert!(text.contains("- project instructions: 1"), "{text}");
}

#[test]
fn autocompact_shows_and_sets_when_it_happens_by_itself() {
    let stage = stage(WINDOW);
    let session = stage.editor.new_session();
    let ask = |command: &str| said(&stage, &session, command);
    assert!(
        ask("/autocompact")
            .contains("at 85 % of the window. For this model that is at 85000 tokens.")
    );
    assert!(ask("/autocompact 40").contains("at 40 % of the window"));
    turn(&stage, &session, "one", "first", 41_000);
    let prompt = stage.editor.prompt(&session, "two");
    summarise(&stage, "They counted.");
    let mut asked = stage.model.next();
    asked.say("second");
    asked.end();
    stage.editor.end(&prompt);
    assert!(ask("/autocompact off").contains("not summarised by itself"));
    turn(&stage, &session, "three", "third", 90_000);
    turn(&stage, &session, "four", "fourth", 1_000);
    assert!(ask("/autocompact tokens 60000").contains("60000 tokens"));
    assert!(ask("/autocompact on").contains("at 40 %"));
    assert!(ask("/autocompact reset").contains("at 85 %"));
    assert!(ask("/autocompact soon").contains("no percentage"));
    let file = stage.workspace.outside("config").join("config.toml");
    assert!(!fs::read_to_string(&file).unwrap().contains("auto_"));
    assert!(ask("/autocompact 60 project").contains("at 60 %"));
    // As of every file of the project's that sets something.
    let told = stage.editor.take("what the project sets", |it| {
        it["method"] == "window/showMessage"
    });
    assert!(
        told["params"]["message"]
            .as_str()
            .unwrap()
            .contains("compaction.auto_threshold_percent")
    );
    let project = stage.workspace.read(".undine/config.toml");
    assert!(project.contains("auto_threshold_percent = 60"), "{project}");
    assert!(
        !fs::read_to_string(&file)
            .unwrap()
            .contains("auto_threshold_percent = 60")
    );
}
