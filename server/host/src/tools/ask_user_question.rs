//! Puts questions to the person (spec 11): by a form where the editor knows forms, else by messages with choices.

mod answer;
mod by_message;
mod form;
mod question;

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use crate::store::answers::KeptAnswer;
use answer::{Answer, Reply};
use protocol::acp::{self, ElicitationAction, ToolKind};
use protocol::tool::Access;
use question::{Question, check};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

pub struct AskUserQuestion;

/// Ask the person up to four questions, when their answer decides what to do next. They can always type another answer than those you
/// offer, add a note, or dismiss the questions. Put "(Recommended)" behind the label of the option that you would take.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    questions: Vec<Question>,
}

impl Tool for AskUserQuestion {
    const NAME: &'static str = "ask_user_question";
    const KIND: ToolKind = ToolKind::Other;
    type Input = Input;

    async fn plan(input: Input, _world: World) -> Result<Plan, String> {
        let questions = check(input.questions)?;
        let title = match questions.first() {
            Some(it) => format!("Ask: {}", it.question),
            None => "Ask".to_owned(),
        };
        Ok(Plan::build(title)
            .access(Access::Ask)
            .then(move |run| ask(questions, run)))
    }
}

async fn ask(questions: Vec<Question>, run: Run) -> Result<Done, String> {
    if let Some(answers) = remembered(&questions, &run).await {
        return Ok(Done::text(answer::told(&questions, &answers)));
    }
    if !run.world.attended {
        return Ok(Done::text(answer::NOBODY));
    }
    let reply = tokio::select! {
        reply = put(&questions, &run) => reply?,
        () = run.token.cancelled() => return Ok(Done::Cancelled),
    };
    Ok(Done::text(match reply {
        Reply::Answered(answers) => {
            let kept = keep(&questions, &answers, &run).await;
            let told = answer::told(&questions, &answers);
            match kept {
                Ok(()) => told,
                Err(why) => format!("{told}{why}\n"),
            }
        }
        Reply::Discuss => answer::DISCUSS.to_owned(),
        Reply::Dismissed => answer::DISMISSED.to_owned(),
        Reply::Nobody => answer::NOBODY.to_owned(),
    }))
}

async fn put(questions: &[Question], run: &Run) -> Result<Reply, String> {
    let request = form::request(questions, &run.world.session);
    let request: acp::CreateElicitationRequest = serde_json::from_value(request)
        .map_err(|error| format!("The question has no form ({error})."))?;
    let editor = &run.world.editor;
    Ok(
        match editor.elicit(run.world.session.clone(), request).await {
            Ok(Some(ElicitationAction::Accept(accepted))) => {
                let content = serde_json::to_value(accepted.content).unwrap_or_default();
                answer::read(questions, &content)
            }
            Ok(Some(ElicitationAction::Decline | ElicitationAction::Cancel)) => Reply::Dismissed,
            Ok(Some(_)) | Err(_) => Reply::Nobody,
            // It knows no forms.
            Ok(None) => by_message::ask(questions, editor).await,
        },
    )
}

/// The answers that the person has kept, where every question has one.
async fn remembered(questions: &[Question], run: &Run) -> Option<Vec<Answer>> {
    let keys: Option<Vec<String>> = questions.iter().map(|it| it.memory_key.clone()).collect();
    let (keys, answers) = (keys?, run.world.answers.clone());
    let kept = tokio::task::spawn_blocking(move || answers.read());
    let mut kept = kept.await.ok()?;
    let all = keys.iter().map(|key| {
        let values = kept.remove(key)?.answer;
        Some(Answer {
            values,
            is_remembered: true,
            ..Answer::default()
        })
    });
    all.collect()
}

/// Keeps what the person wants to be asked no more.
async fn keep(questions: &[Question], answers: &[Answer], run: &Run) -> Result<(), String> {
    let wanted = questions.iter().zip(answers);
    let wanted = wanted.filter(|(_, it)| it.keep && !it.values.is_empty());
    let new: Vec<(String, KeptAnswer)> = wanted
        .filter_map(|(question, answer)| {
            let kept = KeptAnswer {
                question: question.question.clone(),
                answer: answer.values.clone(),
            };
            Some((question.memory_key.clone()?, kept))
        })
        .collect();
    let (answers, limits) = (run.world.answers.clone(), run.world.limits.clone());
    let patience = Duration::from_millis(limits.memory_ms);
    let keeping = tokio::task::spawn_blocking(move || answers.keep(new, patience));
    keeping.await.unwrap_or(Ok(()))
}
