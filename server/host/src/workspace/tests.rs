//! Which place a path means, and how far it is trusted.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn project() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("p/src")).unwrap();
    fs::write(folder.path().join("p/src/a.rs"), "").unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let workspace =
        Workspace::new(&[folder.path().join("p")], &[folder.path().join("config")]).unwrap();
    (folder, workspace)
}

#[test]
fn a_path_in_the_project_is_shown_relative_to_it() {
    let (_folder, workspace) = project();
    let path = workspace.resolve("./src/../src/a.rs").unwrap();
    assert_eq!(
        (path.place, path.shown.as_str()),
        (Place::Project, "src/a.rs")
    );
    assert_eq!(
        workspace.resolve("new/deep.rs").unwrap().shown,
        "new/deep.rs"
    );
}

#[test]
fn a_symlink_out_of_the_project_is_outside() {
    let (folder, workspace) = project();
    symlink(folder.path().join("out"), folder.path().join("p/link")).unwrap();
    assert_eq!(workspace.resolve("link/x").unwrap().place, Place::External);
    assert_eq!(
        workspace.resolve("../out/x").unwrap().place,
        Place::External
    );
    assert_eq!(
        workspace.resolve("no/../../out/x").unwrap().place,
        Place::External
    );
}

/// The way back out of a folder that does not exist led past the look at what it came to.
#[test]
fn a_symlink_behind_a_missing_folder_is_followed() {
    let (folder, workspace) = project();
    symlink(folder.path().join("out"), folder.path().join("p/link")).unwrap();
    symlink(
        folder.path().join("config"),
        folder.path().join("p/settings"),
    )
    .unwrap();
    fs::create_dir(folder.path().join("config")).unwrap();
    for path in [
        "no/../link/x",
        "src/a.rs/../../link/x",
        "no/no/../../link/no/../x",
    ] {
        let file = workspace.resolve(path).unwrap();
        let real = folder.path().canonicalize().unwrap().join("out/x");
        assert_eq!((file.place, file.real), (Place::External, real), "{path}");
    }
    let file = workspace.resolve("no/../settings/config.toml").unwrap();
    assert_eq!(file.place, Place::Protected);
    symlink(folder.path().join("nowhere"), folder.path().join("p/loose")).unwrap();
    assert!(workspace.resolve("no/../loose").is_err());
}

#[test]
fn a_symlink_to_settings_or_history_protects_both_its_ends() {
    let (folder, workspace) = project();
    let place = |path: &str| workspace.resolve(path).unwrap().place;
    fs::write(folder.path().join("p/other.toml"), "").unwrap();
    assert_eq!(place("other.toml"), Place::Project);
    fs::create_dir(folder.path().join("p/.undine")).unwrap();
    symlink("../other.toml", folder.path().join("p/.undine/config.toml")).unwrap();
    symlink("../src", folder.path().join("p/.undine/conversations")).unwrap();
    assert_eq!(
        [
            place("other.toml"),
            place(".undine/config.toml"),
            place("src/x.jsonl"),
            place(".undine/notes"),
        ],
        [
            Place::Protected,
            Place::Protected,
            Place::Protected,
            Place::Project,
        ]
    );
}

#[test]
fn a_file_is_not_itself_any_more_when_a_link_was_put_on_its_way() {
    let (folder, workspace) = project();
    let file = workspace.resolve("new/x").unwrap();
    assert!(workspace.still(&file));
    symlink(folder.path().join("out"), folder.path().join("p/new")).unwrap();
    assert!(!workspace.still(&file));
}

#[test]
fn a_path_longer_than_the_system_takes_is_refused_at_once() {
    let (_folder, workspace) = project();
    let error = workspace.resolve(&"a/".repeat(200_000)).unwrap_err();
    assert_eq!(
        error,
        "The path is longer than 4096 bytes; give a path relative to the project."
    );
}

#[test]
fn a_dangling_symlink_is_refused() {
    let (folder, workspace) = project();
    symlink(folder.path().join("nowhere"), folder.path().join("p/link")).unwrap();
    assert!(workspace.resolve("link").is_err());
}

#[test]
fn history_and_settings_are_protected() {
    let (folder, workspace) = project();
    assert_eq!(
        workspace
            .resolve(".undine/conversations/x.jsonl")
            .unwrap()
            .place,
        Place::Protected
    );
    assert_eq!(
        workspace.resolve(".undine/config.toml").unwrap().place,
        Place::Protected
    );
    let config = folder.path().join("config/permissions.toml");
    assert_eq!(
        workspace
            .resolve(&config.display().to_string())
            .unwrap()
            .place,
        Place::Protected
    );
}

#[test]
fn bug_014_a_web_address_is_not_a_path() {
    let (_folder, workspace) = project();
    assert!(
        workspace
            .resolve(" HTTPS://example.com/x")
            .unwrap_err()
            .contains("web address")
    );
}

