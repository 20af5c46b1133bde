//! `undine replay`: runs a session's trace again and says whether this build does the same.

use super::settings::print;
use anyhow::Context;
use engine::text::visible;
use engine::trace::{self, Difference, Replayed};
use std::path::Path;
use std::process::ExitCode;

/// Exits with 0 where all acts had the same effects, else with 1.
pub(super) fn run(path: &Path) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("reading {}", path.display()))?;
    let replayed = trace::replay(&text);
    let replayed = replayed.map_err(|it| anyhow::anyhow!(it.0.trim_end_matches('.').to_owned()))?;
    print(&visible(&said(&replayed)));
    Ok(match replayed.difference {
        None => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    })
}

fn said(replayed: &Replayed) -> String {
    let Replayed {
        build,
        acts,
        agreed,
        difference,
        live_differs,
    } = replayed;
    let mut text = match difference {
        None => format!("All {acts} steps agree with Undine {build}, which wrote the trace."),
        Some(Difference { line, act, was, is }) => {
            let or_none = |it: &Option<String>| it.clone().unwrap_or_else(|| "none".to_owned());
            format!(
                "The first {agreed} of {acts} steps agree with Undine {build}, which wrote the trace.\nLine {line} differs: \
                 {act}\n  was: {}\n  is:  {}",
                or_none(was),
                or_none(is)
            )
        }
    };
    if let Some(line) = live_differs {
        text.push_str(&format!(
            "\nFrom line {line} on the session itself did something else, because secrets are masked in the trace."
        ));
    }
    text
}
