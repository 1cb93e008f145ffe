package config

import (
	"cmp"
	"slices"
	"time"
)

// Worker is the declaration of one worker in a project's file. After loading, missing
// settings are filled in from [Defaults], [Kill] and [Log], and paths are absolute.
type Worker struct {
	Command []string
	Backend string
	Dir     string
	// Env are variables, and EnvFiles files with more of them; see
	// [Loaded.Environ], which reads them.
	Env      map[string]string
	EnvFiles []string
	// Tags are those of Defaults and its own.
	Tags []string
	// Session and TmuxSocket have the meaning that they have in Defaults.
	Session, TmuxSocket string
	// Options are for the backend.
	Options   map[string]string
	Workspace Workspace
	Restart   Restart
	Ready     Ready
	// DependsOn are names of workers of the same file, without a cycle.
	DependsOn []string
	Kill      Kill
	// Retain and Resurrect have the meaning that they have in Defaults.
	Retain    string
	Resurrect bool
	// Stdin asks for a pipe to write to.
	Stdin bool
	// LogLimit is in bytes.
	LogLimit int64
	Limits   Limits
	Sandbox  Sandbox
}

// Workspace asks for a directory that is made for the worker.
type Workspace struct {
	Use bool
	// Plugin is the name of the plugin that makes it. After loading it is never empty.
	Plugin string
	// Branch and Dir are empty where the plugin decides.
	Branch, Dir string
	// Options are for the plugin.
	Options map[string]string
}

// The restart policies.
const (
	RestartNo        = "no"
	RestartOnFailure = "on-failure"
	RestartAlways    = "always"
)

// Restart is a restart policy. The host decides about fields that are 0.
type Restart struct {
	// When is one of the policies, or empty.
	When               string
	MinDelay, MaxDelay time.Duration
	Budget             int
	Window             time.Duration
}

// Ready says when a worker is ready.
type Ready struct {
	// Wait says that a running worker is not ready yet.
	Wait bool
	// Pattern is a regular expression; empty: the host's own.
	Pattern string
	// Timeout is 0 where the host decides.
	Timeout time.Duration
}

// fillIn sets the missing settings of workers, once all files are read.
func (l *Loaded) fillIn() {
	c := &l.Config
	for name, w := range c.Workers {
		own := w
		w.Kill, w.Resurrect, w.Sandbox.Use = c.Kill, c.Defaults.Resurrect, c.Defaults.Sandbox.Use
		for _, f := range workerFields() {
			if _, set := l.Origins[WorkerKey(name, f.key)]; set {
				f.copy(&w, &own)
			}
		}
		fill(&w.Backend, c.Defaults.Backend)
		fill(&w.Session, c.Defaults.Session)
		fill(&w.TmuxSocket, c.Defaults.TmuxSocket)
		fill(&w.Retain, c.Defaults.Retain)
		fill(&w.LogLimit, c.Log.Limit)
		fill(&w.Limits.Memory, c.Defaults.Limits.Memory)
		fill(&w.Limits.CPUs, c.Defaults.Limits.CPUs)
		fill(&w.Limits.PIDs, c.Defaults.Limits.PIDs)
		if _, set := l.Origins[WorkerKey(name, "nice")]; !set { // 0 is a priority too
			w.Limits.Nice = c.Defaults.Limits.Nice
		}
		fill(&w.Limits.IOWeight, c.Defaults.Limits.IOWeight)
		fill(&w.Limits.Effort, c.Defaults.Limits.Effort)
		fill(&w.Workspace.Plugin, c.Defaults.Workspace)
		fill(&w.Workspace.Dir, c.Defaults.WorktreeDir)
		var tags []string
		for _, tag := range slices.Concat(c.Defaults.Tags, w.Tags) {
			if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		w.Tags = tags
		fill(&w.Sandbox.Network, c.Defaults.Sandbox.Network)
		fill(&w.Sandbox.Home, c.Defaults.Sandbox.Home)
		if w.Sandbox.Write == nil {
			w.Sandbox.Write = c.Defaults.Sandbox.Write
		}
		c.Workers[name] = w
	}
}

func fill[V comparable](v *V, otherwise V) {
	*v = cmp.Or(*v, otherwise)
}
