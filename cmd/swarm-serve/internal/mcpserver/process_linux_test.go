package mcpserver_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// processesWith returns the pids and command lines of the living processes that have
// an entry in their environment.
func processesWith(entry string) (found []string) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), entry) {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline"))
		command := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if err == nil && command != "" {
			found = append(found, d.Name()+" "+command)
		}
	}
	return found
}
