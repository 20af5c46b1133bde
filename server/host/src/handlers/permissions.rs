//! Remembered answers: keeping those for always, listing them and taking them back.

use crate::errand::Asker;
use crate::event::SessionKey;
use crate::lsp::{Error, code, error};
use crate::main_loop::Host;
use crate::store::permissions::Answer;
use engine::policy::describe;
use engine::redact::{self, redact};
use engine::session::Input;
use engine::text::visible;
use protocol::acp;
use protocol::approval::Rule;
use protocol::permission::{
    ForgetRuleParams, ListRulesParams, RememberedRule, RuleList, RuleScope,
};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An answer and where it is remembered.
#[derive(Clone, Debug, PartialEq)]
enum Remembered {
    Session(Rule),
    Always(Answer),
}

impl Host {
    /// Keeps an answer that the person gave for always. Where it cannot be kept, it counts for the session.
    pub(crate) fn keep_rule(&mut self, session: &SessionKey, rule: &Rule) {
        let Some(project) = self.project_of(session) else {
            return;
        };
        let answer = Answer {
            project: Some(project),
            rule: rule.clone(),
        };
        let patience = self.patience_for_permissions(session);
        let kept = match redact::holds_secret(rule) {
            true => Err("the command holds a secret, which is not written down.".to_owned()),
            false => self.permissions.keep(&answer, patience),
        };
        if let Err(why) = kept {
            self.due
                .push_back((session.clone(), Input::Remember(rule.clone())));
            self.show_error(&format!(
                "The answer counts for this session only, because it cannot be kept in {}: {why}",
                self.permissions.path().display()
            ));
        }
    }

    /// Gives a session the answers for always as they are on the disk now.
    pub(crate) fn refresh_standing(&mut self, session: &SessionKey) {
        let Some(project) = self.project_of(session) else {
            return;
        };
        let mut standing = self.standing(&project);
        // What the person has answered in the session counts for those that work for it.
        let parent = self.sessions.get(session).and_then(|it| it.child.as_ref());
        if let Some(parent) = parent.and_then(|it| self.sessions.get(&it.parent)) {
            standing.extend_from_slice(parent.session.remembered());
        }
        if let Some(open) = self.sessions.get_mut(session) {
            open.set_standing(standing);
        }
    }

    /// The answers for always that count in a project, as they are on the disk now. What does not count there, the
    /// person is told once.
    pub(crate) fn standing(&mut self, project: &Path) -> Vec<Rule> {
        for fault in self.permissions.refresh() {
            self.warn_once(fault);
        }
        self.permissions.standing(project)
    }

    pub(crate) fn list_rules(&mut self, params: &ListRulesParams) -> Result<RuleList, Error> {
        let session = self.known(&acp::SessionId::new(params.session_id.clone()))?;
        Ok(self.rule_list(&session))
    }

    pub(crate) fn forget_rule(&mut self, params: &ForgetRuleParams) -> Result<RuleList, Error> {
        let session = self.known(&acp::SessionId::new(params.session_id.clone()))?;
        match self.forget(&session, &params.id) {
            Ok(_) => Ok(self.rule_list(&session)),
            Err(why) => Err(error(code::REQUEST_FAILED, why)),
        }
    }

