//! Pictures that the person attaches.

use crate::support::editor::Pending;
use crate::support::stage::Stage;
use base64::{Engine, engine::general_purpose::STANDARD};
use protocol::acp::{self, ContentBlock, SessionId, StopReason};
use protocol::methods::Prompt;
use serde_json::Value;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nmore";

fn image(bytes: &[u8]) -> ContentBlock {
    // What the editor says of it does not count.
    ContentBlock::Image(acp::ImageContent::new(STANDARD.encode(bytes), "image/tiff"))
}

fn prompt(stage: &Stage, session: &SessionId, blocks: Vec<ContentBlock>) -> Pending<Prompt> {
    stage
        .editor
        .request::<Prompt>(acp::PromptRequest::new(session.clone(), blocks))
}

#[test]
fn a_picture_of_the_persons_reaches_the_model_in_every_wire_format() {
    for kind in [
        "openai-compatible",
        "anthropic",
        "openai",
        "gemini",
        "ollama",
    ] {
        let stage = Stage::speaking(kind, "", "");
        let session = stage.editor.new_session();
        let prompt = prompt(&stage, &session, vec!["look".into(), image(PNG)]);
        let mut asked = stage.model.next();
        let body = asked.body.to_string();
        assert!(body.contains(&STANDARD.encode(PNG)), "{kind}: {body}");
        assert!(
            kind == "ollama" || body.contains("image/png"),
            "{kind}: {body}"
        );
        asked.say("Seen.");
        asked.end();
        assert_eq!(
            stage.editor.end(&prompt).end,
            Ok(StopReason::EndTurn),
            "{kind}"
        );
    }
}

/// BUG-74 has its server's half here: a prompt that waits keeps its picture.
#[test]
fn bug_074_a_prompt_that_waits_keeps_its_picture_and_a_loaded_session_shows_it() {
    let mut stage = Stage::new("");
    let (session, first, mut asked) = stage.ask("one");
    let second = prompt(&stage, &session, vec!["two".into(), image(PNG)]);
    stage.editor.round_trip();
    asked.say("1");
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.pictures().len(), 1);
    asked.say("2");
    asked.end();
    // It is shown where the turn takes it, which may be before or behind the first one's answer.
    let turn = stage.editor.end(&second);
    stage.editor.end(&first).end.unwrap();
    let shown = |of: &[Value]| {
        let images = of.iter().filter(|it| it["content"]["type"] == "image");
        images
            .filter(|it| it["content"]["data"] == STANDARD.encode(PNG))
            .count()
    };
    assert_eq!(shown(&turn.of_kind("user_message_chunk")), 1);
    stage.editor.finish();
    stage.restart();
    let replayed = stage.editor.load(&session).unwrap();
    let replayed: Vec<Value> = replayed
        .iter()
        .map(|it| serde_json::to_value(it).unwrap())
        .collect();
    assert_eq!(shown(&replayed), 1, "{replayed:#?}");
    let third = stage.editor.prompt(&session, "three");
    let mut asked = stage.model.next();
    assert_eq!(asked.pictures().len(), 1);
    asked.say("3");
    asked.end();
    stage.editor.end(&third).end.unwrap();
}

#[test]
fn a_prompt_may_be_a_picture_alone_and_what_is_none_is_refused() {
    let stage = Stage::new("");
    let session = stage.editor.new_session();
    let alone = prompt(&stage, &session, vec![image(PNG)]);
    let mut asked = stage.model.next();
    asked.say("Seen.");
    asked.end();
    stage.editor.end(&alone).end.unwrap();
    for bytes in [
        &b"BM no picture of ours"[..],
        &[&PNG[..8], &vec![0; 3_932_160][..]].concat(),
    ] {
        let refused = prompt(&stage, &session, vec!["look".into(), image(bytes)]);
        assert!(
            stage
                .editor
                .end(&refused)
                .end
                .unwrap_err()
                .message
                .contains("picture")
        );
    }
}
