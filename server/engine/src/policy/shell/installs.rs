//! Package programs: what installs for the whole machine (spec 19.3), what fetches for the project, what only asks.

use super::word::Word;
use protocol::tool::Risk;

/// They change the system itself.
const SYSTEM: &[&str] = &[
    "systemctl",
    "service",
    "mount",
    "umount",
    "useradd",
    "usermod",
    "userdel",
    "adduser",
    "deluser",
    "groupadd",
    "groupmod",
    "groupdel",
    "passwd",
    "chpasswd",
    "visudo",
    "vipw",
    "insmod",
    "rmmod",
    "modprobe",
    "depmod",
    "sysctl",
    "iptables",
    "ip6tables",
    "nft",
    "ufw",
    "firewall-cmd",
    "reboot",
    "shutdown",
    "halt",
    "poweroff",
    "init",
    "telinit",
    "launchctl",
    "sc",
    "reg",
    "chsh",
    "chfn",
    "swapon",
    "swapoff",
    "fdisk",
    "sfdisk",
    "gdisk",
    "parted",
    "mkswap",
    "wipefs",
    "hostnamectl",
    "timedatectl",
    "localectl",
    "loginctl",
    "hwclock",
    "update-alternatives",
    "ldconfig",
    "update-grub",
    "grub-install",
    "crontab",
    "setenforce",
    "setcap",
    "losetup",
    "cryptsetup",
    "lvremove",
    "vgremove",
    "pvremove",
    "zpool",
    "zfs",
    "networksetup",
    "scutil",
    "csrutil",
    "spctl",
    "defaults",
    "netplan",
    "nmcli",
    "ifconfig",
    "route",
    "dpkg-reconfigure",
    "rustup",
    "corepack",
    "softwareupdate",
    "authselect",
    "update-rc.d",
    "chkconfig",
    "rc-update",
];

/// Managers of packages of a whole machine.
const MANAGERS: &[&str] = &[
    "apt",
    "apt-get",
    "aptitude",
    "dpkg",
    "dnf",
    "yum",
    "microdnf",
    "rpm",
    "zypper",
    "apk",
    "pacman",
    "yay",
    "paru",
    "emerge",
    "brew",
    "port",
    "winget",
    "scoop",
    "choco",
    "snap",
    "flatpak",
    "nix-env",
    "nix-channel",
    "pkg",
    "pkg_add",
    "pkgin",
    "xbps-install",
    "eopkg",
    "opkg",
    "swupd",
    "guix",
    "conda",
    "mamba",
    "micromamba",
    "asdf",
    "mise",
    "sdk",
    "nvm",
    "pyenv",
    "rbenv",
    "volta",
    "fnm",
];

/// Words by which a manager only answers.
const QUESTIONS: &[&str] = &[
    "list",
    "search",
    "show",
    "info",
    "policy",
    "depends",
    "rdepends",
    "cat",
    "deps",
    "outdated",
    "leaves",
    "--version",
    "-v",
    "-l",
    "-L",
    "-s",
    "-q",
    "-qa",
    "-Q",
    "-Qi",
    "-Ql",
    "-Qs",
    "-Ss",
    "-Si",
    "query",
    "which",
    "versions",
    "current",
    "help",
    "--help",
    "config",
    "doctor",
    "home",
    "uses",
    "madison",
];

