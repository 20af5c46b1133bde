//! Pictures that the model reads are shown to it, and to the person.

use crate::support::editor::{Pending, Turn};
use crate::support::model::{Asked, data_url};
use crate::support::stage::Stage;
use protocol::acp::{SessionId, StopReason};
use protocol::methods::Prompt;
use serde_json::{Value, json};
use std::fs;

/// The most bytes that a picture may have: 3.75 MiB.
const MOST: usize = 3_932_160;

/// Bytes that begin as a picture of this kind does.
fn picture(kind: &str, n_bytes: usize) -> Vec<u8> {
    let start: &[u8] = match kind {
        "png" => b"\x89PNG\r\n\x1a\n",
        "jpeg" => b"\xff\xd8\xff\xe0",
        "gif" => b"GIF89a",
        "webp" => b"RIFF\x10\0\0\0WEBPVP8 ",
        other => panic!("{other}"),
    };
    let mut bytes = start.to_vec();
    bytes.extend((0..n_bytes - start.len()).map(|it| (it % 251) as u8));
    bytes
}

/// A prompt after which the model reads: the request that has the result, to be answered with `done`.
struct Look {
    prompt: Pending<Prompt>,
    asked: Asked,
}

fn look(stage: &Stage, session: &SessionId, arguments: Value) -> Look {
    let prompt = stage.editor.prompt(session, "look");
    let mut asked = stage.model.next();
    asked.call("read_file", arguments);
    asked.end();
    Look {
        prompt,
        asked: stage.model.next(),
    }
}

/// Ends the turn of a look.
fn done(stage: &Stage, mut look: Look) -> Turn {
    look.asked.say("done");
    look.asked.end();
    let turn = stage.editor.end(&look.prompt);
    assert_eq!(turn.end, Ok(StopReason::EndTurn));
    turn
}

/// Reads one file in a session of its own: the result, and the pictures with it.
fn looked_at(name: &str, bytes: &[u8]) -> (String, Vec<(String, String, Vec<u8>)>) {
    let stage = Stage::new("");
    stage.workspace.write(name, bytes);
    let session = stage.editor.new_session();
    let look = look(&stage, &session, json!({"path": name}));
    let seen = (look.asked.result(), look.asked.pictures());
    done(&stage, look);
    seen
}

/// The labels of a request's pictures.
fn labels(asked: &Asked) -> Vec<String> {
    asked.pictures().into_iter().map(|it| it.0).collect()
}

#[test]
fn r_041_each_kind_of_picture_is_shown_to_the_model() {
    for kind in ["png", "jpeg", "gif", "webp"] {
        let bytes = picture(kind, 3000);
        let name = format!("shot.{kind}");
        let (result, pictures) = looked_at(&name, &bytes);
        let told = format!("[image/{kind}, 3000 bytes]");
        assert_eq!(result, told);
        let label = format!("Of tool call call_0: {name} {told}");
        assert_eq!(pictures, [(label, format!("image/{kind}"), bytes)]);
    }
}

#[test]
fn r_042_first_bytes_tell_a_picture_and_not_its_name() {
    let (result, pictures) = looked_at("notes.txt", &picture("png", 500));
    assert_eq!(result, "[image/png, 500 bytes]");
    assert_eq!(pictures.len(), 1);
    let (result, pictures) = looked_at("a.png", b"no picture\n");
    assert_eq!(result, "no picture\n");
    assert_eq!(pictures, []);
}

#[test]
fn r_043_the_text_of_a_picture_is_one_line() {
    let (result, _) = looked_at("a.png", &picture("png", 48_213));
    assert_eq!(result, "[image/png, 48213 bytes]");
}

#[test]
fn r_044_the_largest_picture_is_shown_and_one_of_a_byte_more_is_refused_with_its_size() {
    let largest = picture("png", MOST);
    let (result, pictures) = looked_at("a.png", &largest);
    assert_eq!(result, "[image/png, 3932160 bytes]");
    assert_eq!(pictures.len(), 1);
    assert!(pictures[0].2 == largest);
    let (result, pictures) = looked_at("a.png", &picture("png", MOST + 1));
    assert!(result.contains("3932161 bytes"), "{result}");
    assert!(result.contains("3932160"), "{result}");
    assert_eq!(pictures, []);
}

