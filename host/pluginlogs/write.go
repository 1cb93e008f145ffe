package pluginlogs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
)

const (
	// folder is the directory of the logs, in a state directory.
	folder = "plugin-logs"
	// older is what is added to the name of a log for the older half of it.
	older = ".1"
	// maxFile is how large a file grows, in bytes, before it becomes the older half.
	maxFile = 512 << 10
	// maxText is how much text an entry has, in bytes. A longer line is kept in several entries.
	maxText = 32 << 10
)

// Run is the life of one process of a plugin.
type Run struct {
	PID   int       `json:"pid"`
	Began time.Time `json:"began"`
	// Command is the command of swarm that started it, without its arguments, which may hold
	// secrets; empty if it is unknown.
	Command string `json:"command,omitempty"`
}

// Entry is something that a plugin said, or the end of its run.
type Entry struct {
	Run
	Time time.Time `json:"time"`
	// Text is one line or more, without the last newline.
	Text string `json:"text,omitempty"`
	// End says how the run ended, such as "exit status 3"; empty if the entry has text.
	End string `json:"end,omitempty"`
}

// Writer keeps what one process of a plugin says. Its methods may be called concurrently. A log
// that can't be written is left out: no call of a user fails for that.
type Writer struct {
	// Dir is the state directory, absolute; Plugin is the plugin's name.
	Dir, Plugin string

	mu  sync.Mutex
	run Run
	// rest is the beginning of a line.
	rest []byte
	said bool
}

// Begin sets which process writes.
func (w *Writer) Begin(r Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run = r
}

// Write keeps the lines that p completes. It never fails.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	if end := bytes.LastIndexByte(w.rest, '\n'); end >= 0 {
		w.keep(w.rest[:end])
		w.rest = append(w.rest[:0], w.rest[end+1:]...)
	}
	if len(w.rest) >= maxText {
		w.keep(w.rest)
		w.rest = w.rest[:0]
	}
	return len(p), nil
}

// End records how the run ended, if the plugin has said anything.
func (w *Writer) End(how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.keep(w.rest)
		w.rest = nil
	}
	if w.said {
		w.append(Entry{Run: w.run, Time: time.Now().UTC(), End: how})
	}
}

// keep appends text in entries that are not too large. w.mu is held.
func (w *Writer) keep(text []byte) {
	for len(text) > 0 {
		n := min(len(text), maxText)
		if line := bytes.LastIndexByte(text[:n], '\n'); n < len(text) && line > 0 {
			n = line
		}
		if line := bytes.Trim(text[:n], "\n"); len(line) > 0 {
			w.append(Entry{Run: w.run, Time: time.Now().UTC(), Text: string(line)})
			w.said = true
		}
		text = text[n:]
	}
}

// append adds an entry with one write, which the system adds at the end of the file whatever other
// hosts write at the same time. The file is opened each time, since another host may have
// moved it. w.mu is held.
func (w *Writer) append(e Entry) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	file := path(w.Dir, w.Plugin)
	f, err := safefile.Append(file)
	if errors.Is(err, fs.ErrNotExist) && os.Mkdir(filepath.Dir(file), 0o700) == nil {
		f, err = safefile.Append(file)
	}
	if err != nil {
		return
	}
	if info, err := f.Stat(); err == nil && info.Size()+int64(len(line)) > maxFile && rotate(file, info) {
		_ = f.Close()
		if f, err = safefile.Append(file); err != nil {
			return
		}
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// rotate makes a file the older half of its log, unless another host does or has done that.
func rotate(file string, full fs.FileInfo) bool {
	lock, err := safefile.LockDir(filepath.Dir(file), safefile.Exclusive|safefile.NoWait)
	if err != nil {
		return false
	}
	defer lock.Close()
	now, err := os.Lstat(file)
	if err != nil || !os.SameFile(now, full) {
		return true
	}
	return os.Rename(file, file+older) == nil
}

func path(dir, name string) string { return filepath.Join(dir, folder, filepath.Base(name)+".log") }
