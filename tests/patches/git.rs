//! Random texts, changed at random; `git diff` of the change; applied by git and by us.
//!
//! On the text that the diff was made from, both must agree in every byte. On a text that others have changed in
//! the meantime git takes the exact match nearest to the stated line, whatever else is like it; there we may
//! refuse, and may find what git does not find, but must not differ.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use engine::text::{
    ChangeSet, Side,
    patch::{self, FileKind, FilePatch},
};

const SEED: u64 = 0x9a7c_4e5d;
const FILES_A_ROUND: usize = 250;

/// Ten rounds are some 2,400 patches, since a few texts do not change. `UNDINE_SOAK` makes it so many times more.
fn rounds() -> usize {
    let soak = std::env::var("UNDINE_SOAK").ok();
    10 * soak.map_or(1, |it| it.parse().unwrap_or(20))
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Tally {
    /// Both made the same text.
    same: usize,
    /// Neither would.
    both_refuse: usize,
    /// Git would and we would not, with the reasons.
    only_git: BTreeMap<String, usize>,
    /// We would and git would not.
    only_ours: usize,
    /// Of these, not what the change is when it is moved over what the others did.
    only_ours_astray: usize,
    /// Both made another text, and ours is the change moved over what the others did.
    git_astray: usize,
    /// A diff without context adds lines, and has no line of the file that would tell whether endings and byte
    /// order mark are written in it: git adds them with `\n` and before the mark, we as the file has it.
    endings_of_the_file: usize,
}

#[test]
fn a_diff_of_git_makes_the_same_of_its_text_as_git_does() {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut tally = Tally::default();
    for round in 0..rounds() {
        run(&mut random, round, false, &mut tally);
    }
    eprintln!("{tally:#?}");
    // A file that was empty and one that got its first line have the same diff without context.
    assert!(tally.only_git.keys().all(|it| it == "OnlyNumber"));
    let expected = Tally {
        same: tally.same,
        only_git: tally.only_git.clone(),
        endings_of_the_file: tally.endings_of_the_file,
        ..Tally::default()
    };
    assert_eq!(tally, expected);
    assert!(tally.same >= 2000, "{}", tally.same);
}

#[test]
fn on_a_text_that_moved_on_we_never_differ_from_git_but_refuse_when_in_doubt() {
    let mut random = fastrand::Rng::with_seed(SEED + 1);
    let mut tally = Tally::default();
    let rounds = rounds() / 2;
    for round in 0..rounds {
        run(&mut random, round, true, &mut tally);
    }
    eprintln!("{tally:#?}");
    // Already applied: it has no context on one side, and the lines it adds stand there.
    let doubts = ["ambiguous", "AlreadyApplied"];
    assert!(tally.only_git.keys().all(|it| doubts.contains(&&**it)));
    assert!(tally.same >= 60 * rounds, "{}", tally.same);
}

struct Case {
    old: Option<String>,
    new: Option<String>,
    /// The text to apply to.
    base: Option<String>,
    moved_to: Option<String>,
}

fn run(random: &mut fastrand::Rng, round: usize, is_drifted: bool, tally: &mut Tally) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q"]);
    let cases: BTreeMap<String, Case> = (0..FILES_A_ROUND)
        .map(|at| {
            let name = match at % 10 {
                0 => format!("ö {at}.txt"),
                1 => format!("sub/\"q\" {at}.rs"),
                _ => format!("f{at}.rs"),
            };
            (name, case(random, at, is_drifted))
        })
        .collect();
    let old = cases
        .iter()
        .map(|(name, it)| (name.as_str(), it.old.as_deref()));
    let old = tree(root, old);
    let new = cases
        .iter()
        .map(|(name, it)| (it.moved_to.as_deref().unwrap_or(name), it.new.as_deref()));
    let new = tree(root, new);
    // Without context git puts lines in by number even where the file has moved on, and in the middle of a line.
    let no_context = if is_drifted { "-U2" } else { "-U0" };
    let context = ["-U3", "-U3", "-U1", no_context, "-U8"][round % 5];
    let diff = git(root, &["diff", "-M", context, &old, &new]);

    let base = cases
        .iter()
        .map(|(name, it)| (name.as_str(), it.base.as_deref()));
    tree(root, base);
    let patch_file = root.join("the.patch");
    fs::write(&patch_file, &diff).unwrap();
    let mut apply = vec!["apply", "--reject", "--whitespace=nowarn", "the.patch"];
    if context == "-U0" {
        apply.insert(1, "--unidiff-zero");
    }
    // It fails when anything was rejected.
    let output = command(root, &apply).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();

    let files = patch::parse(&diff)
        .unwrap_or_else(|error| panic!("{error}\n{diff}"))
        .files;
    let is_changed = |it: &&Case| it.old != it.new || it.moved_to.is_some();
    assert_eq!(files.len(), cases.values().filter(is_changed).count());
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    for file in &files {
        let case = &cases[&file.path];
        let target = file.new_path.as_ref().unwrap_or(&file.path);
        assert_eq!(file.new_path, case.moved_to);
        let was_rejected = root.join(format!("{target}.rej")).exists()
            || said.contains(&format!("error: {}: patch does not apply", file.path));
        let theirs = match was_rejected {
            true => None,
            false => Some(fs::read_to_string(root.join(target)).unwrap_or_default()),
        };
        let ours = apply_ours(file, case.base.as_deref().unwrap_or_default());
        let section = lines[file.line - 1..].iter().enumerate();
        let shown: String = section
            .take_while(|(at, it)| *at == 0 || !it.starts_with("diff --git"))
            .map(|(_, it)| *it)
            .collect();
        count(case, theirs, ours, tally, &shown);
    }
}

