//! Effects, a line each.
//!
//! Calls, turns (`t0`), answers (`a0`), prompts (`p0`) and streams (`#0`) are numbered from 0; `c0` is
//! the provider's id of a call. A request to the model is the messages that it sends, with bars
//! between them.

use crate::policy::Hold;
use crate::provider::{Content, Learned, Message, ModelRequest, ToolResult};
use crate::session::{CallChange, CallContent, CallStatus, Effect, PromptEnd, ReplayEnd, Update};
use crate::session::{Preview, Question};
use protocol::approval::{ApprovalOption, Rule};
use protocol::record::{EndReason, Record};
use protocol::session::PromptId;
use protocol::tool::{Access, Outcome};

pub(super) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Append(record) => format!("append {}", append(record)),
        Effect::Show(update) => format!("show {}", show(update)),
        Effect::AskModel { stream, request } => {
            format!("ask-model #{}{}", stream.0, messages(request))
        }
        Effect::StopModel(stream) => format!("stop-model #{}", stream.0),
        Effect::WakeAfter { timer, ms } => format!("wake {} after {ms} ms", timer.0),
        Effect::StopTimer(timer) => format!("stop-timer {}", timer.0),
        Effect::Learned(it) => format!("learned{}", learned(it)),
        Effect::PlanCall {
            call,
            tool,
            arguments,
        } => format!("plan-call {} {tool} {arguments}", call.0),
        Effect::AskPerson { call, question } => {
            format!("ask-person {} {}", call.0, asked(question))
        }
        Effect::QueueApproval { call, action } => format!(
            "queue-approval {} {} {} shown as {:?}",
            call.0, action.tool, action.arguments, action.plan.title
        ),
        Effect::EndReplay { approval, end } => format!("end-replay {approval} {}", replayed(end)),
        Effect::SaveFirst(call) => format!("save-first {}", call.0),
        Effect::StopAsking(call) => format!("stop-asking {}", call.0),
        Effect::RunCall {
            call,
            hold: Hold::AsConfigured,
        } => format!("run-call {}", call.0),
        Effect::RunCall {
            call,
            hold: Hold::ReadOnly,
        } => format!("run-call {} held to reading", call.0),
        Effect::RunCall {
            call,
            hold: Hold::ByRating,
        } => format!("run-call {} rated a read", call.0),
        Effect::AskClassifier { call, request } => {
            format!("ask-classifier {} of {}", call.0, request.model)
        }
        Effect::StopClassifier(call) => format!("stop-classifier {}", call.0),
        Effect::AskSide {
            side,
            about,
            request,
        } => format!("ask-side {} {about:?}{}", side.0, messages(request)),
        Effect::AnswerAside { ticket, answered } => match answered {
            Ok(it) if it.called.is_empty() => format!("answer-aside {ticket} {:?}", it.text),
            Ok(it) => format!(
                "answer-aside {ticket} {:?} called {}",
                it.text,
                it.called.join(" ")
            ),
            Err(why) => format!("no-answer-aside {ticket} {why:?}"),
        },
        Effect::StopSide(side) => format!("stop-side {}", side.0),
        Effect::KeepRule(it) => format!("keep {}", rule(it)),
        Effect::StopCall(call) => format!("stop-call {}", call.0),
        Effect::Answer { prompts, end } => {
            let prompts: Vec<String> = prompts
                .iter()
                .map(|PromptId(it)| format!("p{it}"))
                .collect();
            format!("answer {} {}", prompts.join(" "), answered(end))
        }
    }
}

fn learned(learned: &Learned) -> String {
    let mut line = String::new();
    for feature in &learned.refused {
        line += &format!(" no {}", feature.name());
    }
    for level in &learned.levels {
        line += &format!(" no level {}", level.id());
    }
    if let Some(most) = learned.max_tokens {
        line += &format!(" at most {most} tokens");
    }
    line
}

