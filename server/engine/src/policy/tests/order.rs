//! The order of decision (spec 19.2): what stands above decides, whatever stands below it says.

use super::*;

/// All that may have a say beside the access itself.
struct Says {
    network: Network,
    rule: Option<(Category, RuleVerdict)>,
    mode: Mode,
    installs: Floor,
    /// Whether an answer was kept that covers the access.
    is_remembered: bool,
}

/// Nobody says anything, and the mode allows all.
const NOBODY: Says = Says {
    network: Network::Allow,
    rule: None,
    mode: Mode::FullAccess,
    installs: Floor::Allow,
    is_remembered: false,
};

fn verdict(says: &Says, access: &Access) -> &'static str {
    let rules = says.rule.map(|(of, it)| rule(Some(of), None, None, it));
    let safety = Safety {
        network: says.network,
        system_installs: says.installs,
        rules: rules.into_iter().collect(),
        ..Safety::default()
    };
    let kept = remembered::rule(access).filter(|_| says.is_remembered);
    let kept: Vec<Rule> = kept.into_iter().collect();
    word(&with(
        &safety,
        says.mode,
        &kept,
        std::slice::from_ref(access),
    ))
}

#[test]
fn what_stands_above_decides_whatever_is_said_below() {
    use Category::{Edit, Shell, Web};
    use RuleVerdict::{Allow, Ask, Deny};
    let install = || rated(Risk::Install, "pip install x");
    let in_scratchpad = || rated(Risk::Change, "touch scratch");
    let allowed = |of| Says {
        rule: Some((of, Allow)),
        is_remembered: true,
        ..NOBODY
    };
    let rows = [
        // The network that is off, and what is never done, before a rule, the mode and an answer.
        (
            "network, rule",
            web(),
            Says {
                network: Network::Deny,
                ..allowed(Web)
            },
            "deny",
        ),
        (
            "network alone",
            web(),
            Says {
                network: Network::Deny,
                ..NOBODY
            },
            "deny",
        ),
        ("no network", web(), allowed(Web), "allow"),
        (
            "forbidden, rule",
            run("mkfs /dev/sda"),
            allowed(Shell),
            "deny",
        ),
        (
            "our own, rule",
            write(Place::Protected),
            allowed(Edit),
            "deny",
        ),
        // A rule before the mode, both ways.
        (
            "rule, stricter mode",
            run("make"),
            Says {
                mode: Mode::ReadOnly,
                ..allowed(Shell)
            },
            "allow",
        ),
        (
            "rule, looser mode",
            run("make"),
            Says {
                rule: Some((Shell, Deny)),
                ..NOBODY
            },
            "deny",
        ),
        (
            "rule of another kind",
            run("make"),
            Says {
                rule: Some((Edit, Deny)),
                ..NOBODY
            },
            "allow",
        ),
        // A rule before the floors: it ends the search.
        (
            "rule, floor",
            install(),
            Says {
                installs: Floor::Deny,
                ..allowed(Shell)
            },
            "allow",
        ),
        (
            "rule that asks, floor",
            install(),
            Says {
                rule: Some((Shell, Ask)),
                installs: Floor::Deny,
                ..NOBODY
            },
            "ask",
        ),
        // A rule before the scratchpad and answers: what the person asks for is asked.
        (
            "rule, scratchpad",
            in_scratchpad(),
            Says {
                rule: Some((Shell, Ask)),
                ..NOBODY
            },
            "ask",
        ),
        (
            "rule, answer",
            run("make"),
            Says {
                rule: Some((Shell, Ask)),
                is_remembered: true,
                ..NOBODY
            },
            "ask",
        ),
        (
            "rule that denies, answer",
            run("make"),
            Says {
                rule: Some((Shell, Deny)),
                is_remembered: true,
                ..NOBODY
            },
            "deny",
        ),
        // The mode before a looser floor, and a stricter floor before the mode.
        (
            "mode, looser floor",
            install(),
            Says {
                mode: Mode::Ask,
                ..NOBODY
            },
            "ask",
        ),
        (
            "mode that denies, floor",
            install(),
            Says {
                mode: Mode::ReadOnly,
                installs: Floor::Ask,
                ..NOBODY
            },
            "deny",
        ),
        (
            "looser mode, floor",
            install(),
            Says {
                installs: Floor::Ask,
                ..NOBODY
            },
            "ask",
        ),
        (
            "looser mode, floor auto",
            install(),
            Says {
                installs: Floor::Auto,
                ..NOBODY
            },
            "classify",
        ),
        // A denial of the mode, before the scratchpad and answers.
        (
            "mode that denies, scratchpad",
            in_scratchpad(),
            Says {
                mode: Mode::ReadOnly,
                ..NOBODY
            },
            "deny",
        ),
        (
            "mode that denies, answer",
            run("make"),
            Says {
                mode: Mode::ReadOnly,
                is_remembered: true,
                ..NOBODY
            },
            "deny",
        ),
        // A floor that the person has set, before answers; the mode's own question is softened by both.
        (
            "floor that asks, answer",
            install(),
            Says {
                installs: Floor::Ask,
                is_remembered: true,
                ..NOBODY
            },
            "ask",
        ),
        (
            "floor that denies, answer",
            install(),
            Says {
                installs: Floor::Deny,
                is_remembered: true,
                ..NOBODY
            },
            "deny",
        ),
        (
            "mode that asks, scratchpad",
            in_scratchpad(),
            Says {
                mode: Mode::Ask,
                ..NOBODY
            },
            "allow",
        ),
        (
            "mode that asks, answer",
            run("make"),
            Says {
                mode: Mode::Ask,
                is_remembered: true,
                ..NOBODY
            },
            "allow",
        ),
        (
            "classifier, answer",
            run("make"),
            Says {
                mode: Mode::Auto,
                is_remembered: true,
                ..NOBODY
            },
            "allow",
        ),
        (
            "mode that asks alone",
            run("make"),
            Says {
                mode: Mode::Ask,
                ..NOBODY
            },
            "ask",
        ),
    ];
    let wrong: Vec<_> = rows
        .iter()
        .map(|(name, access, says, wanted)| (*name, verdict(says, access), *wanted))
        .filter(|(_, is, wanted)| is != wanted)
        .collect();
    assert_eq!(wrong, []);
}
