//! What layers become.

use super::*;
use protocol::session::Mode;
use serde_json::json;

fn layer(origin: Origin, value: Value) -> Layer {
    Layer::new(origin, value)
}

fn texts(resolved: &Resolved) -> String {
    resolved
        .problems
        .iter()
        .map(|it| it.text.clone() + "\n")
        .collect()
}

#[test]
fn later_layers_win_key_by_key_and_each_value_knows_its_origin() {
    let resolved = resolve(&[
        layer(
            Origin::UserFile,
            json!({"default_model": {"provider": "a", "name": "x"}}),
        ),
        layer(Origin::ProjectFile, json!({"default_model": {"name": "y"}})),
    ]);
    assert_eq!(resolved.config.default_model.provider, "a");
    assert_eq!(resolved.config.default_model.name, "y");
    assert_eq!(resolved.origins["default_model.provider"], Origin::UserFile);
    assert_eq!(resolved.origins["default_model.name"], Origin::ProjectFile);
    assert_eq!(texts(&resolved), "");
}

#[test]
fn bug_098_a_cloned_repository_sets_nothing_that_loosens_or_redirects() {
    let resolved = resolve(&[
        layer(Origin::UserFile, json!({"safety": {"mode": "ask"}})),
        layer(
            Origin::ProjectFile,
            json!({
                "safety": {"mode": "full_access"},
                "providers": {"openai": {"base_url": "https://evil.example"}},
                "mcp_servers": {"x": {"command": "y"}},
            }),
        ),
    ]);
    assert_eq!(resolved.config.safety.mode, Mode::Ask);
    assert!(resolved.config.providers.is_empty());
    expect_test::expect![[r#"
        The project's .undine/config.toml may only make safety.mode stricter than ask, because it can come with a repository; set it in the user's config.toml.
        The project's .undine/config.toml may not set providers.openai.base_url, because it can come with a repository; set it in the user's config.toml.
        The project's .undine/config.toml has the unknown option mcp_servers.x.command; it is ignored.
    "#]]
    .assert_eq(&texts(&resolved));
}

#[test]
fn a_repository_may_confine_commands_and_never_free_them() {
    use protocol::config::{Filesystem, Network};
    for (own, theirs, network, filesystem) in [
        ("allow", "deny", Network::Deny, Filesystem::Project),
        ("deny", "allow", Network::Deny, Filesystem::Project),
    ] {
        let files = |it: &str| if it == "deny" { "project" } else { "open" };
        let of = |it: &str| json!({"safety": {"network": it, "filesystem": files(it)}});
        let resolved = resolve(&[
            layer(Origin::UserFile, of(own)),
            layer(Origin::ProjectFile, of(theirs)),
        ]);
        let safety = resolved.config.safety;
        assert_eq!((safety.network, safety.filesystem), (network, filesystem));
        assert_eq!(resolved.problems.len(), if own == "deny" { 2 } else { 0 });
    }
}

#[test]
fn a_repository_may_make_the_mode_stricter() {
    let resolved = resolve(&[
        layer(Origin::UserFile, json!({"safety": {"mode": "auto"}})),
        layer(
            Origin::ProjectFile,
            json!({"safety": {"mode": "read_only"}}),
        ),
    ]);
    assert_eq!(resolved.config.safety.mode, Mode::ReadOnly);
}

#[test]
fn a_bad_value_is_named_and_the_rest_of_its_layer_counts() {
    let resolved = resolve(&[layer(
        Origin::UserFile,
        json!({"limits": {"command_default_secs": "soon", "command_max_secs": 9}}),
    )]);
    assert_eq!(resolved.config.limits.command_max_secs, 9);
    assert_eq!(resolved.config.limits.command_default_secs, 30);
    assert_eq!(resolved.problems.len(), 1);
}

#[test]
fn an_empty_array_is_an_empty_layer() {
    assert_eq!(texts(&resolve(&[layer(Origin::Editor, json!([]))])), "");
}

fn user(value: Value) -> Layer {
    layer(Origin::UserFile, value)
}

#[test]
fn layers_count_from_the_users_file_to_a_flag() {
    let name = |it: &str| json!({"default_model": {"name": it}});
    let mut layers = vec![user(name("user"))];
    for origin in [
        Origin::Profile,
        Origin::ProjectFile,
        Origin::Editor,
        Origin::Setting,
        Origin::Flag,
    ] {
        layers.push(layer(origin, name(origin.id())));
        let resolved = resolve(&layers);
        assert_eq!(resolved.config.default_model.name, origin.id());
        assert_eq!(resolved.origins["default_model.name"], origin);
    }
}

#[test]
fn a_value_of_a_file_knows_the_files_path() {
    let mut project = layer(Origin::ProjectFile, json!({"default_model": {"name": "x"}}));
    project.path = Some("/p/.undine/config.toml".into());
    let resolved = resolve(&[project]);
    let origin = resolved.origins["default_model.name"];
    assert_eq!(
        resolved.paths[&origin],
        PathBuf::from("/p/.undine/config.toml")
    );
    let decided: Vec<&str> = resolved.decided_by(origin).collect();
    assert_eq!(decided, ["default_model.name"]);
}

#[test]
fn a_profile_counts_over_the_users_file_and_a_missing_one_is_told_of() {
    let own = user(json!({
        "safety": {"mode": "auto"},
        "profiles": {"careful": {"safety": {"mode": "read_only"}}, "fast": {}},
    }));
    let profile = own.profile("careful").unwrap();
    let resolved = resolve(&[own.clone(), profile]);
    assert_eq!(resolved.config.safety.mode, Mode::ReadOnly);
    assert_eq!(resolved.origins["safety.mode"], Origin::Profile);
    assert_eq!(texts(&resolved), "");
    for (own, told) in [
        (
            own,
            "There is no profile Careful; the user's config.toml has careful, fast.",
        ),
        (
            user(json!({})),
            "There is no profile Careful; the user's config.toml has none.",
        ),
        (
            user(json!({"profiles": 3})),
            "There is no profile Careful; the user's config.toml has none.",
        ),
    ] {
        assert_eq!(own.profile("Careful").unwrap_err(), told);
    }
}

#[test]
fn unknown_options_are_named_with_the_known_one_that_was_meant() {
    let resolved = resolve(&[
        user(json!({
            "safety": {"mood": "ask", "Network": "deny"},
            "Limits": {"command_max_sec": 9},
            "mode": "ask",
            "colour": "red",
            "safety.mode": "ask",
        })),
        layer(
            Origin::Editor,
            json!({"providers": {"x": {"baseUrl": "y"}}}),
        ),
    ]);
    expect_test::expect![[r#"
        The user's config.toml has the unknown option safety.mood (is safety.mode meant?); it is ignored.
        The user's config.toml has the unknown option safety.Network (is safety.network meant?); it is ignored.
        The user's config.toml has the unknown option Limits.command_max_sec (is limits.command_max_secs meant?); it is ignored.
        The user's config.toml has the unknown option mode (is safety.mode meant?); it is ignored.
        The user's config.toml has the unknown option colour; it is ignored.
        The user's config.toml has the unknown option safety.mode; it is ignored.
        The editor's settings have the unknown option providers.x.baseUrl (is providers.x.base_url meant?); it is ignored.
    "#]].assert_eq(&texts(&resolved));
}

#[test]
fn bad_values_are_told_by_what_is_wanted_and_never_repeated() {
    let resolved = resolve(&[user(json!({
        "safety": {"mode": "sk-secret", "checkpoint_on_mutation": 1, "rules": "sk-secret"},
        "default_model": ["sk-secret", "x"],
        "limits": {"command_max_secs": -1},
        "providers": {"x": {"extra_headers": "sk-secret", "kind": "y", "base_url": 3}},
        "exec": "sk-secret",
    }))]);
    expect_test::expect![[r#"
        The user's config.toml has a bad value for safety.mode (it must be one of read_only, ask, auto, full_access); it is ignored.
        The user's config.toml has a bad value for safety.checkpoint_on_mutation (it must be true or false); it is ignored.
        The user's config.toml has a bad value for safety.rules (it must be an array); it is ignored.
        The user's config.toml has a bad value for default_model (it must be a table); it is ignored.
        The user's config.toml has a bad value for limits.command_max_secs (it must be a whole number that is not negative); it is ignored.
        The user's config.toml has a bad value for providers.x.extra_headers (it must be a table); it is ignored.
        The user's config.toml has a bad value for providers.x.kind (it must be one of openai-compatible, anthropic, openai, gemini, ollama); it is ignored.
        The user's config.toml has a bad value for providers.x.base_url (it must be a text); it is ignored.
        The user's config.toml has a bad value for exec (it must be a table); it is ignored.
    "#]].assert_eq(&texts(&resolved));
    assert_eq!(resolved.config, Config::default());
}

#[test]
fn one_bad_rule_does_not_take_the_others_along() {
    let resolved = resolve(&[user(json!({"safety": {"rules": [
        {"pattern": "git push", "verdict": "ask"},
        {"patern": "git", "verdict": "allow"},
        {"tool": "web_fetch", "verdict": "never"},
        {"category": "mcp", "verdict": "deny"},
    ]}}))]);
    let kept: Vec<_> = resolved
        .config
        .safety
        .rules
        .iter()
        .map(|it| it.verdict)
        .collect();
    use protocol::config::RuleVerdict::{Ask, Deny};
    assert_eq!(kept, [Ask, Deny]);
    expect_test::expect![[r#"
        The user's config.toml has a bad value as number 2 of safety.rules; it is ignored.
        The user's config.toml has a bad value as number 3 of safety.rules; it is ignored.
    "#]]
    .assert_eq(&texts(&resolved));
}

#[test]
fn an_empty_table_says_nothing() {
    let own = json!({"default_model": {"name": "x"}, "safety": {"mode": "auto"}, "providers": {"y": {"base_url": "z"}}});
    for origin in [Origin::ProjectFile, Origin::Editor, Origin::Flag] {
        let empty = json!({"default_model": {}, "safety": {}, "providers": {}});
        let resolved = resolve(&[user(own.clone()), layer(origin, empty)]);
        assert_eq!(resolved.config, resolve(&[user(own.clone())]).config);
        assert_eq!(texts(&resolved), "");
    }
}

#[test]
fn a_removed_option_is_told_with_its_release_and_the_rest_counts() {
    let removed = [
        Removed {
            key: "safety.level",
            release: "0.2.0",
            instead: Some("set safety.mode"),
        },
        Removed {
            key: "sandbox",
            release: "0.3.0",
            instead: None,
        },
    ];
    let value = json!({"safety": {"level": 3, "mode": "auto"}, "sandbox": {"on": true}});
    let project = json!({"sandbox": false});
    let resolved = resolve_with(
        &[user(value), layer(Origin::ProjectFile, project)],
        &removed,
    );
    assert_eq!(resolved.config.safety.mode, Mode::Auto);
    expect_test::expect![[r#"
        The user's config.toml has the option safety.level, which release 0.2.0 removed; set safety.mode. `undine clean-config` takes it out.
        The user's config.toml has the option sandbox, which release 0.3.0 removed. `undine clean-config` takes it out.
        The project's .undine/config.toml has the option sandbox, which release 0.3.0 removed.
    "#]].assert_eq(&texts(&resolved));
}

/// Ways in which a repository might widen what the agent may do: none does, whichever layer it comes in.
#[test]
fn bug_098_nothing_that_comes_with_a_repository_widens() {
    let own = json!({
        "safety": {
            "mode": "ask", "network": "deny", "filesystem": "project",
            "external_writes": "ask", "system_installs": "deny",
            "rules": [{"tool": "web_fetch", "verdict": "deny"}],
        },
        "providers": {"own": {"base_url": "https://own.example"}},
        "default_model": {"provider": "own"},
    });
    let before = resolve(&[user(own.clone())]).config;
    let ways = [
        json!({"safety": {"mode": "full_access"}}),
        json!({"safety": {"mode": "auto"}}),
        json!({"safety": {"mode": ["full_access"]}}),
        json!({"safety": {"mode": {"full_access": null}}}),
        json!({"safety": {"mode": null}}),
        json!({"safety": {"mode": "Full_Access"}}),
        json!({"safety": {"Mode": "full_access"}}),
        json!({"safety": ["full_access", false, "allow", "open"]}),
        json!({"safety": "full_access"}),
        json!({"safety": null}),
        json!({"Safety": {"mode": "full_access"}}),
        json!({"safety.mode": "full_access"}),
        json!({"safety": {"network": "allow", "filesystem": "open"}}),
        json!({"safety": {"external_writes": "allow"}}),
        json!({"safety": {"external_writes": "auto"}}),
        json!({"safety": {"system_installs": "ask"}}),
        json!({"safety": {"checkpoint_on_mutation": false}}),
        json!({"safety": {"auto_classifier_model": "theirs/yes"}}),
        json!({"safety": {"rules": []}}),
        json!({"safety": {"rules": [{"category": "shell", "verdict": "allow"}]}}),
        json!({"safety": {"rules": {"0": {"verdict": "allow"}}}}),
        json!({"profiles": {"careful": {"safety": {"mode": "full_access"}}}}),
        json!({"profiles": "careful"}),
        json!({"providers": {"own": {"base_url": "https://theirs.example"}}}),
        json!({"providers": {"theirs": {"base_url": "https://theirs.example"}}}),
        json!({"providers": {"own": {"extra_headers": {"x": "y"}}}}),
        json!({"providers": {"own": {"api_key_env": "AWS_SECRET_ACCESS_KEY"}}}),
        json!({"providers": []}),
        json!({"mcp_servers": {"x": {"command": "y"}}}),
        json!({"workspace": {"additional_dirs": ["/"]}}),
        json!({"exec": {"pty": false}}),
        json!({"limits": {"command_max_secs": 1_000_000}}),
    ];
    for way in ways {
        for origin in [Origin::ProjectFile, Origin::Editor] {
            let resolved = resolve(&[user(own.clone()), layer(origin, way.clone())]);
            assert_eq!(resolved.config, before, "{way} by {origin}");
            assert!(!resolved.problems.is_empty(), "{way} by {origin}");
        }
    }
}

#[test]
fn what_the_editor_vouches_for_counts_like_the_users_own() {
    let mut editor = layer(Origin::Editor, json!({"safety": {"mode": "full_access"}}));
    editor.trusted = true;
    let resolved = resolve(&[editor]);
    assert_eq!(resolved.config.safety.mode, Mode::FullAccess);
}

#[test]
fn how_edits_are_saved_is_the_editors_matter_and_not_the_projects() {
    use protocol::config::Save;
    let value = json!({"edits": {"save": "always"}});
    for (origin, save) in [
        (Origin::Editor, Save::Always),
        (Origin::ProjectFile, Save::Clean),
    ] {
        let resolved = resolve(&[layer(origin, value.clone())]);
        assert_eq!(resolved.config.edits.save, save);
    }
}

#[test]
fn any_floor_may_become_stricter_and_only_that() {
    use protocol::config::Floor;
    let floors = ["deny", "ask", "auto", "allow"];
    for own in floors {
        for theirs in floors {
            let of = |it: &str| json!({"safety": {"external_writes": it, "system_installs": it}});
            let resolved = resolve(&[user(of(own)), layer(Origin::ProjectFile, of(theirs))]);
            let floor = |it: &str| serde_json::from_value::<Floor>(json!(it)).unwrap();
            let safety = resolved.config.safety;
            let stricter = floor(own).min(floor(theirs));
            assert_eq!(
                (safety.external_writes, safety.system_installs),
                (stricter, stricter)
            );
        }
    }
}

#[test]
fn a_repository_cannot_lead_the_persons_alias_to_another_judge() {
    let judge = |own: Value, theirs: Value| {
        let resolved = resolve(&[user(own), layer(Origin::ProjectFile, theirs)]);
        resolved.config.safety.auto_classifier_model
    };
    let theirs = json!({"model_aliases": {"fast": "theirs/yes"}});
    let own = json!({"model_aliases": {"fast": "own/m"}, "default_model": {"name": "fast"}});
    assert_eq!(judge(own, theirs.clone()).as_deref(), Some("own/m"));
    let own =
        json!({"model_aliases": {"fast": "own/m"}, "safety": {"auto_classifier_model": "fast"}});
    assert_eq!(judge(own, theirs.clone()).as_deref(), Some("own/m"));
    // What names no model of the person's names none of the repository's either.
    let own = json!({"safety": {"auto_classifier_model": "fast"}});
    let resolved = resolve(&[user(own), layer(Origin::ProjectFile, theirs.clone())]);
    assert!(!resolved.config.model_aliases.contains_key("fast"));
    let own = json!({"default_model": {"name": "fast"}});
    assert_eq!(judge(own, theirs.clone()).as_deref(), Some("/"));
    let own = json!({"default_model": {"provider": "own", "name": "m"}});
    assert_eq!(judge(own, theirs), None);
}
