//! Programs that read unless an option, or their own small language, says otherwise (spec 19.6).

use super::programs::Known;
use super::word::Word;
use protocol::tool::Risk;

/// A letter or a long name among the options. GNU's programs take long names shortened, and letters in one bunch.
fn has(words: &[Word], letters: &[char], longs: &[&str]) -> bool {
    words[1..]
        .iter()
        .take_while(|it| it.text != "--")
        .any(|it| {
            let text = it.text.as_str();
            match text.strip_prefix("--") {
                Some(long) => {
                    let name = long.split('=').next().unwrap_or_default();
                    !name.is_empty() && longs.iter().any(|it| it.starts_with(name))
                }
                None => text.starts_with('-') && text[1..].contains(letters),
            }
        })
}

/// Words that are no options.
fn plain(words: &[Word]) -> impl Iterator<Item = &Word> {
    words[1..]
        .iter()
        .filter(|it| it.text == "-" || !it.text.starts_with('-'))
}

/// What a program of the table may do with these words.
pub fn risk(name: &str, words: &[Word], known: Known) -> Risk {
    let changes = |it: bool| if it { Risk::Change } else { Risk::Read };
    let runs = |it: bool| if it { Risk::Run } else { Risk::Read };
    match name {
        "sort" => runs(has(words, &[], &["compress-program", "files0-from"])).max(changes(has(
            words,
            &['o', 'T'],
            &["output", "temporary-directory"],
        ))),
        "uniq" => changes(plain(words).count() > 1),
        "find" => find(words),
        // What follows links may leave the project, where nobody looks.
        "grep" | "egrep" | "fgrep" => runs(has(words, &['R'], &["dereference-recursive"])),
        "nm" | "size" | "strings" => {
            runs(has(words, &[], &["plugin"]) || plain(words).any(|it| it.text.starts_with('@')))
        }
        "fd" | "fdfind" => runs(has(
            words,
            &['x', 'X', 'l', 'L'],
            &["exec", "exec-batch", "list-details", "follow"],
        )),
        "tree" => changes(has(words, &['o', 'R'], &["output"])).max(runs(has(words, &['l'], &[]))),
        "rg" => runs(has(
            words,
            &['z', 'L'],
            &["pre", "hostname-bin", "search-zip", "follow"],
        )),
        "awk" | "gawk" | "mawk" | "nawk" => awk(words),
        "sed" | "gsed" => sed(words),
        "yq" => runs(has(
            words,
            &[],
            &["split-exp", "split-exp-file", "from-file"],
        ))
        .max(changes(has(words, &['i', 's'], &["inplace", "in-place"])))
        // Its own language reads files and variables.
        .max(runs(
            words[1..]
                .iter()
                .any(|it| it.text.contains("load") || it.text.contains("env")),
        )),
        "date" => match has(words, &['s', 'f'], &["set", "file"])
            || plain(words).any(|it| !it.text.starts_with('+'))
        {
            true => date(words),
            false => Risk::Read,
        },
        "file" => runs(has(
            words,
            &['C', 'z', 'Z', 'S'],
            &["compile", "uncompress", "uncompress-noreport", "no-sandbox"],
        )),
        "diff" => runs(has(words, &['l', 'r'], &["paginate", "recursive"])),
        "xxd" => changes(has(words, &['r'], &["revert"]) || plain(words).count() > 1),
        "printf" => runs(
            words
                .get(1)
                .is_some_and(|it| it.text.starts_with('-') || !it.known),
        ),
        "hostname" => {
            match plain(words).count() > 0 || has(words, &['F', 'b'], &["file", "boot"]) {
                true => Risk::Machine,
                false => Risk::Read,
            }
        }
        "base64" => changes(has(words, &['o'], &["output"])),
        "test" | "[" => runs(
            words[1..]
                .iter()
                .any(|it| matches!(it.text.as_str(), "-v" | "-R")),
        ),
        "tar" => tar(words),
        // `wait -p` computes a name.
        "wait" => runs(
            words[1..]
                .iter()
                .any(|it| !it.known || it.text.starts_with('-')),
        ),
        "rm" | "mv" | "cp" | "ln" | "install" | "gzip" | "xz" | "split" => {
            let is_program = match name {
                "install" => has(words, &['s'], &["strip-program", "strip"]),
                "split" => has(words, &[], &["filter"]),
                _ => false,
            };
            known.risk.max(runs(is_program))
        }
        _ => known.risk,
    }
}

