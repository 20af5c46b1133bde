//! Foreground commands, with real processes: what they return, and that nothing of them is left.
//!
//! A command shows that it lives by holding a named pipe open ([`Witness`]): the kernel tells when
//! its last holder is gone, so no test guesses or waits for a time. The lines use `setsid`, and most
//! promises hold for whole trees, which is Linux; elsewhere only process groups end.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use host::process::environment::scrubbed;
use host::process::launcher::Launcher;
use host::process::{Children, Command, End, Limits, Outcome, RunError, Streams, run};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio_util::sync::CancellationToken;

/// Long enough for a slow machine; only a failing test ever takes it.
const FOR_EVER: Duration = Duration::from_secs(30);

/// Sees whether anybody who opened the pipe for writing still lives.
struct Witness {
    folder: tempfile::TempDir,
    reader: File,
}

impl Witness {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("alive");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let reader = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(path)
            .unwrap();
        Self { folder, reader }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// To put before a command line: from then on the shell and all it starts hold the pipe.
    const HOLD: &str = "exec 9>alive; echo held >&9; ";

    /// Whether somebody lives now. Also checks that somebody ever did.
    #[track_caller]
    fn is_anybody_left(&mut self) -> bool {
        let mut held = String::new();
        let end = self.reader.read_to_string(&mut held);
        assert_eq!(held, "held\n", "the command did not even begin");
        match end {
            Ok(_) => false,
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until nobody lives. False if somebody still did after a long time.
    fn wait_until_nobody_is_left(&self) -> bool {
        // The text within is left unread: what is waited for is the hang-up alone.
        let until = Instant::now() + FOR_EVER;
        let mut fds = [PollFd::new(self.reader.as_fd(), PollFlags::empty())];
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            let n_ready = poll(&mut fds, PollTimeout::try_from(left).unwrap());
            if n_ready == Ok(1) {
                return fds[0].revents().unwrap().contains(PollFlags::POLLHUP);
            }
        }
        false
    }
}

fn children() -> Children {
    Children::new(Launcher::at(env!("CARGO_BIN_EXE_undine")))
}

fn command(folder: &Path, line: &str) -> Command {
    Command {
        line: line.into(),
        folder: folder.into(),
        environment: scrubbed(std::env::vars_os(), &[]),
        streams: Streams::Pipe,
        sandbox: None,
        limits: Limits {
            timeout: FOR_EVER,
            ..Limits::default()
        },
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn run_here(command: Command) -> Result<Outcome, RunError> {
    let children = children();
    block_on(run(
        command,
        children.place(),
        CancellationToken::new(),
        |_| {},
    ))
}

/// Runs a line where no place is needed.
fn run_line(line: &str) -> Outcome {
    run_here(command(Path::new("/"), line)).unwrap()
}

/// Runs a line, and cancels it as soon as it has said anything.
fn cancel_when_it_speaks(command: Command) -> (Outcome, Duration) {
    let children = children();
    let token = CancellationToken::new();
    let mut cancelled = None;
    let outcome = block_on(run(command, children.place(), token.clone(), |_| {
        cancelled.get_or_insert_with(Instant::now);
        token.cancel();
    }));
    (
        outcome.unwrap(),
        cancelled.expect("it said nothing").elapsed(),
    )
}

#[test]
fn exit_codes_and_output_come_back() {
    let outcome = run_line("echo out; echo err >&2; echo more; exit 7");
    assert_eq!(
        (outcome.end, outcome.output.text.as_str()),
        (End::Exited(7), "out\nerr\nmore\n")
    );
    assert!(!outcome.output.is_truncated());
    assert_eq!(run_line("true").end, End::Exited(0));
    assert_eq!(run_line("/no/such/program").end, End::Exited(127));
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    assert_eq!(run_line("kill -KILL $$").end, End::Signalled(9));
    assert_eq!(run_line("kill -TERM $$").end, End::Signalled(15));
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let error = run_here(command(Path::new("/no/such/folder"), "true")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/no/such/folder is not a folder; choose one that exists to run the command in"
    );
}

#[test]
fn bug_028_a_timeout_ends_the_whole_tree_with_those_who_left_the_group() {
    let mut witness = Witness::new();
    let line =
        "(setsid sh -c '(setsid sleep 300 &) ; sleep 300' &) ; setsid sleep 300 & sleep 300 & wait";
    let mut command = command(witness.path(), &format!("{}{line}", Witness::HOLD));
    command.limits.timeout = Duration::from_millis(400);
    let outcome = run_here(command).unwrap();
    assert_eq!(outcome.end, End::TimedOut);
    assert!(
        outcome.duration >= Duration::from_millis(400),
        "{:?}",
        outcome.duration
    );
    assert!(!witness.is_anybody_left());
}

#[test]
fn what_a_command_leaves_behind_ends_with_it_and_holds_nothing_up() {
    let mut witness = Witness::new();
    let line = format!(
        "{}sleep 300 & setsid sleep 300 & (setsid sleep 300 &) ; echo hi",
        Witness::HOLD
    );
    let started = Instant::now();
    let outcome = run_here(command(witness.path(), &line)).unwrap();
    assert_eq!(
        (outcome.end, outcome.output.text.as_str()),
        (End::Exited(0), "hi\n")
    );
    assert!(started.elapsed() < FOR_EVER / 2);
    assert!(!witness.is_anybody_left());
}

#[test]
fn bug_029_a_cancel_ends_the_tree_within_milliseconds() {
    let mut witness = Witness::new();
    let line = format!(
        "{}setsid sleep 300 & sleep 300 & echo ready; wait",
        Witness::HOLD
    );
    let mut command = command(witness.path(), &line);
    // None of these needs to be killed, so the grace must not be waited for.
    command.limits.grace = FOR_EVER;
    let (outcome, took) = cancel_when_it_speaks(command);
    assert_eq!(outcome.end, End::Cancelled);
    assert!(!witness.is_anybody_left());
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn who_ignores_being_asked_is_killed() {
    let mut witness = Witness::new();
    let line = format!(
        "{}trap '' TERM; setsid sleep 300 & echo ready; sleep 300",
        Witness::HOLD
    );
    let mut command = command(witness.path(), &line);
    command.limits.grace = Duration::from_millis(30);
    let (outcome, took) = cancel_when_it_speaks(command);
    assert_eq!(outcome.end, End::Cancelled);
    assert!(!witness.is_anybody_left());
    assert!(
        took >= Duration::from_millis(30),
        "{took:?}: they were not even asked"
    );
}

#[test]
fn who_listens_may_clean_up_first() {
    // The child speaks, not the shell: until its exec a child still has the shell's trap, and would
    // swallow the signal.
    let line = "trap 'echo tidy; exit 3' TERM; sh -c 'echo ready; exec sleep 300' & wait";
    let mut command = command(Path::new("/"), line);
    command.limits.grace = FOR_EVER;
    let (outcome, _) = cancel_when_it_speaks(command);
    assert_eq!(
        (outcome.end, outcome.output.text.as_str()),
        (End::Cancelled, "ready\ntidy\n")
    );
}

#[test]
fn who_forks_without_end_is_ended_too() {
    let mut witness = Witness::new();
    // One process at a time, each in a session of its own: a moving target without a group.
    std::fs::write(
        witness.path().join("hop"),
        "trap '' TERM; setsid sh ./hop & exit",
    )
    .unwrap();
    let line = format!("{}echo ready; sh ./hop; sleep 300", Witness::HOLD);
    let mut command = command(witness.path(), &line);
    command.limits.grace = Duration::from_millis(20);
    let (outcome, _) = cancel_when_it_speaks(command);
    assert_eq!(outcome.end, End::Cancelled);
    assert!(!witness.is_anybody_left());
}

#[test]
fn nothing_starts_under_a_cancelled_token() {
    let witness = Witness::new();
    let token = CancellationToken::new();
    token.cancel();
    let children = children();
    let outcome = block_on(run(
        command(witness.path(), "touch here"),
        children.place(),
        token,
        |_| {},
    ))
    .unwrap();
    assert_eq!(
        (outcome.end, outcome.duration),
        (End::Cancelled, Duration::ZERO)
    );
    assert!(!witness.path().join("here").exists());
}

#[test]
fn a_dropped_run_ends_its_command() {
    let witness = Witness::new();
    let children = children();
    let line = format!("{}setsid sleep 300 & echo ready; sleep 300", Witness::HOLD);
    block_on(async {
        let said = CancellationToken::new();
        let run = run(
            command(witness.path(), &line),
            children.place(),
            CancellationToken::new(),
            |_| said.cancel(),
        );
        tokio::select! {
            outcome = run => panic!("it was not dropped: {outcome:?}"),
            () = said.cancelled() => {}
        }
    });
    assert!(witness.wait_until_nobody_is_left());
}

#[test]
fn a_command_that_kills_its_launcher_gains_nothing() {
    let mut witness = Witness::new();
    let line = format!("{}sleep 300 & kill -KILL $PPID; sleep 300", Witness::HOLD);
    let outcome = run_here(command(witness.path(), &line)).unwrap();
    assert_eq!(outcome.end, End::Signalled(9));
    // Nobody waits for them here, so their end can be later than ours by a little.
    assert!(witness.wait_until_nobody_is_left());
    assert!(!witness.is_anybody_left());
}

#[test]
fn a_command_that_stops_its_launcher_gains_nothing() {
    let mut witness = Witness::new();
    // It speaks when the launcher has stopped: a stop that came later would be another story, told below.
    let line = format!(
        "{}setsid sleep 300 & kill -STOP $PPID; echo ready; sleep 300",
        Witness::HOLD
    );
    let (outcome, _) = cancel_when_it_speaks(command(witness.path(), &line));
    assert_eq!(outcome.end, End::Cancelled);
    assert!(!witness.is_anybody_left());
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_stops_its_launcher_again_and_again_gains_nothing() {
    let mut witness = Witness::new();
    let line = format!(
        "{}trap '' TERM; (setsid sh -c 'sleep 300; sleep 300' &) ; setsid sleep 300 & \
         (while :; do kill -STOP $PPID; done) & echo ready; sleep 300",
        Witness::HOLD
    );
    let mut command = command(witness.path(), &line);
    command.limits.grace = Duration::from_millis(30);
    let (outcome, _) = cancel_when_it_speaks(command);
    assert_eq!(outcome.end, End::Cancelled);
    assert!(witness.wait_until_nobody_is_left());
    assert!(!witness.is_anybody_left());
}

#[test]
fn a_launcher_that_hangs_is_not_waited_for_for_ever() {
    let mut witness = Witness::new();
    // A shell takes the launcher's hidden argument for the name of a script to read.
    let script = format!("{}exec sleep 300", Witness::HOLD);
    std::fs::write(witness.path().join("__launch"), script).unwrap();
    let mut command = command(witness.path(), "true");
    command.limits.timeout = Duration::ZERO;
    let children = Children::new(Launcher::at("/bin/sh"));
    let outcome = block_on(run(
        command,
        children.place(),
        CancellationToken::new(),
        |_| {},
    ));
    assert_eq!(outcome.unwrap().end, End::TimedOut);
    assert!(!witness.is_anybody_left());
}

#[test]
fn a_launcher_asked_to_end_ends_its_tree_first() {
    let mut witness = Witness::new();
    let line = format!(
        "{}setsid sleep 300 & kill -TERM $PPID; sleep 300",
        Witness::HOLD
    );
    let outcome = run_here(command(witness.path(), &line)).unwrap();
    assert_eq!(outcome.end, End::Signalled(15));
    assert!(!witness.is_anybody_left());
}

#[test]
fn the_end_of_the_server_ends_all_commands() {
    let mut witnesses = [Witness::new(), Witness::new()];
    let children = children();
    let line = format!("{}setsid sleep 300 & echo ready; sleep 300", Witness::HOLD);
    let ends = block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        let (send, mut speaks) = tokio::sync::mpsc::unbounded_channel();
        for witness in &witnesses {
            let send = send.clone();
            let said = move |_: &str| send.send(()).unwrap();
            tasks.spawn(run(
                command(witness.path(), &line),
                children.place(),
                CancellationToken::new(),
                said,
            ));
        }
        for _ in &witnesses {
            speaks.recv().await.unwrap();
        }
        assert_eq!(children.n_running(), 2);
        assert!(children.stop_all().await);
        assert_eq!(children.n_running(), 0);
        let late = run(
            command(Path::new("/"), "true"),
            children.place(),
            CancellationToken::new(),
            |_| {},
        )
        .await;
        let mut ends: Vec<End> = tasks
            .join_all()
            .await
            .into_iter()
            .map(|it| it.unwrap().end)
            .collect();
        ends.push(late.unwrap().end);
        ends
    });
    assert_eq!(ends, [End::Cancelled; 3]);
    assert!(witnesses.iter_mut().all(|it| !it.is_anybody_left()));
}

/// Set for a copy of this test binary which is to own a command: where it runs, and its line.
const OWNER_FOLDER: &str = "UNDINE_TEST_OWNER_FOLDER";
const OWNER_LINE: &str = "UNDINE_TEST_OWNER_LINE";

/// Not a test by itself: others run it in a process of its own, see [`spawn_owner`].
#[test]
fn owner_of_a_command() {
    let (Ok(folder), Ok(line)) = (std::env::var(OWNER_FOLDER), std::env::var(OWNER_LINE)) else {
        return;
    };
    let children = children();
    let command = command(Path::new(&folder), &line);
    let speak = |text: &str| std::io::stdout().write_all(text.as_bytes()).unwrap();
    let outcome = block_on(run(
        command,
        children.place(),
        CancellationToken::new(),
        speak,
    ));
    panic!("the owner was to be killed first: {outcome:?}");
}

/// Starts a server's stand-in that runs the line, to be killed.
fn spawn_owner(folder: &Path, line: &str) -> std::process::Child {
    // The test's name for the harness: its path without the crate.
    let path = concat!(module_path!(), "::owner_of_a_command");
    let (_, name) = path.split_once("::").unwrap();
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(OWNER_FOLDER, folder)
        .env(OWNER_LINE, line)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn killing_the_server_leaves_nothing() {
    let mut witness = Witness::new();
    let line = "(setsid sleep 300 &) ; sleep 300 & echo ready; trap '' TERM; sleep 300; sleep 300";
    let mut owner = spawn_owner(witness.path(), &format!("{}{line}", Witness::HOLD));
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(
        lines.map(Result::unwrap).any(|it| it.ends_with("ready")),
        "the command did not begin"
    );
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(witness.wait_until_nobody_is_left());
    assert!(!witness.is_anybody_left());
}

#[cfg(target_os = "linux")]
#[test]
fn the_shell_ends_even_when_neither_server_nor_launcher_can_end_it() {
    let mut witness = Witness::new();
    let line = r"kill -STOP $(sed -n 's/^PPid:\t//p' /proc/$PPID/status); kill -KILL $PPID; exec sleep 300";
    let line = format!("{}{line}", Witness::HOLD);
    let mut owner = spawn_owner(witness.path(), &line);
    let is_gone = witness.wait_until_nobody_is_left();
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(is_gone);
    assert!(!witness.is_anybody_left());
}

#[test]
fn bug_036_of_five_megabytes_both_ends_are_kept() {
    let line = "echo first; i=0; while [ $i -lt 5 ]; do head -c 1000000 /dev/zero | tr '\\0' x; i=$((i+1)); done; echo; echo error: last >&2; exit 101";
    let mut n_shown = 0;
    let children = children();
    let outcome = block_on(run(
        command(Path::new("/"), line),
        children.place(),
        CancellationToken::new(),
        |text| {
            n_shown += text.len();
        },
    ))
    .unwrap();
    let n_bytes = 5_000_000 + "first\n".len() + "\nerror: last\n".len();
    let limit = 256 * 1024;
    let text = outcome.output.text;
    assert_eq!(outcome.end, End::Exited(101));
    assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nerror: last\n"));
    assert_eq!((n_shown, outcome.output.n_bytes), (n_bytes, n_bytes as u64));
    assert_eq!(outcome.output.n_left_out, (n_bytes - limit) as u64);
    let marker = format!("\n[... {} bytes left out here ...]\n", n_bytes - limit);
    assert_eq!(
        (text.len(), text.matches(&marker).count()),
        (limit + marker.len(), 1)
    );
}

#[test]
fn bug_037_output_without_end_is_bounded_and_can_be_stopped() {
    let mut command = command(Path::new("/"), "yes | tr -d '\\n'");
    command.limits.timeout = Duration::from_millis(200);
    let outcome = run_here(command).unwrap();
    assert_eq!(outcome.end, End::TimedOut);
    assert!(outcome.output.is_truncated() && outcome.output.text.len() < 257 * 1024);
}

#[test]
fn bug_038_a_sequence_in_two_writes_is_removed_whole() {
    let outcome = run_line(
        r"printf 'a\033]0;ti'; sleep 0.01; printf 'tle\007b\033['; sleep 0.01; printf '31mc\r\nd\010e\n'",
    );
    assert_eq!(outcome.output.text, "abc\ne\n");
}

#[test]
fn characters_are_whole_when_they_are_shown() {
    let mut shown = Vec::new();
    let children = children();
    let command = command(
        Path::new("/"),
        r"printf '\303'; sleep 0.01; printf '\251\n'",
    );
    block_on(run(
        command,
        children.place(),
        CancellationToken::new(),
        |text| shown.push(text.to_owned()),
    ))
    .unwrap();
    assert_eq!(shown.concat(), "\u{e9}\n");
}

#[test]
fn bug_035_there_is_no_terminal_and_nothing_to_read() {
    let outcome = run_line("cat; (: </dev/tty) 2>/dev/null && echo terminal; tty; echo $TERM");
    assert_eq!(outcome.output.text, "not a tty\ndumb\n");
}

#[cfg(target_os = "linux")]
#[test]
fn bug_035_a_command_is_not_in_the_session_of_our_terminal() {
    let outcome = run_line("cut -d' ' -f6 /proc/self/stat");
    let session: i32 = outcome.output.text.trim_end().parse().unwrap();
    let ours = std::fs::read_to_string("/proc/self/stat").unwrap();
    let ours: i32 = ours
        .rsplit(") ")
        .next()
        .unwrap()
        .split(' ')
        .nth(3)
        .unwrap()
        .parse()
        .unwrap();
    assert_ne!(session, ours);
}

#[test]
fn bug_039_the_command_sees_the_environment_it_is_given_and_no_other() {
    let mut command = command(Path::new("/"), "/usr/bin/env");
    command.environment = [("GIVEN", "g"), ("OTHER", "o")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let outcome = run_here(command).unwrap();
    let mut lines: Vec<&str> = outcome.output.text.lines().collect();
    lines.sort();
    // The shell adds the last one by itself.
    assert_eq!(lines, ["GIVEN=g", "OTHER=o", "PWD=/"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_inherits_no_file_of_ours() {
    // `ls` itself has the folder it lists open as 3; the control channel is not there.
    assert_eq!(run_line("ls /proc/self/fd").output.text, "0\n1\n2\n3\n");
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_starts_with_no_signal_blocked_or_ignored() {
    // Bits 31 and 32 are signals the C library keeps for itself; its posix_spawn ignores them.
    let outcome = run_line("grep -E '^Sig(Blk|Ign)' /proc/self/status");
    let masks: Vec<u64> = outcome
        .output
        .text
        .lines()
        .map(|line| {
            u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap() & !(0b11 << 31)
        })
        .collect();
    assert_eq!(masks, [0, 0], "{}", outcome.output.text);
}

#[test]
fn timeout_zero_ends_at_once() {
    let mut command = command(Path::new("/"), "sleep 300");
    command.limits.timeout = Duration::ZERO;
    assert_eq!(run_here(command).unwrap().end, End::TimedOut);
}

fn on_a_terminal(folder: &Path, line: &str) -> Command {
    Command {
        streams: Streams::Terminal,
        ..command(folder, line)
    }
}

#[test]
fn a_terminal_is_the_commands_own_and_its_output_is_what_was_written() {
    let line = "for fd in 0 1 2; do test -t $fd && echo $fd; done; stty size; echo $TERM; (: </dev/tty) && echo own; \
                printf 'a\\nb\\r\\nc\\rd\\n' >&2; ps -o tty= -p $$ | grep -c pts; cut -d' ' -f5,6 /proc/$$/stat | tr ' ' =; echo $$";
    let outcome = run_here(on_a_terminal(Path::new("/"), line)).unwrap();
    let text = outcome.output.text;
    let (rest, pid) = text.trim_end().rsplit_once('\n').unwrap();
    let expected = format!("0\n1\n2\n40 120\ndumb\nown\na\nb\nc\nd\n1\n{pid}={pid}");
    assert_eq!((outcome.end, rest), (End::Exited(0), expected.as_str()));
}

#[test]
fn bug_035_who_waits_for_input_on_a_terminal_is_told_that_there_is_none() {
    let line = "cat; echo one; cat </dev/tty; echo two; read x || echo three; \
                stty -echo; head -1 </dev/tty; echo four";
    let started = Instant::now();
    let outcome = run_here(on_a_terminal(Path::new("/"), line)).unwrap();
    assert_eq!(outcome.output.text, "one\ntwo\nthree\nfour\n");
    assert!(started.elapsed() < FOR_EVER / 2);
}

#[test]
fn bug_028_who_has_a_terminal_and_leaves_it_is_ended_as_well() {
    for line in [
        "nohup sleep 300 >/dev/null 2>&1 & trap '' HUP; sleep 300 & echo ready; sleep 300",
        "(setsid sh -c 'trap \"\" HUP TERM; sleep 300' &) ; echo ready; wait; sleep 300",
        "trap '' TERM HUP INT; sleep 300 & echo ready; wait; sleep 300",
    ] {
        let mut witness = Witness::new();
        let line = format!("{}{line}", Witness::HOLD);
        let mut command = on_a_terminal(witness.path(), &line);
        command.limits.grace = Duration::from_millis(30);
        let (outcome, _) = cancel_when_it_speaks(command);
        assert_eq!(outcome.end, End::Cancelled);
        assert!(!witness.is_anybody_left(), "{line}");
    }
}

#[test]
fn all_that_was_written_to_a_terminal_before_the_end_arrives() {
    for _ in 0..20 {
        let outcome = run_here(on_a_terminal(Path::new("/"), "seq 20000")).unwrap();
        let text = outcome.output.text;
        assert_eq!(outcome.output.n_bytes, 108_894);
        assert!(text.starts_with("1\n2\n") && text.ends_with("\n20000\n"));
    }
}

#[test]
fn bug_037_a_gigabyte_without_a_line_is_bounded() {
    let before = memory();
    // A terminal hands over 4 KiB at a time, so a whole gigabyte takes it long.
    for (n_bytes, streams) in [
        (1_000_000_000, Streams::Pipe),
        (100_000_000, Streams::Terminal),
    ] {
        let line = format!("head -c {n_bytes} /dev/zero");
        let command = Command {
            streams,
            ..command(Path::new("/"), &line)
        };
        let outcome = run_here(command).unwrap();
        assert_eq!(outcome.output.n_bytes, n_bytes);
        assert!(outcome.output.is_truncated() && outcome.output.text.len() < 257 * 1024);
    }
    assert!(memory() < before + 64 * 1024 * 1024);
}

/// The most memory that this process ever had, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib * 1024
}

/// Open descriptors of this process, and processes below it.
#[cfg(target_os = "linux")]
fn left_open() -> (usize, usize) {
    let n_open = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let own = format!(" {} ", std::process::id());
    let n_below = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| std::fs::read_to_string(it.unwrap().path().join("stat")).ok())
        .filter(|it| it.rsplit(") ").next().unwrap()[1..].starts_with(&own))
        .count();
    (n_open, n_below)
}

/// Set for a copy of this test binary, which has no other tests running beside.
const ALONE: &str = "UNDINE_TEST_ALONE";

#[cfg(target_os = "linux")]
#[test]
fn two_hundred_commands_leave_no_process_and_no_descriptor() {
    if std::env::var_os(ALONE).is_none() {
        let path = concat!(
            module_path!(),
            "::two_hundred_commands_leave_no_process_and_no_descriptor"
        );
        let (_, name) = path.split_once("::").unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(ALONE, "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let mut witness = Witness::new();
    let children = children();
    let lines = [
        "true",
        "sleep 300 & echo left",
        "(setsid sleep 300 &) ; exit 3",
        "setsid sh -c '(sleep 300 &)' ; kill -9 $$",
    ];
    block_on(async {
        let one = async |nth: usize| {
            let line = format!("{}{}", Witness::HOLD, lines[nth % lines.len()]);
            let streams = [Streams::Pipe, Streams::Terminal][nth / lines.len() % 2];
            let command = Command {
                streams,
                ..command(witness.path(), &line)
            };
            let place = children.place();
            run(command, place, CancellationToken::new(), |_| {})
                .await
                .unwrap();
        };
        one(0).await;
        let before = left_open();
        for nth in 0..200 {
            one(nth).await;
        }
        assert_eq!(left_open(), before);
    });
    let mut held = String::new();
    witness.reader.read_to_string(&mut held).unwrap();
    assert_eq!(held, "held\n".repeat(201));
}
