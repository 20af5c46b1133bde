//! Decides whether a planned call may run.
//!
//! Pure: what a call touches, the mode, the person's rules and remembered answers in, a verdict out. Asking the person
//! or the classifier is the session's business. Fails closed: what no row allows is asked or denied.
//!
//! The order of decision (spec 19.2): what is never done; the person's own rules; the mode; the floors; what the
//! scratchpad and remembered answers take away of the mode's question. Nothing below can weaken a denial, and only
//! the mode's own question is ever softened, not one that the person has asked for.

mod overrides;
mod remembered;
pub mod shell;
mod table;
#[cfg(test)]
mod tests;

pub use overrides::checkpoint;
pub use remembered::describe;
pub use table::is_for_read_only;

use protocol::approval::Rule;
use protocol::config::{Floor, Network, Safety};
use protocol::session::Mode;
use protocol::tool::{Access, Place, Risk};

/// What may be done with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow(Hold),
    /// The classifier decides: a model that sees what the person has asked for (spec 19.8).
    Classify,
    /// The person decides. Beside it, what they are told of why; nothing where the mode alone asks.
    Ask(Option<String>),
    /// Not approvable; the reason is told to the model.
    Deny(String),
}

impl Verdict {
    pub fn allows(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    fn rank(&self) -> (u8, bool) {
        match self {
            Self::Allow(Hold::AsConfigured) => (0, false),
            Self::Allow(Hold::ByRating) => (1, false),
            Self::Allow(Hold::ReadOnly) => (2, false),
            Self::Classify => (3, false),
            // One with a reason says more.
            Self::Ask(why) => (4, why.is_some()),
            Self::Deny(_) => (5, false),
        }
    }
}

/// What a command is held to, beside the sandbox that the person has configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    #[default]
    AsConfigured,
    /// Its text says that it only reads, and this system cannot hold it to that. So its programs are the machine's:
    /// none is looked for in the session's folders.
    ByRating,
    /// It can write nothing and reach nobody, whatever it tries: the system sees to that (spec 7.3).
    ReadOnly,
}

/// What decides beside the call itself.
#[derive(Clone, Copy, Debug)]
pub struct Gate<'a> {
    pub mode: Mode,
    pub safety: &'a Safety,
    /// Answers that count for this session: its own and those that were kept for always.
    pub remembered: &'a [Rule],
    /// Whether this system can hold a command to reading.
    pub can_hold: bool,
}

/// Where a verdict comes from: what may be softened later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The mode, or a floor that the person has not set.
    Mode,
    /// A rule or a floor of the person's.
    Person,
}

