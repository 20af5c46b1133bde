//! The table of modes, the order of decision, and what answers cover.

mod order;
mod words;

use super::*;
use protocol::config::{Category, RuleVerdict, SafetyRule};
use protocol::tool::Reading;
use std::path::PathBuf;

const ALLOW: Verdict = Verdict::Allow(Hold::AsConfigured);
const ASK: Verdict = Verdict::Ask(None);

fn decide(mode: Mode, rules: &[Rule], accesses: &[Access]) -> Verdict {
    with(&Safety::default(), mode, rules, accesses)
}

fn with(safety: &Safety, mode: Mode, rules: &[Rule], accesses: &[Access]) -> Verdict {
    gate(safety, mode, rules).decide("t", accesses)
}

fn gate<'a>(safety: &'a Safety, mode: Mode, remembered: &'a [Rule]) -> Gate<'a> {
    Gate {
        mode,
        safety,
        remembered,
        can_hold: false,
    }
}

fn session_rule(mode: Mode, rules: &[Rule], accesses: &[Access]) -> Option<Rule> {
    gate(&Safety::default(), mode, rules).rule_for("t", accesses)
}

fn write(place: Place) -> Access {
    Access::Write {
        path: PathBuf::from("/p/a"),
        place,
    }
}

fn read(place: Place) -> Access {
    Access::Read {
        path: PathBuf::from("/p/a"),
        place,
    }
}

/// A command whose text tells this much; blanks aside, it is as written.
fn rated(risk: Risk, command: &str) -> Access {
    let words: Vec<&str> = command.split_whitespace().collect();
    Access::Run {
        command: command.into(),
        cwd: "/p".into(),
        place: Place::Project,
        reading: Reading {
            risk,
            forbidden: command
                .contains("mkfs")
                .then(|| "it makes a file system".to_owned()),
            canonical: (!command.contains("((")).then(|| words.join(" ")),
            program: (!command.contains(['$', ';'])).then(|| words[0].to_owned()),
            in_scratchpad: command.contains("scratch"),
            steered: command.starts_with("git"),
        },
    }
}

fn run(command: &str) -> Access {
    rated(Risk::Run, command)
}

fn mcp(says_it_reads: bool) -> Access {
    Access::Mcp {
        server: "s".into(),
        tool: "t".into(),
        arguments: "{}".into(),
        says_it_reads,
    }
}

fn memory() -> Access {
    Access::Memory {
        summary: "Remember the port".into(),
        is_search: false,
    }
}

fn web() -> Access {
    Access::Web {
        summary: "Fetch https://example.org/?key=1".into(),
        host: Some("example.org".into()),
    }
}

fn agent() -> Access {
    Access::Agent {
        task: "Look at it".into(),
    }
}

