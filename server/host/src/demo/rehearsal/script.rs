//! What the rehearsal model says to a request. Pure: a request's body in, a reply out.
//!
//! It keeps nothing between requests: like any model it knows only the conversation it is sent. It knows two kinds of
//! faults and looks for them in the text it was given; which lines are at fault, and what they become, it reads there.

mod faults;

use faults::{Fault, faults, repaired};
use serde_json::{Value, json};

/// The only model there is.
pub const MODEL: &str = "rehearsal-1";

/// One answer: some text, and perhaps a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub text: String,
    pub call: Option<Call>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Unique in the conversation.
    pub id: String,
    pub tool: &'static str,
    pub arguments: Value,
}

/// Answers a request. The error says what is wrong with it, for the body of a 400.
pub fn reply(request: &Value) -> Result<Reply, String> {
    let steps = steps(request)?;
    let mut memory = Memory::default();
    for step in &steps {
        memory.take_in(step);
    }
    let reply = memory.next();
    match &reply.call {
        Some(call) if !offers(request, call.tool) => {
            Err(format!("the request offers no tool {}", call.tool))
        }
        Some(_) | None => Ok(reply),
    }
}

fn offers(request: &Value, tool: &str) -> bool {
    let tools = request["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    tools.iter().any(|it| it["function"]["name"] == tool)
}

/// One thing that happened in the conversation.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    Prompt(String),
    /// A call and its result.
    Called {
        tool: &'a str,
        result: &'a str,
    },
    Said,
}

/// Reads the messages and holds them to the rules that every provider of this wire has: a system message only at the
/// start, people and model in turn, each call answered once and at once, the last word not the model's.
fn steps(request: &Value) -> Result<Vec<Step<'_>>, String> {
    if request["model"] != MODEL {
        return Err(format!(
            "there is no model {}; there is {MODEL}",
            request["model"]
        ));
    }
    if request["stream"] != true {
        return Err("only streams are served; set stream to true".to_owned());
    }
    let messages = request["messages"]
        .as_array()
        .ok_or("messages is not an array")?;
    let mut steps = Vec::new();
    let mut before = "";
    // Calls of the last answer that have no result yet: id and tool.
    let mut open: Vec<(&str, &str)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" && !open.is_empty() {
            return Err(format!(
                "messages[{at}]: the call {} has no result",
                open[0].0
            ));
        }
        match role {
            "system" if at == 0 => {}
            "user" if matches!(before, "" | "system" | "assistant") => {
                steps.push(Step::Prompt(text(&message["content"])?))
            }
            // The results of an answer may be followed by what the person said meanwhile.
            "user" if before == "tool" => steps.push(Step::Prompt(text(&message["content"])?)),
            "assistant" if matches!(before, "user" | "tool") => {
                for call in message["tool_calls"]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default()
                {
                    let id = call["id"].as_str().filter(|it| !it.is_empty());
                    let tool = call["function"]["name"].as_str();
                    let (Some(id), Some(tool)) = (id, tool) else {
                        return Err(format!("messages[{at}]: a call has no id or no name"));
                    };
                    open.push((id, tool));
                }
                if open.is_empty() {
                    steps.push(Step::Said);
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(called) = open.iter().position(|it| it.0 == id) else {
                    return Err(format!("messages[{at}]: no open call has the id {id:?}"));
                };
                let (_, tool) = open.remove(called);
                let result = message["content"]
                    .as_str()
                    .ok_or(format!("messages[{at}]: a result is not a text"))?;
                steps.push(Step::Called { tool, result });
            }
            _ => {
                return Err(format!(
                    "messages[{at}]: the role {role:?} cannot stand after {before:?}"
                ));
            }
        }
        before = role;
    }
    if let Some((id, _)) = open.first() {
        return Err(format!("the call {id} has no result"));
    }
    match before {
        "user" | "tool" => Ok(steps),
        _ => Err("there is nothing to answer".to_owned()),
    }
}

/// A content that is one text or a list of text parts.
fn text(content: &Value) -> Result<String, String> {
    match content {
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> = parts.iter().map(|it| it["text"].as_str()).collect();
            texts
                .map(|it| it.join("\n"))
                .ok_or("a part of the content is not a text".to_owned())
        }
        _ => Err("a content is neither text nor parts".to_owned()),
    }
}

/// What the conversation has told so far.
#[derive(Default)]
struct Memory {
    /// The command and the file that the person named between backquotes.
    command: Option<String>,
    file: Option<String>,
    text: String,
    n_calls: usize,
    n_reads: usize,
    n_edits: usize,
    test_failed: bool,
    last: Last,
}

