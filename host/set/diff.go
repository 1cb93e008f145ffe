package set

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safefile"
)

// different returns the settings in which a worker differs from its declaration, such as
// "command" or "env (PORT, HOST)". It returns only names: values may be secrets.
func different(w worker.Worker, want spawn.Request) []string {
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
	if w.Workspace != nil && want.Workspace != nil {
		note("cwd", workspaceDir(w, want))
	} else {
		note("cwd", here && w.Workspace == nil && want.Workspace == nil && !sameDir(w.Dir, want.Dir))
	}
	parts("env", unequal(variables(w.Env), variables(want.Env)))
	note("tags", !slices.Equal(sorted(w.Tags), sorted(want.Tags)))
	parts("options", unequal(w.Options, want.Options))
	note("workspace", otherWorkspace(w, want))
	note("restart", w.Restart.OrDefault() != want.Restart.OrDefault())
	note("kill", want.Kill != nil && w.Kill != *want.Kill)
	note("retain", retention(w.Retain) != retention(want.Retain))
	note("resurrect", w.Resurrect != want.Resurrect)
	note("stdin", w.Stdin != want.Stdin)
	note("limits", w.Limits != want.Limits)
	note("sandbox", worker.SandboxText(w.Sandbox) != worker.SandboxText(want.Sandbox))
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

// workspaceDir compares the directories of a worker in a workspace: a declared one has a
// counterpart there, and without one the worker runs at the top.
func workspaceDir(w worker.Worker, want spawn.Request) bool {
	ws, rel := w.Workspace, "."
	if ws.Host != "" {
		// The links of another machine can't be followed, so only what is plain is compared.
		var err error
		if rel, err = filepath.Rel(ws.Base, want.Dir); err != nil || !filepath.IsLocal(rel) {
			return false
		}
		return want.DirGiven && filepath.Clean(w.Dir) != filepath.Join(ws.Path, rel)
	}
	top := topOf(want.Dir, ws.Base)
	if top == "" {
		return true // it is in another repository
	}
	if want.DirGiven {
		rel, _ = filepath.Rel(top, resolved(want.Dir))
	}
	return !sameDir(w.Dir, filepath.Join(ws.Path, rel))
}

// topOf returns the top of the working tree that a directory is in, without links, if it is
// one of the repository whose main working tree is base; empty if it is of another one.
func topOf(dir, base string) string {
	dir, base = resolved(dir), resolved(base)
	if within(dir, base) {
		return base
	}
	for top := dir; ; top = filepath.Dir(top) {
		// A linked working tree has a file that names its git directory.
		if text, err := safefile.Read(filepath.Join(top, ".git"), 4096); err == nil {
			gitDir, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if common, _, linked := strings.Cut(gitDir, "/worktrees/"); linked && sameDir(strings.TrimSuffix(common, "/.git"), base) {
				return top
			}
			return ""
		}
		if top == filepath.Dir(top) {
			return ""
		}
	}
}

// otherWorkspace compares the workspace that a worker asked for with the declared one. Where it is
// made counts, however that is written.
func otherWorkspace(w worker.Worker, want spawn.Request) bool {
	if w.Workspace == nil || want.Workspace == nil {
		return (w.Workspace == nil) != (want.Workspace == nil)
	}
	asked, declared := w.Ask, want.Workspace
	if asked == nil {
		asked = &registry.WorkspaceAsk{}
	}
	parent := declared.Parent
	there := parent == asked.Parent
	if !there && parent != "" {
		if !filepath.IsAbs(parent) {
			parent = filepath.Join(filepath.Dir(w.Workspace.Base), parent)
		}
		there = sameDir(filepath.Dir(w.Workspace.Path), parent)
	}
	return !there || cmp.Or(declared.Plugin, asked.Plugin) != asked.Plugin || !maps.Equal(declared.Options, asked.Options) ||
		cmp.Or(declared.Branch, want.Name) != cmp.Or(asked.Branch, w.Name)
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
