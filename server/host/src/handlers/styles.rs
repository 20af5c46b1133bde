//! Output styles: reading their files, and `/output-style` (spec 22.1).

use crate::config_edit;
use crate::errand::Asker;
use crate::event::SessionKey;
use crate::layers::{project_file, user_file};
use crate::main_loop::Host;
use crate::regular;
use engine::context::styles::{self, MAX_BYTES, Style};
use engine::session::Input;
use std::fs;
use std::path::Path;

/// The folder of styles, of the person's settings and of a project's.
const FOLDER: &str = "output-styles";

/// What makes a choice everybody's who works in the project.
const PROJECT: &str = "--project";

impl Host {
    /// All that can be chosen in a project.
    pub(super) fn styles(&self, root: &Path) -> Vec<Style> {
        let project = project_file(root).with_file_name(FOLDER);
        styles::all(files(&self.folders.config.join(FOLDER)), files(&project))
    }

    /// `/output-style`
    pub(super) fn style_for(&mut self, session: SessionKey, asker: Asker, rest: &str) {
        let (mut names, mut is_project) = (Vec::new(), false);
        for word in rest.split_whitespace() {
            match word {
                PROJECT => is_project = true,
                name => names.push(name),
            }
        }
        let said = match names.as_slice() {
            [] => self.styles_said(&session),
            [name] => self.choose_style(&session, name, is_project),
            [..] => Err("Name one style: `/output-style NAME`.".to_owned()),
        };
        let number = self.begin(session, asker);
        self.end(number, said);
    }

    fn styles_said(&self, session: &SessionKey) -> Result<String, String> {
        let open = self.sessions.get(session).ok_or("The session is closed.")?;
        let all = self.styles(open.workspace.root());
        Ok(styles::list(&all, &open.config.output.style))
    }

    /// Lets a session be answered in a style, from the next message on, and remembers it. Both texts are for the person.
    pub(super) fn choose_style(
        &mut self,
        key: &SessionKey,
        name: &str,
        is_project: bool,
    ) -> Result<String, String> {
        let open = self.sessions.get(key).ok_or("The session is closed.")?;
        let root = open.workspace.root().to_path_buf();
        let all = self.styles(&root);
        let Some(style) = all.iter().find(|it| it.name == name) else {
            let names = styles::names(&all);
            return Err(format!(
                "There is no style {name:?}; choose one of {names}."
            ));
        };
        if let Err(why) = &style.text {
            return Err(format!("The output style {name} {why}."));
        }
        let file = match is_project {
            true => project_file(&root),
            false => user_file(&self.folders.config),
        };
        let kept = config_edit::set(&file, &["output", "style"], name);
        let kept = self.after_writing(kept);
        if let Some(open) = self.sessions.get_mut(key) {
            open.choice.style = Some(name.to_owned());
        }
        self.configure(key);
        self.step(key, Input::Style(Some(name.to_owned())));
        self.tell_options(key);
        let kept = match kept {
            Ok(()) => String::new(),
            Err(why) => format!(" It is not remembered: {why}"),
        };
        Ok(format!(
            "Answers are in the style {name} from your next message on.{kept}"
        ))
    }
}

/// The styles of a folder, by name. What cannot be read says so when it is chosen.
fn files(folder: &Path) -> Vec<Style> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut styles: Vec<Style> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_stem()?.to_str()?;
            let is_style = path.extension().is_some_and(|it| it == "md");
            is_style.then(|| {
                let text = read(&path);
                styles::of_file(name, text.as_deref().map_err(Clone::clone))
            })
        })
        .collect();
    styles.sort_by(|a, b| a.name.cmp(&b.name));
    styles
}

fn read(path: &Path) -> Result<String, String> {
    match regular::read_capped(path, MAX_BYTES) {
        Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned()),
        Ok(None) => Err(format!("is larger than {MAX_BYTES} bytes")),
        Err(error) => Err(format!("cannot be read ({error})")),
    }
}