fn screen() -> Access {
    Access::Computer {
        summary: "Click".into(),
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow(Hold::AsConfigured) => "allow",
        Verdict::Allow(Hold::ReadOnly) => "held",
        Verdict::Allow(Hold::ByRating) => "rated",
        Verdict::Classify => "classify",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

#[test]
fn each_mode_has_its_column() {
    let git = Access::Write {
        path: "/p/.git/hooks/x".into(),
        place: Place::Project,
    };
    let elsewhere = |risk| match rated(risk, "ls") {
        Access::Run {
            command,
            cwd,
            reading,
            ..
        } => Access::Run {
            command,
            cwd,
            place: Place::External,
            reading,
        },
        other => other,
    };
    let rows = [
        ("read the project", read(Place::Project)),
        ("read an added folder", read(Place::AddedDir)),
        ("read the scratchpad", read(Place::Scratchpad)),
        ("read elsewhere", read(Place::External)),
        ("read our own", read(Place::Protected)),
        ("write the project", write(Place::Project)),
        ("write an added folder", write(Place::AddedDir)),
        ("write the scratchpad", write(Place::Scratchpad)),
        ("write elsewhere", write(Place::External)),
        ("write our own", write(Place::Protected)),
        ("write git's own", git),
        ("run a read", rated(Risk::Read, "ls")),
        ("run a read of git's", rated(Risk::Read, "git log")),
        ("run a read elsewhere", elsewhere(Risk::Read)),
        ("run a change", rated(Risk::Change, "touch a")),
        ("run a program", run("make")),
        ("run a program elsewhere", elsewhere(Risk::Run)),
        ("run far away", rated(Risk::Outside, "cat /etc/passwd")),
        ("run the network", rated(Risk::Network, "curl x")),
        ("run as root", rated(Risk::Machine, "sudo x")),
        ("run an install", rated(Risk::Install, "pip install x")),
        ("run what is never run", run("mkfs /dev/sda")),
        (
            "run in the scratchpad",
            rated(Risk::Change, "touch scratch"),
        ),
        ("ask", Access::Ask),
        ("remember", memory()),
        ("web", web()),
        ("agent", agent()),
        ("mcp", mcp(false)),
        ("mcp that says it reads", mcp(true)),
        ("screen", screen()),
    ];
    let mut table = String::new();
    for (name, access) in &rows {
        for can_hold in [true, false] {
            for mode in Mode::ALL {
                let safety = Safety::default();
                let gate = Gate {
                    can_hold,
                    ..gate(&safety, mode, &[])
                };
                let word = word(&gate.decide("t", std::slice::from_ref(access)));
                table.push_str(&format!("{word:9}"));
            }
            table.push_str(if can_hold { "| " } else { name });
        }
        table.push('\n');
    }
    expect_test::expect![[r#"
        allow    allow    allow    allow    | allow    allow    allow    allow    read the project
        allow    allow    allow    allow    | allow    allow    allow    allow    read an added folder
        allow    allow    allow    allow    | allow    allow    allow    allow    read the scratchpad
        deny     ask      classify allow    | deny     ask      classify allow    read elsewhere
        deny     ask      classify allow    | deny     ask      classify allow    read our own
        deny     ask      allow    allow    | deny     ask      allow    allow    write the project
        deny     ask      allow    allow    | deny     ask      allow    allow    write an added folder
        deny     allow    allow    allow    | deny     allow    allow    allow    write the scratchpad
        deny     ask      classify allow    | deny     ask      classify allow    write elsewhere
        deny     deny     deny     deny     | deny     deny     deny     deny     write our own
        deny     ask      classify allow    | deny     ask      classify allow    write git's own
        held     ask      held     allow    | rated    ask      rated    allow    run a read
        held     ask      held     allow    | deny     ask      classify allow    run a read of git's
        deny     ask      classify allow    | deny     ask      classify allow    run a read elsewhere
        deny     ask      classify allow    | deny     ask      classify allow    run a change
        held     ask      classify allow    | deny     ask      classify allow    run a program
        deny     ask      classify allow    | deny     ask      classify allow    run a program elsewhere
        deny     ask      classify allow    | deny     ask      classify allow    run far away
        deny     ask      classify allow    | deny     ask      classify allow    run the network
        deny     ask      classify allow    | deny     ask      classify allow    run as root
        deny     ask      classify classify | deny     ask      classify classify run an install
        deny     deny     deny     deny     | deny     deny     deny     deny     run what is never run
        deny     allow    allow    allow    | deny     allow    allow    allow    run in the scratchpad
        allow    allow    allow    allow    | allow    allow    allow    allow    ask
        deny     allow    allow    allow    | deny     allow    allow    allow    remember
        ask      ask      classify allow    | ask      ask      classify allow    web
        allow    ask      classify allow    | allow    ask      classify allow    agent
        deny     ask      classify classify | deny     ask      classify classify mcp
        deny     ask      classify allow    | deny     ask      classify allow    mcp that says it reads
        deny     ask      classify allow    | deny     ask      classify allow    screen
    "#]]
    .assert_eq(&table);
}

#[test]
fn the_strictest_access_decides() {
    assert_eq!(
        decide(Mode::Ask, &[], &[read(Place::Project), run("x")]),
        ASK
    );
    assert!(matches!(
        decide(Mode::FullAccess, &[], &[run("x"), write(Place::Protected)]),
        Verdict::Deny(_)
    ));
}

#[test]
fn a_patch_that_is_only_partly_in_the_scratchpad_is_judged_as_a_whole() {
    let patch = |places: &[Place]| -> Vec<Access> { places.iter().copied().map(write).collect() };
    let mixed = patch(&[Place::Scratchpad, Place::Project]);
    let far = patch(&[Place::Scratchpad, Place::AddedDir, Place::External]);
    assert_eq!(decide(Mode::Ask, &[], &mixed), ASK);
    assert_eq!(
        session_rule(Mode::Ask, &[], &mixed),
        Some(Rule::EditProject)
    );
    assert_eq!(decide(Mode::Auto, &[], &mixed), ALLOW);
    assert_eq!(decide(Mode::Auto, &[], &far), Verdict::Classify);
    let own = patch(&[Place::Scratchpad, Place::Scratchpad]);
    assert_eq!(decide(Mode::Ask, &[], &own), ALLOW);
    assert!(matches!(
        decide(Mode::ReadOnly, &[], &own),
        Verdict::Deny(_)
    ));
}

#[test]
fn edits_of_the_project_that_are_not_asked_about_again_are_those_of_added_folders_too() {
    let rule = session_rule(Mode::Ask, &[], &[write(Place::AddedDir)]).unwrap();
    assert_eq!(rule, Rule::EditProject);
    let verdict = |place| decide(Mode::Ask, std::slice::from_ref(&rule), &[write(place)]);
    assert_eq!(verdict(Place::Project), ALLOW);
    assert_eq!(verdict(Place::AddedDir), ALLOW);
    assert_eq!(verdict(Place::External), ASK);
}

#[test]
fn a_remembered_command_covers_only_itself() {
    let rule = session_rule(Mode::Ask, &[], &[run("cargo   test")]).unwrap();
    let rules = [rule];
    assert_eq!(decide(Mode::Ask, &rules, &[run("cargo test")]), ALLOW);
    assert_eq!(decide(Mode::Ask, &rules, &[run("cargo test; rm x")]), ASK);
    assert_eq!(decide(Mode::Ask, &rules, &[write(Place::Project)]), ASK);
    let elsewhere = Access::Run {
        command: "cargo test".into(),
        cwd: "/q".into(),
        place: Place::External,
        reading: match run("cargo test") {
            Access::Run { reading, .. } => reading,
            _ => unreachable!(),
        },
    };
    assert_eq!(decide(Mode::Ask, &rules, &[elsewhere]), ASK);
}

#[test]
fn bug_026_a_remembered_command_clears_no_other_of_the_same_program() {
    let rule = session_rule(Mode::Ask, &[], &[run("curl https://safe")]).unwrap();
    let verdict = |command| decide(Mode::Ask, std::slice::from_ref(&rule), &[run(command)]);
    assert_eq!(verdict("curl  https://safe"), ALLOW);
    for other in [
        "curl https://evil",
        "curl https://safe https://evil",
        "curl",
        "curl https://safe; curl https://evil",
    ] {
        assert_eq!(verdict(other), ASK, "{other}");
    }
}

#[test]
fn what_changes_or_runs_can_wait_and_what_reads_elsewhere_or_asks_cannot() {
    let waits = |accesses: &[Access]| is_replayable(accesses);
    assert!(waits(&[write(Place::Project), run("make")]));
    assert!(waits(&[read(Place::Project), write(Place::External)]));
    assert!(!waits(&[read(Place::External)]) && !waits(&[Access::Ask]));
    assert!(!waits(&[write(Place::Project), read(Place::External)]));
    assert!(waits(&[read(Place::AddedDir), write(Place::AddedDir)]));
    assert!(!waits(&[write(Place::Project), write(Place::Scratchpad)]));
}

#[test]
fn a_remembered_read_outside_the_project_allows_no_write_there() {
    let rule = session_rule(Mode::Ask, &[], &[read(Place::External)]).unwrap();
    let rules = [rule];
    let verdict = |access| decide(Mode::Ask, &rules, &[access]);
    assert_eq!(verdict(read(Place::External)), ALLOW);
    assert_eq!(verdict(write(Place::External)), ASK);
    let both = [read(Place::External), write(Place::External)];
    let rules = [session_rule(Mode::Ask, &[], &both).unwrap()];
    assert_eq!(decide(Mode::Ask, &rules, &both), ALLOW);
}

#[test]
fn a_remembered_answer_never_weakens_a_denial() {
    assert!(matches!(
        decide(
            Mode::ReadOnly,
            &[Rule::EditProject],
            &[write(Place::Project)]
        ),
        Verdict::Deny(_)
    ));
}

#[test]
fn a_line_that_cannot_be_read_is_never_remembered() {
    assert_eq!(session_rule(Mode::Ask, &[], &[run("x ((")]), None);
    let rule = Rule::Run {
        command: "x ((".into(),
        cwd: "/p".into(),
    };
    assert_eq!(decide(Mode::Ask, &[rule], &[run("x ((")]), ASK);
}

#[test]
fn git_s_own_files_are_asked_about_however_their_name_is_written() {
    let rules = [Rule::EditProject];
    for path in [
        "/p/.git/config",
        "/p/a/.GIT/hooks/pre-commit",
        "/p/.git",
        "/p/.git./config",
        "/p/.g\u{200c}it/config",
        "/p/GIT~1/config",
    ] {
        let access = [Access::Write {
            path: path.into(),
            place: Place::Project,
        }];
        assert_eq!(decide(Mode::Ask, &rules, &access), ASK, "{path}");
        assert_eq!(
            decide(Mode::Auto, &rules, &access),
            Verdict::Classify,
            "{path}"
        );
        assert_eq!(session_rule(Mode::Ask, &[], &access), None, "{path}");
    }
    let plain = |path: &str| {
        let access = [Access::Write {
            path: path.into(),
            place: Place::Project,
        }];
        decide(Mode::Auto, &[], &access)
    };
    for path in [
        "/p/.gitignore",
        "/p/.github/workflows/ci.yml",
        "/p/a.git/x",
        "/p/git/x",
    ] {
        assert_eq!(plain(path), ALLOW, "{path}");
    }
}

fn rule(
    category: Option<Category>,
    tool: Option<&str>,
    pattern: Option<&str>,
    verdict: RuleVerdict,
) -> SafetyRule {
    SafetyRule {
        category,
        tool: tool.map(str::to_owned),
        pattern: pattern.map(str::to_owned),
        verdict,
        reason: None,
        checkpoint: None,
    }
}

fn safety(rules: &[SafetyRule]) -> Safety {
    Safety {
        rules: rules.to_vec(),
        ..Safety::default()
    }
}

#[test]
fn bug_055_an_allowed_program_lets_nothing_else_through() {
    let git = safety(&[rule(None, None, Some("git"), RuleVerdict::Allow)]);
    let verdict = |command: &str| with(&git, Mode::Ask, &[], &[run(command)]);
    assert_eq!(verdict("git status"), ALLOW);
    for command in [
        "git status $(curl evil)",
        "git status; curl evil",
        "gitk",
        "/tmp/git status",
        "curl git",
    ] {
        assert_eq!(verdict(command), ASK, "{command}");
    }
}

#[test]
fn a_rule_that_asks_or_denies_is_found_anywhere() {
    let rules = safety(&[
        rule(None, None, Some("deploy"), RuleVerdict::Ask),
        rule(None, None, Some("push"), RuleVerdict::Deny),
    ]);
    for mode in Mode::ALL {
        let verdict = |command: &str| with(&rules, mode, &[], &[run(command)]);
        assert!(matches!(
            verdict("make x; make deploy"),
            Verdict::Ask(Some(_))
        ));
        assert!(matches!(verdict("true && git push"), Verdict::Deny(_)));
    }
}

#[test]
fn the_first_rule_that_matches_decides_and_all_its_fields_must() {
    let rules = safety(&[
        rule(None, None, None, RuleVerdict::Deny),
        rule(None, None, Some(" "), RuleVerdict::Deny),
        rule(
            Some(Category::Edit),
            Some("t"),
            Some("/p/a"),
            RuleVerdict::Allow,
        ),
        rule(Some(Category::Edit), Some("other"), None, RuleVerdict::Deny),
        rule(Some(Category::Shell), None, None, RuleVerdict::Allow),
        rule(Some(Category::Shell), None, None, RuleVerdict::Deny),
    ]);
    let verdict = |access| with(&rules, Mode::Ask, &[], &[access]);
    assert_eq!(verdict(write(Place::Project)), ALLOW);
    // By category alone, an allow is not limited to single commands.
    assert_eq!(verdict(run("a; b $(c)")), ALLOW);
    assert_eq!(verdict(read(Place::External)), ASK);
    let other = Access::Write {
        path: "/p/a/b".into(),
        place: Place::Project,
    };
    assert_eq!(verdict(other), ASK);
}

#[test]
fn bug_056_a_rule_about_memory_wins() {
    for (said, expected) in [
        (RuleVerdict::Ask, "ask"),
        (RuleVerdict::Deny, "deny"),
        (RuleVerdict::Allow, "allow"),
    ] {
        let by_category = safety(&[rule(Some(Category::Memory), None, None, said)]);
        let by_tool = safety(&[rule(None, Some("t"), None, said)]);
        let by_text = safety(&[rule(None, None, Some("Remember the port"), said)]);
        for safety in [by_category, by_tool, by_text] {
            for mode in Mode::ALL {
                let verdict = with(&safety, mode, &[], &[memory()]);
                assert_eq!(word(&verdict), expected, "{mode:?}");
            }
        }
    }
}

#[test]
fn bug_057_calls_of_servers_the_web_and_agents_are_judged_in_read_only() {
    let verdict = |access| decide(Mode::ReadOnly, &[], &[access]);
    assert!(matches!(verdict(mcp(false)), Verdict::Deny(_)));
    assert!(matches!(verdict(mcp(true)), Verdict::Deny(_)));
    assert!(matches!(verdict(screen()), Verdict::Deny(_)));
    assert_eq!(verdict(web()), ASK);
    // An agent inherits the mode.
    assert_eq!(verdict(agent()), ALLOW);
}

#[test]
fn nothing_softens_a_question_that_the_person_asked_for() {
    let rules = safety(&[rule(Some(Category::Shell), None, None, RuleVerdict::Ask)]);
    let remembered = [Rule::Run {
        command: "touch scratch".into(),
        cwd: "/p".into(),
    }];
    let command = [rated(Risk::Change, "touch scratch")];
    let verdict = with(&rules, Mode::Auto, &remembered, &command);
    assert!(matches!(verdict, Verdict::Ask(Some(_))));
    assert_eq!(gate(&rules, Mode::Auto, &[]).rule_for("t", &command), None);
    assert_eq!(decide(Mode::Auto, &remembered, &command), ALLOW);

    let floors = Safety {
        system_installs: Floor::Ask,
        ..Safety::default()
    };
    let install = [rated(Risk::Install, "pip install x")];
    let remembered = [Rule::Run {
        command: "pip install x".into(),
        cwd: "/p".into(),
    }];
    let verdict = with(&floors, Mode::FullAccess, &remembered, &install);
    assert!(matches!(verdict, Verdict::Ask(Some(_))));
}

#[test]
fn floors_only_raise_and_name_themselves() {
    let install = [rated(Risk::Install, "pip install x")];
    let call = [mcp(false)];
    let mut table = String::new();
    for (name, accesses) in [("install", &install), ("mcp", &call)] {
        for floor in [Floor::Allow, Floor::Auto, Floor::Ask, Floor::Deny] {
            let safety = Safety {
                system_installs: floor,
                external_writes: floor,
                ..Safety::default()
            };
            for mode in Mode::ALL {
                let verdict = with(&safety, mode, &[], accesses);
                table.push_str(&format!("{:9}", word(&verdict)));
                if let (Verdict::Deny(why), true) = (&verdict, mode == Mode::FullAccess) {
                    let floor = if name == "mcp" {
                        "external_writes"
                    } else {
                        "system_installs"
                    };
                    assert!(why.contains(floor), "{why}");
                }
            }
            table.push_str(&format!("{name} {floor:?}\n"));
        }
    }
    expect_test::expect![[r#"
        deny     ask      classify allow    install Allow
        deny     ask      classify classify install Auto
        deny     ask      ask      ask      install Ask
        deny     deny     deny     deny     install Deny
        deny     ask      classify allow    mcp Allow
        deny     ask      classify classify mcp Auto
        deny     ask      ask      ask      mcp Ask
        deny     deny     deny     deny     mcp Deny
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_hint_of_a_server_grants_no_more_than_the_mode() {
    for mode in Mode::ALL {
        let (hinted, plain) = (
            decide(mode, &[], &[mcp(true)]),
            decide(mode, &[], &[mcp(false)]),
        );
        assert!(hinted.rank() <= plain.rank());
        assert!(!hinted.allows() || mode == Mode::FullAccess, "{mode:?}");
    }
}

#[test]
fn calls_of_servers_and_uses_of_the_screen_are_never_remembered() {
    for access in [mcp(false), mcp(true), screen(), web(), agent()] {
        for mode in [Mode::Ask, Mode::Auto] {
            assert_eq!(session_rule(mode, &[], std::slice::from_ref(&access)), None);
        }
    }
}

#[test]
fn what_is_never_done_is_done_by_no_rule_no_answer_and_no_mode() {
    let rules = safety(&[
        rule(Some(Category::Shell), None, None, RuleVerdict::Allow),
        rule(Some(Category::Edit), None, None, RuleVerdict::Allow),
    ]);
    let remembered = [Rule::Run {
        command: "mkfs /dev/sda".into(),
        cwd: "/p".into(),
    }];
    for mode in Mode::ALL {
        for access in [run("mkfs /dev/sda"), write(Place::Protected)] {
            let verdict = with(&rules, mode, &remembered, &[access]);
            assert!(matches!(verdict, Verdict::Deny(_)));
        }
    }
    let offline = Safety {
        network: Network::Deny,
        rules: vec![rule(Some(Category::Web), None, None, RuleVerdict::Allow)],
        ..Safety::default()
    };
    assert!(matches!(
        with(&offline, Mode::FullAccess, &[], &[web()]),
        Verdict::Deny(_)
    ));
}

#[test]
fn an_answer_for_a_folder_outside_covers_no_file_that_runs_later() {
    let to = |path: &str| Access::Write {
        path: path.into(),
        place: Place::External,
    };
    let home = [Rule::ExternalFolder {
        folder: "/home/ada".into(),
        writes: true,
    }];
    assert!(decide(Mode::Ask, &home, &[to("/home/ada/notes.txt")]).allows());
    for path in ["/home/ada/.bashrc", "/home/ada/.zshenv", "/home/ada/.git"] {
        assert_eq!(decide(Mode::Ask, &home, &[to(path)]), ASK, "{path}");
        assert_eq!(session_rule(Mode::Ask, &[], &[to(path)]), None, "{path}");
    }
    for path in [
        "/home/ada/.ssh/config",
        "/home/ada/.config/autostart/x.desktop",
    ] {
        assert_eq!(session_rule(Mode::Ask, &[], &[to(path)]), None, "{path}");
    }
}
