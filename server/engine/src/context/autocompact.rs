//! What the person says to `/autocompact`.

use protocol::config::Compaction;

/// What is wished of summaries that are made by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Show,
    On,
    Off,
    /// As if nothing were configured.
    Reset,
    Percent(u32),
    Tokens(u64),
}

/// Where it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Person,
    Project,
}

/// How it is asked for, for the person.
const HOW: &str = "Write `/autocompact 70` for percent of the window, `/autocompact tokens 120000`, `on`, `off` or `reset`; `project` behind it keeps it in the project's file.";

/// Reads what follows the command.
///
/// # Errors
/// If it is none of those words. One sentence for the person.
pub fn read(text: &str) -> Result<(Wish, Place), String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let place = match words.last() {
        Some(&"project") => {
            words.pop();
            Place::Project
        }
        Some(_) | None => Place::Person,
    };
    let wish = match words[..] {
        [] => Wish::Show,
        ["on"] => Wish::On,
        ["off"] => Wish::Off,
        ["reset"] => Wish::Reset,
        ["tokens", n] => match n.replace(['_', ','], "").parse() {
            Ok(n) if n >= 50_000 => Wish::Tokens(n),
            Ok(_) => return Err("It must be 50000 tokens at least.".to_owned()),
            Err(_) => return Err(format!("{n:?} is no number of tokens. {HOW}")),
        },
        [n] | ["percent", n] => match n.trim_end_matches('%').parse() {
            Ok(n @ 1..=100) => Wish::Percent(n),
            Ok(_) | Err(_) => return Err(format!("{n:?} is no percentage from 1 to 100. {HOW}")),
        },
        _ => return Err(format!("{text:?} is not understood. {HOW}")),
    };
    if wish == Wish::Show && place == Place::Project {
        return Err(format!("Say what the project's file is to hold. {HOW}"));
    }
    Ok((wish, place))
}

/// What counts now, for the person; `threshold` is in tokens, where it is known.
pub fn shown(options: &Compaction, percent: u64, threshold: Option<u64>, native: bool) -> String {
    if !options.auto_enabled {
        return "Older history is not summarised by itself; `/autocompact on` changes that."
            .to_owned();
    }
    let tokens = options
        .auto_threshold_tokens
        .map(|it| format!(" or {} tokens, whatever comes first", it.max(50_000)));
    let at = match threshold {
        Some(at) => format!("For this model that is at {at} tokens."),
        None => "The window of this model is not known, so it does not happen by itself; `/autocompact tokens N` sets a number of tokens.".to_owned(),
    };
    let by = match native {
        true => " The provider does it by itself.",
        false => "",
    };
    format!(
        "Older history is summarised by itself at {percent} % of the window{}. {at}{by}",
        tokens.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_what_is_none_is_said() {
        let read = |it| read(it).map_err(|it| it.split('.').next().unwrap_or_default().to_owned());
        assert_eq!(read(""), Ok((Wish::Show, Place::Person)));
        assert_eq!(read("70"), Ok((Wish::Percent(70), Place::Person)));
        assert_eq!(read("70% project"), Ok((Wish::Percent(70), Place::Project)));
        assert_eq!(
            read("tokens 120_000"),
            Ok((Wish::Tokens(120_000), Place::Person))
        );
        assert_eq!(read("off project"), Ok((Wish::Off, Place::Project)));
        assert_eq!(read("on"), Ok((Wish::On, Place::Person)));
        assert_eq!(read("reset"), Ok((Wish::Reset, Place::Person)));
        for wrong in [
            "0", "101", "x", "tokens", "tokens x", "tokens 3", "a b c", "project",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
