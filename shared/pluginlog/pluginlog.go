// Package pluginlog reads what a plugin writes to its standard error: the entries of its log,
// each at its own level, and the line that says why it ended.
package pluginlog

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// maxLine is how much of a line is read, in bytes.
const maxLine = 64 << 10

// Reader is an [io.Writer] for the standard error of one plugin. Its methods may be called
// concurrently.
type Reader struct {
	// Logger gets every line: an entry of a log at its level, the trace of a crash as an error,
	// all other text for debugging. If it is nil, the lines are only kept for Cause.
	Logger hclog.Logger

	mu sync.Mutex
	// rest is the beginning of a line, cut at maxLine.
	rest []byte
	// plain is the last line that is neither an entry of a log nor part of a trace, crash the last
	// one that begins the trace of a crash; message says that the next line is the message of
	// crash.
	plain, crash string
	message      bool
	// inTrace says that a crash was begun and no entry of a log has followed.
	inTrace bool
	// fatal and failed are the messages of the last entries that say that the program ends, and
	// that something failed.
	fatal, failed string
}

// Write reads the lines that p completes. It never fails.
func (r *Reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			r.rest = append(r.rest, p[:min(len(p), maxLine-len(r.rest))]...)
			return n, nil
		}
		line := append(r.rest, p[:min(i, maxLine-len(r.rest))]...)
		r.rest, p = r.rest[:0], p[i+1:]
		r.line(string(bytes.TrimRight(line, "\r")))
	}
}

// Cause returns the line that says why the plugin ended, or empty if none does: the first line of
// the trace of a crash, or else the last line that is no entry of a log, or else the last entry by
// which a program says that it can't continue. early says that the plugin has ended before it
// served: then the last entry about an error counts too.
func (r *Reader) Cause(early bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) > 0 {
		line := string(r.rest)
		r.rest = r.rest[:0]
		r.line(line)
	}
	switch {
	case r.crash != "":
		return r.crash
	case r.plain != "":
		return r.plain
	case r.fatal != "" || !early:
		return r.fatal
	}
	return r.failed
}

// line reads one line. r.mu is held.
func (r *Reader) line(line string) {
	// Some loggers colour their entries although no terminal shows them.
	text := strings.TrimSpace(colours().ReplaceAllString(line, ""))
	if text == "" {
		return
	}
	if e, ok := parse(text); ok {
		r.inTrace, r.message = false, false
		switch {
		case e.fatal:
			r.fatal = e.summary()
		case e.level == hclog.Error:
			r.failed = e.summary()
		}
		if r.Logger != nil {
			r.Logger.Log(e.level, e.message, e.args...)
		}
		return
	}
	switch {
	case beginsCrash(line):
		r.crash, r.inTrace = text, true
		// Rust has the message on the next line.
		r.message = strings.HasPrefix(line, rustPanic)
	case r.message:
		r.crash, r.message = r.crash+" "+text, false
	case !r.inTrace && !isTrace(line, text):
		r.plain = text
		// A line after a panic that the program has caught is newer.
		r.crash = ""
	}
	if r.Logger == nil {
		return
	}
	if r.inTrace {
		r.Logger.Error(text)
	} else {
		r.Logger.Debug(text)
	}
}

// colours are the sequences that select colours and styles.
var colours = lazyregexp.New(`\x1b\[[0-9;:]*m`)

const rustPanic = "thread '"

// beginsCrash reports whether a line is the first of the trace of a crash, as Go and Rust write
// it.
func beginsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
		strings.HasPrefix(line, rustPanic) && strings.Contains(line, "' panicked at ")
}

// traces are the beginnings of lines that say nothing of the cause, though they come last.
var traces = []string{
	"goroutine ", "exit status ", "[signal ", "created by ", "Node.js v", "note: run with `RUST_BACKTRACE", "stack backtrace:",
	"Traceback (most recent call last)", "^",
}

// isTrace reports whether a line is part of a stack: indented, or one of [traces].
func isTrace(line, text string) bool {
	return line[0] == ' ' || line[0] == '\t' || slices.ContainsFunc(traces, func(t string) bool { return strings.HasPrefix(text, t) })
}
