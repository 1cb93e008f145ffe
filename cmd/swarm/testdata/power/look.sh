# Looks at what is there after the machine was started again.
cd "$AT" || exit 1
swarm gc >/dev/null
echo "== workers"
swarm ls --json
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
