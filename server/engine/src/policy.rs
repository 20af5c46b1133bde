//! Decides whether a planned call may run.
//!
//! Pure: mode, remembered answers and accesses in, a verdict out. Asking the person is the
//! session's business. Fails closed: what no row allows is asked or denied (spec 19).

pub mod shell;

use protocol::approval::Rule;
use protocol::session::Mode;
use protocol::tool::{Access, Place};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    /// Not approvable; the reason is told to the model.
    Deny(String),
}

/// The strictest verdict over all accesses of a plan.
pub fn decide(mode: Mode, rules: &[Rule], accesses: &[Access]) -> Verdict {
    let mut worst = Verdict::Allow;
    for access in accesses {
        match by_mode(mode, access) {
            Verdict::Allow => {}
            Verdict::Ask if rules.iter().any(|it| covers(it, access)) => {}
            Verdict::Ask => worst = Verdict::Ask,
            deny @ Verdict::Deny(_) => return deny,
        }
    }
    worst
}

/// The table of spec 19.1, without remembered answers.
fn by_mode(mode: Mode, access: &Access) -> Verdict {
    match access {
        Access::Ask => Verdict::Allow,
        Access::Read {
            place: Place::Project | Place::AddedDir | Place::Scratchpad,
            ..
        } => Verdict::Allow,
        Access::Read {
            path,
            place: Place::Protected | Place::External,
        } => outside(
            mode,
            &format!("reading {} outside the project", path.display()),
        ),
        Access::Write {
            path,
            place: Place::Protected,
        } => Verdict::Deny(format!(
            "Denied: {} belongs to Undine's own settings and history, which tools never write.",
            path.display()
        )),
        Access::Write {
            place: Place::Project | Place::AddedDir,
            ..
        } => match mode {
            Mode::ReadOnly => read_only("changing files"),
            Mode::Ask => Verdict::Ask,
            Mode::Auto | Mode::FullAccess => Verdict::Allow,
        },
        Access::Write {
            place: Place::Scratchpad,
            ..
        } => match mode {
            Mode::ReadOnly => read_only("changing files"),
            Mode::Ask | Mode::Auto | Mode::FullAccess => Verdict::Allow,
        },
        Access::Write {
            path,
            place: Place::External,
        } => outside(
            mode,
            &format!("changing {} outside the project", path.display()),
        ),
        Access::Run { .. } => match mode {
            Mode::ReadOnly => read_only("running programs"),
            // Until the classifier exists, `auto` asks where it would classify.
            Mode::Ask | Mode::Auto => Verdict::Ask,
            Mode::FullAccess => Verdict::Allow,
        },
    }
}

fn outside(mode: Mode, what: &str) -> Verdict {
    match mode {
        Mode::ReadOnly => read_only(what),
        Mode::Ask | Mode::Auto => Verdict::Ask,
        Mode::FullAccess => Verdict::Allow,
    }
}

fn read_only(what: &str) -> Verdict {
    Verdict::Deny(format!(
        "Denied: the session is in read_only mode, which does not allow {what}. Say what you would \
         do instead, or ask the person to change the mode."
    ))
}

/// Whether a call can wait for its approval and be made later as well as now: what changes files or runs a
/// command (spec 3.7). What is read for the model is of use to it now or never, and the scratchpad is gone by then.
pub fn is_replayable(accesses: &[Access]) -> bool {
    accesses.iter().all(|it| match it {
        Access::Write { place, .. } | Access::Run { place, .. } => match place {
            Place::Project | Place::AddedDir | Place::Protected | Place::External => true,
            Place::Scratchpad => false,
        },
        Access::Read { place, .. } => match place {
            Place::Project | Place::AddedDir => true,
            Place::Scratchpad | Place::Protected | Place::External => false,
        },
        Access::Ask => false,
    })
}