impl Gate<'_> {
    /// The strictest verdict over all accesses of a call.
    pub fn decide(&self, tool: &str, accesses: &[Access]) -> Verdict {
        let verdicts = accesses.iter().map(|it| self.judge(tool, it));
        verdicts
            .max_by_key(Verdict::rank)
            .unwrap_or(Verdict::Allow(Hold::AsConfigured))
    }

    fn judge(&self, tool: &str, access: &Access) -> Verdict {
        if let Some(why) = self.never(access) {
            return Verdict::Deny(why);
        }
        if let Some(verdict) = overrides::first(&self.safety.rules, tool, access) {
            return verdict;
        }
        let verdict = table::by_mode(self.mode, self.can_hold, access);
        let (verdict, by) = self.with_floors(verdict, access);
        let softens = match (&verdict, by) {
            (Verdict::Ask(_) | Verdict::Classify, By::Mode) => true,
            (Verdict::Ask(_) | Verdict::Classify, By::Person) => false,
            (Verdict::Allow(_) | Verdict::Deny(_), _) => false,
        };
        let is_free = || {
            let kept = self.remembered.iter();
            stays_in_scratchpad(access) || { kept }.any(|it| remembered::covers(it, access))
        };
        match softens && is_free() {
            true => Verdict::Allow(Hold::AsConfigured),
            false => verdict,
        }
    }

    /// What no mode, rule or answer can allow, and why.
    fn never(&self, access: &Access) -> Option<String> {
        match access {
            Access::Web { .. } if self.safety.network == Network::Deny => Some(
                "Denied: the network is switched off for this session. Go on without it, or ask the person to switch \
                 it on."
                    .to_owned(),
            ),
            Access::Write {
                path,
                place: Place::Protected,
            } => Some(format!(
                "Denied: {} belongs to Undine's own settings and history, which tools never write.",
                path.display()
            )),
            Access::Write {
                path,
                place: Place::Memory,
            } => Some(format!(
                "Denied: {} is a note of the memory, which is changed by the tool memory.",
                path.display()
            )),
            Access::Run { reading, .. } => reading.forbidden.as_ref().map(|rule| {
                format!(
                    "Denied: {rule}. No mode allows this and nobody can approve it here; do what is needed another \
                     way, or leave it to the person."
                )
            }),
            Access::Read { .. }
            | Access::Write { .. }
            | Access::Ask
            | Access::Memory { .. }
            | Access::Web { .. }
            | Access::Agent { .. }
            | Access::Mcp { .. }
            | Access::Computer { .. } => None,
        }
    }

    /// Floors only raise (spec 19.3).
    fn with_floors(&self, verdict: Verdict, access: &Access) -> (Verdict, By) {
        let (floor, name, what) = match access {
            Access::Run { reading, .. } if reading.risk == Risk::Install => (
                self.safety.system_installs,
                "system_installs",
                "installs something for the whole machine",
            ),
            Access::Mcp {
                says_it_reads: false,
                ..
            } => (
                self.safety.external_writes,
                "external_writes",
                "may change something outside of this machine",
            ),
            Access::Run { .. }
            | Access::Mcp { .. }
            | Access::Read { .. }
            | Access::Write { .. }
            | Access::Ask
            | Access::Memory { .. }
            | Access::Web { .. }
            | Access::Agent { .. }
            | Access::Computer { .. } => return (verdict, By::Mode),
        };
        let (raised, by) = match floor {
            Floor::Allow => return (verdict, By::Mode),
            Floor::Auto => (Verdict::Classify, By::Mode),
            Floor::Ask => {
                let why = format!("It {what}, and [safety] {name} is \"ask\".");
                (Verdict::Ask(Some(why)), By::Person)
            }
            Floor::Deny => {
                let why = format!("Denied: it {what}, and [safety] {name} is \"deny\".");
                (Verdict::Deny(why), By::Person)
            }
        };
        match raised.rank() > verdict.rank() {
            true => (raised, by),
            false => (verdict, By::Mode),
        }
    }

    /// The rule that "don't ask again" would add for these accesses, if one rule can cover all that asks.
    pub fn rule_for(&self, tool: &str, accesses: &[Access]) -> Option<Rule> {
        let allows = |rule: &Rule| {
            let with: Vec<Rule> = self.remembered.iter().chain([rule]).cloned().collect();
            let gate = Gate {
                remembered: &with,
                ..*self
            };
            gate.decide(tool, accesses).allows()
        };
        accesses
            .iter()
            .filter(|it| !self.judge(tool, it).allows())
            .filter_map(remembered::rule)
            .find(allows)
    }
}

/// What only touches the session's own folder for files that are no part of the work is not asked about (spec 4.5).
fn stays_in_scratchpad(access: &Access) -> bool {
    match access {
        Access::Run { reading, .. } => reading.in_scratchpad,
        Access::Read { place, .. } | Access::Write { place, .. } => *place == Place::Scratchpad,
        Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => false,
    }
}

/// Whether a call can wait for its approval and be made later as well as now: what changes files or runs a
/// command (spec 3.7). What is read for the model is of use to it now or never, and the scratchpad is gone by then.
pub fn is_replayable(accesses: &[Access]) -> bool {
    accesses.iter().all(|it| match it {
        Access::Write { place, .. } | Access::Run { place, .. } => match place {
            Place::Project
            | Place::AddedDir
            | Place::Protected
            | Place::Memory
            | Place::External => true,
            Place::Scratchpad => false,
        },
        Access::Read { place, .. } => match place {
            Place::Project | Place::AddedDir => true,
            Place::Scratchpad | Place::Protected | Place::Memory | Place::External => false,
        },
        Access::Ask
        | Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => false,
    })
}
