package sshtest

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// guard is a process that ends what a set of servers has left: the servers, workers of tests that
// failed, and their shims. It does so at the end of the set, and when the process of the tests
// is gone, however that ended.
type guard struct {
	cmd  *exec.Cmd
	life io.Closer
}

// guardScript reads the directory of the set, waits for the end of its input, and kills every
// process that has the directory in its environment or its arguments, and its children: the
// processes of connections overwrite theirs. The script's own processes don't have it.
const guardScript = `read -r dir || exit
read -r _
tries=100
while [ $tries -gt 0 ]; do
  pids=$(printf '%s/\n' "$dir" | grep -lsF -f - /proc/[0-9]*/environ /proc/[0-9]*/cmdline | cut -d/ -f3 | sort -u)
  [ -n "$pids" ] || break
  children=$(for p in $pids; do cat /proc/$p/task/*/children; done 2>/dev/null)
  kill -9 $pids $children 2>/dev/null
  sleep 0.1
  tries=$((tries-1))
done
rm -rf "$dir"
[ -z "$pids" ]`

func guardOf(dir string) (*guard, error) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", guardScript)
	// A signal to the group of the tests must not end it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &guard{cmd: cmd, life: life}
	_, err = fmt.Fprintln(life, dir)
	return g, err
}

func (g *guard) end() error {
	if g == nil {
		return nil
	}
	_ = g.life.Close() // it also ends if it did not get the directory
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("processes of the servers are left: %w", err)
	}
	return nil
}
