//! What an editor can do, and how its server is started.

use protocol::methods::{self, Sender};
use serde_json::{Value, json};
use std::path::PathBuf;

/// One kind of editor.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Declares `capabilities.experimental.agent` with all its methods.
    pub agent: bool,
    /// Agent methods that it does not declare.
    pub without: Vec<&'static str>,
    pub encodings: Vec<&'static str>,
    pub apply_edit: bool,
    pub document_changes: bool,
    /// What it does to whole files in a workspace edit.
    pub file_operations: Vec<&'static str>,
    pub progress: bool,
    pub show_message: bool,
    /// Capabilities that it declares besides.
    pub declares: Value,
    /// `initialize.processId`; the test itself if missing.
    pub process_id: Option<u32>,
    pub options: Value,
    pub environment: Vec<(&'static str, String)>,
    /// More of the server's command line.
    pub arguments: Vec<String>,
    /// Folders that it has open beside the project, by their paths.
    pub also_open: Vec<PathBuf>,
}

impl Setup {
    /// Our own plugins: everything that the protocol has.
    pub fn agent() -> Self {
        Self {
            agent: true,
            without: Vec::new(),
            encodings: vec!["utf-8", "utf-16"],
            apply_edit: true,
            document_changes: true,
            file_operations: vec!["create", "rename", "delete"],
            progress: true,
            show_message: true,
            declares: Value::Null,
            process_id: None,
            options: Value::Null,
            environment: Vec::new(),
            arguments: Vec::new(),
            also_open: Vec::new(),
        }
    }

    /// An editor that knows LSP and has never heard of us.
    pub fn bare() -> Self {
        Self {
            agent: false,
            encodings: vec!["utf-16"],
            file_operations: Vec::new(),
            ..Self::agent()
        }
    }

    /// What it declares.
    pub fn capabilities(&self) -> Value {
        let mut capabilities = json!({
            "general": {"positionEncodings": self.encodings},
            "workspace": {
                "applyEdit": self.apply_edit,
                "workspaceEdit": {
                    "documentChanges": self.document_changes,
                    "resourceOperations": self.file_operations,
                },
                "workspaceFolders": true,
                "didChangeConfiguration": {"dynamicRegistration": false},
            },
            "textDocument": {
                "synchronization": {"didSave": true},
                "codeAction": {
                    "dataSupport": true,
                    "resolveSupport": {"properties": ["edit", "command"]},
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}},
                },
            },
            "window": {"workDoneProgress": self.progress},
        });
        if self.show_message {
            capabilities["window"]["showMessage"] =
                json!({"messageActionItem": {"additionalPropertiesSupport": true}});
        }
        if self.agent {
            let methods: Vec<&str> = methods::rows()
                .filter(|it| it.sender == Sender::Server && !self.without.contains(&it.method))
                .map(|it| it.method)
                .collect();
            capabilities["experimental"] = json!({"agent": {
                "protocolVersion": 1,
                "clientCapabilities": {},
                "methods": methods,
            }});
        }
        if !self.declares.is_null() {
            merge(&mut capabilities, &self.declares);
        }
        capabilities
    }
}

/// Puts the second into the first; where both say something, the second counts.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}
