//! A confined command does what it may and nothing else, in the foreground and in the background.
//!
//! Needs Landlock and seccomp. A kernel without them runs no confined command at all, which the first test says.

use crate::support::editor::Setup;
use crate::support::stage::Stage;
use host::process::environment::scrubbed;
use host::process::launcher::Launcher;
use host::process::sandbox::{Files, Kernel};
use host::process::{Children, Command, Limits, Sandbox, Streams};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use tokio_util::sync::CancellationToken;

const CONFINED: &str = "[safety]\nmode = \"full_access\"\nfilesystem = \"project\"\n";
const NO_NETWORK: &str = "[safety]\nmode = \"full_access\"\nnetwork = \"deny\"\n";
const BOTH: &str =
    "[safety]\nmode = \"full_access\"\nnetwork = \"deny\"\nfilesystem = \"project\"\n";

/// Said on a kernel that can confine nothing, so that nobody takes a pass for a proof.
pub fn is_held(needed: i32) -> bool {
    let kernel = Kernel::look();
    let is_held = matches!(kernel, Kernel::Linux { landlock, seccomp: true } if landlock >= needed);
    if !is_held {
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: {kernel:?}, and Landlock {needed} with seccomp is needed"
        );
    }
    is_held
}

/// With a folder `elsewhere` beside the project, where nothing is to be written.
fn stage_of(files: &str, config: &str) -> Stage {
    let stage = Stage::with(Setup::agent(), files, config);
    fs::create_dir(stage.workspace.outside("elsewhere")).unwrap();
    stage
}

fn stage(config: &str) -> Stage {
    stage_of("//- /a.txt\nalpha\n", config)
}

#[track_caller]
fn run(stage: &Stage, line: &str) -> String {
    let (_, prompt) = stage.call("execute_command", json!({"command": line}));
    stage.result(&prompt)
}

/// A command line that runs another which it does not name: what the policy would refuse for its text is the
/// sandbox's to refuse here.
fn hidden(stage: &Stage, line: &str) -> String {
    let script = stage.workspace.outside("line.sh");
    fs::write(&script, line).unwrap();
    format!(". {}", script.display())
}

/// Runs each line by itself, with `$OUT` for a folder outside, and answers which ended with success.
#[track_caller]
fn which_work(stage: &Stage, lines: &[&str]) -> Vec<bool> {
    let mut script = format!(
        "OUT={}; DATA={}; CONFIG={}; export OUT DATA CONFIG; ",
        stage.workspace.outside("elsewhere").display(),
        stage.workspace.outside("data").display(),
        stage.workspace.outside("config").display()
    );
    for line in lines {
        script.push_str(&format!(
            "({line}) >/dev/null 2>&1 && echo yes || echo no; "
        ));
    }
    let told = run(stage, &hidden(stage, &script));
    // The shell itself may say how a line ended.
    let lines_of_ours = told.lines().filter(|it| ["yes", "no"].contains(it));
    let told: Vec<bool> = lines_of_ours.map(|it| it == "yes").collect();
    assert_eq!(told.len(), lines.len());
    told
}

#[track_caller]
fn check(stage: &Stage, all_work: bool, lines: &[&str]) {
    let worked = which_work(stage, lines);
    let wrong: Vec<&&str> = lines
        .iter()
        .zip(worked)
        .filter_map(|(line, worked)| (worked != all_work).then_some(line))
        .collect();
    assert_eq!(
        wrong,
        Vec::<&&str>::new(),
        "all were to end with {all_work}"
    );
}

#[test]
fn what_this_kernel_can_hold_is_said() {
    let kernel = Kernel::look();
    let _ = writeln!(std::io::stderr(), "{kernel:?}");
    assert_eq!(is_held(6), kernel.holds_reading());
}

