//! Confinement on macOS: the profile that `sandbox-exec` holds a command to, as text.
//!
//! Pure, and compiled on every system for its tests. It was written from what is known of Seatbelt's profiles and
//! has NOT been run: no Mac was at hand. What is tested is the text, and that no path can change what it means.
//!
//! Paths never stand in the text: they are parameters (`-D P0=/some/path`), which the profile only names. So there is
//! nothing to quote, and a folder called `") (allow default) ("` is a folder. Of all rules that fit, the last holds.
//! Seatbelt sees a change of mode, owner or times as a write, so that it needs no more than writing denied.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use super::{Files, Sandbox};

/// Part of every macOS, but of no promise: Apple calls it deprecated.
pub(in super::super) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that keep nothing, and the terminal that a command has.
const DISCARDING: &str = r#"(literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper")"#;

/// New terminals, for a command that may write.
const TERMINALS: &str = r##"(literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$")"##;

/// What a program asks even to read: who owns a file, what time it is there, where to write a log line.
const LOOK_UPS: [&str; 4] = [
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.notification_center",
    "com.apple.system.logger",
    "com.apple.logd",
];

/// The arguments that put a command under the profile; the command itself is to follow. `temporary` is a folder
/// where it may write even if it may write nothing. Paths must be canonical: Seatbelt looks at those alone.
pub(in super::super) fn arguments(sandbox: &Sandbox, temporary: Option<&Path>) -> Vec<OsString> {
    let mut profile = Profile::default();
    profile.write(sandbox, temporary);
    let mut arguments = vec![OsString::from("-p"), OsString::from(profile.text)];
    for (nth, path) in profile.paths.iter().enumerate() {
        let mut parameter = OsString::from(format!("P{nth}="));
        parameter.push(path);
        arguments.extend([OsString::from("-D"), parameter]);
    }
    arguments
}

#[derive(Default)]
struct Profile {
    text: String,
    /// The parameters, in the order of their numbers.
    paths: Vec<OsString>,
}