fn append(record: &Record) -> String {
    match record {
        Record::Void { answer } => format!("void a{answer}"),
        Record::Unsigned { answer } => format!("unsigned a{answer}"),
        Record::Started { mode, model, .. } => format!("started {} {model}", mode.id()),
        Record::User {
            turn,
            text,
            pictures,
        } => {
            let shown: String = pictures.iter().map(|it| format!(" {it}")).collect();
            format!("user t{} {text:?}{shown}", turn.0)
        }
        Record::Forked { session, message } => format!("forked {session} #{message}"),
        Record::Title { title } => format!("title {title:?}"),
        Record::Compacted {
            id,
            trigger,
            summary,
            kept,
        } => format!("compacted c{id} {trigger:?} {summary:?} kept {kept:?}"),
        Record::Checklist { tasks } => {
            let tasks: Vec<String> = tasks
                .iter()
                .map(|it| {
                    let stamp = |it: Option<u64>| it.map_or(String::new(), |it| it.to_string());
                    let times = match (it.started, it.completed) {
                        (None, None) => String::new(),
                        (from, to) => format!(" {}..{}", stamp(from), stamp(to)),
                    };
                    let tokens = match it.tokens {
                        0 => String::new(),
                        n => format!(" {n} tokens"),
                    };
                    format!("#{} {:?} {:?}{times}{tokens}", it.id, it.status, it.subject)
                })
                .collect();
            format!("checklist [{}]", tasks.join(", "))
        }
        Record::Goal { goal } => format!("goal {goal:?}"),
        Record::Style { style } => format!("style {style:?}"),
        Record::Assistant {
            answer,
            text,
            thought,
            raw,
            cut,
        } => {
            let mut line = format!("assistant a{answer} {text:?}");
            if !thought.is_empty() {
                line += &format!(" thought {thought:?}");
            }
            if let Some(raw) = raw {
                line += &format!(" raw {raw}");
            }
            if *cut {
                line += " cut";
            }
            line
        }
        Record::Call {
            answer,
            call,
            id,
            tool,
            arguments,
            native,
        } => {
            let mut line = format!("call {} a{answer} {id} {tool} {arguments}", call.0);
            if let Some(native) = native {
                line += &format!(" written as {} {}", native.tool, native.input);
            }
            line
        }
        Record::Decision {
            call,
            option,
            note,
            rule,
        } => {
            let mut line = format!("decision {} {}", call.0, option.id());
            if let Some(it) = rule {
                line += &format!(" from now on {}", self::rule(it));
            }
            if let Some(note) = note {
                line += &format!(" {note:?}");
            }
            line
        }
        Record::Result {
            call,
            outcome,
            text,
            shown: _,
            title: _,
            duration_ms,
            exit_code: _,
            pictures,
            fuzzy,
        } => {
            let took = duration_ms
                .map(|it| format!(" {it} ms"))
                .unwrap_or_default();
            let pictures: String = pictures
                .iter()
                .map(|it| format!(" {} {it}", it.name))
                .collect();
            let fuzzy = if *fuzzy { " fuzzy" } else { "" };
            format!(
                "result {} {} {text:?}{pictures}{took}{fuzzy}",
                call.0,
                word(*outcome)
            )
        }
        Record::Edit {
            call,
            files,
            checkpoint: _,
        } => {
            let files: Vec<String> = files
                .iter()
                .map(|it| format!("{} {:?} {:?}", it.path.display(), it.before, it.after))
                .collect();
            format!("edit {} {}", call.0, files.join(", "))
        }
        Record::Classified {
            call,
            allowed,
            reason,
        } => {
            let word = if *allowed { "allowed" } else { "escalated" };
            let reason = reason.as_ref().map(|it| format!(" {it:?}"));
            format!("reviewed {} {word}{}", call.0, reason.unwrap_or_default())
        }
        Record::Remembered { rule: it } => format!(
            "remembered {}",
            it.as_ref().map_or("a secret".to_owned(), rule)
        ),
        Record::Forgot { rule: it } => format!("forgot {}", rule(it)),
        Record::Command { text, answer } => format!("command {text:?} {answer:?}"),
        Record::Replayed {
            approval,
            turn,
            call,
            tool,
            arguments,
            outcome,
            text,
            duration_ms,
            ..
        } => {
            let took = duration_ms
                .map(|it| format!(" {it} ms"))
                .unwrap_or_default();
            format!(
                "replayed {approval} t{} {} {tool} {arguments} {} {text:?}{took}",
                turn.0,
                call.0,
                word(*outcome)
            )
        }
        Record::Told { answer: _, text } => format!("told {text:?}"),
        Record::Carried(it) => format!("carried {it:?}"),
        Record::Mode { mode } => format!("mode {}", mode.id()),
        Record::Model { model } => format!("model {model}"),
        Record::Reasoning { model, level } => {
            format!(
                "reasoning {model} {}",
                level.map_or("as configured", |it| it.id())
            )
        }
        Record::Usage {
            model,
            purpose,
            input,
            output,
            ..
        } => format!("usage {purpose:?} {model} {input} in, {output} out"),
        Record::Ended { turn, reason } => {
            let why = match reason {
                EndReason::Done => "done".to_owned(),
                EndReason::MaxTokens => "max_tokens".to_owned(),
                EndReason::Refusal => "refusal".to_owned(),
                EndReason::Cancelled => "cancelled".to_owned(),
                EndReason::Failed { message } => format!("failed {message:?}"),
            };
            format!("ended t{} {why}", turn.0)
        }
    }
}