    /// `/permissions`
    pub(super) fn permissions_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        match rest.split_once(char::is_whitespace).unwrap_or((rest, "")) {
            ("", _) => self.list_permissions(session, asker),
            ("forget", id) => self.forget_for(session, asker, id),
            (other, _) => {
                let said = format!(
                    "`/permissions` lists what is not asked about again, and `/permissions forget <id>` takes an answer back; it knows no {other}."
                );
                let number = self.begin(session, asker);
                self.end(number, Err(said));
            }
        }
    }

    fn list_permissions(&mut self, session: SessionKey, asker: Asker) {
        let list = self.rule_list(&session);
        let lines: Vec<String> = list
            .rules
            .iter()
            .map(|it| format!("- {}", line(it)))
            .collect();
        let file = list.file.display();
        let said = match lines.is_empty() {
            true => {
                format!("Nothing is remembered here. Answers for always would stand in {file}.")
            }
            false => format!(
                "Not asked about again:\n{}\n\n`/permissions forget <id>` takes one back. Those for always stand in {file}; edit \
                 it as you like.",
                lines.join("\n")
            ),
        };
        let number = self.begin(session, asker);
        self.end(number, Ok(said));
    }

    fn forget_for(&mut self, session: SessionKey, asker: Asker, id: &str) {
        let said = self.forget(&session, id);
        let said = said.map(|it| format!("This is asked about again: {}.", text(it.rule())));
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    /// Takes an answer back, by its id or its beginning.
    fn forget(&mut self, session: &SessionKey, id: &str) -> Result<Remembered, String> {
        let id = id.trim();
        let mut found = self.remembered(session);
        found.retain(|it| !id.is_empty() && it.id().starts_with(id));
        let found = match (found.pop(), found.len()) {
            (Some(one), 0) => one,
            (Some(_), more) => {
                return Err(format!(
                    "{id} begins the ids of {} answers; write more of it.",
                    more + 1
                ));
            }
            (None, _) => {
                return Err(format!(
                    "No remembered answer has the id {id:?}; `/permissions` lists them."
                ));
            }
        };
        match &found {
            Remembered::Session(rule) => self.step(session, Input::Forget(rule.clone())),
            Remembered::Always(answer) => {
                let patience = self.patience_for_permissions(session);
                let file = self.permissions.path();
                let forgotten = self.permissions.forget(answer, patience);
                forgotten.map_err(|why| {
                    format!(
                        "It still counts, because it cannot be taken out of {}: {why}",
                        file.display()
                    )
                })?;
                self.refresh_standing(session);
            }
        }
        Ok(found)
    }

    fn rule_list(&mut self, session: &SessionKey) -> RuleList {
        RuleList {
            session_id: session.to_string(),
            rules: self
                .remembered(session)
                .iter()
                .map(Remembered::wire)
                .collect(),
            // JSON has no bytes; a path that is no text is shown as well as may be.
            file: PathBuf::from(self.permissions.path().to_string_lossy().into_owned()),
        }
    }

    /// What counts in a session now. What says the same twice is there once.
    fn remembered(&mut self, session: &SessionKey) -> Vec<Remembered> {
        self.refresh_standing(session);
        let Some(open) = self.sessions.get(session) else {
            return Vec::new();
        };
        let own = open.session.remembered().iter().cloned();
        let always = self.permissions.answers(open.workspace.root()).cloned();
        let all = own
            .map(Remembered::Session)
            .chain(always.map(Remembered::Always));
        let mut list: Vec<Remembered> = Vec::new();
        for it in all {
            if !list.contains(&it) {
                list.push(it);
            }
        }
        list
    }

    fn project_of(&self, session: &SessionKey) -> Option<PathBuf> {
        let open = self.sessions.get(session)?;
        // A subagent may work in a checkout of it.
        let parent = open
            .child
            .as_ref()
            .and_then(|it| self.sessions.get(&it.parent));
        let open = parent.unwrap_or(open);
        Some(open.workspace.root().to_path_buf())
    }

    fn patience_for_permissions(&self, session: &SessionKey) -> Duration {
        let open = self.sessions.get(session);
        let limits = open.map_or(&self.limits, |it| &it.config.limits);
        Duration::from_millis(limits.permissions_ms)
    }
}

impl Remembered {
    fn rule(&self) -> &Rule {
        match self {
            Self::Session(rule) | Self::Always(Answer { rule, .. }) => rule,
        }
    }

    /// Eight digits that stand for exactly this answer, also when the file has changed meanwhile.
    fn id(&self) -> String {
        let scope = match self {
            Self::Session(_) => String::new(),
            Self::Always(answer) => format!("{:?}", answer.project),
        };
        let hash = Sha256::digest(format!("{scope} {:?}", self.rule()));
        hash.iter().take(4).map(|it| format!("{it:02x}")).collect()
    }

    fn wire(&self) -> RememberedRule {
        let (scope, everywhere) = match self {
            Self::Session(_) => (RuleScope::Session, false),
            Self::Always(answer) => (RuleScope::Always, answer.project.is_none()),
        };
        RememberedRule {
            id: self.id(),
            text: text(self.rule()),
            scope,
            everywhere,
        }
    }
}

/// What an answer allows, in one line in which nothing hides.
fn text(rule: &Rule) -> String {
    visible(&redact(&describe(rule)).replace('\n', "\\n")).into_owned()
}

fn line(rule: &RememberedRule) -> String {
    let scope = match (rule.scope, rule.everywhere) {
        (RuleScope::Session, _) => "in this session",
        (RuleScope::Always, false) => "always in this project",
        (RuleScope::Always, true) => "always, in every project",
    };
    format!("`{}` {scope}: {}", rule.id, rule.text)
}
