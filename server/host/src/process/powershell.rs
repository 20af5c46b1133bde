//! How a command line is given to PowerShell, which is the shell on Windows (spec 5.2).
//!
//! Pure, and compiled on every system for its tests; it has NOT been run, because commands are not built for Windows
//! yet. The line is handed over in base64, as PowerShell's own option takes it: no quoting on the way can change it.
//!
//! PowerShell by itself answers 0 or 1 for a whole line, whatever its programs ended with, and goes on behind an error
//! of its own commands. The text around the line mends both.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Which PowerShell there is: 7 is the newer, and 5.1 comes with Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Seven,
    FiveOne,
}

impl Version {
    pub fn program(self) -> &'static str {
        match self {
            Self::Seven => "pwsh.exe",
            Self::FiveOne => "powershell.exe",
        }
    }
}

/// The arguments for a line: without the person's profile, without questions, and with the line's own exit code.
pub fn arguments(version: Version, line: &str) -> Vec<String> {
    let mut arguments = vec!["-NoLogo", "-NoProfile", "-NonInteractive"];
    match version {
        Version::Seven => {}
        // A fresh Windows lets it run no scripts, and so no tools that are scripts.
        Version::FiveOne => arguments.extend(["-ExecutionPolicy", "Bypass"]),
    }
    arguments.extend(["-OutputFormat", "Text", "-EncodedCommand"]);
    let mut arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    arguments.push(encoded(&wrapped(line)));
    arguments
}

/// The line between what is said before and behind it.
///
/// - An error of a cmdlet ends it, with code 1; a program that writes to stderr does not.
/// - The code of the last program is passed on, also where the line ends with it (`cargo build` with 101).
/// - A line that ends without success and without a program's code gives 1.
/// - Text is UTF-8 in both directions.
///
/// The line stands on lines of its own, so that a comment at its end hides nothing.
fn wrapped(line: &str) -> String {
    format!(
        "$ErrorActionPreference = 'Stop'\n\
         $ProgressPreference = 'SilentlyContinue'\n\
         $PSNativeCommandUseErrorActionPreference = $false\n\
         $OutputEncoding = [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false\n\
         $global:LASTEXITCODE = 0\n\
         try {{\n\
         {line}\n\
         $undineOk = $?\n\
         }} catch {{\n\
         [Console]::Error.WriteLine(($_ | Out-String))\n\
         exit 1\n\
         }}\n\
         if ($LASTEXITCODE -ne 0) {{ exit $LASTEXITCODE }}\n\
         if (-not $undineOk) {{ exit 1 }}\n\
         exit 0\n"
    )
}

/// UTF-16 in little endian, in base64.
fn encoded(text: &str) -> String {
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Version, arguments};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use expect_test::expect;

    /// The text that PowerShell would run.
    fn script(line: &str) -> String {
        let told = arguments(Version::Seven, line);
        let bytes = STANDARD.decode(told.last().unwrap()).unwrap();
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|it| u16::from_le_bytes([it[0], it[1]]))
            .collect();
        String::from_utf16(&units).unwrap()
    }

    // These look at the text alone: there is no Windows here to run it.

    #[test]
    fn bug_041_the_text_for_powershell_passes_the_native_exit_code_on() {
        for line in [
            "cargo build",
            "cargo build # all",
            "cargo build; cargo test",
        ] {
            let script = script(line);
            let at = script.find(&format!("\n{line}\n")).unwrap();
            let before = script.find("$global:LASTEXITCODE = 0\n").unwrap();
            let exit = "if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }\n";
            let behind = script.find(exit).unwrap();
            assert!(before < at && at < behind, "{script}");
        }
        expect![[r#"
            $ErrorActionPreference = 'Stop'
            $ProgressPreference = 'SilentlyContinue'
            $PSNativeCommandUseErrorActionPreference = $false
            $OutputEncoding = [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
            $global:LASTEXITCODE = 0
            try {
            cargo build
            $undineOk = $?
            } catch {
            [Console]::Error.WriteLine(($_ | Out-String))
            exit 1
            }
            if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
            if (-not $undineOk) { exit 1 }
            exit 0
        "#]]
        .assert_eq(&script("cargo build"));
    }

    #[test]
    fn r_032_a_line_that_only_powershell_understands_reaches_it_whole() {
        let line =
            "Get-ChildItem -Path . | Where-Object { $_.Length -gt 10 } | Select-Object -First 1";
        assert!(script(line).contains(&format!("try {{\n{line}\n$undineOk = $?\n")));
    }

    #[test]
    fn there_is_no_profile_and_nobody_is_asked() {
        for (version, program) in [
            (Version::Seven, "pwsh.exe"),
            (Version::FiveOne, "powershell.exe"),
        ] {
            let told = arguments(version, "x");
            for flag in ["-NoProfile", "-NonInteractive"] {
                assert!(told.iter().any(|it| it == flag), "{told:?}");
            }
            assert_eq!(version.program(), program);
            assert_eq!(told[told.len() - 2], "-EncodedCommand");
        }
    }

    #[test]
    fn no_line_is_changed_on_its_way() {
        for line in [
            "echo \"a b\" 'c' `d",
            "Write-Output \u{fc}\u{1f600}",
            "a\r\nb",
            "} catch { exit 0 } try {",
            "echo %PATH% ^& & | <#",
        ] {
            assert!(script(line).contains(&format!("try {{\n{line}\n")));
            let told = arguments(Version::FiveOne, line);
            let is_plain = |it: char| it.is_ascii_alphanumeric() || "+/=".contains(it);
            assert!(told.last().unwrap().chars().all(is_plain));
        }
    }
}
