// Package programs names the plugins that come with swarm and share a program: each links the
// same libraries, which are most of its size.
//
// Such a program is started by a link with the name of a plugin, or with the plugin's name as its
// first argument, so that it works without links.
package programs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Prefix is the beginning of the file name of every plugin.
const Prefix = "swarm-plugin-"

// Plugins and Engines are the programs, Serve the one that has what serves people and agents.
// The libraries of Engines are initialized in every process that links them, so the plugins that
// most calls use are not in it.
const (
	Plugins = "swarm-plugins"
	Engines = "swarm-engines"
	Serve   = "swarm-serve"
)

var shared = map[string]string{
	"copy": Plugins, "notify": Plugins, "process": Plugins, "ssh": Plugins, "tmux": Plugins, "worktree": Plugins,
	"container": Engines, "nomad": Engines,
}

// Of returns the program of a plugin; "" if it has one of its own.
func Of(plugin string) string { return shared[plugin] }

// In returns the plugins in a program, sorted; none if it is not one of these.
func In(program string) []string {
	var names []string
	for name, in := range shared {
		if in == program {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Main runs the entry that this process was started for, see [choose], and returns the exit code.
func Main(entries map[string]func()) int {
	run, err := choose(os.Args, entries)
	if err != nil {
		fmt.Fprintf(os.Stderr, "swarm: error: %v\n", err)
		return 2
	}
	run()
	return 0
}

// choose returns the entry for an argv: that of a link's name, or else of the first argument. The
// error says what to start instead.
func choose[T any](argv []string, entries map[string]T) (entry T, err error) {
	program := filepath.Base(argv[0])
	if name, ok := strings.CutPrefix(program, Prefix); ok {
		if entry, ok := entries[name]; ok {
			return entry, nil
		}
	}
	if len(argv) > 1 {
		if entry, ok := entries[argv[1]]; ok {
			return entry, nil
		}
	}
	return entry, fmt.Errorf("%s holds several plugins: start it with the name of one as its first argument, or by a link %sNAME: %s",
		program, Prefix, strings.Join(slices.Sorted(maps.Keys(entries)), ", "))
}
