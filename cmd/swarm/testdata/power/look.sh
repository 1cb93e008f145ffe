# Looks at what is there after the machine was started again. What doctor advises is done, and
# has to work.
cd "$AT" || exit 1
echo "== workers"
swarm ls --json
echo "== advice"
swarm doctor 2>&1 | tee first
grep -A1 '^warning\|^error' first | grep -o "'swarm [^']*'" | tr -d "'" | awk '!seen[$0]++' >advice
while read -r command; do
  echo "+ $command"
  $command </dev/null 2>&1 || echo "failed: $command"
done <advice
swarm gc
echo "== events"
swarm events
echo "== rescues"
swarm rescue ls
for ref in $(git -C repo for-each-ref --format='%(refname)' refs/swarm/rescue/); do
  name=${ref#refs/swarm/rescue/}
  name=${name%%/*}
  echo "== restored $name"
  git -C repo worktree add -q --detach "$AT/restored-$name" "$ref" 2>&1
  cat "$AT/restored-$name/deep/er/file" 2>&1
done
echo "== fsck"
git -C repo fsck --full 2>&1 | grep -v '^dangling \|^notice: '
echo "== doctor"
swarm doctor 2>&1
exit 0
