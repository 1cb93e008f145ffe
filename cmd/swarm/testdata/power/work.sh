# Works until the power is lost. Each answer of swarm is a fact, which the test knows, whatever
# the disk loses.
cd "$AT" || exit 1
if [ ! -d repo ]; then
  git init -q repo && git -C repo -c user.name=n -c user.email=n@example.com commit -q --allow-empty -m one
  git -C repo config user.name n && git -C repo config user.email n@example.com
  sync -f .
fi
swarm watch >/dev/null 2>&1 &
n=0
while :; do
  n=$((n + 1))
  swarm spawn --name "c$n" -- sh -c 'swarm complete "all done" && : >"$0"; exec sleep 600' "$AT/c$n" >/dev/null && echo "spawned c$n"
  until [ -e "$AT/c$n" ]; do sleep 0.01; done
  echo "completed c$n"
  swarm spawn --name "w$n" --cwd repo --worktree -- sleep 600 >/dev/null && echo "spawned w$n"
  tree=$AT/repo-worktrees/w$n
  mkdir -p "$tree/deep/er" && echo "work of w$n" >"$tree/deep/er/file" && echo "staged by w$n" >"$tree/staged" && git -C "$tree" add staged
  swarm kill "w$n" --rm-worktree --force-dirty 2>&1 | grep -q 'saved' && echo "saved w$n"
done
