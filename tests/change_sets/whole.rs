//! Change sets that go through.

use super::{AUTO, OLD, after, before, files, journals, patch, stage, tree};
use crate::support::editor::Setup;
use crate::support::stage::Stage;
use protocol::record::{EditedFile, Record};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn five_files_and_a_new_one_are_changed_together() {
    let stage = stage();
    let script = stage.workspace.path("sub/closed.txt");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o751)).unwrap();
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(result.starts_with("6 files changed"), "{result}");
    assert_eq!(tree(&stage.workspace), after());
    let mode = |path: &str| {
        let meta = fs::metadata(stage.workspace.path(path)).unwrap();
        meta.permissions().mode() & 0o7777
    };
    assert_eq!(mode("sub/closed.txt"), 0o751);
    // As any new file, by the umask of the server, which is this process's.
    let other = stage.workspace.outside("other");
    fs::write(&other, "").unwrap();
    let usual = fs::metadata(&other).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("sub/new/made.txt"), usual);
    assert_eq!(stage.editor.edits().len(), 1);
    assert_eq!(journals(&stage.workspace), 0);
}

#[test]
fn the_log_says_which_files_a_call_is_about_to_change() {
    let stage = stage();
    let (_, prompt) = stage.call("apply_patch", patch());
    stage.result(&prompt);
    let records = stage.workspace.records();
    let at = |fits: fn(&Record) -> bool| records.iter().position(fits).unwrap();
    let edit = at(|it| matches!(it, Record::Edit { .. }));
    assert!(edit < at(|it| matches!(it, Record::Result { .. })));
    let Record::Edit {
        files, checkpoint, ..
    } = &records[edit]
    else {
        unreachable!()
    };
    assert!(checkpoint.is_some());
    let root = stage.workspace.root();
    let said = |it: &EditedFile| {
        let path = it.path.strip_prefix(&root).unwrap().display();
        format!("{path} {} {}", it.before.is_some(), it.after.is_some())
    };
    let said: Vec<String> = files.iter().map(said).collect();
    assert_eq!(
        said,
        [
            "open.txt true true",
            "sub/closed.txt true true",
            "sub/windows.txt true true",
            "sub/new/made.txt false true",
            "sub/gone.txt true false",
            "sub/moved.txt true false",
            "sub/there.txt false true",
        ]
    );
}

#[test]
fn a_file_that_only_moves_stays_the_same_file() {
    let stage = Stage::with(Setup::agent(), &format!("//- /a.txt\n{OLD}"), AUTO);
    let number = |path: &str| fs::metadata(stage.workspace.path(path)).unwrap().ino();
    let before = number("a.txt");
    let patch = "diff --git a/a.txt b/deep/b.txt\nsimilarity index 100%\nrename from a.txt\nrename to deep/b.txt\n";
    let (_, prompt) = stage.call("apply_patch", json!({"patch": patch}));
    stage.result(&prompt);
    assert_eq!(tree(&stage.workspace), files(&[("deep/b.txt", OLD)]));
    assert_eq!(number("deep/b.txt"), before);
}

#[test]
fn a_file_with_two_names_is_written_in_place_and_the_model_is_told() {
    let stage = stage();
    let path = |it: &str| stage.workspace.path(it);
    fs::hard_link(path("sub/closed.txt"), path("second.txt")).unwrap();
    let (_, prompt) = stage.call("apply_patch", patch());
    let result = stage.result(&prompt);
    assert!(
        result.contains("sub/closed.txt was written in place"),
        "{result}"
    );
    assert!(
        !result.contains("windows.txt was written in place"),
        "{result}"
    );
    let mut expected = after();
    expected.insert("second.txt".to_owned(), expected["sub/closed.txt"].clone());
    assert_eq!(tree(&stage.workspace), expected);
}