fn apply_ours(file: &FilePatch, base: &str) -> Result<String, String> {
    match file.kind {
        FileKind::Create => Ok(file.content()),
        FileKind::Update | FileKind::Delete => patch::place(file, base)
            .map(|it| it.changes.apply(base).unwrap())
            .map_err(|it| match &it.failures[0].why {
                patch::Why::NotFound { .. } => "not found".to_owned(),
                patch::Why::NotAtEnd { .. } => "not at the end".to_owned(),
                patch::Why::Ambiguous { .. } => "ambiguous".to_owned(),
                other => format!("{other:?}")
                    .split([' ', '{'])
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            }),
    }
}

fn count(
    case: &Case,
    theirs: Option<String>,
    ours: Result<String, String>,
    tally: &mut Tally,
    shown: &str,
) {
    let moved = || {
        let (old, new, base) = (
            case.old.as_deref()?,
            case.new.as_deref()?,
            case.base.as_deref()?,
        );
        let change = ChangeSet::between(old, new);
        let drift = ChangeSet::between(old, base);
        Some(
            change
                .rebase(&drift, Side::After)
                .ok()?
                .apply(base)
                .unwrap(),
        )
    };
    match (theirs, ours) {
        (Some(theirs), Ok(ours)) if theirs == ours => tally.same += 1,
        (Some(_), Ok(ours)) if case.base != case.old && moved() == Some(ours.clone()) => {
            tally.git_astray += 1
        }
        (Some(theirs), Ok(ours))
            if same_but_endings(&theirs, &ours)
                && (!shown.contains("\r\n") || theirs.contains('\u{feff}')) =>
        {
            tally.endings_of_the_file += 1;
        }
        (Some(theirs), Ok(ours)) => {
            panic!(
                "{shown:?}\n{shown}\ntext {:?}\ngit  {theirs:?}\nours {ours:?}",
                case.base
            );
        }
        (None, Err(_)) => tally.both_refuse += 1,
        (Some(_), Err(why)) => {
            let is_top = shown.contains("\n@@ -0,0 ");
            if case.base == case.old && !(why == "OnlyNumber" && is_top) {
                panic!("refused: {why}\n{:?}\n{shown}", case.base);
            }
            *tally.only_git.entry(why).or_default() += 1;
        }
        (None, Ok(ours)) => {
            tally.only_ours += 1;
            tally.only_ours_astray +=
                usize::from(!moved().is_some_and(|it| same_but_endings(&it, &ours)));
        }
    }
}

fn same_but_endings(a: &str, b: &str) -> bool {
    let plain = |it: &str| it.replace("\r\n", "\n").replace('\u{feff}', "");
    plain(a) == plain(b)
}

