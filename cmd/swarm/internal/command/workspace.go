package command

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
)

// Workspace holds the flags for the workspace of a new worker.
type Workspace struct {
	// Default asks for one of the configured plugin, Plugin for one of that plugin.
	Default bool
	Plugin  string
	// Branch is empty where the plugin decides.
	Branch string
	// Entries are the options, KEY=VAL.
	Entries []string
}

// The flags that only count for a worker with a workspace. Not every command has all of them.
var needWorkspace = []string{"branch", "worktree-dir", "workspace-option"}

// AddTo adds the flags; name says whose name the default branch has.
func (w *Workspace) AddTo(cmd *cobra.Command, name string) {
	f := cmd.Flags()
	f.BoolVar(&w.Default, "worktree", false, "run in a new git worktree of the repository, or in what\ndefaults.workspace names")
	f.StringVar(&w.Plugin, "workspace", "", "run in a new workspace of this `PLUGIN`, such as copy")
	f.StringArrayVar(&w.Entries, "workspace-option", nil, "option of the workspace, `KEY=VAL`; may be repeated")
	f.StringVar(&w.Branch, "branch", "", "`BRANCH` of the workspace (default: "+name+")")
}

// Given reports whether the worker gets a workspace.
func (w *Workspace) Given() bool { return w.Default || w.Plugin != "" }

// Check refuses flags that contradict each other.
func (w *Workspace) Check(cmd *cobra.Command) error {
	f := cmd.Flags()
	switch {
	case w.Plugin != "" && f.Changed("worktree"):
		return output.Usagef("--worktree and --workspace exclude each other: each makes a workspace")
	case w.Plugin == "" && f.Changed("workspace"):
		return output.Usagef("--workspace is empty")
	}
	for _, name := range needWorkspace {
		if f.Changed(name) && !w.Given() {
			return output.Usagef("--%s needs --worktree or --workspace", name)
		}
	}
	_, err := w.Options()
	return err
}

// Options returns the options of the workspace; nil: none.
func (w *Workspace) Options() (map[string]string, error) {
	var options map[string]string
	for _, entry := range w.Entries {
		key, value, err := KeyValue(entry)
		if err != nil {
			return nil, err
		}
		if options == nil {
			options = map[string]string{}
		}
		options[key] = value
	}
	return options, nil
}
