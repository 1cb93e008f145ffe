package shell

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/safefile"
)

// Output is what a shell wrote since it was asked last.
type Output struct {
	Shell Shell
	// Text is what is new, as valid UTF-8. A line in brackets says how much was
	// dropped before it could be read.
	Text string
	// More says that there is more already.
	More bool
}

// FilterError says what is wrong with a filter.
type FilterError struct{ Err error }

func (e *FilterError) Error() string { return "invalid filter: " + e.Err.Error() }

func (e *FilterError) Unwrap() error { return e.Err }

// Next returns what a shell wrote since the last call, in whichever process that
// was: no byte is returned twice, and none left out. filter is a regular expression
// (RE2) which lines must match; others count as read. It is a [FilterError] if it
// can't be read. A shell that the session does not have is a [NotFoundError].
//
// A line that is not finished yet is returned only if nothing else is new, such as
// a prompt, and with a filter not before the shell has ended.
func Next(ctx context.Context, h *host.Host, s Session, id, filter string) (Output, error) {
	var lines *regexp.Regexp
	if filter != "" {
		var err error
		if lines, err = regexp.Compile(filter); err != nil {
			return Output{}, &FilterError{Err: err}
		}
	}
	w, err := find(ctx, h, s, id)
	if err != nil {
		return Output{}, err
	}
	out := Output{Shell: shellOf(h, w)}
	if w.Shell.FromLog && out.Shell.Status != Running {
		// The process that writes it may not have finished.
		if err := transcribe(ctx, h, w.ID, out.Shell.OutputFile, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
	}
	f, err := safefile.Open(out.Shell.OutputFile, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || info.Size() <= w.ShellRead {
		return out, err
	}
	t := transcript{
		file: f,
		// It was looked at before the file: nothing comes after an end.
		over:  out.Shell.Status != Running,
		lines: lines != nil,
	}
	var p passage
	err = h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		return tx.Update(ctx, w.ID, func(r *registry.Record) error {
			var err error
			p, err = t.from(r.ShellRead)
			r.ShellRead = p.end
			return err
		})
	})
	if errors.Is(err, registry.ErrNotFound) {
		return Output{}, &NotFoundError{ID: id}
	}
	if err != nil {
		return Output{}, err
	}
	out.Text, out.More = mark(p.dropped)+matchingLines(lines, valid(p.text)), p.more
	return out, nil
}

func matchingLines(lines *regexp.Regexp, text string) string {
	if lines == nil {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if lines.MatchString(strings.TrimRight(line, "\r\n")) {
			b.WriteString(line)
		}
	}
	return b.String()
}
