package main

import (
	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// remarks prints what kill and clean say about a workspace.
func (a *app) remarks(warnings []host.Warning, notices []string) {
	for _, w := range warnings {
		a.warn(w.Text, w.Hint)
	}
	for _, notice := range notices {
		a.hint(notice)
	}
}

// killJSON is the result for one worker.
type killJSON struct {
	Name            string        `json:"name"`
	ID              string        `json:"id"`
	Status          string        `json:"status"`
	Killed          bool          `json:"killed"`
	AlreadyStopped  bool          `json:"already_stopped"`
	Signal          *string       `json:"signal"`
	Forced          bool          `json:"forced"`
	Exit            *exitJSON     `json:"exit"`
	Survivors       []processJSON `json:"survivors"`
	WorktreeRemoved bool          `json:"worktree_removed"`
	Warnings        []string      `json:"warnings"`
	Notices         []string      `json:"notices"`
	Error           *string       `json:"error"`
}

func killJSONOf(o host.KillOutcome) killJSON {
	j := killJSON{
		Name:            o.Worker.Name,
		ID:              o.Worker.ID,
		Status:          string(o.Worker.Status),
		Killed:          o.Err == nil,
		AlreadyStopped:  o.Err == nil && (o.Result.AlreadyEnded || o.Result.Status.State == swarm.StateUnknown),
		Signal:          orNull(o.Result.Signal),
		Forced:          o.Result.Forced,
		Survivors:       processesJSON(o.Result.Survivors),
		WorktreeRemoved: o.WorkspaceRemoved,
		Warnings:        warningTexts(o.Warnings),
		Notices:         append([]string{}, o.Notices...),
		Error:           errorJSON(o.Err),
	}
	if o.Worker.Exit != nil {
		j.Exit = exitJSONOf(*o.Worker.Exit)
	}
	return j
}

func warningTexts(ws []host.Warning) []string {
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = w.Text
	}
	return texts
}

func errorJSON(err error) *string {
	if err == nil {
		return nil
	}
	text := setup.Message(err)
	return &text
}

// cleanJSON is the result for one worker.
type cleanJSON struct {
	Name            string   `json:"name"`
	ID              string   `json:"id"`
	Cleaned         bool     `json:"cleaned"`
	WorktreeRemoved bool     `json:"worktree_removed"`
	Warnings        []string `json:"warnings"`
	Notices         []string `json:"notices"`
	Error           *string  `json:"error"`
}

func cleanJSONOf(outcomes []host.CleanOutcome) []cleanJSON {
	list := make([]cleanJSON, len(outcomes))
	for i, o := range outcomes {
		list[i] = cleanJSON{
			Name:            o.Worker.Name,
			ID:              o.Worker.ID,
			Cleaned:         o.Err == nil,
			WorktreeRemoved: o.WorkspaceRemoved,
			Warnings:        warningTexts(o.Warnings),
			Notices:         append([]string{}, o.Notices...),
			Error:           errorJSON(o.Err),
		}
	}
	return list
}