fn show(update: &Update) -> String {
    match update {
        Update::User(text) => format!("user {text:?}"),
        Update::UserPicture(it) => format!("picture of user {} {it}", it.name),
        Update::Text(text) => format!("text {text:?}"),
        Update::Thought(text) => format!("thought {text:?}"),
        Update::Call {
            call,
            tool,
            arguments,
        } => format!("call {} {tool} {arguments}", call.0),
        Update::CallChanged(call, change) => format!("call {}{}", call.0, changed(change)),
        Update::Mode(mode) => format!("mode {}", mode.id()),
        Update::Usage(usage) => format!("usage {} in, {} out", usage.input, usage.output),
        Update::Checklist(tasks) => format!("checklist of {}", tasks.len()),
        Update::Notice(text) => format!("notice {text:?}"),
        Update::Retrying(None) => "no retry".to_owned(),
        Update::Retrying(Some(it)) => format!(
            "retry {} of {} in {} ms {:?}",
            it.attempt, it.of, it.after_ms, it.why
        ),
    }
}

fn changed(change: &CallChange) -> String {
    let mut line = String::new();
    match change.status {
        Some(CallStatus::Waiting) => line += " waiting",
        Some(CallStatus::Running) => line += " running",
        Some(CallStatus::Done(outcome)) => line += &format!(" {}", word(outcome)),
        None => {}
    }
    if let Some(title) = &change.title {
        line += &format!(" {title:?}");
    }
    for content in &change.content {
        match content {
            CallContent::Preview(it) => line += &format!(" {}", preview(it)),
            CallContent::Image(it) => {
                line += &format!(" picture {} {}", it.picture.name, it.picture);
            }
            CallContent::Text(text) => line += &format!(" {text:?}"),
        }
    }
    if let Some(it) = change.duration_ms {
        line += &format!(" {it} ms");
    }
    if let Some(it) = change.exit_code {
        line += &format!(" exit code {it}");
    }
    if change.fuzzy {
        line += " fuzzy";
    }
    line
}

fn preview(preview: &Preview) -> String {
    match preview {
        Preview::Diff { path, new, .. } => format!("diff {} {new:?}", path.display()),
        Preview::Hunks { path, text } => format!("hunks {} {text:?}", path.display()),
        Preview::Command { line, cwd } => format!("command {line:?} in {}", cwd.display()),
        Preview::Text(text) => format!("text {text:?}"),
    }
}

fn messages(request: &ModelRequest) -> String {
    let mut line = String::new();
    if request.model != "m" {
        line += &format!(" of {}", request.model);
    }
    let taken = learned(&request.learned);
    if !taken.is_empty() {
        line += &format!(" with{taken}");
    }
    let messages: Vec<String> = request.messages.iter().map(message).collect();
    line + ": " + &messages.join(" | ")
}

