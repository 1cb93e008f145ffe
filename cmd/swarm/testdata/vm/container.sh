# A container's own root of the control groups, with the shell and its children in it.
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup || fail 'the control groups of a namespace can not be mounted'
run cat /proc/self/cgroup
sleep 600 &
run swarm doctor
says 'memory, CPUs, processes'; says 'by control groups v2'
run swarm spawn --name hog --memory 64m -- tail /dev/zero; exits 0
run swarm wait hog; exits 137
says 'out of memory (limit 64 MiB, peak 64 MiB)'
run swarm spawn --name two --cpus 1 --pids 50 -- sleep 600; exits 0
run cat /proc/self/cgroup; says '0::/init'
run find /sys/fs/cgroup -maxdepth 2 -type d; says /init; says /swarm-
# The shell of a spawn below it is in 'init' too, and not limited.
[ "$(cat /sys/fs/cgroup/init/memory.max)" = max ] || fail 'the rest of the container has a limit'
run swarm kill two; exits 0
run swarm doctor; exits 0
kill %1
