# Works until the power is lost. Each answer of swarm is a fact, written to a port of the
# machine: the test knows it, whatever the disk loses.
fact() { echo "$*" >/run/facts; }
mkdir -p "$ROUND" && cd "$ROUND" || exit 1
for n in $(seq 20); do
  printf '[workers.%s-noisy%s]\ncommand = ["sh", "-c", "while :; do printf %%05000d 0; echo; sleep 5; done"]\nresurrect = true\n' "$ROUND" "$n"
done >swarm.toml
fact began all
swarm watch >/dev/null 2>&1 &
swarm up && for n in $(seq 20); do fact "spawned $ROUND-noisy$n"; done
n=0
while :; do
  n=$((n + 1))
  swarm spawn --resurrect --name "$ROUND-exit$n" -- sh -c 'exit 7'
  swarm wait "$ROUND-exit$n"
  [ $? = 7 ] && fact "ended $ROUND-exit$n"
  swarm spawn --resurrect --name "$ROUND-stay$n" -- sleep 6000 && fact "spawned $ROUND-stay$n"
  swarm spawn --resurrect --name "$ROUND-kill$n" -- sleep 6000 && fact "spawned $ROUND-kill$n"
  swarm kill "$ROUND-kill$n" && fact "killed $ROUND-kill$n"
done