/// What a package program may do; none: it is no such program. `is_own` says that it is one that lies in a folder of
/// its own, as those of a project's environment do.
pub fn risk(name: &str, is_own: bool, words: &[Word]) -> Option<Risk> {
    let texts: Vec<&str> = words[1..].iter().map(|it| it.text.as_str()).collect();
    let plain: Vec<&str> = texts
        .iter()
        .copied()
        .filter(|it| !it.starts_with('-'))
        .collect();
    let first = plain.first().copied().unwrap_or_default();
    let second = plain.get(1).copied().unwrap_or_default();
    let has = |wanted: &[&str]| {
        texts
            .iter()
            .any(|it| wanted.contains(&it.split('=').next().unwrap_or_default()))
    };
    if SYSTEM.contains(&name) {
        let asks = match name {
            "systemctl" | "service" => matches!(
                first,
                "status" | "list-units" | "is-active" | "show" | "cat"
            ),
            "crontab" => texts == ["-l"],
            "mount" => texts.is_empty(),
            "rustup" => matches!(first, "show" | "which" | "run" | "doc") || texts == ["--version"],
            "defaults" => first == "read",
            "ifconfig" => texts.is_empty(),
            "init" => false,
            _ => false,
        };
        let changes = match name {
            // What they change are programs, for every project.
            "rustup" | "corepack" | "softwareupdate" => Risk::Install,
            _ => Risk::Machine,
        };
        return Some(if asks { Risk::Run } else { changes });
    }
    if MANAGERS.contains(&name) {
        let asks = texts
            .iter()
            .find(|it| !matches!(**it, "-y" | "-q" | "--quiet"))
            .is_some_and(|it| QUESTIONS.contains(it));
        return Some(if asks { Risk::Run } else { Risk::Install });
    }
    let python = name == "python" || name == "python2" || name.starts_with("python3");
    if python {
        let at = texts.iter().position(|it| *it == "-m")?;
        return match texts.get(at + 1) {
            Some(&"pip") => Some(pip(&texts[at + 2..], !is_own)),
            Some(&"pipx") => Some(Risk::Install),
            Some(&"http.server") | Some(_) | None => None,
        };
    }
    match name {
        "pip" | "pip2" | "pip3" => Some(pip(&texts, !is_own)),
        _ if name.starts_with("pip3.") => Some(pip(&texts, !is_own)),
        "pipx" => Some(if matches!(first, "list" | "environment") {
            Risk::Run
        } else {
            Risk::Install
        }),
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" => Some(javascript(name, &texts, first, second)),
        "cargo" => Some(cargo(&texts)),
        "gem" => Some(match first {
            "install" | "update" | "uninstall" | "i" | "cleanup" | "pristine" => Risk::Install,
            "push" | "fetch" | "search" | "yank" | "owner" => Risk::Network,
            _ => Risk::Run,
        }),
        "go" => Some(match first {
            "install" => Risk::Install,
            "get" | "mod" | "work" if second != "init" && second != "edit" => Risk::Network,
            _ => Risk::Run,
        }),
        "dotnet" => Some(match (first, second) {
            ("tool", "install" | "update" | "uninstall") | ("workload", _) => Risk::Install,
            ("add" | "restore" | "nuget", _) => Risk::Network,
            _ => Risk::Run,
        }),
        "uv" => Some(match (first, second) {
            ("tool", "install" | "upgrade" | "uninstall")
            | ("python", "install" | "uninstall")
            | ("self", _) => Risk::Install,
            ("pip", "install" | "sync") if has(&["--system"]) => Risk::Install,
            ("pip" | "add" | "sync" | "lock" | "remove" | "tool" | "publish" | "run", _) => {
                Risk::Network
            }
            _ => Risk::Run,
        }),
        "poetry" | "pipenv" | "pdm" | "hatch" => Some(match first {
            "install" | "add" | "update" | "lock" | "sync" | "publish" | "remove" => Risk::Network,
            "self" => Risk::Install,
            _ => Risk::Run,
        }),
        "bundle" | "bundler" | "composer" | "mix" | "cpanm" | "cpan" | "luarocks" | "opam"
        | "cabal" | "stack" | "ghcup" | "dart" | "flutter" | "pod" | "helm" | "sbt"
        | "coursier" | "cs" => Some(match (name, first) {
            ("cpanm" | "cpan" | "luarocks" | "opam" | "ghcup" | "coursier" | "cs", _) => {
                Risk::Install
            }
            ("composer", "global") | ("cabal" | "stack", "install") => Risk::Install,
            (
                _,
                "install" | "update" | "require" | "add" | "deps.get" | "pub" | "fetch" | "repo"
                | "pull" | "push",
            ) => Risk::Network,
            _ => Risk::Run,
        }),
        "docker" | "podman" | "nerdctl" => Some(match first {
            "pull" | "push" | "login" | "search" | "logout" => Risk::Network,
            _ => Risk::Run,
        }),
        "deno" => Some(match first {
            "install" if has(&["-g", "--global"]) => Risk::Install,
            "install" | "add" | "cache" | "upgrade" => Risk::Network,
            _ => Risk::Run,
        }),
        _ => None,
    }
}

fn pip(texts: &[&str], is_machine: bool) -> Risk {
    let first = texts
        .iter()
        .find(|it| !it.starts_with('-'))
        .copied()
        .unwrap_or_default();
    match first {
        "install" | "uninstall" => {
            let is_local = texts.iter().any(|it| {
                let name = it.split('=').next().unwrap_or_default();
                matches!(name, "-t" | "--target" | "--prefix" | "--root") || it.starts_with("-t")
            });
            if is_machine && !is_local {
                Risk::Install
            } else {
                Risk::Network
            }
        }
        "download" | "index" | "search" | "wheel" => Risk::Network,
        _ => Risk::Run,
    }
}

fn javascript(name: &str, texts: &[&str], first: &str, second: &str) -> Risk {
    let is_global = texts.iter().any(|it| {
        matches!(
            *it,
            "-g" | "--global" | "--location=global" | "--global=true"
        ) || it.starts_with('-') && !it.starts_with("--") && it.contains('g')
    }) || texts.windows(2).any(|it| it == ["--location", "global"]);
    let asks = matches!(
        first,
        "list" | "ls" | "root" | "prefix" | "bin" | "config" | "outdated" | "view"
    );
    if is_global && !asks
        || name == "yarn" && first == "global" && second != "list" && second != "bin"
    {
        return Risk::Install;
    }
    match first {
        "install" | "i" | "ci" | "add" | "update" | "up" | "upgrade" | "publish" | "audit"
        | "outdated" | "view" | "info" | "search" | "login" | "logout" | "dlx" | "exec" | "x"
        | "create" | "init" | "uninstall" | "remove" | "rm" | "in" | "cit" | "it" | "link"
        | "fetch" | "whoami" | "dedupe" | "install-test" | "unpublish" | "dist-tag" | "ping"
        | "fund" => Risk::Network,
        "" if name == "yarn" => Risk::Network,
        _ => Risk::Run,
    }
}

fn cargo(texts: &[&str]) -> Risk {
    let first = texts
        .iter()
        .find(|it| !it.starts_with(['-', '+']))
        .copied()
        .unwrap_or_default();
    match first {
        "install" | "uninstall" | "binstall" | "install-update" => Risk::Install,
        "fetch" | "add" | "update" | "publish" | "search" | "login" | "owner" | "yank"
        | "vendor" | "info" | "generate-lockfile" => Risk::Network,
        _ => Risk::Run,
    }
}