#[test]
fn a_uri_and_its_path_agree_whatever_is_escaped() {
    let (folder, _workspace) = project();
    let path = folder.path().canonicalize().unwrap().join("p/ä b#c%.rs");
    fs::write(&path, "").unwrap();
    assert_eq!(path_of(&uri_of(&path)), Some(path));
    assert_eq!(
        path_of(&lsp::Uri::from("untitled:Untitled-1".to_owned())),
        None
    );
}

/// A project with a folder beside it that was added, and a scratchpad.
fn session() -> (tempfile::TempDir, Workspace) {
    let (folder, mut workspace) = project();
    for name in ["added", "pad"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    workspace
        .add(&folder.path().join("added"), AddedBy::Session)
        .unwrap();
    let pad = folder.path().canonicalize().unwrap().join("pad");
    workspace.set_scratchpad(&pad);
    (folder, workspace)
}

/// The place of each path, the whole ones in the folder of all.
fn places(folder: &Path, workspace: &Workspace, paths: &[&str]) -> Vec<Option<Place>> {
    let real = folder.canonicalize().unwrap();
    let place = |it: &&str| {
        let path = match it.strip_prefix('/') {
            Some(rest) => real.join(rest).display().to_string(),
            None => (*it).to_owned(),
        };
        workspace.resolve(&path).ok().map(|it| it.place)
    };
    paths.iter().map(place).collect()
}

#[test]
fn each_path_lies_in_one_of_the_places() {
    let (folder, workspace) = session();
    let rows = [
        "a",
        "/p/a",
        "/added/a",
        "../added/new/a",
        "/pad/a",
        "/pad/new/a",
        "/pad",
        "/out/a",
        "/added/../out/a",
        "/padding",
        "/addedtoo",
        "/added/.undine/config.toml",
        "/added/.undine/conversations/x",
        "/config/config.toml",
    ];
    let mut table = String::new();
    for (path, place) in rows.iter().zip(places(folder.path(), &workspace, &rows)) {
        table.push_str(&format!("{path}: {:?}\n", place.unwrap()));
    }
    expect_test::expect![[r#"
        a: Project
        /p/a: Project
        /added/a: AddedDir
        ../added/new/a: AddedDir
        /pad/a: Scratchpad
        /pad/new/a: Scratchpad
        /pad: Scratchpad
        /out/a: External
        /added/../out/a: External
        /padding: External
        /addedtoo: External
        /added/.undine/config.toml: Protected
        /added/.undine/conversations/x: Protected
        /config/config.toml: Protected
    "#]]
    .assert_eq(&table);
}

#[test]
fn the_project_comes_first_then_the_scratchpad_then_what_was_added() {
    let (folder, mut workspace) = project();
    let real = folder.path().canonicalize().unwrap();
    fs::create_dir_all(real.join("p/pad")).unwrap();
    fs::create_dir_all(real.join("out/pad")).unwrap();
    workspace.add(&real, AddedBy::Session).unwrap();
    workspace.set_scratchpad(&real.join("p/pad"));
    let all = ["/p/pad/a", "/out/pad/a"];
    let (project, added) = (Some(Place::Project), Some(Place::AddedDir));
    assert_eq!(places(&real, &workspace, &all), [project, added]);
    workspace.set_scratchpad(&real.join("out/pad"));
    let scratch = Some(Place::Scratchpad);
    assert_eq!(places(&real, &workspace, &all), [project, scratch]);
}

/// BUG-8: what was written over the link was not asked about.
#[test]
fn bug_008_a_link_in_the_scratchpad_that_leads_out_is_refused() {
    let (folder, workspace) = session();
    let at = |it: &str| folder.path().join(it);
    symlink(at("p"), at("pad/link")).unwrap();
    symlink(at("p/src/a.rs"), at("pad/file")).unwrap();
    symlink(at("pad"), at("p/pad")).unwrap();
    symlink(at("pad/in"), at("pad/loose")).unwrap();
    let out = [
        "/pad/link/src/a.rs",
        "/pad/link/new",
        "/pad/link",
        "/pad/file",
        "/pad/new/../link/new",
        "/pad/link/../out/a",
        "/pad/../out/a",
        "/p/pad/link/src/a.rs",
        "pad/file",
        "../pad/file",
        "/pad/loose",
    ];
    for (path, place) in out.iter().zip(places(folder.path(), &workspace, &out)) {
        assert_eq!(place, None, "{path}");
    }
    let error = workspace.resolve(at("pad/file").to_str().unwrap());
    assert!(error.unwrap_err().contains("out of the scratchpad"));
    fs::create_dir(at("pad/in")).unwrap();
    let scratch = Some(Place::Scratchpad);
    assert_eq!(
        places(folder.path(), &workspace, &["/pad/loose/a", "/pad/in/a"]),
        [scratch, scratch]
    );
}

#[test]
fn a_relative_path_never_lands_in_the_scratchpad() {
    let (folder, workspace) = session();
    symlink(folder.path().join("pad"), folder.path().join("p/link")).unwrap();
    for path in ["../pad/a", "link/a", "src/../../pad/a"] {
        let file = workspace.resolve(path).unwrap();
        assert_eq!(file.place, Place::External, "{path}");
        assert!(workspace.still(&file), "{path}");
    }
}

#[test]
fn an_added_folder_owns_what_is_in_it_by_name_and_after_links() {
    let (folder, mut workspace) = session();
    let at = |it: &str| folder.path().join(it);
    symlink(at("added"), at("p/link")).unwrap();
    symlink(at("out"), at("added/out")).unwrap();
    symlink(at("p"), at("added/project")).unwrap();
    let (external, added) = (Some(Place::External), Some(Place::AddedDir));
    assert_eq!(
        places(
            folder.path(),
            &workspace,
            &["link/a", "/p/link/a", "/added/out/a", "/added/project/a"]
        ),
        [external, external, external, Some(Place::Project)]
    );
    // Judged as outside for its name, and still itself when it is touched.
    let file = workspace.resolve("link/a").unwrap();
    assert!(workspace.still(&file));

    // Named by a link, it is owned by that name too, as long as it leads where it led.
    symlink(at("out"), at("name")).unwrap();
    workspace.add(&at("name"), AddedBy::Session).unwrap();
    let paths = ["/name/a", "../name/a", "/out/a"];
    let named = |workspace: &Workspace| places(folder.path(), workspace, &paths);
    assert_eq!(named(&workspace), [added, added, added]);
    fs::remove_file(at("name")).unwrap();
    fs::create_dir(at("elsewhere")).unwrap();
    symlink(at("elsewhere"), at("name")).unwrap();
    assert_eq!(named(&workspace), [external, external, added]);
}

#[test]
fn what_is_no_folder_is_not_added() {
    let (folder, mut workspace) = session();
    let before = workspace.clone();
    for it in ["missing", "p/src/a.rs"] {
        let error = workspace.add(&folder.path().join(it), AddedBy::Session);
        assert!(error.unwrap_err().contains(it));
    }
    assert_eq!(workspace, before);
    let real = folder.path().canonicalize().unwrap();
    assert_eq!(
        workspace.add(Path::new("../out"), AddedBy::Session),
        Ok(real.join("out"))
    );
}

#[test]
fn what_the_configuration_adds_is_forgotten_with_it_and_the_rest_stays() {
    let (folder, mut workspace) = session();
    let before = workspace.clone();
    let out = folder.path().join("out");
    workspace.add(&out, AddedBy::Configuration).unwrap();
    workspace
        .add(&folder.path().join("added"), AddedBy::Configuration)
        .unwrap();
    workspace.forget_configured();
    assert_eq!(workspace, before);
}

#[test]
fn the_editors_folders_are_the_project_and_are_shown_whole() {
    let (folder, mut workspace) = session();
    let real = folder.path().canonicalize().unwrap();
    let others = [real.join("out"), real.join("p"), real.join("gone")];
    workspace.set_others(&others);
    let file = workspace.resolve("../out/a").unwrap();
    let shown = real.join("out/a").display().to_string();
    assert_eq!((file.place, file.shown), (Place::Project, shown));
    assert_eq!(
        workspace.others().collect::<Vec<_>>(),
        [real.join("out"), real.join("added")]
    );
    workspace.set_others(&[]);
    let file = workspace.resolve("../out/a").unwrap();
    assert_eq!(file.place, Place::External);
}

/// A command that runs beside can put a link where a file was judged, or take a folder's trust away.
#[test]
fn a_file_that_would_be_judged_otherwise_by_now_is_not_itself() {
    let (folder, mut workspace) = session();
    let at = |it: &str| folder.path().join(it);
    let real = folder.path().canonicalize().unwrap();
    let resolve = |workspace: &Workspace, it: &str| {
        let path = real.join(it).display().to_string();
        workspace.resolve(&path).unwrap()
    };
    let scratch = resolve(&workspace, "pad/sub/a");
    let added = resolve(&workspace, "added/sub/a");
    assert!(workspace.still(&scratch) && workspace.still(&added));
    symlink(at("p"), at("pad/sub")).unwrap();
    symlink(at("p"), at("added/sub")).unwrap();
    assert!(!workspace.still(&scratch) && !workspace.still(&added));

    workspace.add(&at("out"), AddedBy::Configuration).unwrap();
    let configured = resolve(&workspace, "out/a");
    assert!(workspace.still(&configured));
    workspace.forget_configured();
    assert!(!workspace.still(&configured));
    // And what was outside when it was judged may be asked about less by now.
    let outside = resolve(&workspace, "out/a");
    workspace.add(&at("out"), AddedBy::Session).unwrap();
    assert!(workspace.still(&outside));
    // Never so for what became the project's, or Undine's own.
    workspace.set_others(&[at("out")]);
    assert!(!workspace.still(&outside));
}
