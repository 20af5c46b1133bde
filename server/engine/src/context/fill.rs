//! What fills the window, part by part, for `/context`. All sizes are estimates, in tokens.

use super::budget::{self, of_entry, of_result, of_text, of_tool};
use super::instructions::Further;
use super::project::{InstructionFile, told};
use super::{Entry, Sight};
use crate::session::Settings;
use protocol::context::{ContextPart, ContextReport, Part};

/// The parts of the next request, in its order; those that are empty are left out.
pub fn parts(
    settings: &Settings,
    history: &[Entry],
    files: &[InstructionFile],
    further: &Further,
) -> Vec<ContextPart> {
    let mut sizes = [0_u64; Part::ALL.len()];
    let mut add = |part: Part, tokens: u64| {
        if let Some(at) = Part::ALL.iter().position(|it| *it == part) {
            sizes[at] += tokens;
        }
    };
    let of_files = of_text(&told(files));
    let (skills, memory) = (of_text(&further.skills), of_text(&further.memory));
    let system = of_text(&settings.system.text(&[]));
    add(Part::Instructions, of_files);
    add(Part::Skills, skills);
    add(Part::Memory, memory);
    let of_others = of_files + skills + memory;
    add(Part::System, system.saturating_sub(of_others));
    add(Part::Tools, settings.tools.iter().map(of_tool).sum());
    for entry in history {
        match entry {
            Entry::Summary(_) => add(Part::Summary, of_entry(entry)),
            Entry::User(_) => add(Part::User, of_entry(entry)),
            Entry::Told(_) => add(Part::Told, of_entry(entry)),
            Entry::Answer(answer) => {
                let results: u64 = answer.calls.iter().map(of_result).sum();
                let pictures = answer.calls.iter().flat_map(|it| &it.pictures);
                let seen = pictures.filter(|it| matches!(it.sight, Sight::Seen(_)));
                let pictures = budget::of_pictures(seen);
                add(Part::Answers, of_entry(entry) - results);
                add(Part::Results, results - pictures);
                add(Part::Pictures, pictures);
            }
        }
    }
    let all = Part::ALL.iter().zip(sizes);
    all.filter(|(_, tokens)| *tokens > 0)
        .map(|(part, tokens)| ContextPart {
            part: *part,
            tokens,
        })
        .collect()
}

/// The report for a person.
pub fn text(report: &ContextReport) -> String {
    let mut lines = vec![match report.size {
        0 => format!(
            "About {} tokens fill the window, whose size is not known.",
            report.used
        ),
        size => format!(
            "About {} of {size} tokens are filled ({} %); {} are kept free for the answer.",
            report.used,
            report.used.saturating_mul(100) / size,
            report.reserve
        ),
    }];
    lines.push(match report.threshold {
        Some(at) => format!("Older history is summarised from {at} tokens on."),
        None => "Older history is not summarised by itself; `/compact` does it.".to_owned(),
    });
    lines.push("By an estimate, the next request has:".to_owned());
    for ContextPart { part, tokens } in &report.parts {
        lines.push(format!("- {}: {tokens}", part.name()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::instructions::{Folders, System};
    use crate::session::settings_of_tests;
    use expect_test::expect;

    #[test]
    fn each_part_counts_once_and_what_is_empty_is_left_out() {
        let further = Further {
            skills: "s".repeat(400),
            memory: "m".repeat(800),
            ..Further::default()
        };
        let mut settings = settings_of_tests();
        settings.system = System::new(&Folders::default(), &[], &further);
        let history = [
            Entry::Summary("x".repeat(4_000)),
            Entry::User("y".repeat(40).into()),
        ];
        let parts = parts(&settings, &history, &[], &further);
        let sum: u64 = parts.iter().map(|it| it.tokens).sum();
        assert_eq!(sum, budget::filled(&settings, &history, None));
        let report = ContextReport {
            used: 1_200,
            size: 8_000,
            reserve: 2_000,
            threshold: Some(6_000),
            parts: parts
                .into_iter()
                .filter(|it| it.part != Part::System)
                .collect(),
            text: String::new(),
        };
        expect![[r#"
            About 1200 of 8000 tokens are filled (15 %); 2000 are kept free for the answer.
            Older history is summarised from 6000 tokens on.
            By an estimate, the next request has:
            - skills: 100
            - memory: 200
            - summary of older history: 1004
            - your messages: 14"#]]
        .assert_eq(&text(&report));
    }
}