fn message(message: &Message) -> String {
    match message {
        Message::User(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|it| match it {
                    Content::Text(text) => format!("{text:?}"),
                    Content::Image(it) => format!("picture {} {}", it.picture.name, it.picture),
                })
                .collect();
            format!("user {}", parts.join(" + "))
        }
        Message::Assistant {
            text,
            thought,
            calls,
            raw,
        } => {
            let mut line = "assistant".to_owned();
            if !text.is_empty() {
                line += &format!(" {text:?}");
            }
            if !thought.is_empty() {
                line += &format!(" thought {thought:?}");
            }
            for call in calls {
                line += &format!(" call {} {} {}", call.id, call.name, call.arguments);
            }
            if let Some(raw) = raw {
                line += &format!(" raw {raw}");
            }
            line
        }
        Message::Results(results) => {
            let results: Vec<String> = results
                .iter()
                .map(
                    |ToolResult {
                         id,
                         text,
                         is_error,
                         images,
                     }| {
                        let error = if *is_error { " error" } else { "" };
                        let images = images
                            .iter()
                            .map(|it| format!(" {} {}", it.picture.name, it.picture));
                        format!("{id}{error} {text:?}{}", images.collect::<String>())
                    },
                )
                .collect();
            format!("results {}", results.join(", "))
        }
    }
}

fn asked(question: &Question) -> String {
    let accesses: Vec<String> = question.accesses.iter().map(access).collect();
    let previews: Vec<String> = question.preview.iter().map(preview).collect();
    let options: Vec<String> = question.options.iter().map(option).collect();
    let mut line = format!("{:?} to {}", question.title, accesses.join(" and "));
    if !previews.is_empty() {
        line += &format!(" showing {}", previews.join(" and "));
    }
    if let Some(reason) = &question.reason {
        line += &format!(" because {reason:?}");
    }
    if let Some(note) = &question.note {
        line += &format!(" noting {note:?}");
    }
    line + &format!(" [{}]", options.join(", "))
}

fn access(access: &Access) -> String {
    match access {
        Access::Read { path, .. } => format!("read {}", path.display()),
        Access::Write { path, .. } => format!("write {}", path.display()),
        Access::Run { command, cwd, .. } => format!("run {command:?} in {}", cwd.display()),
        Access::Ask => "ask".to_owned(),
        Access::Memory { .. }
        | Access::Web { .. }
        | Access::Agent { .. }
        | Access::Mcp { .. }
        | Access::Computer { .. } => format!("{access:?}"),
    }
}

fn option(option: &ApprovalOption) -> String {
    match &option.rule {
        Some(it) => format!("{}: {}", option.id.id(), rule(it)),
        None => option.id.id().to_owned(),
    }
}

fn rule(rule: &Rule) -> String {
    match rule {
        Rule::Run { command, cwd } => format!("run {command:?} in {}", cwd.display()),
        Rule::EditProject => "edit the project".to_owned(),
        Rule::ExternalFolder {
            folder,
            writes: true,
        } => format!("use {}", folder.display()),
        Rule::ExternalFolder {
            folder,
            writes: false,
        } => format!("read {}", folder.display()),
    }
}

fn replayed(end: &ReplayEnd) -> String {
    match end {
        ReplayEnd::Ran { outcome, text } => format!("{} {text:?}", word(*outcome)),
        ReplayEnd::Refused(why) => format!("refused {why:?}"),
        ReplayEnd::Changed { plan, .. } => {
            let previews: Vec<String> = plan.preview.iter().map(preview).collect();
            format!("changed, would now do {}", previews.join(" and "))
        }
    }
}

fn answered(end: &PromptEnd) -> String {
    match end {
        PromptEnd::Ended(stop) => format!("ended {stop:?}"),
        PromptEnd::Cancelled => "cancelled".to_owned(),
        PromptEnd::Withdrawn => "withdrawn".to_owned(),
        PromptEnd::Dropped { limit } => format!("dropped, more than {limit} waited"),
        PromptEnd::Failed(error) => format!("failed {:?}", error.message),
        PromptEnd::TooManyAnswers(limit) => format!("stopped after {limit} answers"),
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "ok",
        Outcome::Error => "error",
        Outcome::Cancelled => "cancelled",
    }
}
