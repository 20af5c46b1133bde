//! Output styles and guidance.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::acp::SessionId;

fn system(stage: &Stage, session: &SessionId) -> String {
    let prompt = stage.editor.prompt(session, "hi");
    let mut asked = stage.model.next();
    let system = asked.system();
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt).end.unwrap();
    system
}

fn command(stage: &Stage, session: &SessionId, text: &str) -> String {
    let prompt = stage.editor.prompt(session, text);
    let text = stage.editor.end(&prompt).text();
    stage
        .editor
        .forget(|it| it["params"]["update"]["sessionUpdate"] == "config_option_update");
    text
}

#[test]
fn a_style_counts_from_the_next_message_on_and_is_remembered() {
    let mut stage = Stage::new(
        "//- /.undine/output-styles/pirate.md\n---\ndescription: Arr\n---\nTalk like a pirate.\n",
    );
    let session = stage.editor.new_session();
    assert!(!system(&stage, &session).contains("As few words"));
    let listed = command(&stage, &session, "/output-style");
    assert!(
        listed.contains("pirate: Arr") && listed.contains("* default"),
        "{listed}"
    );
    command(&stage, &session, "/output-style pirate");
    assert!(system(&stage, &session).contains("Talk like a pirate."));
    let unknown = command(&stage, &session, "/output-style nope");
    assert!(unknown.contains("There is no style"), "{unknown}");
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    assert!(system(&stage, &session).contains("Talk like a pirate."));
}

#[test]
fn a_style_that_is_too_large_is_the_default_with_a_warning() {
    let large = "x".repeat(40_001);
    let files = format!("//- /.undine/output-styles/large.md\n{large}\n");
    let stage = Stage::with(Setup::agent(), &files, "[output]\nstyle = \"large\"\n");
    let session = stage.editor.new_session();
    stage.editor.take("the warning", |it| {
        it["method"] == "window/showMessage" && it.to_string().contains("40000 bytes")
    });
    assert!(!system(&stage, &session).contains("xxxx"));
}

#[test]
fn guidance_is_for_local_models_unless_it_is_off() {
    let guided = |config: &str| {
        let stage = Stage::with(Setup::agent(), "", config);
        let session = stage.editor.new_session();
        system(&stage, &session).contains("# Step by step")
    };
    assert!(guided(""));
    assert!(!guided("[output]\nguidance = \"off\"\n"));
}
