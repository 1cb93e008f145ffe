package occupant

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/proc"
)

// In returns the processes that have their working directory in dir, but for this
// plugin and its host. Only lsof reports them here.
func In(ctx context.Context, dir string) ([]proc.Process, error) {
	cmd := exec.CommandContext(ctx, "/usr/sbin/lsof", "-w", "-n", "-P", "-d", "cwd", "-F", "pcn")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	err := cmd.Run()
	// It exits with 1 when there is a process that it may not look into.
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && (!exited || stdout.Len() == 0) {
		return nil, err
	}
	var found []proc.Process
	var p proc.Process
	for line := range strings.Lines(stdout.String()) {
		kind, value := line[0], strings.TrimSuffix(line[1:], "\n")
		switch kind {
		case 'p':
			pid, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			p = proc.Process{Identity: proc.Identity{PID: pid}}
		case 'c':
			p.Name = value
		case 'n':
			inside := value == dir || strings.HasPrefix(value, dir+"/")
			if inside && p.PID != os.Getpid() && p.PID != os.Getppid() {
				found = append(found, p)
			}
		}
	}
	return found, nil
}
