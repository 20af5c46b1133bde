//! What is known while a line is read, and what has been found so far.

use super::Named;
use super::Surroundings;
use super::place::{self, Deed};
use super::word::{Taint, Value, Word};
use protocol::tool::Risk;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Scripts within scripts that are looked into (spec 19.5).
pub const MAX_NESTED: usize = 3;
/// Parts that are judged for one line, those of loops once a round.
const MAX_STEPS: usize = 5_000;
/// Folders that a line may be in at one moment; more are none.
const MAX_FOLDERS: usize = 8;

/// Paths of one line that are looked up.
const MAX_NAMES: usize = 1_000;

pub const TOO_DEEP: &str = "scripts within scripts, nested too deeply to be read";

/// What a command reads or writes through a pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// The whole of it, where the line tells.
    pub text: Option<String>,
    pub taint: Taint,
}

pub struct Reader<'a> {
    pub around: &'a Surroundings,
    pub risk: Risk,
    pub forbidden: Option<String>,
    /// All parts could be read.
    pub is_readable: bool,
    pub vars: BTreeMap<String, Value>,
    /// Bodies of functions of this line.
    pub functions: BTreeMap<String, String>,
    pub n_calls: usize,
    /// Where the next command may run; empty: not known.
    pub cwds: Vec<PathBuf>,
    /// Where one runs if what came last has worked; a `cd` sets it.
    pub reached: Option<Vec<PathBuf>>,
    /// What the next command reads.
    pub stdin: Feed,
    /// Words of the next command that stand behind a redirection.
    pub extra: Vec<Word>,
    /// Scripts around this one.
    pub n_nested: usize,
    /// Conditions and loops around this command: what it sets is not set for sure.
    pub n_branches: usize,
    /// Arguments of the script: none, and that is known, unless somebody gives it some.
    pub arguments: Option<Vec<Word>>,
    /// A program in the line follows settings of the folder.
    pub steered: bool,
    /// Paths in the session's folders that the line names.
    pub names: Vec<Named>,
    n_steps: usize,
}

impl<'a> Reader<'a> {
    pub fn new(around: &'a Surroundings) -> Reader<'a> {
        let mut reader = Reader {
            around,
            risk: Risk::Read,
            forbidden: None,
            is_readable: true,
            vars: BTreeMap::new(),
            functions: BTreeMap::new(),
            n_calls: 0,
            cwds: vec![around.cwd.clone()],
            reached: None,
            stdin: Feed::default(),
            extra: Vec::new(),
            n_nested: 0,
            n_branches: 0,
            arguments: Some(Vec::new()),
            steered: false,
            names: Vec::new(),
            n_steps: 0,
        };
        if !place::is_inside(around, &around.cwd) {
            reader.at_least(Risk::Outside);
        }
        reader
    }

    pub fn at_least(&mut self, risk: Risk) {
        self.risk = self.risk.max(risk);
    }

    /// The first rule found stands.
    pub fn forbid(&mut self, rule: &str) {
        self.forbidden.get_or_insert_with(|| rule.to_owned());
    }

    /// A part that cannot be read: anything may happen in it.
    pub fn unreadable(&mut self) {
        self.is_readable = false;
        self.at_least(Risk::Run);
    }

    /// Not all of the line has been judged.
    pub fn is_exhausted(&self) -> bool {
        self.n_steps > MAX_STEPS
    }

    /// Counts a part; false: there are too many.
    pub fn step(&mut self) -> bool {
        self.n_steps += 1;
        if self.n_steps > MAX_STEPS {
            self.unreadable();
        }
        self.n_steps <= MAX_STEPS
    }

    pub fn set(&mut self, name: &str, value: Value) {
        // What is set on one way only is not known on the other.
        let is_same = self.vars.get(name) == Some(&value);
        let sure = value.sure && (self.n_branches == 0 || is_same);
        self.vars.insert(name.to_owned(), Value { sure, ..value });
    }

    /// Runs something whose folders and variables nobody sees afterwards.
    pub fn apart<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let vars = self.vars.clone();
        let cwds = self.cwds.clone();
        let arguments = self.arguments.clone();
        let done = work(self);
        self.vars = vars;
        self.cwds = cwds;
        self.arguments = arguments;
        self.reached = None;
        done
    }

