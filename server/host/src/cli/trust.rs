//! `undine trust`: which hooks the project in this folder brings, and whether they run (spec 21.5).

use crate::hooks::ProjectHooks;
use crate::store::Folders;
use crate::store::trust::Trust;
use anyhow::{Context, anyhow};
use std::io::{Write, stdout};
use std::process::ExitCode;

pub(super) fn answer(wish: Option<&str>) -> anyhow::Result<ExitCode> {
    let folder = std::env::current_dir().and_then(|it| it.canonicalize());
    let root = folder.context("opening this folder")?;
    let trust = Trust::new(&Folders::from_environment().config);
    let said = ProjectHooks::answer(&root, &trust, wish.unwrap_or_default());
    let said = said.map_err(|it| anyhow!(it.trim_end_matches('.').to_owned()))?;
    writeln!(stdout(), "{}", said.replace("`/trust ", "`undine trust "))?;
    Ok(ExitCode::SUCCESS)
}
