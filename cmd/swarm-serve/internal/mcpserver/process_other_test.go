//go:build !linux

package mcpserver_test

import (
	"context"
	"os/exec"
	"strings"
)

// processesWith returns the pids and command lines of the living processes that have
// an entry in their environment, which ps prints behind the command.
func processesWith(entry string) (found []string) {
	out, err := exec.CommandContext(context.Background(), "ps", "-axwwE", "-o", "pid=,command=").Output()
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(out)) {
		if command, _, ok := strings.Cut(line, " "+entry); ok {
			found = append(found, strings.TrimSpace(command))
		}
	}
	return found
}