    /// Runs something that may be left out, or run more than once.
    pub fn perhaps<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.cwds.clone();
        self.n_branches += 1;
        let done = work(self);
        self.n_branches -= 1;
        self.reached = None;
        let after = std::mem::take(&mut self.cwds);
        self.cwds = either(before, after);
        done
    }

    pub fn with_stdin<T>(&mut self, feed: Feed, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.stdin, feed);
        let done = work(self);
        self.stdin = before;
        done
    }

    /// `cd`: the next commands may run there, or where they were if it fails.
    pub fn change_folder(&mut self, to: &Word) {
        if !to.known || to.text == "-" {
            self.cwds.clear();
            self.reached = None;
            self.at_least(Risk::Run);
            return;
        }
        let reached: Vec<PathBuf> = self
            .cwds
            .iter()
            .map(|it| place::resolve(it, &to.text, to.glob))
            .collect();
        self.check(to, Deed::Read);
        self.cwds = either(std::mem::take(&mut self.cwds), reached.clone());
        self.reached = Some(reached);
    }

    /// Judges a path that a command names.
    pub fn check(&mut self, word: &Word, deed: Deed) {
        if self.cwds.is_empty() && !word.text.starts_with('/') {
            self.at_least(Risk::Run);
        }
        let somewhere = [PathBuf::from("/")];
        let cwds = match self.cwds.as_slice() {
            [] if word.text.starts_with('/') => somewhere.to_vec(),
            cwds => cwds.to_vec(),
        };
        for cwd in cwds {
            let path = place::resolve(&cwd, &word.text, word.glob);
            if place::is_harmless(&path) {
                continue;
            }
            if place::is_protected(self.around, &path, deed) {
                match deed {
                    Deed::Read => self.at_least(Risk::Outside),
                    Deed::Write | Deed::Remove => {
                        self.forbid("changing Undine's own settings, history or data");
                    }
                }
            }
            if !place::is_inside(self.around, &path) {
                self.at_least(Risk::Outside);
                continue;
            }
            if self.names.len() == MAX_NAMES {
                return self.at_least(Risk::Run);
            }
            self.names.push(Named {
                // With its `..`, which lead elsewhere behind a link.
                path: cwd.join(&word.text),
                is_pattern: word.glob,
                is_written: deed != Deed::Read,
            });
        }
    }

    /// Whether a removal with all that is in it would hit a folder of the system.
    pub fn is_root(&self, word: &Word) -> bool {
        let somewhere = [PathBuf::from("/nowhere/known")];
        let cwds = match self.cwds.as_slice() {
            [] => &somewhere,
            cwds => cwds,
        };
        cwds.iter()
            .any(|it| place::is_root(self.around, it, &word.text, word.glob))
    }

    /// Whether text written there would spoil the system or what a shell starts with.
    pub fn is_sensitive(&self, word: &Word) -> bool {
        let somewhere = [PathBuf::from("/nowhere/known")];
        let cwds = match self.cwds.as_slice() {
            [] => &somewhere,
            cwds => cwds,
        };
        cwds.iter()
            .any(|it| place::is_sensitive(self.around, &place::resolve(it, &word.text, word.glob)))
    }
}

/// Both lists; none where one is not known or both are too long.
fn either(mut one: Vec<PathBuf>, other: Vec<PathBuf>) -> Vec<PathBuf> {
    if one.is_empty() || other.is_empty() {
        return Vec::new();
    }
    for path in other {
        if !one.contains(&path) {
            one.push(path);
        }
    }
    if one.len() > MAX_FOLDERS {
        one.clear();
    }
    one
}