#[test]
fn a_command_writes_in_the_project_and_nowhere_else() {
    if !is_held(3) {
        return;
    }
    let stage = stage(CONFINED);
    fs::write(stage.workspace.outside("elsewhere").join("there"), "old").unwrap();
    check(
        &stage,
        true,
        &[
            "echo new > b.txt",
            "mkdir d && mv b.txt d/c.txt && ln d/c.txt e.txt && rm -r d",
            "chmod 600 a.txt && touch a.txt && cp -p a.txt copy && mv copy copied && ln copied again",
            "tar cf t.tar a.txt && mkdir x && tar xpf t.tar -C x && rm -r x",
            "mv a.txt $TMPDIR/away && mv $TMPDIR/away a.txt",
            "nice -n 5 true && renice -n 6 -p 0",
            "echo x > $TMPDIR/t && mktemp",
            "echo x > /dev/null",
            "cat $OUT/there",
            "ls /",
            "sh -c 'kill $$' & wait",
            "git init -q g 2>/dev/null || true",
        ],
    );
    check(
        &stage,
        false,
        &[
            "echo x > $OUT/new",
            "echo x >> $OUT/there",
            ": > $OUT/there",
            "truncate -s 0 $OUT/there",
            "rm $OUT/there",
            "mv $OUT/there b",
            "ln $OUT/there hard && echo x > hard",
            "ln -s $OUT/there soft && echo x > soft",
            "mkdir $OUT/d",
            "mkfifo $OUT/f",
            "cp a.txt $OUT/",
            "cd $OUT && echo x > relative",
            "echo x > /dev/shm/../../$OUT/x",
            "setsid sh -c 'echo x > $OUT/x'",
            "mount -t tmpfs none $OUT",
            "unshare -m true",
            "unshare -Ur true",
            "echo x > /proc/$PPID/root$OUT/x",
            "kill -0 $PPID",
            "mknod device c 1 3",
            "prlimit --pid $PPID --fsize=0",
            "prlimit --pid $PPID --cpu=1",
            "renice -n 5 -p $PPID",
            "ionice -c 3 -p $PPID",
            "chmod 600 $OUT/there",
            "touch -d 2001-01-01 $OUT/there",
            "chown 1 $OUT/there",
            "chattr +d $OUT/there",
            "python3 -c 'import os; os.setxattr(os.environ[\"OUT\"] + \"/there\", \"user.x\", b\"1\")'",
            "exec 3< $OUT/there; chmod 600 /proc/self/fd/3",
            "env python3 -c 'open(\"/tmp/undine-outside\", \"w\")'",
        ],
    );
    let text = fs::read_to_string(stage.workspace.outside("elsewhere").join("there")).unwrap();
    assert_eq!(text, "old");
}

#[test]
fn undines_own_folders_are_not_written_and_nothing_takes_their_place() {
    if !is_held(3) {
        return;
    }
    for config in [CONFINED, NO_NETWORK, BOTH] {
        let stage = stage(config);
        check(
            &stage,
            true,
            &[
                "cat .undine/conversations/*.jsonl",
                "cat $CONFIG/config.toml",
                "echo x > b.txt",
            ],
        );
        check(
            &stage,
            false,
            &[
                "echo x >> .undine/conversations/forged.jsonl",
                "for log in .undine/conversations/*.jsonl; do echo x >> $log; done",
                "rm .undine/conversations/*.jsonl",
                "echo 'x = 1' > .undine/config.toml",
                "mv .undine elsewhere",
                "rm -rf .undine",
                "cd .undine && echo x > config.toml",
                "ln .undine/conversations/*.jsonl hard",
                "echo x >> $CONFIG/config.toml",
                "echo x > $CONFIG/permissions.toml",
                "mv $CONFIG $CONFIG.old",
                "mkdir -p $DATA/known && echo x > $DATA/known/forged",
                "mv $DATA $DATA.old",
                "mv $(pwd) $(pwd).old",
                "umount .undine",
                "chmod 777 $DATA",
                "chmod 666 $CONFIG/config.toml",
                "touch -d 2001-01-01 $CONFIG/config.toml",
                "chown $(id -u) $DATA",
                "mount -o remount,rw .undine",
                "nsenter -t $PPID -m sh -c 'echo x > .undine/config.toml'",
                "echo x > /proc/$PPID/root$(pwd)/.undine/config.toml",
                "echo x > /proc/$PPID/cwd/.undine/config.toml",
            ],
        );
        assert!(!stage.workspace.exists(".undine/config.toml"));
        assert_eq!(stage.workspace.logs().len(), 1 + 1);
    }
}

#[test]
fn a_command_that_runs_in_a_folder_of_undines_writes_nothing_there() {
    if !is_held(3) {
        return;
    }
    let stage = stage(BOTH);
    let (_, prompt) = stage.call(
        "execute_command",
        json!({"command": "echo x > forged; ls", "working_dir": ".undine/conversations"}),
    );
    let told = stage.result(&prompt);
    assert!(
        !told.contains("forged\n") || told.contains("Read-only"),
        "{told}"
    );
    assert!(!stage.workspace.exists(".undine/conversations/forged"));
}

