//! The sample project: a small shell library with two faults, and a test that sees both.
//!
//! It needs a POSIX `sh` and nothing else. What the second fault is about stands only in a line that the person has
//! typed and not saved, so an agent that reads the disk behind the editor cannot repair it.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The file that is open in the editor.
pub const FILE: &str = "prices.sh";

/// What the person asks for.
pub const PROMPT: &str =
    "`sh test.sh` fails. Find the reason in `prices.sh`, repair it there and run the test again.";

/// The line that the person has typed and not saved.
pub const TYPED: &str = "# Orders of 50.00 or more ship free.";

const PRICES: &str = r#"# What an order costs, in cents.

# discounted CENTS PERCENT
# The price after a discount in percent.
discounted() {
    cents=$1 percent=$2
    echo $((cents - cents * percent / 10))
}

# shipping CENTS
# What it costs to send an order.
shipping() {
    if [ "$1" -gt 5000 ]; then
        echo 0
    else
        echo 490
    fi
}
"#;

const TEST: &str = r#"# Checks prices.sh. Run it with: sh test.sh
cd "$(dirname "$0")" || exit 2
. ./prices.sh

total=0
failed=0
check() {
    total=$((total + 1))
    if [ "$2" = "$3" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: expected $2, got $3"
        failed=$((failed + 1))
    fi
}

check "10 percent off 20.00" 1800 "$(discounted 2000 10)"
check "25 percent off 80.00" 6000 "$(discounted 8000 25)"
check "sending 49.99" 490 "$(shipping 4999)"
check "sending 50.00" 0 "$(shipping 5000)"
check "sending 50.01" 0 "$(shipping 5001)"

if [ "$failed" -gt 0 ]; then
    echo "$failed of $total checks fail"
    exit 1
fi
echo "all $total checks pass"
"#;

/// Longest run of the test, which takes some milliseconds.
const TEST_TIME: Duration = Duration::from_secs(20);

/// Bytes of the test's output that are read.
const TEST_OUTPUT: u64 = 64 * 1024;

/// The sample project on disk.
pub struct Sample {
    pub folder: PathBuf,
}

/// How a run of the test ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub passed: bool,
    /// The test's own last line, such as "3 of 5 checks fail".
    pub verdict: String,
}

impl Sample {
    /// Makes the project in a new folder.
    pub fn create(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        // The way the server will spell it, so that paths compare.
        let folder = folder.canonicalize()?;
        fs::write(folder.join(FILE), PRICES)?;
        fs::write(folder.join("test.sh"), TEST)?;
        Ok(Self { folder })
    }

    pub fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// What stands in the editor: the disk's text and the line the person has typed into it.
    pub fn buffer() -> String {
        let line = "# What it costs to send an order.\n";
        PRICES.replacen(line, &format!("{line}{TYPED}\n"), 1)
    }

    /// Runs the test on what is on the disk.
    pub fn test(&self) -> io::Result<Outcome> {
        run_test(&self.folder, TEST_TIME)
    }
}

/// The output goes to a file without a name, so that a test which prints much cannot block on a pipe.
fn run_test(folder: &Path, time: Duration) -> io::Result<Outcome> {
    let mut output = tempfile::tempfile()?;
    let mut child = Command::new("sh")
        .arg("test.sh")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .spawn()?;
    let deadline = Instant::now() + time;
    let passed = loop {
        match child.try_wait()? {
            Some(status) => break status.success(),
            None if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            None => {
                child.kill()?;
                child.wait()?;
                let verdict = format!("not finished after {} seconds", time.as_secs());
                return Ok(Outcome {
                    passed: false,
                    verdict,
                });
            }
        }
    };
    output.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    output.take(TEST_OUTPUT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let verdict = text
        .lines()
        .rfind(|it| !it.trim().is_empty())
        .unwrap_or("no output")
        .to_owned();
    Ok(Outcome { passed, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_with(text: &str) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::create(folder.path().join("shop")).unwrap();
        fs::write(sample.file(), text).unwrap();
        sample.test().unwrap()
    }

    #[test]
    fn the_test_sees_each_fault_and_passes_only_without_both() {
        let percent = |text: &str| text.replace("/ 10)", "/ 100)");
        let limit = |text: &str| text.replace("-gt 5000", "-ge 5000");
        let outcome = |passed, verdict: &str| Outcome {
            passed,
            verdict: verdict.to_owned(),
        };
        assert_eq!(verdict_with(PRICES), outcome(false, "3 of 5 checks fail"));
        assert_eq!(
            verdict_with(&percent(PRICES)),
            outcome(false, "1 of 5 checks fail")
        );
        assert_eq!(
            verdict_with(&limit(PRICES)),
            outcome(false, "2 of 5 checks fail")
        );
        assert_eq!(
            verdict_with(&limit(&percent(PRICES))),
            outcome(true, "all 5 checks pass")
        );
    }

    #[test]
    fn the_person_has_typed_exactly_one_line() {
        let buffer = Sample::buffer();
        let typed: Vec<&str> = buffer
            .lines()
            .filter(|it| !PRICES.lines().any(|other| other == *it))
            .collect();
        assert_eq!(typed, [TYPED]);
        assert_eq!(buffer.lines().count(), PRICES.lines().count() + 1);
    }

    #[test]
    fn a_test_that_never_ends_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("test.sh"), "exec sleep 60\n").unwrap();
        let outcome = run_test(folder.path(), Duration::from_millis(50)).unwrap();
        assert!(!outcome.passed);
    }
}
