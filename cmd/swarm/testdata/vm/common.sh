# Each script in this directory begins with this text.
set -u
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
# run COMMAND…: runs it, and shows it. Then says TEXT and exits CODE check what it did.
run() { echo "\$ $*"; out=$("$@" 2>&1); code=$?; [ -z "$out" ] || printf '%s\n' "$out"; [ $code = 0 ] || echo "[exit code $code]"; }
says() { case $out in *"$1"*) ;; *) fail "it does not say: $1" ;; esac; }
exits() { [ "$code" = "$1" ] || fail "exit code $code instead of $1"; }
# until CONDITION…: waits for it, for 30 seconds at least.
until_true() { local i; for i in $(seq 300); do "$@" && return 0; sleep 0.1; done; fail "never: $*"; return 1; }
# group WORKER: the directory of its control group.
group() { find /sys/fs/cgroup -type d -path "*/swarm-*/$(swarm status --json "$1" | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' | head -1)" 2>/dev/null | head -1; }
gone() { [ ! -e "$1" ]; }
# After a boot the first start of a plugin reads it from the disk, beside all other services.
plugins_start() { ! swarm doctor 2>&1 | grep -q 'deadline exceeded'; }
trap '[ $failures = 0 ] || exit 1' EXIT
