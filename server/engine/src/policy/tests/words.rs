//! What a denial names, and what a rule says beside its verdict.

use super::*;

#[test]
fn a_denial_of_read_only_names_what_tripped() {
    let elsewhere = |access| match access {
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
    for (access, named) in [
        (write(Place::Project), "changing files"),
        (write(Place::External), "changing /p/a outside the project"),
        (read(Place::External), "reading /p/a outside the project"),
        (run("make"), "running programs"),
        (rated(Risk::Change, "touch a"), "changing files"),
        (rated(Risk::Network, "curl x"), "network access"),
        (rated(Risk::Outside, "cat /x"), "access outside the project"),
        (
            elsewhere(rated(Risk::Read, "ls")),
            "access outside the project",
        ),
        (rated(Risk::Machine, "sudo x"), "machine-wide changes"),
        (
            rated(Risk::Install, "pip install x"),
            "machine-wide changes",
        ),
        (mcp(false), "external side effects"),
        (screen(), "external side effects"),
        (memory(), "changing memory"),
    ] {
        let Verdict::Deny(why) = decide(Mode::ReadOnly, &[], &[access]) else {
            panic!("{named} is not denied");
        };
        assert!(is_for_read_only(&why), "{why}");
        assert!(why.contains(&format!("does not allow {named}.")), "{why}");
    }
}

#[test]
fn a_rule_says_whether_files_are_kept_before_they_change() {
    let of = |pattern: &str, verdict, checkpoint| SafetyRule {
        checkpoint,
        ..rule(Some(Category::Edit), None, Some(pattern), verdict)
    };
    let at = |path: &str| Access::Write {
        path: path.into(),
        place: Place::Project,
    };
    let rules = [
        of("/p/free", RuleVerdict::Allow, Some(false)),
        of("/p/kept", RuleVerdict::Allow, Some(true)),
        of("/p/plain", RuleVerdict::Allow, None),
        // The first that matches counts, though it is silent.
        of("/p/plain", RuleVerdict::Allow, Some(false)),
        of("generated", RuleVerdict::Ask, Some(false)),
    ];
    let said = |accesses: &[Access]| checkpoint(&rules, "t", accesses);
    assert_eq!(said(&[at("/p/free")]), Some(false));
    assert_eq!(said(&[at("/p/kept")]), Some(true));
    assert_eq!(said(&[at("/p/plain")]), None);
    assert_eq!(said(&[at("/p/other")]), None);
    assert_eq!(said(&[]), None);
    // A call changes its files together.
    assert_eq!(said(&[at("/p/free"), at("/p/generated/x")]), Some(false));
    assert_eq!(said(&[at("/p/free"), at("/p/kept")]), Some(true));
    assert_eq!(said(&[at("/p/other"), at("/p/free")]), None);
    // What it reads has no say.
    assert_eq!(said(&[read(Place::Project), at("/p/free")]), Some(false));
}
