# After a reboot: the unit has brought back what was marked, each once.
boots=$(($(cat ~/boots) + 1)); echo $boots >~/boots
settled() { systemctl --user is-active --quiet swarm-resurrect; }
until_true settled
until_true plugins_start
run systemctl --user status --no-pager --lines 20 swarm-resurrect
run systemctl --user is-active swarm-watch; says active
run swarm ls
names=$(swarm ls --json | grep -B3 '"status": "running"' | sed -n 's/.*"name": "\(.*\)",/\1/p' | sort | xargs)
want='frail web window'
# Its budget is one resurrection in an hour.
[ $boots = 1 ] || want='web window'
[ "$names" = "$want" ] || fail "these run: $names"
[ "$(ps -e -o args= | grep -c '^sleep 7000')" = "$(wc -w <<<"$want")" ] || { fail 'not each once'; ps -ef; }
run swarm resurrect; says unmarked
case $out in *web*|*killed*|*done:*) fail 'it lists what runs or had ended' ;; esac
[ $boots = 1 ] || says frail
run swarm events --lines 30
run swarm doctor; exits 0
case $out in *warning*) fail 'doctor warns' ;; esac
# The limits hold again.
dir=$(group web)
[ "$(cat "$dir/memory.max")" = $((64 << 20)) ] || fail 'the limit is gone'
