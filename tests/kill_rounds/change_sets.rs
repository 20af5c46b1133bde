//! A server is killed at any moment of a change of five files, again and again: each file is old or new, and
//! what is only half done is told by the next server, file by file.
//!
//! Half of the moments are drawn from the time that the change takes, the others from its inside: as soon as
//! one of the files is seen to be new.

use crate::change_sets::{after, before, journals, patch, stage, tree};
use crate::support::rounds::rounds;
use crate::support::stage::Stage;
use crate::support::workspace::Workspace;
use fastrand::Rng;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use protocol::record::Record;
use protocol::tool::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How far a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Old,
    New,
}

#[derive(Debug, Default)]
struct Seen {
    n: usize,
    n_begun: usize,
    n_half: usize,
}

#[test]
fn bug_005_a_server_that_is_killed_at_any_moment_of_a_change_leaves_each_file_old_or_new_and_says_which()
 {
    let usual = usual();
    let mut seen = Seen::default();
    for (_, mut rng) in rounds(0x5eed_0009, 12) {
        seen.n += 1;
        round(&mut rng, usual, &mut seen);
    }
    eprintln!(
        "of {} rounds {} had begun to write, {} were half done",
        seen.n, seen.n_begun, seen.n_half
    );
    // None would mean that nothing was tested.
    assert!(seen.n_begun * 4 > seen.n, "{seen:?}");
}

/// How long a change takes that is left alone.
fn usual() -> Duration {
    let stage = stage();
    let (_, prompt, mut asked) = stage.ask("go");
    asked.call("apply_patch", patch());
    let begun = Instant::now();
    asked.end();
    let mut asked = stage.model.next();
    let usual = begun.elapsed();
    asked.say("done");
    asked.end();
    stage.editor.end(&prompt);
    usual
}

fn round(rng: &mut Rng, usual: Duration, seen: &mut Seen) {
    let mut stage = stage();
    let session = stage.editor.new_session();
    let _prompt = stage.editor.prompt(&session, "go");
    let mut asked = stage.model.next();
    asked.call("apply_patch", patch());
    let killer = killer(rng, usual, &stage);
    asked.end();
    killer.join().unwrap();
    stage.editor.kill();

    let states = states(&stage.workspace);
    let is_begun = journals(&stage.workspace) > 0;
    let kinds: BTreeSet<At> = states.values().copied().collect();
    seen.n_begun += usize::from(is_begun);
    seen.n_half += usize::from(kinds.len() > 1);
    assert!(
        kinds.len() == 1 || is_begun,
        "half done and nothing says so: {states:?}"
    );

    stage.restart_with_another_model();
    if is_begun {
        let message = stage.editor.expect_raw("window/showMessage");
        let text = message["params"]["message"].as_str().unwrap();
        for (path, at) in &states {
            let word = match at {
                At::Old => "old",
                At::New => "new",
            };
            assert!(
                text.contains(&format!("\n{path}: on the disk {word}")),
                "{path} is {word}: {text}"
            );
        }
        assert_eq!(
            text.contains("checkpoint"),
            kinds.contains(&At::New),
            "{text}"
        );
    } else {
        stage.editor.round_trip();
        stage.editor.assert_none("window/showMessage");
    }
    assert_eq!(journals(&stage.workspace), 0);
    let left = tree(&stage.workspace);
    assert!(!left.keys().any(|it| it.contains(".undine-")), "{left:?}");

    stage.editor.load(&session).unwrap();
    let prompt = stage.editor.prompt(&session, "where were we?");
    let mut asked = stage.model.next();
    asked.say("here");
    asked.end();
    stage.editor.end(&prompt);
    the_log_knows(&stage.workspace.records(), &states);
}

/// Kills the server at a moment of its own.
fn killer(rng: &mut Rng, usual: Duration, stage: &Stage) -> std::thread::JoinHandle<()> {
    let server = Pid::from_raw(stage.editor.pid().try_into().unwrap());
    let within = usual.mul_f64(rng.f64());
    let is_by_time = rng.bool();
    let changed = [
        "sub/closed.txt",
        "sub/windows.txt",
        "sub/new/made.txt",
        "sub/gone.txt",
        "sub/moved.txt",
    ];
    let path = changed[rng.usize(..changed.len())];
    let (file, old) = (stage.workspace.path(path), before().get(path).cloned());
    std::thread::spawn(move || {
        let begun = Instant::now();
        // Hot, since a sleep would be longer than what is waited for.
        while match is_by_time {
            true => begun.elapsed() < within,
            false => is_old(&file, old.as_deref()) && begun.elapsed() < usual * 4,
        } {
            std::hint::spin_loop();
        }
        kill(server, Signal::SIGKILL).unwrap();
    })
}

fn is_old(file: &PathBuf, old: Option<&str>) -> bool {
    std::fs::read_to_string(file).ok().as_deref() == old
}

/// How far each file has come; a text that is neither old nor new fails.
#[track_caller]
fn states(workspace: &Workspace) -> BTreeMap<String, At> {
    let (before, after, now) = (before(), after(), tree(workspace));
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let beside = now
        .keys()
        .find(|it| !paths.contains(it) && !it.contains(".undine-"));
    assert_eq!(beside, None);
    let states = paths.into_iter().map(|path| {
        let text = now.get(path);
        let at = match (text == before.get(path), text == after.get(path)) {
            (true, false) => At::Old,
            (false, true) => At::New,
            both => panic!("{path} is half written ({both:?}): {text:?}"),
        };
        (path.clone(), at)
    });
    states.collect()
}

/// What was written was written down before, and the call has one end that says what came of it.
#[track_caller]
fn the_log_knows(records: &[Record], states: &BTreeMap<String, At>) {
    let is_edit = |it: &&Record| matches!(it, Record::Edit { .. });
    let is_noted = records.iter().any(|it| is_edit(&it));
    let any_new = states.values().any(|it| *it == At::New);
    assert!(is_noted || !any_new, "{records:#?}");
    let mut results = records.iter().filter_map(|it| match it {
        Record::Result { outcome, text, .. } => Some((*outcome, text.clone())),
        _ => None,
    });
    let Some((outcome, text)) = results.next() else {
        // Killed before the call was known.
        assert!(!any_new, "{records:#?}");
        return;
    };
    assert_eq!(results.next(), None);
    if outcome == Outcome::Success {
        assert!(
            states.values().all(|it| *it == At::New),
            "{text}: {states:?}"
        );
        return;
    }
    if !is_noted {
        assert!(!any_new, "{records:#?}");
        return;
    }
    for (path, at) in states {
        let line = text
            .lines()
            .find(|it| it.starts_with(&format!("- {path}: ")))
            .unwrap();
        let is_new = ["created", "changed", "gone, as it was to be"]
            .iter()
            .any(|it| line.ends_with(&format!(": {it}")));
        assert_eq!(is_new, *at == At::New, "{line}");
    }
}
