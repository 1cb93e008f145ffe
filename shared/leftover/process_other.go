//go:build !linux

package leftover

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Of returns the living processes, other than this one, that have the directory in their
// environment or arguments, which ps prints together.
func Of(dir string) (found []Process) {
	out, err := exec.CommandContext(context.Background(), "ps", "-axwwE", "-o", "pid=,stat=,command=").Output()
	if err != nil {
		return nil
	}
	mention := regexp.MustCompile(regexp.QuoteMeta(dir) + `([/ ]|$)`)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(fields[1], "Z") {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil || pid == os.Getpid() || !mention.MatchString(line) {
			continue
		}
		found = append(found, Process{PID: pid, Command: strings.Join(fields[2:], " "), environ: line})
	}
	return found
}

func inside(dir string) []Process { return Of(dir) }

func hasVariable(environ, name string) bool { return strings.Contains(environ, " "+name+"=") }

func unmount(string) {}
