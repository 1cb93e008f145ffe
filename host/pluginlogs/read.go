package pluginlogs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

// lookEvery is how often a log is read where the kernel gives no notice of changes.
const lookEvery = time.Second

// Options say what to read of a log.
type Options struct {
	// Lines is how many of the last lines there are to read first; nil: all.
	Lines *int
	// Follow says to read what comes after them until the context ends.
	Follow bool
}

// Read calls each for the entries of a plugin's log, the oldest first. Entries of runs at the same
// time are mixed. A plugin that has said nothing has no entries.
func Read(ctx context.Context, dir, name string, o Options, each func(Entry) error) error {
	var changes <-chan fsnotify.Event
	var due <-chan time.Time
	if o.Follow {
		var stop func()
		var err error
		if changes, due, stop, err = notice(filepath.Dir(path(dir, name))); err != nil {
			return err
		}
		defer stop()
	}
	r := reader{path: path(dir, name)}
	defer r.close()
	entries, err := r.all()
	if err != nil {
		return err
	}
	if o.Lines != nil {
		entries = lastLines(entries, *o.Lines)
	}
	for {
		for _, e := range entries {
			if err := each(e); err != nil {
				return err
			}
		}
		if !o.Follow {
			return nil
		}
		select {
		case <-changes:
		case <-due:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if entries, err = r.more(); err != nil {
			return err
		}
	}
}

// notice returns channels that get a value when a directory may have changed.
func notice(dir string) (changes <-chan fsnotify.Event, due <-chan time.Time, stop func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, nil, nil, err
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(dir); err == nil {
			return w.Events, nil, func() { _ = w.Close() }, nil
		}
		_ = w.Close()
	}
	if !proc.IsNotifyLimit(err) {
		return nil, nil, nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	tick := time.NewTicker(lookEvery)
	return nil, tick.C, tick.Stop, nil
}

// lastLines returns the entries with the last n lines of text.
func lastLines(entries []Entry, n int) []Entry {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Text == "" {
			continue
		}
		lines := strings.Split(entries[i].Text, "\n")
		switch {
		case n == 0:
			return entries[i+1:]
		case len(lines) >= n:
			entries[i].Text = strings.Join(lines[len(lines)-n:], "\n")
			return entries[i:]
		}
		n -= len(lines)
	}
	return entries
}

// reader reads the newer file of a log, whatever it is at the time.
type reader struct {
	path string
	file *os.File
	// rest is the beginning of an entry.
	rest []byte
}

func (r *reader) close() { _ = r.file.Close() } // which may be nil

// all returns the entries of both files.
func (r *reader) all() ([]Entry, error) {
	text, err := safefile.Read(r.path+older, 2*maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	entries, _ := parse(nil, text)
	newer, err := r.more()
	return append(entries, newer...), err
}

// more returns the entries since the last call. A file that has become the older half is read to
// its end first.
func (r *reader) more() (entries []Entry, err error) {
	for {
		if r.file != nil {
			text, err := io.ReadAll(io.LimitReader(r.file, 2*maxFile))
			if err != nil {
				return nil, err
			}
			var found []Entry
			found, r.rest = parse(r.rest, text)
			entries = append(entries, found...)
			info, err := r.file.Stat()
			if err != nil {
				return nil, err
			}
			if now, err := os.Lstat(r.path); err != nil || os.SameFile(now, info) {
				return entries, nil //nolint:nilerr // without another file there is no more to read
			}
			r.close()
			r.file, r.rest = nil, nil
		}
		r.file, err = safefile.Open(r.path, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// parse reads the entries of whole lines, and returns the rest. A line without an entry is left
// out: it was written in part, when the disk was full.
func parse(rest, text []byte) (entries []Entry, left []byte) {
	text = append(rest, text...)
	for {
		line, after, ok := bytes.Cut(text, []byte{'\n'})
		if !ok {
			return entries, text
		}
		var e Entry
		if json.Unmarshal(line, &e) == nil && (e.Text != "" || e.End != "") {
			entries = append(entries, e)
		}
		text = after
	}
}

// Has reports whether a plugin of that name has a log.
func Has(dir, name string) bool {
	_, err := os.Lstat(path(dir, name))
	return err == nil
}