#[derive(Default)]
enum Last {
    #[default]
    Nothing,
    Prompt,
    Read,
    Passed,
    Failed,
    Edited,
    /// A call did not do what it was to do; what its result said.
    Refused(String),
}

impl Memory {
    fn take_in(&mut self, step: &Step<'_>) {
        match step {
            Step::Said => {}
            Step::Prompt(text) => {
                let named: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
                *self = Self {
                    command: named
                        .iter()
                        .find(|it| it.contains(' '))
                        .map(|it| (*it).to_owned()),
                    file: named
                        .iter()
                        .find(|it| !it.contains(' '))
                        .map(|it| (*it).to_owned()),
                    last: Last::Prompt,
                    n_calls: self.n_calls,
                    ..Self::default()
                };
            }
            Step::Called { tool, result } => {
                self.n_calls += 1;
                self.last = self.heard(tool, result);
            }
        }
    }

    /// Chat Completions has no flag for a result that is an error, so the text tells.
    fn heard(&mut self, tool: &str, result: &str) -> Last {
        let refused = || Last::Refused(result.lines().next().unwrap_or_default().to_owned());
        match tool {
            _ if result.starts_with("Denied") || result.starts_with("Cancelled") => refused(),
            "read_file" if result.starts_with("There is no file") => refused(),
            "read_file" => {
                self.text = result.to_owned();
                self.n_reads += 1;
                Last::Read
            }
            "edit_file" if result.starts_with("Changed") => {
                self.n_edits += 1;
                Last::Edited
            }
            "execute_command" => {
                let footer = result.lines().next_back().unwrap_or_default();
                self.test_failed = footer.starts_with("[exit code ");
                match self.test_failed {
                    true => Last::Failed,
                    false if footer.starts_with("[ended by ") || footer.contains("was ended") => {
                        refused()
                    }
                    false => Last::Passed,
                }
            }
            _ => refused(),
        }
    }

    fn next(&self) -> Reply {
        let (Some(command), Some(file)) = (&self.command, &self.file) else {
            return stop(
                "I am a script for one demonstration: name a command and a file between backquotes.",
            );
        };
        let run = || self.call("execute_command", json!({"command": command}));
        let read = || self.call("read_file", json!({"path": file}));
        match &self.last {
            Last::Nothing | Last::Prompt => say(
                format!("First I read {file}, as it stands in the editor."),
                read(),
            ),
            Last::Read if self.test_failed => self.edit(file),
            Last::Read => {
                let n_lines = self.text.lines().count();
                say(
                    format!("{file} has {n_lines} lines. Now the test, to see what fails."),
                    run(),
                )
            }
            Last::Failed if self.n_edits == 0 => self.edit(file),
            Last::Failed if self.n_reads < 2 => say(
                format!("The test still fails. I read {file} once more."),
                read(),
            ),
            Last::Failed => stop(
                "The test still fails, and I have looked twice. I stop here; please look yourself.",
            ),
            Last::Edited => say("The change is in. The test again:".to_owned(), run()),
            Last::Passed if self.n_edits == 0 => {
                stop("The test passes already, so there is nothing to repair.")
            }
            Last::Passed => stop(&self.summary(file)),
            Last::Refused(why) => {
                let why = why.trim_end_matches('.');
                stop(&format!("That was refused ({why}), so I stop here."))
            }
        }
    }

    fn edit(&self, file: &str) -> Reply {
        let found = faults(&self.text);
        let Some((target, replacement)) = repaired(&self.text, &found) else {
            return stop(&format!(
                "I have read {file} and find nothing in it that I know how to repair, so I stop here."
            ));
        };
        let edit = self.call(
            "edit_file",
            json!({"path": file, "target_content": target, "replacement_content": replacement}),
        );
        say(format!("I see what is wrong:\n{}", list(&found)), edit)
    }

    fn call(&self, tool: &'static str, arguments: Value) -> Call {
        Call {
            id: format!("call_{}", self.n_calls),
            tool,
            arguments,
        }
    }

    fn summary(&self, file: &str) -> String {
        let n = faults(&self.text).len();
        let lines = if n == 1 {
            "one line".to_owned()
        } else {
            format!("{n} lines")
        };
        format!("The test passes. I changed {lines} of {file} and left everything else as it was.")
    }
}

fn list(found: &[Fault]) -> String {
    found
        .iter()
        .map(|it| format!("- Line {}: {}\n", it.line + 1, it.why))
        .collect()
}

fn say(text: String, call: Call) -> Reply {
    Reply {
        text,
        call: Some(call),
    }
}

fn stop(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        call: None,
    }
}

#[cfg(test)]
mod tests;