#[test]
fn r_047_pictures_of_several_calls_follow_the_run_of_their_results() {
    let stage = Stage::new("");
    stage.workspace.write("a.png", picture("png", 100));
    stage.workspace.write("b.gif", picture("gif", 200));
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "look");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.png"}));
    asked.call("read_file", json!({"path": "b.gif"}));
    asked.end();
    let asked = stage.model.next();
    let roles: Vec<&str> = asked
        .messages()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "tool", "user"]
    );
    assert_eq!(
        labels(&asked),
        [
            "Of tool call call_0: a.png [image/png, 100 bytes]",
            "Of tool call call_1: b.gif [image/gif, 200 bytes]"
        ]
    );
    done(&stage, Look { prompt, asked });
}

/// Two turns of the person behind each other are refused by some servers.
#[test]
fn what_the_person_says_behind_a_picture_is_one_message_with_it() {
    let stage = Stage::new("");
    stage.workspace.write("a.png", picture("png", 100));
    let session = stage.editor.new_session();
    let prompt = stage.editor.prompt(&session, "look");
    let mut asked = stage.model.next();
    asked.call("read_file", json!({"path": "a.png"}));
    let steering = stage.editor.prompt(&session, "and tell me");
    // It waits before the answer ends.
    stage.editor.round_trip();
    asked.end();
    let asked = stage.model.next();
    let content = &asked.messages().last().unwrap()["content"];
    let kinds: Vec<&str> = content
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["text", "image_url", "text"]);
    assert_eq!(content[2]["text"], "and tell me");
    done(&stage, Look { prompt, asked });
    stage.editor.end(&steering);
}

#[test]
fn r_048_only_the_newest_three_pictures_are_sent_and_others_leave_a_line() {
    let mut stage = Stage::new("");
    for it in 1..=5 {
        stage
            .workspace
            .write(&format!("{it}.png"), picture("png", 100 + it));
    }
    let session = stage.editor.new_session();
    for it in 1..=5 {
        let look = look(&stage, &session, json!({"path": format!("{it}.png")}));
        let first = it.max(3) - 2;
        let expected = (first..=it).map(|it| {
            format!(
                "Of tool call call_0: {it}.png [image/png, {} bytes]",
                100 + it
            )
        });
        assert_eq!(labels(&look.asked), expected.collect::<Vec<_>>());
        let results = look
            .asked
            .messages()
            .iter()
            .filter(|it| it["role"] == "tool");
        let is_shown: Vec<bool> = results
            .map(|it| {
                !it["content"]
                    .as_str()
                    .unwrap()
                    .contains("is not shown any more")
            })
            .collect();
        let expected: Vec<bool> = (1..=it).map(|it| it >= first).collect();
        assert_eq!(is_shown, expected);
        done(&stage, look);
    }

    // And a session that is resumed sends the same three.
    stage.editor.finish();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "go on");
    let asked = stage.model.next();
    let pictures = asked.pictures();
    assert_eq!(
        pictures.iter().map(|it| it.2.len()).collect::<Vec<_>>(),
        [103, 104, 105]
    );
    assert_eq!(pictures[0].2, picture("png", 103));
    done(&stage, Look { prompt, asked });
}

#[test]
fn a_picture_among_texts_is_shown_with_them() {
    let stage = Stage::new("//- /a.txt\none\n//- /c.txt\nthree\n");
    stage.workspace.write("b.png", picture("png", 321));
    let session = stage.editor.new_session();
    let look = look(
        &stage,
        &session,
        json!({"paths": ["a.txt", "b.png", "c.txt"]}),
    );
    assert_eq!(
        look.asked.result(),
        "=== a.txt ===\none\n\n=== b.png ===\n[image/png, 321 bytes]\n\n=== c.txt ===\nthree\n\n"
    );
    assert_eq!(
        labels(&look.asked),
        ["Of tool call call_0: b.png [image/png, 321 bytes]"]
    );
    done(&stage, look);
}

#[test]
fn a_picture_that_is_open_as_a_text_is_a_picture() {
    let stage = Stage::new("");
    stage.workspace.write("a.txt", picture("gif", 64));
    // As an editor shows it that reads bytes as Latin-1.
    let text: String = picture("gif", 64).into_iter().map(char::from).collect();
    stage.editor.open_text("a.txt", text);
    let session = stage.editor.new_session();
    let look = look(&stage, &session, json!({"path": "a.txt"}));
    assert_eq!(look.asked.pictures()[0].2, picture("gif", 64));
    done(&stage, look);
}

