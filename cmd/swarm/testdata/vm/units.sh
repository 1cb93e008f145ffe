# The units that swarm prints, under a real systemd.
unset SWARM_DIR
mkdir -p ~/.config/systemd/user
for verb in resurrect watch; do
  flags=; [ $verb = resurrect ] || flags=--hooks
  run swarm $verb $flags --print-service systemd; exits 0
  printf '%s\n' "$out" >~/.config/systemd/user/swarm-$verb.service
done
run systemd-analyze --user verify ~/.config/systemd/user/swarm-resurrect.service ~/.config/systemd/user/swarm-watch.service; exits 0
run systemctl --user daemon-reload
run systemctl --user enable swarm-resurrect swarm-watch; exits 0
run systemctl --user start swarm-watch; exits 0
run swarm spawn --resurrect --name web --memory 64m -- sleep 7000; exits 0
run swarm spawn --resurrect --name window --tmux -- sleep 7000; exits 0
run swarm spawn --resurrect --name frail --restart on-failure --restart-budget 1/1h -- sleep 7000; exits 0
run swarm spawn --name unmarked -- sleep 7000; exits 0
run swarm spawn --resurrect --name done -- true; exits 0
run swarm spawn --resurrect --name killed -- sleep 7000; exits 0
run swarm kill killed; exits 0
run swarm wait done
run systemctl --user is-active swarm-watch; says active
echo 0 >~/boots