/// Writes files, and only these, and makes a tree of them.
fn tree<'a>(root: &Path, files: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        match path {
            it if it.ends_with(".git") => {}
            it if it.is_dir() => fs::remove_dir_all(it).unwrap(),
            it => fs::remove_file(it).unwrap(),
        }
    }
    for (name, text) in files {
        let Some(text) = text else {
            continue;
        };
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(root, &["add", "--all"]);
    git(root, &["write-tree"]).trim().to_owned()
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let output = command(root, arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"])
        .args(["-c", "core.fsync=none", "-c", "core.looseCompression=0"])
        .args(["-c", "diff.renameLimit=5000"])
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", root.join("no-config"))
        .env("LC_ALL", "C");
    command
}

fn case(random: &mut fastrand::Rng, at: usize, is_drifted: bool) -> Case {
    let old = text(random, at);
    let new = changed(random, &old, at);
    let (old, new, moved_to) = match at % 12 {
        // With a line of their own, so that git takes no new file for another one that was renamed.
        0 => (None, Some(format!("created {at}\n{new}")), None),
        1 if !is_drifted => (Some(format!("deleted {at}\n{old}")), None, None),
        // Git sees a rename where most of a file stays, and nothing is like it.
        2 => {
            let old = format!(
                "{old}{}",
                (0..60).fold(String::new(), |text, n| format!(
                    "{text}{at} {n} and more\n"
                ))
            );
            let new = format!("top\n{old}");
            (Some(old), Some(new), Some(format!("moved/to {at}.rs")))
        }
        _ => (Some(old), Some(new), None),
    };
    let base = match (&old, is_drifted) {
        (Some(old), true) => Some(changed(random, old, at)),
        (old, _) => old.clone(),
    };
    Case {
        old,
        new,
        base,
        moved_to,
    }
}

/// Some lines, many of them alike, with the endings that files have.
fn text(random: &mut fastrand::Rng, at: usize) -> String {
    let ending = ["\n", "\n", "\n", "\r\n", ""][random.usize(..5)];
    let mut out = match random.u8(..20) {
        0 => "\u{feff}".to_owned(),
        _ => String::new(),
    };
    for _ in 0..random.usize(..60) {
        out.push_str(&line(random, at));
        out.push_str(match ending {
            "" => ["\n", "\r\n"][random.usize(..2)],
            it => it,
        });
    }
    if random.u8(..4) == 0 {
        out.push_str("last line");
    }
    out
}

fn line(random: &mut fastrand::Rng, at: usize) -> String {
    const COMMON: [&str; 16] = [
        "",
        "",
        "}",
        "    }",
        "\treturn x;",
        "    return x;  ",
        "-- a comment",
        "++ more",
        "é — “q”",
        "@@ -1 +1 @@",
        "*** End Patch",
        "\\ No newline at end of file",
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "a\rb",
    ];
    match random.bool() {
        true => COMMON[random.usize(..COMMON.len())].to_owned(),
        false => format!("    let v{} = {at};", random.usize(..40)),
    }
}

/// The text with a few lines gone, come or changed.
fn changed(random: &mut fastrand::Rng, old: &str, at: usize) -> String {
    let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..random.usize(1..6) {
        let ending = ["\n", "\n", "\n", "\r\n"][random.usize(..4)];
        let place = random.usize(..=lines.len());
        match random.u8(..8) {
            0..3 => {
                for _ in 0..random.usize(1..4) {
                    lines.insert(place, format!("{}{ending}", line(random, at)));
                }
            }
            3..5 if place < lines.len() => {
                drop(lines.drain(place..(place + random.usize(1..4)).min(lines.len())))
            }
            5 if !lines.is_empty() => {
                // The final newline.
                let last = lines.len() - 1;
                lines[last] = match lines[last].strip_suffix('\n') {
                    Some(it) if !it.trim().is_empty() => it.trim_end_matches('\r').to_owned(),
                    Some(_) | None => format!("{}\n", lines[last]),
                };
            }
            _ if place < lines.len() => lines[place] = format!("{}{ending}", line(random, at)),
            _ => {}
        }
    }
    lines.concat()
}