/// `date -d` asks; what is no format sets the clock.
fn date(words: &[Word]) -> Risk {
    let mut words = words[1..].iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-d" | "-r" | "--date" | "--reference" => {
                words.next();
            }
            it if it.starts_with("--date=")
                || it.starts_with("--iso")
                || it.starts_with("--rfc")
                || it.starts_with('+') => {}
            "-u" | "--utc" | "--universal" | "-R" | "-I" => {}
            it if it.starts_with("-I") || it.starts_with("-d") && it.len() > 2 => {}
            _ => return Risk::Machine,
        }
    }
    Risk::Read
}

fn find(words: &[Word]) -> Risk {
    let mut risk = Risk::Read;
    for word in &words[1..] {
        let text = word.text.as_str();
        risk = risk.max(match text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => Risk::Run,
            "-delete" => Risk::Change,
            "-L" | "-follow" => Risk::Run,
            "-files0-from" => Risk::Run,
            _ if text.starts_with("-fprint") || text == "-fls" => Risk::Change,
            _ if !word.known || word.glob && word.may_be_option() => Risk::Run,
            _ => Risk::Read,
        });
    }
    risk
}

/// awk's programs: those that write, run or read from commands have one of these marks outside of their texts.
fn awk(words: &[Word]) -> Risk {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if !word.known {
            return Risk::Run;
        }
        match text {
            "-F" | "-v" => at += 2,
            "--" => {
                at += 1;
                break;
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => at += 1,
            _ if text.starts_with('-') && text.len() > 1 => return Risk::Run,
            _ => break,
        }
    }
    let Some(program) = words.get(at) else {
        return Risk::Run;
    };
    if !program.known || program.glob || words[at..].iter().any(|it| !it.known) {
        return Risk::Run;
    }
    let text = program.text.as_str();
    let runs = [
        "system",
        "getline",
        "close",
        "@",
        "ENVIRON",
        "ARGV",
        "ARGC",
        "fflush",
        "PROCINFO",
        "extension",
    ];
    // `||` is no pipe.
    if runs.iter().any(|it| text.contains(it)) || text.replace("||", "").contains('|') {
        return Risk::Run;
    }
    // A comparison looks like a redirection, and only behind a `print` it can be one. What stands between them is not
    // read: texts and patterns may hold whatever ends a statement.
    let printed = text.find("print").unwrap_or(text.len());
    if text[printed..].contains('>') {
        return Risk::Run;
    }
    Risk::Read
}

/// sed's programs: `s…e`, `e`, `w`, `r` of other files, and `-i`.
fn sed(words: &[Word]) -> Risk {
    let mut risk = Risk::Read;
    let mut scripts = Vec::new();
    let mut n_plain = 0;
    let has_option = has(words, &['e', 'f'], &["expression", "file"]);
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        if !word.known {
            return Risk::Run;
        }
        let text = word.text.as_str();
        match text {
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "--quiet" | "--silent"
            | "--regexp-extended" | "--posix" | "--sandbox" | "-nE" | "-En" | "-nr" | "-rn"
            | "--null-data" | "--separate" | "--unbuffered" => {}
            "-e" | "--expression" | "-ne" | "-Ee" | "-nEe" | "-re" => scripts.extend(rest.next()),
            "-i" | "--in-place" | "-Ei" | "-ni" | "-ri" => risk = risk.max(Risk::Change),
            _ if text.starts_with("-i") || text.starts_with("--in-place=") => {
                // A suffix with a slash writes elsewhere.
                risk = risk.max(if text.contains('/') {
                    Risk::Run
                } else {
                    Risk::Change
                });
            }
            _ if text.starts_with('-') && text.len() > 1 => return Risk::Run,
            _ if n_plain == 0 && !has_option => {
                scripts.push(word);
                n_plain += 1;
            }
            _ => n_plain += 1,
        }
    }
    if scripts.is_empty() || !scripts.iter().all(|it| is_reading_sed(&it.text)) {
        return Risk::Run;
    }
    risk
}

