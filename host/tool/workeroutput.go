package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// maxCharacters is the most that an answer holds of an output: what clients give to a
// model without cutting it themselves.
const maxCharacters = 30000

type WorkerOutputInput struct {
	Name   string `json:"name" jsonschema:"Name of the worker" schema:"min=1"`
	Cursor string `json:"cursor,omitempty" jsonschema:"cursor of the last answer, to read on"`
	Limit  int    `json:"limit,omitempty" jsonschema:"Characters, at most 30000" schema:"default=10000,over=0"`
	Grep   string `json:"grep,omitempty" jsonschema:"Regular expression: only lines that match"`
}

type WorkerOutputOutput struct {
	outcome
	Output   string `json:"output" jsonschema:"Its output, standard output and error merged, without terminal sequences"`
	Cursor   string `json:"cursor" jsonschema:"Cursor for the next call: where this output ends"`
	More     bool   `json:"more,omitempty" jsonschema:"There is more output already: call again with cursor"`
	Dropped  int64  `json:"dropped,omitempty" jsonschema:"Bytes before this output that are not in any answer: no longer kept, or older than what fits" schema:"number"`
	Status   string `json:"status,omitempty" jsonschema:"Status of the worker" schema:"enum=starting|running|stopped|lost|unknown"`
	ExitCode *int   `json:"exit_code,omitempty" jsonschema:"Exit code once it has ended" schema:"number"`
	failure
}

// text is the output, and in the last line how to read on.
func (out WorkerOutputOutput) text() string {
	if !out.Success {
		return ""
	}
	var b strings.Builder
	if out.Dropped > 0 {
		fmt.Fprintf(&b, "[%d bytes of older output are left out]\n", out.Dropped)
	}
	b.WriteString(strings.TrimRight(out.Output, "\n"))
	if strings.TrimRight(out.Output, "\n") == "" {
		b.WriteString("(no new output)")
	}
	fmt.Fprintf(&b, "\n[%s", out.Status)
	if out.ExitCode != nil {
		fmt.Fprintf(&b, ", exit code %d", *out.ExitCode)
	}
	if out.More {
		b.WriteString("; there is more already")
	}
	fmt.Fprintf(&b, "; cursor %s]", out.Cursor)
	return b.String()
}

var workerOutput = &definition[WorkerOutputInput, WorkerOutputOutput]{
	tool: Tool{
		Name:  "worker-output",
		Title: "Read a worker's output",
		Description: `Return the output of a worker: the newest part, or with cursor the part after it.
worker-wait waits for more.`,
		Set:        Workers,
		ReadOnly:   true,
		Idempotent: true,
	},
	run: runWorkerOutput,
}

func runWorkerOutput(ctx context.Context, h *host.Host, _ Env, in WorkerOutputInput) (WorkerOutputOutput, error) {
	cursors, problem := parseCursors(in.Cursor)
	if problem != "" {
		return WorkerOutputOutput{}, invalid("cursor", problem)
	}
	grep, err := pattern("grep", in.Grep)
	if err != nil {
		return WorkerOutputOutput{}, err
	}
	// The status is read before the output: nothing is written after an end.
	w, err := findWorker(ctx, h, in.Name)
	if err != nil {
		return WorkerOutputOutput{}, err
	}
	from, on := cursors[w.ID]
	if in.Cursor != "" {
		on, from.id = true, w.ID // that of an earlier incarnation is the beginning
	}
	from.id = w.ID
	r := newOutputReader(from, grep, min(in.Limit, maxCharacters), !on, w.Gone())
	err = h.Display().Logs(ctx, w.ID, swarm.OutputOptions{Since: from.at}, r.add)
	if err != nil && !errors.Is(err, errFull) {
		return WorkerOutputOutput{}, err
	}
	r.finish()
	out := WorkerOutputOutput{
		Output: r.text(), Cursor: r.end.String(), More: r.more, Dropped: r.lost + r.cut,
		Status: string(w.Status),
	}
	out.ExitCode, _ = exitOf(w)
	return out, nil
}

func pattern(field, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, invalid(field, err.Error())
	}
	return re, nil
}

// errFull ends a reading that has as much as was asked for.
var errFull = errors.New("enough was read")

// outputReader makes text of the pieces of an output.
type outputReader struct {
	*follower
	grep  *regexp.Regexp
	limit int
	// newest says to keep the newest part, not the oldest.
	newest bool
	// over says that the output is complete.
	over bool

	// shown is for the newest part, open for the part after a cursor.
	shown shownLines
	open  openLines
	// lines are whole lines, size how many characters they have.
	lines []string
	size  int
	// mixed says that a line was taken while a line of the other stream was open.
	mixed bool
	// end is behind the last line that was taken.
	end cursor
	// cut is how many bytes of lines were removed again.
	cut  int64
	more bool
}

func newOutputReader(from cursor, grep *regexp.Regexp, limit int, newest, over bool) *outputReader {
	r := &outputReader{follower: newFollower(from), grep: grep, limit: limit, newest: newest, over: over, open: openLines{}, end: from}
	r.shown.line = func(text string) { r.take(text) }
	return r
}

func (r *outputReader) add(o swarm.Output) error {
	before := r.cursor
	if !r.isNew(o) {
		return nil
	}
	if r.newest {
		r.shown.add(o)
		return nil
	}
	text := r.open.add(o)
	if o.Partial && utf8.RuneCountInString(text) < r.limit {
		return nil
	}
	delete(r.open, o.Stream)
	if !o.Partial {
		text += "\n"
	}
	if !r.take(text) {
		r.more, r.cursor = true, before
		return errFull
	}
	r.end, r.mixed = r.cursor, r.open.others(o.Stream)
	return nil
}

func (r *outputReader) take(text string) bool {
	if !r.wants(text) {
		return true
	}
	n := utf8.RuneCountInString(text)
	if !r.newest && r.size+n > r.limit {
		if r.size > 0 {
			return false
		}
		// One line is more than was asked for: its beginning, and how much is missing.
		runes := []rune(text)
		r.cut += int64(len(string(runes[r.limit:])))
		text, n = string(runes[:r.limit]), r.limit
	}
	r.lines = append(r.lines, text)
	r.size += n
	for r.newest && r.size > r.limit && len(r.lines) > 1 {
		r.cut += int64(len(r.lines[0]))
		r.size -= utf8.RuneCountInString(r.lines[0])
		r.lines = r.lines[1:]
	}
	return true
}

func (r *outputReader) wants(line string) bool {
	return r.grep == nil || screen.Matches(r.grep, []byte(line))
}

// finish adds unfinished lines, such as the question of a program, if there is nothing else
// to return, or if they will never be finished. Lines before the cursor are added in any
// case.
func (r *outputReader) finish() {
	if r.newest {
		r.shown.close()
		r.end = r.cursor
		return
	}
	if hold := r.more || !r.over && len(r.lines) > 0; len(r.open) > 0 && hold && !r.mixed {
		return
	}
	for _, stream := range []swarm.Stream{swarm.Stdout, swarm.Stderr} {
		if text := textOf(r.open[stream]); text != "" && r.wants(text) {
			r.lines = append(r.lines, text)
		}
	}
	if len(r.open) > 0 || !r.more {
		r.end = r.cursor
	}
}

// text returns the kept lines, or the newest part if one line is too long.
func (r *outputReader) text() string {
	text := strings.Join(r.lines, "")
	if over := utf8.RuneCountInString(text) - r.limit; over > 0 && r.newest {
		runes := []rune(text)
		r.cut += int64(len(string(runes[:over])))
		return string(runes[over:])
	}
	return text
}
