//! A command that goes on in the background: only its start is waited for (spec 5.8).

use super::super::lines::{first_url, last_lines, piece_text, status};
use super::with_footer;
use crate::plan::{Done, Run};
use crate::process::background::Job;
use crate::process::{Command, End};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Of a command without a pattern, how long to wait for its first words.
const FIRST_WORDS: Duration = Duration::from_secs(1);

/// After them, how long to wait for the end of one that fails at once.
const END_AFTER_WORDS: Duration = Duration::from_millis(100);

/// Bytes of its beginning that are looked at for what is told.
const START_BYTES: usize = 16 * 1024;

pub(super) async fn run(
    command: Command,
    patience: Duration,
    pattern: Option<String>,
    page: Option<String>,
    run: Run,
) -> Result<Done, String> {
    let Run {
        world,
        token,
        output,
        accepted: _,
        hold: _,
    } = run;
    let call = output.call.to_string();
    let owner = world.session.clone();
    let running = world
        .jobs
        .start(owner, call, command, world.children.place());
    let job = running.job.clone();
    let begun = async {
        let mut watch = job.watch();
        // The sender is in the job.
        let _ = watch
            .wait_for(|it| it.pid.is_some() || it.over.is_some())
            .await;
    };
    tokio::select! {
        biased;
        () = token.cancelled() => {
            job.stop().await;
            return Ok(Done::Cancelled);
        }
        () = begun => {}
    }
    let detached = world.jobs.detach(&job);
    match detached {
        Ok(true) => {}
        // So fast that it is over.
        Ok(false) => return Err(ended_early(&job, job.take_captured().text)),
        Err(error) => {
            job.stop().await;
            return Err(format!(
                "The command was stopped: there can be no log for it ({error})."
            ));
        }
    }
    let ready = async {
        match &pattern {
            Some(pattern) => job.wait_for(pattern, 0).await,
            None => {
                let mut watch = job.watch();
                let said = watch.wait_for(|it| it.n_bytes > 0 || it.over.is_some());
                tokio::select! {
                    _ = said => {}
                    () = sleep(FIRST_WORDS) => {}
                }
                // One that fails at once says so and ends, in this order.
                let over = watch.wait_for(|it| it.over.is_some());
                let _ = timeout(END_AFTER_WORDS, over).await;
                true
            }
        }
    };
    let is_ready = tokio::select! {
        biased;
        () = token.cancelled() => {
            job.stop().await;
            return Ok(Done::Cancelled);
        }
        is_ready = ready => is_ready,
        () = sleep(patience) => false,
    };
    let text = job
        .newest(0, START_BYTES)
        .map_or_else(|error| format!("[{error}]"), |it| piece_text(&it));
    if job.is_over() {
        return Err(ended_early(&job, text));
    }
    let job = running.let_go();
    let mut lines = vec!["It runs in the background.".to_owned(), status(&job)];
    if let Some(pattern) = &pattern {
        let line = text.lines().find(|it| it.contains(pattern.as_str()));
        lines.push(match (is_ready, line) {
            (true, Some(line)) => format!("ready: {line}"),
            (true, None) => "ready: yes".to_owned(),
            (false, _) => format!(
                "Not ready within {} s: {pattern:?} did not appear. background_process can wait for it.",
                patience.as_secs_f64()
            ),
        });
    }
    lines.extend(first_url(&text).map(|it| format!("url: {it}")));
    if let Some(page) = page {
        lines.push(match is_ready {
            true => match world.editor.show_page(page.clone()).await {
                Ok(true) => format!("The person's browser was asked to show {page}."),
                Ok(false) | Err(_) => {
                    format!("The editor cannot open {page}; tell the person to do it.")
                }
            },
            false => format!("{page} was not opened, because the command is not ready."),
        });
    }
    lines.push(match text.trim().is_empty() {
        true => "It has said nothing so far.".to_owned(),
        false => format!("Its output so far:\n{}", last_lines(&text)),
    });
    Ok(Done::text(lines.join("\n")))
}

fn ended_early(job: &Job, text: String) -> String {
    let how = match job.progress().over {
        Some(Ok((End::Exited(code), _))) => format!("exited with code {code}"),
        Some(Ok((End::Signalled(signal), _))) => format!("was ended by signal {signal}"),
        Some(Ok((End::TimedOut | End::Cancelled, _))) | None => "was stopped".to_owned(),
        Some(Err(error)) => return format!("{error}."),
    };
    let footer = format!(
        "[The command {how} while it started. What it leaves running ends with it: start a server itself, not a \
         program that starts it and leaves.]"
    );
    with_footer(last_lines(&text), Some(footer))
}
