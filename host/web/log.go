package web

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/wake"
)

type logView struct {
	server *Server
	tab    string
	// more gets a value when there is more to send.
	more chan struct{}

	follower *dash.Follower
	running  sync.WaitGroup
	cancel   context.CancelFunc
	// lines are those that the browser has, the first of which is the one with the number
	// first of all that the worker wrote.
	lines []dash.Line
	first int
	over  bool
	// screen is what the browser has of a screen.
	screen []string
	// earlier is how many lines there are before those that the follower read, as far as they
	// were counted, and known how many the browser knows of.
	earlier atomic.Int64
	known   int64
}

// send sends what is new of the worker with that id. A worker that was started again has
// another id, and begins anew.
func (f *logView) send(ctx context.Context, out *stream, id string) error {
	if f.tab != "log" && f.tab != "screen" {
		return nil
	}
	if f.follower == nil || f.follower.ID != id {
		f.begin(ctx, id)
		if err := out.json("begin", id); err != nil {
			return err
		}
	}
	over, err := f.follower.Over()
	if f.tab == "screen" {
		return f.sendScreen(out)
	}
	if err := f.sendLines(out); err != nil {
		return err
	}
	if n := f.earlier.Load(); n != f.known {
		f.known = n
		if err := out.json("earlier", n); err != nil {
			return err
		}
	}
	if over && !f.over {
		f.over = true
		why := ""
		if err != nil {
			why = err.Error()
		}
		return out.json("over", string(paint(why)))
	}
	return nil
}

func (f *logView) begin(ctx context.Context, id string) {
	f.stop()
	ctx, cancel := context.WithCancel(ctx)
	f.cancel, f.lines, f.first, f.over, f.screen, f.known = cancel, nil, 0, false, nil, 0
	f.earlier.Store(0)
	f.follower = dash.Follow(f.server.opts.Host, id, func() { wake.Up(f.more) })
	if f.tab == "log" {
		f.running.Go(func() {
			if n, err := earlierThanRead(ctx, f.server.opts.Host, id); err == nil {
				f.earlier.Store(int64(n))
				wake.Up(f.more)
			}
		})
	}
	f.follower.Look(f.tab == "screen")
	follower := f.follower
	f.running.Go(func() { follower.Run(ctx) })
}

// earlierThanRead returns how many lines of a worker's output there are before those that a
// [dash.Follower] reads. It reads the whole output, so it may take a moment.
func earlierThanRead(ctx context.Context, from dash.Reader, id string) (int, error) {
	n := 0
	err := from.Logs(ctx, id, swarm.OutputOptions{}, func(o swarm.Output) error {
		if !o.Partial {
			n++
		}
		return nil
	})
	return max(0, n-dash.LinesRead), err
}

func (f *logView) stop() {
	if f.cancel != nil {
		f.cancel()
	}
	f.running.Wait()
}

// piece is what a browser gets of a log: From is the number of the first of the Lines,
// which take the place of those that the browser has from there on. Skipped is how many
// lines before them were left out.
type piece struct {
	From    int      `json:"from"`
	Skipped int      `json:"skipped"`
	Lines   []string `json:"lines"`
}

func (f *logView) sendLines(out *stream) error {
	lines, first := f.follower.Output()
	if len(f.lines) == 0 {
		f.first = first // what comes before is sent as a whole, not as a gap
	}
	p, ok := difference(f.lines, f.first, lines, first)
	f.lines, f.first = lines, first
	if !ok {
		return nil
	}
	return out.json("log", p)
}

// difference returns what has to be sent to a browser that has some lines and shall have
// others; ok is false if they are the same.
func difference(old []dash.Line, oldFirst int, lines []dash.Line, first int) (p piece, ok bool) {
	end := oldFirst + len(old)
	p.From = max(first, oldFirst)
	if p.From > end {
		p.Skipped = p.From - end
	} else {
		for p.From < end && p.From < first+len(lines) && old[p.From-oldFirst] == lines[p.From-first] {
			p.From++
		}
	}
	fresh := lines[min(p.From-first, len(lines)):]
	if len(fresh) == 0 && p.From == end {
		return p, false
	}
	p.Lines = make([]string, len(fresh))
	for i, line := range fresh {
		p.Lines[i] = lineOf(line)
	}
	return p, true
}

// levels are what lines of logs say of themselves, the worst first.
var levels = []struct {
	name  string
	match *regexp.Regexp
}{
	{"error", regexp.MustCompile(`(?i)\b(error|fatal|panic|critical|exception|traceback)\b`)},
	{"warn", regexp.MustCompile(`(?i)\bwarn(ing)?\b`)},
}

// levelBytes is how much of a line is looked at for its level.
const levelBytes = 300

func lineOf(line dash.Line) string {
	text := ansi.Strip(line.Text[:min(len(line.Text), levelBytes)])
	var classes []string
	for _, l := range levels {
		if l.match.MatchString(text) {
			classes = append(classes, l.name)
			break
		}
	}
	if line.Stream == swarm.Stderr {
		classes = append(classes, "stderr")
	}
	tag := "<div"
	if len(classes) > 0 {
		tag += ` class="` + strings.Join(classes, " ") + `"`
	}
	if !line.Time.IsZero() {
		tag += line.Time.Local().Format(` data-at="15:04:05"`)
	}
	return tag + ">" + string(paint(line.Text)) + "</div>"
}

func (f *logView) sendScreen(out *stream) error {
	lines, ok := f.follower.Screen()
	if !ok || f.screen != nil && slices.Equal(lines, f.screen) {
		return nil
	}
	f.screen = lines
	painted := make([]string, len(lines))
	for i, line := range lines {
		painted[i] = string(paint(line))
	}
	return out.json("screen", strings.Join(painted, "\n"))
}

// serveText answers with all output that is kept, byte for byte.
func (s *Server) serveText(w http.ResponseWriter, r *http.Request) {
	i, ok := s.find(w, r)
	if !ok {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", i.Name+".log"))
	out := &stream{w: w, r: r, c: http.NewResponseController(w), end: s.end}
	err := s.opts.Host.Logs(r.Context(), i.ID, swarm.OutputOptions{}, func(o swarm.Output) error {
		data := o.Data
		if !o.Partial {
			data = append(slices.Clip(data), '\n')
		}
		return out.put(data)
	})
	if err != nil {
		s.opts.Logger.Debug("a download has ended early", "worker", i.Name, "error", err)
	}
}
