package ralph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
)

// ClockFormat is the format of times of a loop for people: local, with the zone.
const ClockFormat = "2006-01-02 15:04:05 MST"

// The events of iterations.log.
const (
	eventStart   = "START"
	eventEnd     = "END"
	eventFail    = "FAIL"
	eventTimeout = "TIMEOUT"
	eventDone    = "DONE"
	eventPause   = "PAUSE"
	eventResume  = "RESUME"
	eventStop    = "STOP"
	eventWarn    = "WARN"
	eventError   = "ERROR"
	eventFatal   = "FATAL"
	eventLimit   = "LIMIT"
)

// LogPath returns where the log of a loop's iterations is.
func (s Store) LogPath(name string) string { return filepath.Join(s.Dir(name), logFile) }

// Tail returns the last n lines of a loop's log, all for n < 0. The error is
// fs.ErrNotExist if nothing was logged yet.
func (s Store) Tail(name string, n int) ([]string, error) {
	f, err := s.openLog(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	in := bufio.NewScanner(f)
	for in.Scan() {
		if lines = append(lines, in.Text()); n >= 0 && len(lines) > n {
			lines = lines[1:]
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return lines, nil
}

// openLog opens the log of a loop where it begins, behind that of earlier loops of the name. The error
// is fs.ErrNotExist if nothing was logged yet.
func (s Store) openLog(name string) (*os.File, error) {
	f, err := safefile.Open(s.LogPath(name), 0)
	if err != nil {
		return nil, err
	}
	// With a damaged state the whole file is shown, and so is one that is shorter than the logs before it.
	st, _ := s.Load(name)
	size := s.logSize(name)
	if st.LogBegins == 0 || st.LogBegins > size {
		return f, nil
	}
	if st.LogBegins == size {
		return nil, errors.Join(fs.ErrNotExist, f.Close())
	}
	if _, err := f.Seek(st.LogBegins, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (s Store) logSize(name string) int64 {
	info, err := os.Lstat(s.LogPath(name))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

func (s Store) append(name, event, text string, now time.Time) error {
	f, err := safefile.Append(s.LogPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s [%s] %s\n", now.Local().Format(time.RFC3339), event, strings.ReplaceAll(text, "\n", " "))
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// touch notes that the agent has just written something.
func (s Store) touch(name string, now time.Time) {
	path := filepath.Join(s.Dir(name), outputFile)
	if err := os.Chtimes(path, now, now); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	// The first writer creates it; without the folder the loop is gone.
	if f, err := safefile.Append(path); err == nil {
		f.Close()
	}
}

// LastOutput returns when the agent of a loop wrote last, to the second; zero if
// it never did.
func (s Store) LastOutput(name string) time.Time {
	fi, err := os.Stat(filepath.Join(s.Dir(name), outputFile))
	if err != nil {
		return time.Time{}
	}
	return fi.ModTime()
}
