//! The person's own rules, `[[safety.rules]]` (spec 19.4): the first that matches decides.
//!
//! All fields that a rule has must match, and a rule with none matches nothing. A pattern that asks or denies is found
//! anywhere in the text; one that allows is a program's whole name, and only where that program is all there is, or
//! an exact path. So an allowed word never lets something else through.

use super::{Hold, Verdict};
use protocol::config::{Category, RuleVerdict, SafetyRule};
use protocol::tool::Access;
use std::borrow::Cow;

pub(super) fn first(rules: &[SafetyRule], tool: &str, access: &Access) -> Option<Verdict> {
    let rule = rules.iter().find(|it| matches(it, tool, access))?;
    let reason = rule.reason.as_deref().map(str::trim);
    let reason = reason.filter(|it| !it.is_empty());
    Some(match rule.verdict {
        RuleVerdict::Allow => Verdict::Allow(Hold::AsConfigured),
        RuleVerdict::Ask => Verdict::Ask(Some(
            reason
                .unwrap_or("A rule of yours in [safety] asks for it.")
                .to_owned(),
        )),
        RuleVerdict::Deny => Verdict::Deny(match reason {
            Some(reason) => format!("Denied by a rule of the person's: {reason}"),
            None => "Denied by a rule of the person's. Go on without it.".to_owned(),
        }),
    })
}

/// What the rules say of a checkpoint before a call changes files. One file that is to be kept is enough for all of
/// them, since a call changes its files together; to do without, the rules must say so of each file. None: they say
/// nothing.
pub fn checkpoint(rules: &[SafetyRule], tool: &str, accesses: &[Access]) -> Option<bool> {
    let writes = accesses
        .iter()
        .filter(|it| matches!(it, Access::Write { .. }));
    let said: Vec<Option<bool>> = writes
        .map(|access| {
            rules
                .iter()
                .find(|it| matches(it, tool, access))?
                .checkpoint
        })
        .collect();
    let is_without = !said.is_empty() && said.iter().all(|it| *it == Some(false));
    match said.contains(&Some(true)) {
        true => Some(true),
        false => is_without.then_some(false),
    }
}

fn matches(rule: &SafetyRule, tool: &str, access: &Access) -> bool {
    let SafetyRule {
        category,
        tool: of_tool,
        pattern,
        verdict,
        ..
    } = rule;
    // An empty pattern would be found everywhere.
    if pattern.as_deref().is_some_and(|it| it.trim().is_empty()) {
        return false;
    }
    let is_any = category.is_some() || of_tool.is_some() || pattern.is_some();
    is_any
        && category.is_none_or(|it| it == category_of(access))
        && of_tool.as_deref().is_none_or(|it| it == tool)
        && pattern.as_deref().is_none_or(|it| match verdict {
            RuleVerdict::Allow => is_exactly(it, access),
            RuleVerdict::Ask | RuleVerdict::Deny => text(access).contains(it),
        })
}

/// What kind of thing an access is.
fn category_of(access: &Access) -> Category {
    match access {
        Access::Read { .. } | Access::Ask => Category::Read,
        Access::Write { .. } => Category::Edit,
        Access::Run { .. } => Category::Shell,
        Access::Memory { .. } => Category::Memory,
        Access::Web { .. } => Category::Web,
        Access::Agent { .. } => Category::Agent,
        Access::Mcp { .. } => Category::Mcp,
        Access::Computer { .. } => Category::Computer,
    }
}

/// The text that a pattern is looked for in: the command, else the path, else what is shown.
fn text(access: &Access) -> Cow<'_, str> {
    match access {
        Access::Run { command, .. } => command.as_str().into(),
        Access::Read { path, .. } | Access::Write { path, .. } => path.to_string_lossy(),
        Access::Memory { summary, .. }
        | Access::Web { summary, .. }
        | Access::Computer { summary } => summary.as_str().into(),
        Access::Agent { task } => task.as_str().into(),
        Access::Mcp {
            server,
            tool,
            arguments,
            ..
        } => format!("{server}/{tool} {arguments}").into(),
        Access::Ask => "".into(),
    }
}

fn is_exactly(pattern: &str, access: &Access) -> bool {
    match access {
        Access::Run { reading, .. } => reading.program.as_deref() == Some(pattern),
        Access::Read { .. } | Access::Write { .. } => text(access) == pattern,
        Access::Web { summary, host } => host.as_deref() == Some(pattern) || summary == pattern,
        Access::Mcp { server, tool, .. } => format!("{server}/{tool}") == pattern,
        Access::Memory { summary, .. } | Access::Computer { summary } => summary == pattern,
        Access::Agent { task } => task == pattern,
        Access::Ask => false,
    }
}