impl Profile {
    fn write(&mut self, sandbox: &Sandbox, temporary: Option<&Path>) {
        self.line("(version 1)");
        self.line("(allow default)");
        match &sandbox.files {
            Files::Free => {}
            Files::Below(places) => {
                self.line("(deny file-write*)");
                let devices = format!("(allow file-write* {DISCARDING} {TERMINALS})");
                self.line(&devices);
                for place in places {
                    self.path("allow file-write*", "subpath", place);
                }
            }
            Files::Nothing => {
                self.line("(deny file-write*)");
                self.line(&format!("(allow file-write* {DISCARDING})"));
            }
        }
        if let Some(place) = temporary {
            self.path("allow file-write*", "subpath", place);
        }
        for shield in sandbox.shields() {
            self.path("deny file-write*", "subpath", shield);
        }
        for pin in sandbox.pins() {
            self.path("deny file-write-unlink", "literal", pin);
        }
        if sandbox.files == Files::Nothing {
            self.nobody_is_reached();
        } else if !sandbox.network {
            self.line("(deny network*)");
            for way in [
                "network-bind (local",
                "network-inbound (local",
                "network-outbound (remote",
            ] {
                self.line(&format!("(allow {way} unix-socket))"));
            }
            // A name that is looked up there leaves the machine.
            self.line(r#"(deny network-outbound (literal "/private/var/run/mDNSResponder"))"#);
        }
    }

    /// Neither by sockets and shared memory, nor by services that would do the work, nor by signals.
    fn nobody_is_reached(&mut self) {
        for kind in [
            "network*",
            "system-socket",
            "ipc-posix*",
            "ipc-sysv*",
            "mach-register",
            "mach-lookup",
            "appleevent-send",
            "job-creation",
            "iokit-open",
            "signal",
        ] {
            self.line(&format!("(deny {kind})"));
        }
        for name in LOOK_UPS {
            self.line(&format!("(allow mach-lookup (global-name \"{name}\"))"));
        }
        self.line(
            r#"(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))"#,
        );
        self.line("(allow signal (target same-sandbox))");
    }

    fn path(&mut self, rule: &str, kind: &str, path: &Path) {
        let nth = self.paths.len();
        self.paths.push(path.into());
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "({rule} ({kind} (param \"P{nth}\")))");
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use crate::process::sandbox::{Files, Sandbox};
    use expect_test::{Expect, expect};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    fn sandbox(network: bool, files: Files) -> Sandbox {
        Sandbox {
            network,
            files,
            protected: vec!["/Users/me/p/.undine".into()],
        }
    }

    #[track_caller]
    fn check(sandbox: &Sandbox, temporary: Option<&str>, expected: Expect) {
        let told: Vec<String> = arguments(sandbox, temporary.map(Path::new))
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        expected.assert_eq(&told.join("\n"));
    }

    #[test]
    fn writing_is_for_the_places_and_not_for_what_is_protected_in_them() {
        let places = Files::Below(vec!["/Users/me/p".into(), "/private/tmp".into()]);
        check(
            &sandbox(true, places),
            None,
            expect![[r#"
            -p
            (version 1)
            (allow default)
            (deny file-write*)
            (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
            (allow file-write* (subpath (param "P0")))
            (allow file-write* (subpath (param "P1")))
            (deny file-write* (subpath (param "P2")))

            -D
            P0=/Users/me/p
            -D
            P1=/private/tmp
            -D
            P2=/Users/me/p/.undine"#]],
        );
    }

    #[test]
    fn without_network_only_sockets_of_this_machine_are_left() {
        check(
            &sandbox(false, Files::Free),
            None,
            expect![[r#"
            -p
            (version 1)
            (allow default)
            (deny file-write* (subpath (param "P0")))
            (deny file-write-unlink (literal (param "P1")))
            (deny file-write-unlink (literal (param "P2")))
            (deny file-write-unlink (literal (param "P3")))
            (deny network*)
            (allow network-bind (local unix-socket))
            (allow network-inbound (local unix-socket))
            (allow network-outbound (remote unix-socket))
            (deny network-outbound (literal "/private/var/run/mDNSResponder"))

            -D
            P0=/Users/me/p/.undine
            -D
            P1=/Users
            -D
            P2=/Users/me
            -D
            P3=/Users/me/p"#]],
        );
    }

    #[test]
    fn who_may_change_nothing_writes_in_a_place_of_its_own_and_reaches_nobody() {
        let own = Some("/private/tmp/undine-read-1");
        check(
            &sandbox(true, Files::Nothing),
            own,
            expect![[r#"
            -p
            (version 1)
            (allow default)
            (deny file-write*)
            (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
            (allow file-write* (subpath (param "P0")))
            (deny network*)
            (deny system-socket)
            (deny ipc-posix*)
            (deny ipc-sysv*)
            (deny mach-register)
            (deny mach-lookup)
            (deny appleevent-send)
            (deny job-creation)
            (deny iokit-open)
            (deny signal)
            (allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
            (allow mach-lookup (global-name "com.apple.system.notification_center"))
            (allow mach-lookup (global-name "com.apple.system.logger"))
            (allow mach-lookup (global-name "com.apple.logd"))
            (allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
            (allow signal (target same-sandbox))

            -D
            P0=/private/tmp/undine-read-1"#]],
        );
    }

    #[test]
    fn bug_031_an_empty_list_of_places_allows_no_writing_on_macos() {
        let told = arguments(&sandbox(true, Files::Below(Vec::new())), None);
        let profile = told[1].to_str().unwrap();
        assert!(profile.contains("(deny file-write*)\n"), "{profile}");
        assert!(!profile.contains("subpath"), "{profile}");
    }

    #[test]
    fn no_path_changes_what_the_profile_says() {
        let plain = arguments(&sandbox(true, Files::Below(vec!["/p".into()])), None);
        for hostile in [
            "/\") (allow file-write*) (\"",
            "/a\\\") (allow default)\\",
            "/a\n(allow default)\n",
            "/a)(allow default)(b",
            "/a=b -D P0=/",
            "/(param \"P1\")",
            "/#|",
            "/;",
            "/-p",
            "/\u{2028}\0",
        ] {
            let places = Files::Below(vec![PathBuf::from(hostile)]);
            let told = arguments(&sandbox(true, places), None);
            assert_eq!(told[1], plain[1], "{hostile}");
            assert_eq!(
                told[2..4],
                ["-D".into(), OsString::from(format!("P0={hostile}"))]
            );
            assert_eq!(told.len(), plain.len());
        }
    }
}