/// Watches files while they are changed; answers what was seen of them.
fn watched(stage: &Stage, paths: &[&str], tool: &str, call: Value) -> Vec<(usize, usize)> {
    let (old, new) = (large("old"), large("new"));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watchers: Vec<_> = paths
            .iter()
            .map(|path| {
                let (path, old, new, is_over) = (stage.workspace.path(path), &old, &new, &is_over);
                scope.spawn(move || {
                    let (mut n_old, mut n_new) = (0, 0);
                    // Once more after the end, so that the new text is seen for certain.
                    let mut goes_on = true;
                    while goes_on {
                        goes_on = !is_over.load(Ordering::SeqCst);
                        match fs::read_to_string(&path).unwrap() {
                            it if it == *old => n_old += 1,
                            it if it == *new => n_new += 1,
                            it => return Err(format!("{} bytes: neither old nor new", it.len())),
                        }
                    }
                    Ok((n_old, n_new))
                })
            })
            .collect();
        let (_, prompt) = stage.call(tool, call);
        stage.result(&prompt);
        is_over.store(true, Ordering::SeqCst);
        watchers
            .into_iter()
            .map(|it| it.join().unwrap().unwrap())
            .collect()
    })
}

fn large(word: &str) -> String {
    (0..20_000).map(|at| format!("{word} {at:05}\n")).collect()
}

#[test]
fn r_015_whoever_reads_a_file_while_it_is_edited_sees_the_old_or_the_new_text() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    stage.workspace.write("a.txt", large("old"));
    let call = json!({
        "path": "a.txt", "target_content": "old", "replacement_content": "new", "allow_multiple": true,
    });
    let seen = watched(&stage, &["a.txt"], "edit_file", call);
    assert!(
        seen.iter().all(|(old, new)| *old > 0 && *new > 0),
        "{seen:?}"
    );
}

#[test]
fn r_016_whoever_reads_files_while_they_are_patched_sees_the_old_or_the_new_texts() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    let mut patch = "*** Begin Patch\n".to_owned();
    for path in ["a.txt", "b.txt"] {
        stage.workspace.write(path, large("old"));
        patch += &format!("*** Update File: {path}\n@@\n");
        let changes = |sign: &str, word: &str| {
            let lines = large(word);
            lines
                .lines()
                .map(|it| format!("{sign}{it}\n"))
                .collect::<String>()
        };
        patch += &(changes("-", "old") + &changes("+", "new"));
    }
    patch += "*** End Patch\n";
    let seen = watched(
        &stage,
        &["a.txt", "b.txt"],
        "apply_patch",
        json!({"patch": patch}),
    );
    assert!(
        seen.iter().all(|(old, new)| *old > 0 && *new > 0),
        "{seen:?}"
    );
}

#[test]
fn bug_006_two_writes_of_one_path_in_one_message_leave_exactly_one_of_them() {
    let stage = Stage::with(Setup::agent(), "", AUTO);
    let (_, prompt, mut asked) = stage.ask("go");
    let texts = [large("first"), large("second")];
    for text in &texts {
        asked.call("write_file", json!({"path": "a.txt", "content": text}));
    }
    asked.end();
    let mut asked = stage.model.next();
    assert_eq!(asked.results().len(), 2);
    assert!(texts.contains(&stage.workspace.read("a.txt")));
    asked.say("ok");
    asked.end();
    stage.editor.end(&prompt);
}

/// It was tried four times, and the model heard that somebody kept changing the text.
#[test]
fn a_patch_that_takes_one_path_for_a_file_and_a_folder_is_refused_with_the_reason() {
    let stage = stage();
    let patch = "*** Begin Patch\n*** Add File: q/r\n+1\n*** Add File: q\n+2\n*** End Patch\n";
    let (_, prompt) = stage.call("apply_patch", json!({"patch": patch}));
    assert_eq!(
        stage.result(&prompt),
        "q/r lies in q, which the same change takes for a file; nothing was changed. Do one after the other."
    );
    assert_eq!(tree(&stage.workspace), before());
}
