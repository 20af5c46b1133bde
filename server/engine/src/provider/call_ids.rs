//! Ids of calls as they go on the wire.
//!
//! A history may come from another provider, whose ids are too long or have characters that this one refuses, and ours
//! (`call_0`) repeat from answer to answer. What goes out depends only on what stands before it, so that a longer history
//! begins with the bytes of a shorter one.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// What a provider takes as the id of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// At most 64 of `A-Z a-z 0-9 _ -`; OpenAI refuses longer ones.
    Common,
    /// The same, but at most 40: what OpenAI's Chat Completions take ("Expected a string with maximum length 40").
    Short,
    /// Exactly nine of `A-Z a-z 0-9`: Mistral refuses any other.
    Nine,
}

/// The ids of one request.
#[derive(Debug)]
pub struct CallIds {
    rule: Rule,
    used: HashSet<String>,
}

impl CallIds {
    pub fn new(rule: Rule) -> CallIds {
        CallIds {
            rule,
            used: HashSet::new(),
        }
    }

    /// The id under which the next call goes out: its own if that may stand there and no call before it has it.
    pub fn next(&mut self, id: &str) -> String {
        let mut wire = match self.rule.allows(id) {
            true => id.to_owned(),
            false => self.rule.made(id, 0),
        };
        let mut round = 1_u32;
        while !self.used.insert(wire.clone()) {
            wire = self.rule.made(id, round);
            round += 1;
        }
        wire
    }
}

impl Rule {
    fn allows(self, id: &str) -> bool {
        match self {
            Rule::Common => is_common(id, 64),
            Rule::Short => is_common(id, 40),
            Rule::Nine => id.len() == 9 && id.bytes().all(|it| it.is_ascii_alphanumeric()),
        }
    }

    /// An id made of another, the same every time.
    fn made(self, id: &str, round: u32) -> String {
        let digest = Sha256::new()
            .chain_update(id)
            .chain_update(round.to_le_bytes())
            .finalize();
        let hex: String = digest.iter().map(|it| format!("{it:02x}")).collect();
        match self {
            Rule::Common | Rule::Short => format!("call_{}", &hex[..24]),
            Rule::Nine => hex[..9].to_owned(),
        }
    }
}

/// Whether an id is of 1 to `most` letters, digits, `_` and `-`.
fn is_common(id: &str, most: usize) -> bool {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    (1..=most).contains(&id.len()) && id.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_where_it_may_and_is_made_anew_where_not() {
        let mut ids = CallIds::new(Rule::Common);
        let long = "x".repeat(65);
        let made: Vec<String> = ["call_0", "call_0", "toolu_01-a", "a b", "", &long]
            .into_iter()
            .map(|it| ids.next(it))
            .collect();
        assert_eq!([&*made[0], &*made[2]], ["call_0", "toolu_01-a"]);
        let unlike: HashSet<&String> = made.iter().collect();
        assert_eq!(unlike.len(), made.len(), "{made:?}");
        assert!(made.iter().all(|it| Rule::Common.allows(it)), "{made:?}");
        let mut again = CallIds::new(Rule::Common);
        assert_eq!(again.next("call_0"), made[0]);
        assert_eq!(again.next("call_0"), made[1]);
    }

    #[test]
    fn mistral_gets_nine_letters_and_digits() {
        let mut ids = CallIds::new(Rule::Nine);
        assert_eq!(ids.next("a1B2c3D4e"), "a1B2c3D4e");
        for id in ["call_0", "call_0", "a1B2c3D4e"] {
            let made = ids.next(id);
            assert!(Rule::Nine.allows(&made), "{made}");
        }
    }
}
