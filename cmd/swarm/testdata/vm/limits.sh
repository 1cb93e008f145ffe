# Limits of an ordinary user's workers, below the user's own systemd manager.
run swarm doctor
says 'by control groups v2'

run swarm spawn --name hog --memory 64m -- tail /dev/zero; exits 0
run swarm wait hog; exits 137
says 'out of memory (limit 64 MiB, peak 64 MiB)'
run swarm ls

run swarm spawn --name quiet -- sleep 600
run swarm spawn --name burner --cpus 0.2 --memory 128m -- sh -c 'while :; do :; done'; exits 0
dir=$(group burner)
[ -n "$dir" ] || fail 'the worker has no group'
echo "group: $dir"
used() { awk '/^usage_usec/ {print $2}' "$dir/cpu.stat"; }
before=$(used) began=$(date +%s%N)
sleep 5
share=$((($(used) - before) * 100000 / ($(date +%s%N) - began)))
echo "the burner used $share % of a CPU"
[ $share -le 30 ] || fail 'more than its limit'

run swarm update burner --memory 96m --cpus 0.1; exits 0
[ "$(cat "$dir/memory.max")" = $((96 << 20)) ] || fail "memory.max is $(cat "$dir/memory.max")"
run cat "$dir/cpu.max"; says '10000 100000'

# Another unit of the same manager does not take the controllers away.
systemd-run --user --quiet --wait -p MemoryMax=50M true
systemctl --user daemon-reload
run cat "$dir/cgroup.controllers"; says memory; says cpu; says pids
[ "$(cat "$dir/memory.max")" = $((96 << 20)) ] || fail 'the limit is gone'

run swarm pause burner; exits 0
run cat "$dir/cgroup.events"; says 'frozen 1'
run swarm show burner; says paused
before=$(used)
sleep 1
[ "$before" = "$(used)" ] || fail 'it ran while it was paused'
run swarm resume burner; exits 0
run cat "$dir/cgroup.events"; says 'frozen 0'
run swarm pause burner
run swarm kill burner; exits 0
until_true gone "$dir"

run swarm spawn --name many --pids 16 -- bash -c 'for i in $(seq 30); do sleep 600 & done; wait'; exits 0
dir=$(group many)
until_true grep -q 'max [1-9]' "$dir/pids.events"
[ "$(cat "$dir/pids.current")" -le 16 ] || fail "$(cat "$dir/pids.current") processes"
run swarm kill many; exits 0

# A bomb of which no process listens to signals ends at once.
run swarm spawn --name bomb --pids 60 --memory 128m --cpus 0.5 -- bash -c 'trap "" TERM; bomb() { bomb | bomb & }; while :; do bomb 2>/dev/null; sleep 0.1; done'; exits 0
dir=$(group bomb)
crowded() { [ "$(cat "$dir/pids.current")" -ge 40 ]; }
until_true crowded
began=$(date +%s%N)
run swarm kill --timeout 100ms bomb; exits 0
echo "the bomb ended after $((($(date +%s%N) - began) / 1000000)) ms"
until_true gone "$dir"

# A forced kill ends the worker, and not one that it has spawned.
run swarm spawn --name outer --pids 50 -- bash -c 'trap "" TERM; swarm spawn --name inner -- sleep 600; while :; do sleep 1; done'
until_true swarm status --json inner >/dev/null
run swarm kill --timeout 100ms outer; exits 0
run swarm status inner; says running
run swarm kill inner; exits 0
run swarm status quiet; says running
run swarm kill quiet
run swarm gc # the group of 'outer' held 'inner'
run swarm doctor; exits 0