#[test]
fn a_link_in_place_of_undines_folder_stops_confined_commands() {
    if !is_held(3) {
        return;
    }
    let stage = stage(CONFINED);
    let other = stage.workspace.outside("elsewhere");
    std::os::unix::fs::symlink(&other, stage.workspace.path(".undine")).unwrap();
    let told = run(&stage, "echo ran > b.txt");
    assert!(
        told.contains("is a link") && told.contains("[exit code 126]"),
        "{told}"
    );
    assert!(!stage.workspace.exists("b.txt"));
}

#[test]
fn without_network_a_command_reaches_nobody_and_is_told_why() {
    if !is_held(3) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let reach =
        format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'");
    let stage = stage(NO_NETWORK);
    let told = run(&stage, &reach);
    assert!(
        told.contains("The sandbox ended it when it reached for the network"),
        "{told}"
    );
    check(
        &stage,
        false,
        &[
            &reach,
            "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'",
            "python3 -c 'import socket; socket.socket(socket.AF_INET6)'",
            "python3 -c 'import socket; socket.socket(40, 1)'",
            &format!("setsid {reach}"),
            &format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"),
        ],
    );
    check(
        &stage,
        true,
        &[
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX); socket.socketpair()'",
            "echo x > $OUT/free",
        ],
    );
    assert!(listener.accept().is_err(), "somebody got through");
    drop(stage);
    let stage = Stage::with(Setup::agent(), "", "[safety]\nmode = \"full_access\"\n");
    assert_eq!(run(&stage, &reach), "[no output]");
    listener.accept().unwrap();
}

#[test]
fn bug_030_a_command_in_the_background_is_confined_alike() {
    if !is_held(3) {
        return;
    }
    let stage = stage(BOTH);
    let out = stage.workspace.outside("elsewhere");
    for line in [
        format!("echo x > {}/new", out.display()),
        "python3 -c 'import socket; socket.socket()'".to_owned(),
        "echo x > .undine/config.toml".to_owned(),
    ] {
        let line = format!("{line}\ncode=$?; touch done; echo $code; sleep 1000");
        let line = hidden(&stage, &line);
        let arguments = json!({"command": line, "mode": "background"});
        let (_, prompt) = stage.call("execute_command", arguments);
        let told = stage.result(&prompt);
        let code = told.lines().last().unwrap();
        assert!(["1", "2", "159"].contains(&code), "{told}");
        assert!(stage.workspace.exists("done"));
        fs::remove_file(stage.workspace.path("done")).unwrap();
    }
    assert!(!out.join("new").exists());
    assert!(!stage.workspace.exists(".undine/config.toml"));
}

#[test]
fn a_failure_that_may_be_the_sandboxs_doing_names_it() {
    if !is_held(3) {
        return;
    }
    let stage = stage(CONFINED);
    let out = stage.workspace.outside("elsewhere");
    let told = run(&stage, &format!("echo x > {}/new", out.display()));
    assert!(
        told.contains("Perhaps the sandbox is why.") && told.contains("Read-only file system"),
        "{told}"
    );
    let told = run(&stage, &format!("echo x > {}/new; echo on", out.display()));
    assert!(
        told.contains("\non\n[Perhaps the sandbox is why."),
        "{told}"
    );
    let told = run(&stage, "echo 'Permission denied is how they say it'");
    assert_eq!(told, "Permission denied is how they say it\n");
    let told = run(&stage, "exit 3");
    assert_eq!(told, "[no output]\n[exit code 3]");
}

#[test]
fn the_command_lines_flags_confine_as_the_options_do() {
    if !is_held(3) {
        return;
    }
    let reach = "python3 -c 'import socket; socket.socket()'";
    for (flags, network, files) in [
        (&["--sandbox"][..], false, false),
        (&["--no-network"], false, true),
        (&["--confine-fs"], true, false),
        (&[], true, true),
    ] {
        let mut stage = stage("[safety]\nmode = \"full_access\"\n");
        stage.restart_with_flags(flags);
        let worked = which_work(&stage, &[reach, "echo x > $OUT/x"]);
        assert_eq!(worked, [network, files], "{flags:?}");
    }
}

