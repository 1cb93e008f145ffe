package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Complete records that the worker is done, see [swarm.Completer]. A summary of
// several lines becomes one, and a long one is cut.
func Complete(ctx context.Context, dir, id, summary string, o swarm.KillOptions) error {
	r, err := killRequest(rundir.VerbComplete, id, o)
	if err != nil {
		return err
	}
	r.Summary = oneLine(summary)
	began := time.Now()
	a, err := exchange(ctx, dir, r, nil)
	tooLate := fmt.Errorf("%w: the worker is being ended or has ended", swarm.ErrTooLate)
	switch {
	case err == nil && a.Kind == rundir.AnswerOK:
		return nil
	case err == nil:
		return tooLate
	case !errors.Is(err, errNoAnswer):
		return err
	}
	// The shim has ended. Its last status decides.
	s, statusErr := Status(dir, id)
	switch {
	case statusErr != nil:
		return statusErr
	case s.Completion != nil && s.Completion.Summary == r.Summary && !s.Completion.Time.Before(began):
		return nil
	case s.State != swarm.StateRunning:
		return tooLate
	}
	return fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
}

// oneLine turns a text into one line without control characters, no longer than a summary
// may be.
func oneLine(s string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	return safetext.Cut(strings.Join(words, " "), swarm.MaxSummary)
}
