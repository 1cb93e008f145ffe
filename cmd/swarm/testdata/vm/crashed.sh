# Looks at what a loss of power has left. It prints parts, each after a line with its name,
# and the test compares them with the facts.
part() { echo "== $1"; }
until_true plugins_start
part before; swarm ls --json
part doctor; swarm doctor; echo "exit code $?"
part logs; swarm logs --all >logs.txt 2>&1 || { echo "exit code $?"; tail -3 logs.txt; }
part interrupted; swarm resurrect --json
part resurrected; swarm resurrect --all; echo "exit code $?"
part again; swarm resurrect --all; echo "exit code $?"
part after; swarm ls --json
part shims; pgrep -c swarm-shim
# A changing call settles the spawns that were interrupted.
part settled
swarm spawn --name next -- true; swarm wait next; swarm gc
part mended; swarm doctor; echo "exit code $?"
part events; swarm events --json
swarm kill --all >/dev/null
swarm clean --all >/dev/null