#[test]
fn a_repository_confines_and_does_not_free() {
    if !is_held(3) {
        return;
    }
    let project =
        |value: &str| format!("//- /.undine/config.toml\n[safety]\nfilesystem = \"{value}\"\n");
    let stage = stage_of(&project("project"), "[safety]\nmode = \"full_access\"\n");
    check(&stage, false, &["echo x > $OUT/x"]);
    let tells = |what: &'static str| {
        move |it: &Value| {
            let message = it["params"]["message"].as_str();
            message.is_some_and(|it| it.contains(what))
        }
    };
    stage
        .editor
        .take("the word on it", tells("sets safety.filesystem"));
    drop(stage);
    let stage = stage_of(&project("open"), CONFINED);
    check(&stage, false, &["echo x > $OUT/x"]);
    stage.editor.take(
        "the warning",
        tells("may only make safety.filesystem stricter"),
    );
}

/// Runs a line in a folder without any tool, and answers what it said.
fn run_confined(folder: &Path, files: Files, streams: Streams, line: &str) -> String {
    let children = Children::new(Launcher::at(env!("CARGO_BIN_EXE_undine")));
    let command = Command {
        line: line.to_owned(),
        folder: folder.to_owned(),
        environment: scrubbed(std::env::vars_os(), &[]),
        streams,
        sandbox: Some(Sandbox {
            network: false,
            files,
            protected: Vec::new(),
        }),
        limits: Limits::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let run = host::process::run(command, children.place(), CancellationToken::new(), |_| {});
    runtime.block_on(run).unwrap().output.text
}

#[test]
fn bug_031_an_empty_list_of_places_allows_no_writing() {
    if !is_held(3) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "alpha").unwrap();
    for line in [
        "echo x > b",
        "echo x >> a",
        "rm a",
        "mkdir d",
        "mv a b",
        "cp a /tmp/undine-outside",
    ] {
        let script = format!("({line}) 2>/dev/null || echo denied");
        let told = run_confined(
            folder.path(),
            Files::Below(Vec::new()),
            Streams::Pipe,
            &script,
        );
        assert_eq!(told, "denied\n", "{line}");
    }
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"alpha");
}

#[test]
fn a_command_that_may_change_nothing_reads_and_changes_nothing() {
    if !is_held(6) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "alpha\n").unwrap();
    let before = fs::metadata(folder.path().join("a")).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    listener.set_nonblocking(true).unwrap();
    for streams in [Streams::Pipe, Streams::Terminal] {
        let works = |line: &str| {
            let script = format!("({line}) >/dev/null 2>&1 && echo yes || echo no");
            let told = run_confined(folder.path(), Files::Nothing, streams, &script);
            told.contains("yes")
        };
        for line in [
            "cat a",
            "ls -l / | head -3",
            "grep -r alpha .",
            "echo x > /dev/null",
            "echo x > /dev/full || true",
            "sleep 1000 & kill $!",
            "sleep 0 & wait",
            "nice -n 5 true",
            "git --version",
            "echo x | sort | uniq -c",
            "python3 -c 'import socket; socket.socketpair()'",
        ] {
            assert!(works(line), "{line}");
        }
        for line in [
            "echo x > a",
            "echo x > b",
            "echo x > /tmp/undine-outside",
            "echo x > /dev/shm/undine-outside",
            "echo x > $HOME/undine-outside",
            "mkdir d",
            "mkfifo f",
            "ln -s a b",
            "truncate -s 0 a",
            "dd of=a if=/dev/null",
            "sed -i s/a/b/ a",
            "rm a",
            "mv a b",
            "ln a b",
            "chmod 777 a",
            "chown 1 a",
            "touch a",
            "python3 -c 'import os; os.utime(\"a\", (1, 1))'",
            "python3 -c 'import os; os.setxattr(\"a\", \"user.x\", b\"1\")'",
            "chattr +d a",
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"socket\")'",
            "python3 -c 'import socket; socket.socket()'",
            "kill -0 $PPID",
            "kill -0 1",
            "kill -STOP $PPID",
            "renice -n 5 -p $PPID",
            "ionice -c 3 -p $PPID",
            "taskset -p 1 $PPID",
            "chrt -i -p 0 $PPID",
            "prlimit --pid $PPID --cpu=1",
            "python3 -c 'import ctypes; assert ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(120)) >= 0'",
            "python3 -c 'import ctypes; assert ctypes.CDLL(None).shmget(1234, 4096, 0o1666) >= 0'",
            "python3 -c 'import os; os.mkdir(\"/proc/self/fd/1/../d\")'",
            "unshare -Ur true",
            "mount -t tmpfs none /mnt",
            "hostname other",
            "nice -n -5 sh -c '[ $(nice) -lt 0 ]'",
        ] {
            assert!(!works(line), "{line}");
        }
    }
    assert!(listener.accept().is_err());
    let after = fs::metadata(folder.path().join("a")).unwrap();
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"alpha\n");
}