#[test]
fn the_person_is_shown_the_picture_and_the_log_names_it_and_does_not_hold_it() {
    let mut stage = Stage::new("");
    let bytes = picture("jpeg", 100_000);
    stage.workspace.write("a.jpg", &bytes);
    let session = stage.editor.new_session();
    let look = look(&stage, &session, json!({"path": "a.jpg"}));
    let turn = done(&stage, look);
    let shown = turn.of_kind("tool_call_update");
    let shown = shown.iter().find(|it| it["status"] == "completed").unwrap();
    assert_eq!(shown["_meta"]["undine"]["images"], 1, "{shown:#}");
    assert_eq!(
        shown["content"][0]["content"]["text"],
        "[image/jpeg, 100000 bytes]"
    );
    let image = &shown["content"][1]["content"];
    assert_eq!(
        (&image["type"], &image["mimeType"]),
        (&json!("image"), &json!("image/jpeg"))
    );
    let url = format!("data:image/jpeg;base64,{}", image["data"].as_str().unwrap());
    assert!(data_url(&url).unwrap().1 == bytes);

    let log = &stage.workspace.logs()[0];
    assert!(
        fs::metadata(log).unwrap().len() < 10_000,
        "the log holds the picture"
    );
    let kept = fs::read_dir(log.with_file_name("pictures")).unwrap();
    let kept: Vec<_> = kept
        .map(|it| fs::read(it.unwrap().path()).unwrap())
        .collect();
    assert!(kept == [bytes]);

    // Loaded again, it is told how many there were.
    stage.editor.finish();
    stage.restart();
    let updates = stage.editor.load(&session).unwrap();
    let updates = updates.iter().map(|it| serde_json::to_value(it).unwrap());
    let images: Vec<Value> = updates
        .map(|it| it["_meta"]["undine"]["images"].clone())
        .filter(|it| !it.is_null())
        .collect();
    assert_eq!(images, [json!(1)]);
}

#[test]
fn pictures_whose_bytes_are_gone_leave_a_line() {
    let mut stage = Stage::new("");
    stage.workspace.write("a.png", picture("png", 100));
    let session = stage.editor.new_session();
    let look = look(&stage, &session, json!({"path": "a.png"}));
    done(&stage, look);
    stage.editor.finish();
    fs::remove_dir_all(stage.workspace.path(".undine/conversations/pictures")).unwrap();
    stage.restart();
    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "go on");
    let asked = stage.model.next();
    assert_eq!(asked.pictures(), []);
    assert!(
        asked.messages()[3]["content"]
            .as_str()
            .unwrap()
            .contains("read it again")
    );
    done(&stage, Look { prompt, asked });
}

#[test]
fn a_model_that_takes_no_pictures_is_told_so_and_the_person_too() {
    let stage = Stage::new("");
    stage.workspace.write("a.png", picture("png", 100));
    let session = stage.editor.new_session();
    let refused = look(&stage, &session, json!({"path": "a.png"}));
    refused.asked.fail(
        400,
        "Invalid content type. image_url is only supported by certain models.",
    );
    // It is asked again without.
    let asked = stage.model.next();
    assert_eq!(asked.pictures(), []);
    let result = asked.result();
    assert!(
        result.starts_with("[image/png, 100 bytes]\n[a.png could not be shown"),
        "{result}"
    );
    let turn = done(
        &stage,
        Look {
            prompt: refused.prompt,
            asked,
        },
    );
    let told = json!(turn.of_kind("tool_call_update")).to_string();
    assert!(
        told.contains("The model was not shown this")
            && told.contains("image_url is only supported"),
        "{told}"
    );

    // The refused one is not tried again.
    let prompt = stage.editor.prompt(&session, "go on");
    let asked = stage.model.next();
    assert_eq!(asked.pictures(), []);
    done(&stage, Look { prompt, asked });
}

#[test]
fn a_refusal_about_pictures_where_there_are_none_ends_the_turn() {
    let stage = Stage::new("");
    let (_, prompt, asked) = stage.ask("go");
    asked.fail(400, "no image for you");
    let end = stage.editor.end(&prompt).end.unwrap_err();
    assert!(end.message.contains("no image for you"), "{end:?}");
    assert_eq!(end.data["kind"], "pictures");
}
