//! Lists with pages and titles, words in sessions, earlier prompts, exports.

use super::{AUTO, FILES, command, records, say, stage, titles};
use crate::support::editor::{Editor, Setup};
use crate::support::stage::Stage;
use expect_test::expect;
use protocol::acp;
use protocol::methods::{
    ExportSession, ListSessions, RenameSession, SearchPrompts, SearchSessions,
};
use protocol::record::Record;
use protocol::sessions::{
    ExportFormat, ExportSessionParams, ExportSessionResult, RenameSessionParams,
    SearchPromptsParams, SearchSessionsParams,
};
use serde_json::json;
use std::fs;

fn rename(session: &str, title: &str) -> RenameSessionParams {
    RenameSessionParams {
        session_id: session.to_owned(),
        cwd: None,
        title: title.to_owned(),
    }
}

#[test]
fn a_title_that_was_given_counts_whether_the_session_is_open_or_not() {
    let mut stage = stage();
    let session = stage.editor.new_session();
    say(&stage, &session, "why is the total wrong?", "tax");
    assert_eq!(titles(&stage), ["why is the total wrong?"]);
    command(&stage, &session, "/rename The  total\n");
    let told =
        |it: &serde_json::Value| it["params"]["update"]["sessionUpdate"] == "session_info_update";
    assert_eq!(titles(&stage), ["The total"]);
    let renamed = rename(&session.0, "Sums\u{7}");
    let kept = stage.editor.ask::<RenameSession>(renamed).unwrap().title;
    let update = stage.editor.take("the new title", told);
    assert_eq!(update["params"]["update"]["title"], kept);
    assert_eq!(titles(&stage), [kept]);
    let empty = stage.editor.ask::<RenameSession>(rename(&session.0, " \n"));
    assert!(empty.unwrap_err().message.contains("empty"));

    stage.editor.finish();
    stage.restart();
    let renamed = stage
        .editor
        .ask::<RenameSession>(rename(&session.0, "Closed"));
    assert_eq!(renamed.unwrap().title, "Closed");
    assert_eq!(titles(&stage), ["Closed"]);
    let title = Record::Title {
        title: "Closed".into(),
    };
    assert_eq!(records(&stage, &session.0).last(), Some(&title));
    // The name of one that is open elsewhere is not changed here.
    stage.editor.load(&session).unwrap();
    let other = Editor::start(&Setup::agent(), &stage.workspace);
    let refused = other.ask::<RenameSession>(rename(&session.0, "Mine"));
    assert!(refused.unwrap_err().message.contains("Another Undine"));
    assert_eq!(titles(&stage), ["Closed"]);
}

#[test]
fn a_list_comes_in_pages() {
    let config = format!("{AUTO}[limits]\nsession_page = 2\n");
    let stage = Stage::with(Setup::agent(), FILES, &config);
    for text in ["one", "two", "three", "four", "five"] {
        let session = stage.editor.new_session();
        say(&stage, &session, text, "yes");
    }
    let page = |cursor: Option<String>| {
        let params = acp::ListSessionsRequest::new()
            .cwd(stage.workspace.root())
            .cursor(cursor);
        let page = stage.editor.ask::<ListSessions>(params).unwrap();
        let titles = page.sessions.into_iter().filter_map(|it| it.title);
        (titles.collect::<Vec<_>>(), page.next_cursor)
    };
    let (first, next) = page(None);
    assert_eq!(first, ["five", "four"]);
    let (second, next) = page(next);
    assert_eq!(second, ["three", "two"]);
    let (third, next) = page(next);
    assert_eq!((third, next), (vec!["one".to_owned()], None));
    let params = acp::ListSessionsRequest::new()
        .cwd(stage.workspace.root())
        .cursor("nonsense".to_owned());
    let refused = stage.editor.ask::<ListSessions>(params);
    assert!(refused.unwrap_err().message.contains("cursor"));
}