#[test]
fn a_command_that_may_change_nothing_reads_and_changes_nothing_of_a_repository() {
    if !is_held(6) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let prepare = "git init -q . && git config user.email a@b.c && git config user.name me && \
                   mkdir src && seq 3 > src/three && seq 5 > src/five && git add . && git commit -qm first && \
                   seq 4 >> src/three && touch src/five";
    let status = std::process::Command::new("sh")
        .args(["-c", prepare])
        .current_dir(folder.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status()
        .unwrap();
    assert!(status.success());
    let index = fs::read(folder.path().join(".git/index")).unwrap();
    for streams in [Streams::Pipe, Streams::Terminal] {
        for (line, said) in [
            ("git status --short; echo $?", " M src/three\n0\n"),
            ("git log --format=%s; echo $?", "first\n0\n"),
            (
                "git diff --stat | cat",
                " src/three | 4 ++++\n 1 file changed, 4 insertions(+)\n",
            ),
            (
                "git show HEAD:src/three | tail -1; git blame -s src/five | wc -l",
                "3\n5\n",
            ),
            (
                "git ls-files; git stash list; git branch --show-current | wc -l",
                "src/five\nsrc/three\n1\n",
            ),
            ("grep -rn 5 src; echo $?", "src/five:5:5\n0\n"),
            (
                "find src -type f -newermt 2001-01-01 | sort",
                "src/five\nsrc/three\n",
            ),
            (
                "for f in src/*; do wc -l $f; done | sort -n",
                "5 src/five\n7 src/three\n",
            ),
            (
                "(cd src && head -1 three) && x=$(tail -1 src/five); echo $x",
                "1\n5\n",
            ),
            ("cat <<END | tr a-z A-Z\nhere $((1 + 1))\nEND", "HERE 2\n"),
            (
                "seq 20000 > /dev/null; tail -1 src/five | tee /dev/null",
                "5\n",
            ),
            (
                "diff src/three src/five | tail -1; cmp -s src/three src/three && echo same",
                "> 5\nsame\n",
            ),
            (
                "find src -name three -exec tail -1 {} +; ls src | xargs -n1 echo",
                "4\nfive\nthree\n",
            ),
            // Tables that do not fit into memory, and documents that do not fit into a pipe.
            ("seq 300000 -1 1 | sort -n -S 1M | head -2", "1\n2\n"),
            ("bash -c 'x=$(seq 30000); wc -l <<< \"$x\"'", "30000\n"),
            (
                "bash -c 'wc -l < <(seq 7); diff <(seq 3) <(seq 3) && echo same'",
                "7\nsame\n",
            ),
            ("f=$(mktemp); echo own > $f; cat $f; rm $f", "own\n"),
        ] {
            let told = run_confined(folder.path(), Files::Nothing, streams, line);
            assert_eq!(told, said, "{line}");
        }
    }
    assert_eq!(fs::read(folder.path().join(".git/index")).unwrap(), index);
    assert!(!folder.path().join(".git/index.lock").exists());
}

#[test]
fn a_command_that_may_change_nothing_has_a_place_of_its_own_that_goes_with_it() {
    if !is_held(6) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), "alpha").unwrap();
    for end in ["", "; sleep 1000 & exit 3", "; kill -9 $$"] {
        let line = format!(
            "mkdir -p $TMPDIR/d; echo x > $TMPDIR/d/x; ln -s $PWD/a $TMPDIR/soft; ln a $TMPDIR/hard; \
             echo y > $TMPDIR/soft; echo $TMPDIR{end}"
        );
        let told = run_confined(folder.path(), Files::Nothing, Streams::Pipe, &line);
        let own = told.lines().last().unwrap();
        assert!(own.contains("undine-read-"), "{told}");
        assert!(!Path::new(own).exists(), "{end}");
        for refused in ["hard", "soft: Permission denied"] {
            assert!(told.contains(refused), "{told}");
        }
    }
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), b"alpha");
}
