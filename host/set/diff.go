package set

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
)

// different returns the settings in which a worker differs from its declaration, such as
// "command" or "env (PORT, HOST)". It returns only names: values may be secrets.
func different(w host.Worker, want host.SpawnRequest) []string {
	var found []string
	note := func(key string, differs bool) {
		if differs {
			found = append(found, key)
		}
	}
	parts := func(key string, keys []string) {
		note(key+" ("+strings.Join(keys, ", ")+")", len(keys) > 0)
	}
	note("command", !slices.Equal(w.Command, want.Command))
	note("backend", w.Backend != want.Backend)
	// A worker on another machine has no directory here. With a workspace it is only the base
	// of that.
	here := w.Dir != "" || want.DirGiven
	note("cwd", here && w.Workspace == nil && want.Workspace == nil && !sameDir(w.Dir, want.Dir))
	parts("env", unequal(variables(w.Env), variables(want.Env)))
	note("tags", !slices.Equal(sorted(w.Tags), sorted(want.Tags)))
	parts("options", unequal(w.Options, want.Options))
	note("worktree", worktree(w, want))
	note("restart", w.Restart.OrDefault() != want.Restart.OrDefault())
	note("kill", want.Kill != nil && w.Kill != *want.Kill)
	note("retain", retention(w.Retain) != retention(want.Retain))
	note("resurrect", w.Resurrect != want.Resurrect)
	note("stdin", w.Stdin != want.Stdin)
	note("limits", w.Limits != want.Limits)
	note("sandbox", host.SandboxText(w.Sandbox) != host.SandboxText(want.Sandbox))
	note("log_limit", want.OutputLimit != 0 && w.OutputLimit != want.OutputLimit)
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

// unequal returns the keys of which only one table has a value, or both another one.
func unequal(a, b map[string]string) []string {
	var keys []string
	for key, value := range a {
		if other, ok := b[key]; !ok || other != value {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
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
