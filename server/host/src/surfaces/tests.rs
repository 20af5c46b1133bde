//! The table walked with what well-known editors declare, reduced to what matters here.

use super::*;
use expect_test::expect;
use protocol::methods;
use serde_json::{Value, json};

/// What every editor below has in common.
fn common(mut more: Value) -> Client {
    let base = json!({
        "workspace": {"applyEdit": true, "workspaceEdit": {"documentChanges": true}},
        "textDocument": {
            "publishDiagnostics": {"versionSupport": true},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit", "command"]},
            },
            "inlayHint": {"dynamicRegistration": false},
        },
        "window": {"showDocument": {"support": true}, "workDoneProgress": true},
    });
    merge(&mut more, base);
    client(more)
}

fn client(capabilities: Value) -> Client {
    Client::new(&serde_json::from_value(capabilities).unwrap())
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into @ Value::Null, from) => *into = from,
        (_, _) => {}
    }
}

fn editors() -> Vec<(&'static str, Client)> {
    let agent: Vec<&str> = methods::rows()
        .filter(|it| it.sender == methods::Sender::Server)
        .map(|it| it.method)
        .collect();
    let vs_code = json!({
        "workspace": {
            "workspaceEdit": {"changeAnnotationSupport": {"groupsOnLabel": true}},
            "codeLens": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
            "diagnostics": {"refreshSupport": true},
            "textDocumentContent": {"dynamicRegistration": true},
        },
        "textDocument": {
            "codeLens": {"dynamicRegistration": true},
            "diagnostic": {"dynamicRegistration": true},
            "codeAction": {"honorsChangeAnnotations": true},
        },
    });
    let mut plugin = vs_code.clone();
    plugin["experimental"] = json!({"agent": {"methods": agent}});
    vec![
        ("nothing but LSP 3.0", client(json!({}))),
        (
            "a bare client",
            client(json!({
                "workspace": {"workspaceEdit": {"documentChanges": true}},
                "textDocument": {
                    "publishDiagnostics": {},
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
                },
            })),
        ),
        (
            "Neovim 0.11",
            common(json!({
                // It takes versioned edits, but does not look at every version, and does not say so.
                "workspace": {
                    "workspaceEdit": {"documentChanges": false},
                    "inlayHint": {"refreshSupport": true},
                },
                "textDocument": {
                    "codeLens": {"dynamicRegistration": false},
                    "diagnostic": {"dynamicRegistration": false},
                    "codeAction": {"resolveSupport": {"properties": ["edit", "command"]}},
                },
            })),
        ),
        (
            "Helix 25.07",
            common(json!({
                // Helix spells `diagnostics` so, here and nowhere else.
                "workspace": {"diagnostic": {"refreshSupport": true}},
                "textDocument": {"diagnostic": {"dynamicRegistration": false}},
            })),
        ),
        (
            "Emacs 30 with eglot",
            common(json!({"textDocument": {"diagnostic": null}})),
        ),
        ("VS Code with no plugin of ours", common(vs_code)),
        ("VS Code with our plugin", common(plugin)),
    ]
}

#[test]
fn each_editor_gets_what_it_declares() {
    let mut text = String::new();
    for (name, client) in editors() {
        let served = Surface::ALL.iter().filter(|it| it.serves(&client));
        let served: Vec<&str> = served.map(|it| it.name()).collect();
        text.push_str(&format!("{name}: {}\n", served.join(", ")));
    }
    expect![[r#"
        nothing but LSP 3.0: code actions
        a bare client: code actions, reverts as edits, published diagnostics
        Neovim 0.11: code actions, published diagnostics, code lenses, inlay hints, a turn's diff as a file
        Helix 25.07: code actions, reverts as edits, edits made on choosing, published diagnostics, inlay hints, a turn's diff as a file
        Emacs 30 with eglot: code actions, reverts as edits, edits made on choosing, published diagnostics, inlay hints, a turn's diff as a file
        VS Code with no plugin of ours: code actions, reverts as edits, edits made on choosing, pulled diagnostics, code lenses, inlay hints, virtual documents, annotated edits
        VS Code with our plugin: the plugin's own view, code actions, reverts as edits, edits made on choosing, virtual documents, annotated edits
    "#]].assert_eq(&text);
}

#[test]
fn no_editor_gets_diagnostics_by_both_ways() {
    for (name, client) in editors() {
        let both = [Surface::PulledDiagnostics, Surface::PublishedDiagnostics];
        assert!(!both.iter().all(|it| it.serves(&client)), "{name}");
    }
}

#[test]
fn what_serves_instead_is_another_row_or_said_in_words() {
    let mut text = String::new();
    for it in Surface::ALL {
        let (name, needs, instead) = (it.name(), it.needs(), it.instead());
        text.push_str(&format!("{name} | {needs} | {instead}\n"));
    }
    expect![[r#"
        the plugin's own view | experimental.agent.methods: undine/review/changed | diagnostics, lenses and hints
        code actions | nothing | nothing
        reverts as edits | textDocument.codeAction.codeActionLiteralSupport, workspace.workspaceEdit.documentChanges | reverts as commands
        edits made on choosing | textDocument.codeAction.resolveSupport: edit, and dataSupport | edits made with the list
        pulled diagnostics | textDocument.diagnostic, workspace.diagnostics.refreshSupport | published diagnostics
        published diagnostics | textDocument.publishDiagnostics | code actions
        code lenses | textDocument.codeLens | code actions
        inlay hints | textDocument.inlayHint | diagnostics
        virtual documents | workspace.textDocumentContent | a turn's diff as a file
        a turn's diff as a file | window.showDocument.support | a message that names the file
        annotated edits | workspace.workspaceEdit.changeAnnotationSupport | the edit's label
    "#]].assert_eq(&text);
}

#[test]
fn the_protocols_document_has_a_row_for_each_surface() {
    let document = include_str!("../../../../protocol.md");
    for it in Surface::ALL {
        let start = format!("| {} | ", it.name());
        let row = document.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("no row begins with {start:?}"));
        let (needs, instead) = (it.needs(), it.instead());
        let expected = format!("{start}{needs} | {instead} |");
        assert_eq!(row.replace('`', ""), expected);
    }
}
