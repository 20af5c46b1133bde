# Functions of tests/run: a program of another Debian release in a root of its own below $TOOLS, run with that release's own libraries.
#
# Fetched by the system's apt with private lists, cache and state: neither the system's packages nor its sources are touched. The mirror is the
# one that the system's own sources name; only the release is another. Nothing in the root is installed in dpkg's sense: packages are
# unpacked, no script of theirs runs. Releases move, so no version is pinned: what is there is fetched once, then kept.

# debian_root NAME RELEASE PROGRAM PACKAGE…: unpacks the packages with all they need into $TOOLS/debian/NAME, with a starter `run` for PROGRAM.
# Returns $SKIPPED, after one line that says why, where this machine cannot have them.
debian_root() {
    local name=$1 release=$2 program=$3 dir=$TOOLS/debian/$1 hash mirror
    shift 3
    # Two steps, since a process substitution would hide a failure of the hash from `set -e`.
    hash=$(echo "$release $program $*" | cat - "$(dirname "${BASH_SOURCE[0]}")/debian.sh" | git hash-object --stdin)
    ! fresh "$dir" "$hash" || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
        echo "skip $name: its package is Debian's, and this machine has no apt"
        return $SKIPPED
    }
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || {
        echo "skip $name: its package is Debian's, and this machine's apt sources name no Debian mirror"
        return $SKIPPED
    }
    echo "fetch $* of Debian $release into $dir"
    rm -rf "$dir"
    mkdir -p "$dir"/{root,apt/lists/partial,apt/archives/partial}
    private_apt "$dir/apt" "$mirror" "$release" >"$dir/apt/apt.conf"
    if ! { APT_CONFIG=$dir/apt/apt.conf apt-get -qq update &&
        APT_CONFIG=$dir/apt/apt.conf apt-get -qq install --yes --download-only "$@"; } >"$dir/apt/log" 2>&1; then
        echo "skip $name: apt could not fetch $* of Debian $release (log: $dir/apt/log)"
        return $SKIPPED
    fi
    local package
    for package in "$dir"/apt/archives/*.deb; do dpkg-deb --extract "$package" "$dir/root" || return; done
    starter "$dir/root" "$program" >"$dir/run" || return
    chmod +x "$dir/run"
    rm -rf "$dir/apt"
    echo "$hash" >"$dir/.stamp"
}

# The address of a mirror of Debian from the system's own sources: the repository with one of Debian's releases by name, without suffix.
debian_mirror() {
    # shellcheck disable=SC2016 # apt fills these in.
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk '$2 == "main" && $1 ~ /^(stable|oldstable|oldoldstable|testing|unstable|sid|bookworm|trixie|forky|duke)$/ { print $3; exit }'
}

# private_apt DIR MIRROR RELEASE: apt's configuration for one download. Of the system's configuration only the ways through the network
# are taken over; its hooks would clean caches which are not ours.
private_apt() {
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $2 $3 main" >"$1/sources.list"
    apt-config dump | grep -E '^Acquire::(https?|Check-|Force)' || true
    cat <<CONF
Dir::Etc::parts "/dev/null";
Dir::Etc::main "/dev/null";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$1";
Dir::State::lists "$1/lists";
Dir::State::status "/dev/null";
Dir::Cache "$1";
Dir::Cache::archives "$1/archives";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "1";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
Debug::NoLocking "true";
CONF
}

# starter ROOT PROGRAM: a script that runs the program with the root's dynamic linker and libraries, so that the system's own may be older.
starter() {
    local linker libraries
    linker=$(find "$1" -name 'ld-linux*.so.*' | head -n 1)
    libraries=$(find "$1/usr/lib" -maxdepth 1 -name '*-linux-gnu*' | head -n 1)
    [[ -n $linker && -n $libraries && -x $1/$2 ]] || {
        echo "the packages hold no $2 or no dynamic linker" >&2
        return 1
    }
    cat <<SCRIPT
#!/bin/sh
exec "$linker" --argv0 "$1/$2" --library-path "$libraries" "$1/$2" "\$@"
SCRIPT
}
