package question

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
)

type Question struct {
	// Worker is the worker of the agent. Its state has the question, the choices and the
	// dialog.
	Worker worker.Worker
	// Project is the directory of the worker's project, or its own.
	Project string
	// Since is when the question was first seen; zero if that is not known.
	Since time.Time
	// Refusal is why the caller may not answer it; nil: it may.
	Refusal error
	// Leader says that the leader of the agent's team may answer it, in addition to a person.
	Leader bool
}

// Command returns what the agent wants to run, or the tool with its input, line by line; nil if
// only the question has it.
func (q Question) Command() []string { return q.Worker.State.Dialog.Command }

// Reader finds open questions.
type Reader struct {
	Store *store.Store
	Input *input.Sender
	// LeaderAnswers says that leaders of teams may answer.
	LeaderAnswers bool
}

// Open returns the questions that workers ask, the oldest first; those whose age is not known
// come last. The records and the workers are those of the same workers, in the same order, and
// the workers have their states.
func (r *Reader) Open(ctx context.Context, recs []registry.Record, ws []worker.Worker) ([]Question, error) {
	var open []Question
	for i, w := range ws {
		if w.Status != worker.StatusRunning || w.State == nil || w.State.State != profile.Blocked {
			continue
		}
		q := Question{Worker: w, Since: w.State.Since, Refusal: r.Input.MayAnswer(ctx, recs[i]), Leader: r.LeaderAnswers && w.Agent != ""}
		q.Project = Directories(&recs[i])[0]
		err := r.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
			asked, err := display.LastQuestion(ctx, tx, w.ID)
			if err == nil && asked.Is(w.State.Question, w.State.Dialog.Digest) {
				q.Since = asked.Time
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		open = append(open, q)
	}
	slices.SortStableFunc(open, func(a, b Question) int {
		if a.Since.IsZero() != b.Since.IsZero() {
			return b.Since.Compare(a.Since)
		}
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Worker.Name, b.Worker.Name))
	})
	return open, nil
}

// Directories returns the directories that a worker belongs to, at least one: that of the
// file that declares it, that of the repository of its workspace, and its own.
func Directories(rec *registry.Record) []string {
	var all []string
	if rec.Project != "" {
		all = append(all, filepath.Dir(rec.Project))
	}
	if rec.Workspace != nil && rec.Workspace.Base != "" {
		all = append(all, rec.Workspace.Base)
	}
	return append(all, rec.Dir)
}

// Of returns the question of a blocked agent as rules see it. Only a dialog on its screen
// counts: hooks leave a file behind that the worker can write.
func Of(rec *registry.Record, s *judgement.State) answers.Question {
	d := s.Dialog
	q := answers.Question{
		Profile: s.Profile, Worker: rec.Name, Projects: Directories(rec),
		Certain: d.Digest != "" && d.Framed && !d.Cut,
	}
	if d.Shell {
		// opencode shows a command with a prompt before it.
		q.Command = strings.TrimPrefix(strings.Join(d.Command, "\n"), "$ ")
	}
	return q
}