#[test]
fn words_are_found_in_what_was_said() {
    let stage = stage();
    let first = stage.editor.new_session();
    say(
        &stage,
        &first,
        "why is the total wrong?",
        "The tax is added twice.",
    );
    let second = stage.editor.new_session();
    say(&stage, &second, "write a test for the TOTAL", "Here it is.");
    let find = |query: &str| {
        let params = SearchSessionsParams {
            cwd: None,
            query: query.to_owned(),
        };
        let found = stage.editor.ask::<SearchSessions>(params).unwrap().sessions;
        found
            .into_iter()
            .map(|it| (it.session_id, it.message))
            .collect::<Vec<_>>()
    };
    let (one, two) = (first.to_string(), second.to_string());
    assert_eq!(
        find("total"),
        [(two.clone(), Some(1)), (one.clone(), Some(1))]
    );
    assert_eq!(find("TAX twice"), [(one.clone(), Some(2))]);
    assert_eq!(find("tax test"), []);
    let text = command(&stage, &second, "/sessions tax").text();
    assert!(
        text.contains(&one) && text.contains("The tax is added twice."),
        "{text}"
    );
    assert!(!text.contains(&two), "{text}");
    let text = command(&stage, &second, "/sessions").text();
    assert!(text.contains(&one) && text.contains(&two), "{text}");
}

#[test]
fn spec_13_4a_earlier_prompts_are_this_sessions_first_then_the_newest_and_none_twice() {
    let stage = stage();
    let first = stage.editor.new_session();
    say(&stage, &first, "fix the total", "yes");
    say(&stage, &first, "run the tests", "yes");
    let second = stage.editor.new_session();
    say(&stage, &second, "Fix the tax", "yes");
    say(&stage, &second, "run the tests", "yes");
    let find = |session: Option<&str>, words: &str| {
        let params = SearchPromptsParams {
            cwd: None,
            session_id: session.map(str::to_owned),
            words: words.to_owned(),
        };
        let found = stage.editor.ask::<SearchPrompts>(params).unwrap().prompts;
        found.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    assert_eq!(
        find(Some(&first.0), ""),
        ["run the tests", "fix the total", "Fix the tax"]
    );
    assert_eq!(
        find(None, ""),
        ["run the tests", "Fix the tax", "fix the total"]
    );
    assert_eq!(find(None, "FIX tax"), ["Fix the tax"]);
    assert_eq!(find(None, "fix tests"), Vec::<String>::new());
}

#[test]
fn an_export_is_markdown_or_the_log_and_a_long_one_a_file() {
    let config = format!("{AUTO}[limits]\nexport_bytes = 400\n");
    let stage = Stage::with(Setup::agent(), FILES, &config);
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "read a.txt");
    let mut asked = stage.model.next();
    asked
        .say("I look.")
        .call("read_file", json!({"path": "a.txt"}));
    asked.end();
    let mut asked = stage.model.next();
    asked.say("It says one.");
    asked.end();
    stage.editor.end(&prompt);
    command(&stage, &session, "/rename Reading");
    let export = |format| {
        let params = ExportSessionParams {
            session_id: session.to_string(),
            cwd: None,
            format,
        };
        stage.editor.ask::<ExportSession>(params).unwrap()
    };
    let ExportSessionResult { text, path } = export(ExportFormat::Markdown);
    assert_eq!(path, None);
    expect![[r#"
        # Reading

        ## You

        read a.txt

        ## Undine

        I look.

        - `Read a.txt`

        ```text
        1 lines
        ```

        It says one.

        ## You

        /rename Reading

        ## Undine

        This session is called: Reading
    "#]]
    .assert_eq(&text.unwrap());
    let ExportSessionResult { text, path } = export(ExportFormat::Jsonl);
    assert_eq!(text, None);
    let written = fs::read_to_string(path.unwrap()).unwrap();
    let log = format!(".undine/conversations/{session}.jsonl");
    assert_eq!(written, stage.workspace.read(&log));
    let told = command(&stage, &session, "/export").text();
    let path = told.trim_start_matches("This session is written to ");
    let text = fs::read_to_string(path.trim_end_matches('.')).unwrap();
    assert!(text.starts_with("# Reading\n"), "{text}");
}
