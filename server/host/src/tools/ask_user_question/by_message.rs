//! Questions in an editor that knows no forms: one message with choices after another.
//!
//! Nothing can be typed there. What would have to be typed is left to the model's judgement.

use super::answer::{Answer, Reply};
use super::question::{Kind, Question};
use crate::event::{Chosen, Editor};
use engine::redact::redact;
use engine::text::{visible, visible_line};

const OTHER: &str = "Other...";
const DISCUSS: &str = "Chat about this";
const DONE: &str = "Done";

/// The most characters of a choice's title.
const MAX_TITLE: usize = 120;

/// What the model hears of an answer that cannot be typed.
const ANOTHER: &str =
    "another answer than these, which cannot be typed here; ask for it in words if you need it";

/// What it hears of a question that needs typing.
const UNASKED: &str = "not asked, because nothing can be typed here; go on by your best judgement and say what you assumed";

/// Asks one question after the other.
pub async fn ask(questions: &[Question], editor: &Editor) -> Reply {
    if !questions.iter().any(|it| it.kind.is_choice()) {
        return Reply::Nobody;
    }
    let mut answers = Vec::new();
    for question in questions {
        let asked = match question.kind {
            Kind::Select => ask_one(question, editor).await,
            Kind::MultiSelect => ask_several(question, editor).await,
            Kind::Rank => ask_order(question, editor).await,
            Kind::Text | Kind::Number | Kind::Date | Kind::Path => Ok(vec![UNASKED.to_owned()]),
        };
        match asked {
            Ok(values) => answers.push(Answer {
                values,
                ..Answer::default()
            }),
            Err(reply) => return reply,
        }
    }
    Reply::Answered(answers)
}

async fn ask_one(question: &Question, editor: &Editor) -> Result<Vec<String>, Reply> {
    let open = labels(question);
    let picked = pick(question, "", &open, &[OTHER, DISCUSS], editor).await?;
    Ok(vec![picked.unwrap_or_else(|_| ANOTHER.to_owned())])
}

async fn ask_several(question: &Question, editor: &Editor) -> Result<Vec<String>, Reply> {
    let (mut open, mut chosen) = (labels(question), Vec::new());
    while !open.is_empty() {
        let so_far = match chosen.is_empty() {
            true => " (choose one after another, then Done)".to_owned(),
            false => format!(" (chosen: {})", chosen.join(", ")),
        };
        match pick(question, &so_far, &open, &[DONE, OTHER, DISCUSS], editor).await? {
            Ok(label) => {
                open.retain(|it| *it != label);
                chosen.push(label);
            }
            Err(DONE) => break,
            Err(_) => {
                chosen.push(ANOTHER.to_owned());
                break;
            }
        }
    }
    Ok(chosen)
}

async fn ask_order(question: &Question, editor: &Editor) -> Result<Vec<String>, Reply> {
    let (mut open, mut ranked) = (labels(question), Vec::new());
    while open.len() > 1 {
        let place = format!(
            " (place {} of {})",
            ranked.len() + 1,
            question.options.len()
        );
        match pick(question, &place, &open, &[OTHER, DISCUSS], editor).await? {
            Ok(label) => {
                open.retain(|it| *it != label);
                ranked.push(label);
            }
            Err(_) => return Ok(vec![ANOTHER.to_owned()]),
        }
    }
    ranked.extend(open);
    Ok(ranked)
}

/// Lets the person choose one of the labels, or one of these ways out. The error ends the whole call.
async fn pick(
    question: &Question,
    more: &str,
    open: &[String],
    ways_out: &[&'static str],
    editor: &Editor,
) -> Result<Result<String, &'static str>, Reply> {
    // A title is one line, and must be told from the others by itself.
    let titles: Vec<String> = open.iter().map(|it| visible_line(it, MAX_TITLE)).collect();
    let all = titles.iter().cloned();
    let actions: Vec<String> = all
        .chain(ways_out.iter().map(|it| (*it).to_owned()))
        .collect();
    let text = message(question, more);
    let chosen = match editor.choose(text, actions).await {
        Ok(Some(Chosen::Action(title))) => title,
        Ok(Some(Chosen::Dismissed)) => return Err(Reply::Dismissed),
        Ok(None) | Err(_) => return Err(Reply::Nobody),
    };
    if let Some(at) = titles.iter().position(|it| *it == chosen) {
        return Ok(Ok(open[at].clone()));
    }
    match ways_out.iter().find(|it| **it == chosen) {
        Some(&DISCUSS) => Err(Reply::Discuss),
        Some(out) => Ok(Err(out)),
        None => Err(Reply::Dismissed),
    }
}

fn labels(question: &Question) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for it in &question.options {
        if !labels.contains(&it.label) {
            labels.push(it.label.clone());
        }
    }
    labels
}

fn message(question: &Question, more: &str) -> String {
    let mut text = format!("Undine asks: {}{more}", question.question);
    for it in &question.options {
        if !it.description.is_empty() {
            text += &format!("\n{}: {}", it.label, it.description);
        }
    }
    visible(&redact(&text)).into_owned()
}
