//! `undine demo` needs no key, no network and no editor, and says by its exit code whether the sample's test passes.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The demonstration away from any terminal, without pauses, with a configuration that has no model.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
    command
        .arg("demo")
        .args(arguments)
        .env("UNDINE_CONFIG_DIR", folder)
        .env("TMPDIR", folder)
        .env("UNDINE_DEMO_PAUSE_MS", "0")
        .stdin(Stdio::null());
    command
}

fn demo(arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Run::new(output, entries(folder.path()))
}

fn entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

struct Run {
    code: Option<i32>,
    shown: String,
    errors: String,
    /// Entries of the folder for temporary files.
    n_left: usize,
}

impl Run {
    fn new(output: Output, n_left: usize) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            shown: text(output.stdout),
            errors: text(output.stderr),
            n_left,
        }
    }

    /// What was shown, with everything that differs between two runs taken out.
    fn page(&self) -> String {
        let lines = self.shown.lines().map(|line| {
            let differs = ["Project", "          (in ", "  folder", "  time"];
            if let Some(it) = differs.into_iter().find(|it| line.starts_with(it)) {
                return format!("{it}\n");
            }
            match line.strip_suffix(" ms").and_then(|it| it.rsplit_once("  ")) {
                Some((rest, _)) => format!("{rest}\n"),
                None => format!("{line}\n"),
            }
        });
        lines.collect()
    }
}

/// Never another model than the script, whatever runs on this machine.
const REHEARSAL: [&str; 2] = ["--model", "rehearsal/rehearsal-1"];

#[test]
fn the_demonstration_repairs_the_sample_in_the_unsaved_buffer_and_passes() {
    let run = demo(&REHEARSAL, &[]);
    assert_eq!(
        (run.code, run.errors.as_str()),
        (Some(0), ""),
        "{}",
        run.shown
    );
    assert_eq!(run.n_left, 0, "the sample was left behind");
    expect_test::expect![[r#"
        Model: the built-in rehearsal model, a script; no model was asked. Configure one to see a real one.
        Project
        Editor: prices.sh is open, with a line that was typed and not saved:
              11  # What it costs to send an order.
            + 12  # Orders of 50.00 or more ship free.
              13  shipping() {
        Test: 3 of 5 checks fail

        You
        `sh test.sh` fails. Find the reason in `prices.sh`, repair it there and run the test again.

        Undine
        First I read prices.sh, as it stands in the editor.
          done    Read prices.sh

        prices.sh has 19 lines. Now the test, to see what fails.
          asks    Run sh test.sh
                  sh test.sh
                  (in 
                  prices.sh has unsaved edits, which the command does not see unless it is saved.
          1 Save and run   2 Run anyway   3 Allow this command for this session   4 Always allow this command   5 No
          Save and run (answered by itself: this is no terminal)
          exit 1  Run sh test.sh
                  FAIL  10 percent off 20.00: expected 1800, got 0
                  FAIL  25 percent off 80.00: expected 6000, got -12000
                  ok    sending 49.99
                  FAIL  sending 50.00: expected 0, got 490
                  ok    sending 50.01
                  3 of 5 checks fail
                  [exit code 1]

        I see what is wrong:
        - Line 7: a percentage is divided by 10, but percent means hundredths.
        - Line 14: the comment says "or more", but -gt leaves the limit itself out.
          asks    Edit prices.sh
               6      cents=$1 percent=$2
            -  7      echo $((cents - cents * percent / 10))
            +  7      echo $((cents - cents * percent / 100))
               8  }
                  ...
              13  shipping() {
            - 14      if [ "$1" -gt 5000 ]; then
            + 14      if [ "$1" -ge 5000 ]; then
              15          echo 0
          1 Allow once   2 Allow all edits in the project for this session   3 Always allow all edits in the project   4 No
          Allow once (answered by itself: this is no terminal)
          done    Edit prices.sh

        The change is in. The test again:
          asks    Run sh test.sh
                  sh test.sh
                  (in 
          1 Allow once   2 Allow this command for this session   3 Always allow this command   4 No
          Allow once (answered by itself: this is no terminal)
          exit 0  Run sh test.sh
                  ok    10 percent off 20.00
                  ok    25 percent off 80.00
                  ok    sending 49.99
                  ok    sending 50.00
                  ok    sending 50.01
                  all 5 checks pass

        The test passes. I changed 2 lines of prices.sh and left everything else as it was.

        Summary
          changed  prices.sh: +2 -2 lines, saved; the line you had typed is still there
          test     before: 3 of 5 checks fail; now: all 5 checks pass
          time
          folder
    "#]].assert_eq(&run.page());
}

#[test]
fn a_refusal_leaves_the_sample_broken_and_the_demonstration_says_so() {
    let run = demo(&REHEARSAL, &[("UNDINE_DEMO_ANSWER", "no")]);
    assert_eq!(
        (run.code, run.errors.as_str()),
        (Some(1), ""),
        "{}",
        run.shown
    );
    assert!(
        run.shown
            .contains("That was refused (Denied by the person."),
        "{}",
        run.shown
    );
    assert!(run.shown.contains("changed  nothing;"), "{}", run.shown);
    assert!(
        run.shown.contains("now: 3 of 5 checks fail"),
        "{}",
        run.shown
    );
}

#[test]
fn a_model_that_cannot_be_reached_is_one_sentence_and_a_failure() {
    let run = demo(&["--model", "nobody/x"], &[]);
    assert_eq!(run.code, Some(1));
    assert!(run.shown.starts_with("Model: nobody/x\n"), "{}", run.shown);
    assert!(
        run.errors
            .starts_with("undine demo: The turn ended with an error: There is no provider nobody;"),
        "{}",
        run.errors
    );
    assert_eq!(run.errors.lines().count(), 1, "{}", run.errors);
}

#[test]
fn the_sample_can_be_kept() {
    let run = demo(
        &["--model", "rehearsal/rehearsal-1", "--keep", "--yes"],
        &[],
    );
    assert_eq!((run.code, run.n_left), (Some(0), 1), "{}", run.errors);
}

#[test]
fn broken_off_it_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &REHEARSAL)
        .env("UNDINE_DEMO_PAUSE_MS", "60000")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        shown.any(|it| it.unwrap() == "Undine"),
        "the turn never began"
    );
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(128 + 15), None));
    assert_eq!(entries(folder.path()), 0);
}
