package set

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
)

type difference struct {
	key string
	// of returns whether it differs, and in which parts where that helps.
	of func(w host.Worker, want host.SpawnRequest) (differs bool, parts []string)
}

var differences = []difference{
	{"command", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return !slices.Equal(w.Command, want.Command), nil
	}},
	{"backend", func(w host.Worker, want host.SpawnRequest) (bool, []string) { return w.Backend != want.Backend, nil }},
	{"cwd", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		if w.Dir == "" && !want.DirGiven {
			return false, nil // it runs on another machine
		}
		// With a workspace it is only the base of that.
		return w.Workspace == nil && want.Workspace == nil && !sameDir(w.Dir, want.Dir), nil
	}},
	{"env", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return unequal(variables(w.Env), variables(want.Env))
	}},
	{"tags", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return !slices.Equal(sorted(w.Tags), sorted(want.Tags)), nil
	}},
	{"options", func(w host.Worker, want host.SpawnRequest) (bool, []string) { return unequal(w.Options, want.Options) }},
	{"worktree", func(w host.Worker, want host.SpawnRequest) (bool, []string) { return worktree(w, want), nil }},
	{"restart", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return w.Restart.OrDefault() != want.Restart.OrDefault(), nil
	}},
	{"kill", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return want.Kill != nil && w.Kill != *want.Kill, nil
	}},
	{"retain", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return retention(w.Retain) != retention(want.Retain), nil
	}},
	{"resurrect", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return w.Resurrect != want.Resurrect, nil
	}},
	{"stdin", func(w host.Worker, want host.SpawnRequest) (bool, []string) { return w.Stdin != want.Stdin, nil }},
	{"limits", func(w host.Worker, want host.SpawnRequest) (bool, []string) { return w.Limits != want.Limits, nil }},
	{"sandbox", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return host.SandboxText(w.Sandbox) != host.SandboxText(want.Sandbox), nil
	}},
	{"log_limit", func(w host.Worker, want host.SpawnRequest) (bool, []string) {
		return want.OutputLimit != 0 && w.OutputLimit != want.OutputLimit, nil
	}},
}

// different returns the settings in which a worker differs from its declaration, such as
// "command" or "env (PORT, HOST)". It returns only names: values may be secrets.
func different(w host.Worker, want host.SpawnRequest) []string {
	var found []string
	for _, d := range differences {
		differs, parts := d.of(w, want)
		switch {
		case !differs:
		case len(parts) > 0:
			found = append(found, d.key+" ("+strings.Join(parts, ", ")+")")
		default:
			found = append(found, d.key)
		}
	}
	return found
}

// variables makes a table of entries KEY=VALUE; the last one of a key holds.
func variables(entries []string) map[string]string {
	m := make(map[string]string, len(entries))
	for _, entry := range entries {
		key, value, _ := strings.Cut(entry, "=")
		m[key] = value
	}
	return m
}

func unequal(a, b map[string]string) (bool, []string) {
	keys := map[string]bool{}
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			keys[key] = true
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys[key] = true
		}
	}
	return len(keys) > 0, slices.Sorted(maps.Keys(keys))
}

// worktree compares the workspaces. A worker whose branch was changed since keeps
// the one that it was made with in its record.
func worktree(w host.Worker, want host.SpawnRequest) bool {
	if w.Workspace == nil || want.Workspace == nil {
		return (w.Workspace == nil) != (want.Workspace == nil)
	}
	branch, parent := want.Workspace.Branch, want.Workspace.Parent
	if branch == "" {
		branch = want.Name
	}
	if parent != "" && !filepath.IsAbs(parent) {
		parent = filepath.Join(filepath.Dir(w.Workspace.Base), parent)
	}
	return w.Workspace.Branch != branch || parent != "" && !sameDir(filepath.Dir(w.Workspace.Path), parent)
}

// retention is a retention policy in one of the ways to write it.
func retention(retain string) string {
	if retain == "" {
		return "until-clean"
	}
	if d, err := time.ParseDuration(retain); err == nil {
		return d.String()
	}
	return retain
}

func sorted(tags []string) []string { return slices.Sorted(slices.Values(tags)) }

// sameDir compares directories, of which one may be a link to the other.
func sameDir(a, b string) bool {
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

func within(dir, base string) bool {
	rel, err := filepath.Rel(resolved(base), resolved(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
