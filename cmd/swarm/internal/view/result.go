package view

import (
	"fmt"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Remarks prints the notes of kill and clean about a workspace.
func Remarks(a *app.App, warnings []worker.Warning, notices []string) {
	for _, w := range warnings {
		a.Warn(w.Text, w.Hint)
	}
	for _, notice := range notices {
		a.Hint(notice)
	}
}

// KillJSON is the result for one worker.
type KillJSON struct {
	Name           string        `json:"name"`
	ID             string        `json:"id"`
	Status         string        `json:"status"`
	Killed         bool          `json:"killed"`
	AlreadyStopped bool          `json:"already_stopped"`
	Signal         *string       `json:"signal"`
	Forced         bool          `json:"forced"`
	Exit           *ExitJSON     `json:"exit"`
	Survivors      []processJSON `json:"survivors"`
	remarksJSON
}

// remarksJSON is what kill and clean report alike.
type remarksJSON struct {
	WorktreeRemoved bool     `json:"worktree_removed"`
	Warnings        []string `json:"warnings"`
	Notices         []string `json:"notices"`
	Error           *string  `json:"error"`
}

func remarksJSONOf(o kill.Outcome) remarksJSON {
	return remarksJSON{
		WorktreeRemoved: o.WorkspaceRemoved,
		Warnings:        output.List(o.Warnings, func(w worker.Warning) string { return w.Text }),
		Notices:         append([]string{}, o.Notices...), Error: ErrorJSON(o.Err),
	}
}

func KillJSONOf(o kill.Outcome) KillJSON {
	return KillJSON{
		Name:           o.Worker.Name,
		ID:             o.Worker.ID,
		Status:         string(o.Worker.Status),
		Killed:         o.Err == nil,
		AlreadyStopped: o.AlreadyEnded,
		Signal:         output.OrNull(o.Result.Signal),
		Forced:         o.Result.Forced,
		Exit:           ExitJSONOf(o.Worker.Exit),
		Survivors:      processesJSON(o.Result.Survivors),
		remarksJSON:    remarksJSONOf(o),
	}
}

func ErrorJSON(err error) *string {
	if err == nil {
		return nil
	}
	return new(setup.Message(err))
}

// CleanJSON is the result for one worker.
type CleanJSON struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Cleaned bool   `json:"cleaned"`
	remarksJSON
}

func CleanJSONOf(o kill.Outcome) CleanJSON {
	return CleanJSON{Name: o.Worker.Name, ID: o.Worker.ID, Cleaned: o.Err == nil, remarksJSON: remarksJSONOf(o)}
}

// FileJSON is a changed file. The counts of lines are null if it is not text.
type FileJSON struct {
	Path    string `json:"path"`
	Added   *int   `json:"added"`
	Removed *int   `json:"removed"`
}

func FilesJSON(files []swarm.FileChange) []FileJSON {
	return output.List(files, func(f swarm.FileChange) FileJSON {
		if f.Added < 0 {
			return FileJSON{Path: f.Path}
		}
		return FileJSON{Path: f.Path, Added: &f.Added, Removed: &f.Removed}
	})
}

// TrialRows are the rows of a table of the rules of a profile and how they were tried.
func TrialRows(indent string, trials []profile.Trial) [][]string {
	return output.List(trials, func(t profile.Trial) []string {
		mark := "no"
		if t.Matched {
			mark = "yes"
		}
		return []string{indent + t.Rule, string(t.State), mark, t.Why}
	})
}

// FileRows are the rows of a table of changed files, such as "main.go  +12 -3".
func FileRows(files []swarm.FileChange) [][]string {
	return output.List(files, func(f swarm.FileChange) []string {
		if f.Added < 0 {
			return []string{f.Path, "binary"}
		}
		return []string{f.Path, fmt.Sprintf("+%d -%d", f.Added, f.Removed)}
	})
}