/// Whether a remembered answer covers an access: exactly what was shown, nothing wider.
fn covers(rule: &Rule, access: &Access) -> bool {
    match (rule, access) {
        (
            Rule::Run { command, cwd },
            Access::Run {
                command: asked,
                cwd: asked_cwd,
                ..
            },
        ) => *command == collapse_blanks(asked) && cwd == asked_cwd,
        (
            Rule::EditProject,
            Access::Write {
                place: Place::Project | Place::AddedDir,
                ..
            },
        ) => true,
        (
            Rule::ExternalFolder { folder, .. },
            Access::Read {
                path,
                place: Place::External,
            },
        ) => path.parent() == Some(folder.as_path()),
        (
            Rule::ExternalFolder { folder, writes },
            Access::Write {
                path,
                place: Place::External,
            },
        ) => *writes && path.parent() == Some(folder.as_path()),
        (Rule::Run { .. } | Rule::EditProject | Rule::ExternalFolder { .. }, _) => false,
    }
}

/// The rule that "don't ask again in this session" would add for these accesses, if one rule can
/// cover all that asks.
pub fn session_rule(mode: Mode, rules: &[Rule], accesses: &[Access]) -> Option<Rule> {
    let allows = |rule: &Rule| {
        let with: Vec<Rule> = rules.iter().cloned().chain([rule.clone()]).collect();
        decide(mode, &with, accesses) == Verdict::Allow
    };
    accesses
        .iter()
        .filter(|it| decide(mode, rules, std::slice::from_ref(it)) == Verdict::Ask)
        .filter_map(rule_for)
        .find(allows)
}

fn rule_for(access: &Access) -> Option<Rule> {
    match access {
        Access::Run { command, cwd, .. } => Some(Rule::Run {
            command: collapse_blanks(command),
            cwd: cwd.clone(),
        }),
        Access::Write {
            place: Place::Project | Place::AddedDir,
            ..
        } => Some(Rule::EditProject),
        Access::Read {
            path,
            place: Place::External,
        } => folder_rule(path, false),
        Access::Write {
            path,
            place: Place::External,
        } => folder_rule(path, true),
        Access::Read {
            place: Place::Project | Place::AddedDir | Place::Scratchpad | Place::Protected,
            ..
        }
        | Access::Write {
            place: Place::Scratchpad | Place::Protected,
            ..
        }
        | Access::Ask => None,
    }
}

fn folder_rule(path: &Path, writes: bool) -> Option<Rule> {
    let folder = path.parent()?.to_path_buf();
    Some(Rule::ExternalFolder { folder, writes })
}