/// A script of addresses, `s`, `y`, and commands that print and delete; anything else may write.
fn is_reading_sed(script: &str) -> bool {
    let text: Vec<char> = script.chars().collect();
    let mut at = 0;
    // Up to the next delimiter that is not escaped; a class in brackets may hold one.
    let skip = |at: &mut usize, mark: char| {
        let mut class: Option<usize> = None;
        while let Some(it) = text.get(*at) {
            *at += 1;
            match it {
                '\\' => *at += 1,
                // Some take a mark in brackets for the end, some do not.
                it if *it == mark => return class.is_none(),
                '\n' => return false,
                '[' if class.is_none() => class = Some(*at),
                // The first one is a member.
                ']' => {
                    class = class
                        .filter(|from| *at == from + 1 || *at == from + 2 && text[*from] == '^');
                }
                _ => {}
            }
        }
        false
    };
    while let Some(&it) = text.get(at) {
        at += 1;
        match it {
            ' ' | '\t' | '\n' | ';' | ',' | '0'..='9' | '$' | '!' | '{' | '}' | '~' | '+' | '=' => {
            }
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'q' | 'Q' | 'l' => {}
            '/' => {
                let from = at;
                if !skip(&mut at, '/') || is_open(&text[from..at - 1]) {
                    return false;
                }
                while text.get(at).is_some_and(|it| matches!(it, 'I' | 'M')) {
                    at += 1;
                }
            }
            's' | 'y' => {
                let Some(&mark) = text.get(at) else {
                    return false;
                };
                at += 1;
                if mark.is_alphanumeric() || mark.is_whitespace() || mark == '\\' {
                    return false;
                }
                let from = at;
                if !skip(&mut at, mark) || is_open(&text[from..at - 1]) || !skip(&mut at, mark) {
                    return false;
                }
                while let Some(&flag) = text.get(at) {
                    match flag {
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => at += 1,
                        ' ' | '\t' | ';' | '\n' | '}' => break,
                        _ => return false,
                    }
                }
            }
            _ => return false,
        }
    }
    true
}

/// Whether a pattern of sed ends within brackets. Some versions read on there, past the delimiter, so that what
/// seemed to be text is a command.
fn is_open(pattern: &[char]) -> bool {
    // A backslash in brackets is a letter to some.
    [true, false].into_iter().any(|escapes| {
        let mut rest = pattern.iter().copied().peekable();
        while let Some(it) = rest.next() {
            match it {
                '\\' => drop(rest.next()),
                '[' => {
                    rest.next_if_eq(&'^');
                    rest.next_if_eq(&']');
                    loop {
                        match rest.next() {
                            None => return true,
                            Some(']') => break,
                            Some('\\') if escapes => drop(rest.next()),
                            Some('[') => {
                                let Some(kind) = rest.next_if(|it| ":.=".contains(*it)) else {
                                    continue;
                                };
                                // `[:alpha:]`
                                loop {
                                    match rest.next() {
                                        None => return true,
                                        Some(it)
                                            if it == kind && rest.next_if_eq(&']').is_some() =>
                                        {
                                            break;
                                        }
                                        Some(_) => {}
                                    }
                                }
                            }
                            Some(_) => {}
                        }
                    }
                }
                _ => {}
            }
        }
        false
    })
}

/// Listing reads; packing and unpacking changes; what names a program runs it.
fn tar(words: &[Word]) -> Risk {
    let Some(first) = words.get(1) else {
        return Risk::Run;
    };
    let letters = first.text.trim_start_matches('-');
    let is_known = first.known
        && !first.text.starts_with("--")
        && letters.chars().all(|it| "ctxvzjJfpkahC".contains(it));
    // `host:file` is fetched by a program.
    let is_remote = words[1..].iter().any(|it| it.text.contains(':'));
    let has_longs = words[2..]
        .iter()
        .any(|it| it.text.starts_with('-') && it.text != "-C");
    if !is_known || has_longs {
        return Risk::Run;
    }
    if is_remote {
        return Risk::Network;
    }
    match (letters.contains('t'), letters.contains(['c', 'x'])) {
        (true, false) => Risk::Read,
        (_, true) => Risk::Change,
        (false, false) => Risk::Run,
    }
}

/// How many words before the paths are patterns or programs.
pub fn text_length(name: &str, rest: &[Word]) -> usize {
    let all: Vec<Word> = std::iter::once(Word::of(name))
        .chain(rest.iter().cloned())
        .collect();
    let is_given = match name {
        "grep" | "egrep" | "fgrep" | "rg" => {
            has(&all, &['e', 'f'], &["regexp", "file", "files", "type-list"])
        }
        "sed" | "gsed" => has(&all, &['e', 'f'], &["expression", "file"]),
        "awk" | "gawk" | "mawk" | "nawk" => {
            // `-F / program`: the separator is a word, too.
            return 1 + rest
                .iter()
                .filter(|it| matches!(it.text.as_str(), "-F" | "-v"))
                .count();
        }
        "jq" | "yq" => has(&all, &['f'], &["from-file"]),
        _ => false,
    };
    usize::from(!is_given)
}
