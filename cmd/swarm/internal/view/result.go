package view

import (
	"fmt"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Remarks prints the notes of kill and clean about a workspace.
func Remarks(a *app.App, warnings []host.Warning, notices []string) {
	for _, w := range warnings {
		a.Warn(w.Text, w.Hint)
	}
	for _, notice := range notices {
		a.Hint(notice)
	}
}

// KillJSON is the result for one worker.
type KillJSON struct {
	Name            string        `json:"name"`
	ID              string        `json:"id"`
	Status          string        `json:"status"`
	Killed          bool          `json:"killed"`
	AlreadyStopped  bool          `json:"already_stopped"`
	Signal          *string       `json:"signal"`
	Forced          bool          `json:"forced"`
	Exit            *ExitJSON     `json:"exit"`
	Survivors       []processJSON `json:"survivors"`
	WorktreeRemoved bool          `json:"worktree_removed"`
	Warnings        []string      `json:"warnings"`
	Notices         []string      `json:"notices"`
	Error           *string       `json:"error"`
}

func KillJSONOf(o host.KillOutcome) KillJSON {
	j := KillJSON{
		Name:            o.Worker.Name,
		ID:              o.Worker.ID,
		Status:          string(o.Worker.Status),
		Killed:          o.Err == nil,
		AlreadyStopped:  o.Err == nil && (o.Result.AlreadyEnded || o.Result.Status.State == swarm.StateUnknown),
		Signal:          output.OrNull(o.Result.Signal),
		Forced:          o.Result.Forced,
		Survivors:       processesJSON(o.Result.Survivors),
		WorktreeRemoved: o.WorkspaceRemoved,
		Warnings:        WarningTexts(o.Warnings),
		Notices:         append([]string{}, o.Notices...),
		Error:           ErrorJSON(o.Err),
	}
	if o.Worker.Exit != nil {
		j.Exit = ExitJSONOf(*o.Worker.Exit)
	}
	return j
}

func WarningTexts(ws []host.Warning) []string {
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = w.Text
	}
	return texts
}

func ErrorJSON(err error) *string {
	if err == nil {
		return nil
	}
	text := setup.Message(err)
	return &text
}

// CleanJSON is the result for one worker.
type CleanJSON struct {
	Name            string   `json:"name"`
	ID              string   `json:"id"`
	Cleaned         bool     `json:"cleaned"`
	WorktreeRemoved bool     `json:"worktree_removed"`
	Warnings        []string `json:"warnings"`
	Notices         []string `json:"notices"`
	Error           *string  `json:"error"`
}

func CleanJSONOf(outcomes []host.CleanOutcome) []CleanJSON {
	list := make([]CleanJSON, len(outcomes))
	for i, o := range outcomes {
		list[i] = CleanJSON{
			Name:            o.Worker.Name,
			ID:              o.Worker.ID,
			Cleaned:         o.Err == nil,
			WorktreeRemoved: o.WorkspaceRemoved,
			Warnings:        WarningTexts(o.Warnings),
			Notices:         append([]string{}, o.Notices...),
			Error:           ErrorJSON(o.Err),
		}
	}
	return list
}

// FileJSON is a changed file. The counts of lines are null if it is not text.
type FileJSON struct {
	Path    string `json:"path"`
	Added   *int   `json:"added"`
	Removed *int   `json:"removed"`
}

// FilesJSON converts changed files; without any it is an empty list.
func FilesJSON(files []swarm.FileChange) []FileJSON {
	list := make([]FileJSON, len(files))
	for i, f := range files {
		list[i].Path = f.Path
		if f.Added >= 0 {
			list[i].Added, list[i].Removed = &f.Added, &f.Removed
		}
	}
	return list
}

// FileRows are the rows of a table of changed files, such as "main.go  +12 -3".
func FileRows(files []swarm.FileChange) [][]string {
	rows := make([][]string, len(files))
	for i, f := range files {
		rows[i] = []string{f.Path, "binary"}
		if f.Added >= 0 {
			rows[i][1] = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		}
	}
	return rows
}