/// Blanks between words are one space in a remembered command; inside quotes they count. Only what is a
/// blank to a shell: to it, a no-break space or a carriage return is part of a word like any letter.
fn collapse_blanks(command: &str) -> String {
    let blanks = [' ', '\t'];
    if command.contains(['\'', '"', '\\', '\n']) {
        return command.trim_matches(blanks).to_owned();
    }
    let words = command.split(blanks).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

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
    fn run(command: &str) -> Access {
        Access::Run {
            command: command.into(),
            cwd: "/p".into(),
            place: Place::Project,
            reading: reading(),
        }
    }
    fn reading() -> protocol::tool::Reading {
        shell::read("", &shell::Surroundings::default())
    }

    #[test]
    fn each_mode_has_its_column() {
        let rows = [
            read(Place::Project),
            read(Place::External),
            write(Place::Project),
            write(Place::External),
            write(Place::Protected),
            run("make"),
            Access::Ask,
            read(Place::AddedDir),
            write(Place::AddedDir),
            read(Place::Scratchpad),
            write(Place::Scratchpad),
        ];
        let mut table = String::new();
        for access in &rows {
            for mode in Mode::ALL {
                let word = match decide(mode, &[], std::slice::from_ref(access)) {
                    Verdict::Allow => "allow",
                    Verdict::Ask => "ask",
                    Verdict::Deny(_) => "deny",
                };
                table.push_str(&format!("{word:6}"));
            }
            table.truncate(table.trim_end().len());
            table.push('\n');
        }
        expect_test::expect![[r#"
            allow allow allow allow
            deny  ask   ask   allow
            deny  ask   allow allow
            deny  ask   ask   allow
            deny  deny  deny  deny
            deny  ask   ask   allow
            allow allow allow allow
            allow allow allow allow
            deny  ask   allow allow
            allow allow allow allow
            deny  allow allow allow
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn the_strictest_access_decides() {
        assert_eq!(
            decide(Mode::Ask, &[], &[read(Place::Project), run("x")]),
            Verdict::Ask
        );
        assert!(matches!(
            decide(Mode::FullAccess, &[], &[run("x"), write(Place::Protected)]),
            Verdict::Deny(_)
        ));
    }

    #[test]
    fn a_patch_that_is_only_partly_in_the_scratchpad_is_judged_as_a_whole() {
        let patch =
            |places: &[Place]| -> Vec<Access> { places.iter().copied().map(write).collect() };
        let mixed = patch(&[Place::Scratchpad, Place::Project]);
        let far = patch(&[Place::Scratchpad, Place::AddedDir, Place::External]);
        assert_eq!(decide(Mode::Ask, &[], &mixed), Verdict::Ask);
        assert_eq!(
            session_rule(Mode::Ask, &[], &mixed),
            Some(Rule::EditProject)
        );
        assert_eq!(decide(Mode::Auto, &[], &mixed), Verdict::Allow);
        assert_eq!(decide(Mode::Auto, &[], &far), Verdict::Ask);
        let own = patch(&[Place::Scratchpad, Place::Scratchpad]);
        assert_eq!(decide(Mode::Ask, &[], &own), Verdict::Allow);
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
        assert_eq!(verdict(Place::Project), Verdict::Allow);
        assert_eq!(verdict(Place::AddedDir), Verdict::Allow);
        assert_eq!(verdict(Place::External), Verdict::Ask);
    }

    #[test]
    fn a_remembered_command_covers_only_itself() {
        let rule = session_rule(Mode::Ask, &[], &[run("cargo   test")]).unwrap();
        let rules = [rule];
        assert_eq!(
            decide(Mode::Ask, &rules, &[run("cargo test")]),
            Verdict::Allow
        );
        assert_eq!(
            decide(Mode::Ask, &rules, &[run("cargo test; rm x")]),
            Verdict::Ask
        );
        assert_eq!(
            decide(Mode::Ask, &rules, &[write(Place::Project)]),
            Verdict::Ask
        );
        let elsewhere = Access::Run {
            command: "cargo test".into(),
            cwd: "/q".into(),
            place: Place::External,
            reading: reading(),
        };
        assert_eq!(decide(Mode::Ask, &rules, &[elsewhere]), Verdict::Ask);
    }

    #[test]
    fn bug_026_a_remembered_command_clears_no_other_of_the_same_program() {
        let rule = session_rule(Mode::Ask, &[], &[run("curl https://safe")]).unwrap();
        let verdict = |command| decide(Mode::Ask, std::slice::from_ref(&rule), &[run(command)]);
        assert_eq!(verdict("curl  https://safe"), Verdict::Allow);
        for other in [
            "curl https://evil",
            "curl https://safe https://evil",
            "curl",
            "curl https://safe; curl https://evil",
        ] {
            assert_eq!(verdict(other), Verdict::Ask, "{other}");
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
    fn a_remembered_command_is_the_one_that_a_shell_would_read() {
        let same = |a: &str, b: &str| collapse_blanks(a) == collapse_blanks(b);
        assert!(same(" cargo \t test ", "cargo test"));
        for other in [
            "cargo\u{a0}test",
            "cargo\rtest",
            "cargo\u{2003}test",
            "cargo\u{b}test",
        ] {
            assert!(!same(other, "cargo test"), "{other:?}");
        }
    }

    #[test]
    fn a_remembered_read_outside_the_project_allows_no_write_there() {
        let rule = session_rule(Mode::Ask, &[], &[read(Place::External)]).unwrap();
        let rules = [rule];
        let verdict = |access| decide(Mode::Ask, &rules, &[access]);
        assert_eq!(verdict(read(Place::External)), Verdict::Allow);
        assert_eq!(verdict(write(Place::External)), Verdict::Ask);
        let both = [read(Place::External), write(Place::External)];
        let rules = [session_rule(Mode::Ask, &[], &both).unwrap()];
        assert_eq!(decide(Mode::Ask, &rules, &both), Verdict::Allow);
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
}
