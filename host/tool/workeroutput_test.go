package tool

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// piecesOf is what a backend gives of a log from a time on.
func piecesOf(log []swarm.Output, since time.Time, each func(swarm.Output) error) error {
	for _, o := range log {
		if o.Time.Before(since) {
			continue
		}
		if err := each(o); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads a log with cursors, in answers of so many characters, and returns what
// each had.
func readAll(t *testing.T, log []swarm.Output, limit int, over bool) (answers []string, dropped int64) {
	t.Helper()
	from := cursor{id: "w"}
	for range 100 {
		r := newOutputReader(from, nil, limit, false, over)
		if err := piecesOf(log, from.at, r.add); err != nil && !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		r.finish()
		if text := r.text(); text != "" {
			answers = append(answers, text)
		}
		dropped += r.lost + r.cut
		cursors, problem := parseCursors(r.end.String())
		if problem != "" {
			t.Fatal(problem)
		}
		from = cursors["w"]
		if !r.more {
			return answers, dropped
		}
	}
	t.Fatal("there is always more")
	return nil, 0
}

// With cursors every line is read once, whatever was written at the same time.
func TestOutputPages(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	var log []swarm.Output
	want := ""
	for i := range 50 {
		o := swarm.Output{Time: now.Add(time.Duration(i/7) * time.Second), Stream: swarm.Stdout, Data: fmt.Appendf(nil, "line %d", i)}
		log = append(log, o)
		want += string(o.Data) + "\n"
	}
	for _, limit := range []int{8, 9, 30, 1000} {
		answers, dropped := readAll(t, log, limit, true)
		if diff := cmp.Diff(want, strings.Join(answers, "")); diff != "" || dropped != 0 {
			t.Errorf("with %d characters, %d dropped (-want +got):\n%s", limit, dropped, diff)
		}
		for _, a := range answers {
			if len(a) > limit {
				t.Errorf("%d characters, want at most %d: %q", len(a), limit, a)
			}
		}
	}
	log[0].Dropped = 77
	if _, dropped := readAll(t, log, 30, true); dropped != 77 {
		t.Errorf("%d bytes dropped, want 77", dropped)
	}
}

// A line that continues is read when it has ended, or when there is nothing else.
func TestOutputOpenLine(t *testing.T) {
	t.Parallel()
	at := func(i int) time.Time { return time.Unix(int64(i), 0) }
	log := []swarm.Output{
		{Time: at(1), Stream: swarm.Stdout, Data: []byte("one")},
		{Time: at(2), Stream: swarm.Stdout, Data: []byte("name? "), Partial: true},
	}
	read := func(from cursor, over bool) (string, cursor) {
		r := newOutputReader(from, nil, 100, false, over)
		if err := piecesOf(log, from.at, r.add); err != nil {
			t.Fatal(err)
		}
		r.finish()
		return r.text(), r.end
	}
	first, c := read(cursor{id: "w"}, false)
	second, after := read(c, false)
	if first != "one\n" || second != "name? " {
		t.Errorf("%q, then %q", first, second)
	}
	if ended, _ := read(c, true); ended != "name? " {
		t.Errorf("at the end %q", ended)
	}
	log = append(log, swarm.Output{Time: at(2), Stream: swarm.Stdout, Data: []byte("bob")})
	if whole, _ := read(c, false); whole != "name? bob\n" {
		t.Errorf("the whole line is %q", whole)
	}
	if rest, _ := read(after, false); rest != "bob\n" {
		t.Errorf("the rest is %q", rest)
	}
	// A line of the other stream does not make it wait without end, or be lost.
	log = append(log[:2], swarm.Output{Time: at(3), Stream: swarm.Stderr, Data: []byte("oops")})
	if both, _ := read(cursor{id: "w"}, false); both != "one\noops\nname? " {
		t.Errorf("both streams: %q", both)
	}
}

// A line that is longer than an answer is cut, and that is said.
func TestOutputLongLine(t *testing.T) {
	t.Parallel()
	log := []swarm.Output{{Time: time.Unix(1, 0), Stream: swarm.Stdout, Data: []byte(strings.Repeat("ü", 100))}}
	answers, dropped := readAll(t, log, 10, true)
	if diff := cmp.Diff([]string{strings.Repeat("ü", 10)}, answers); diff != "" || dropped != 181 {
		t.Errorf("%d bytes dropped (-want +got):\n%s", dropped, diff)
	}
	r := newOutputReader(cursor{id: "w"}, nil, 10, true, true)
	if err := piecesOf(log, time.Time{}, r.add); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if text := r.text(); text != strings.Repeat("ü", 9)+"\n" || r.cut != 182 {
		t.Errorf("the newest part: %q, %d bytes cut", text, r.cut)
	}
}

// The newest output is what a terminal shows: what was overwritten is not in it.
func TestOutputOfTerminal(t *testing.T) {
	t.Parallel()
	log := []swarm.Output{
		{Time: time.Unix(1, 0), Stream: swarm.Stdout, Data: []byte("10%\r20%\r99%\r\x1b[31mdone\x1b[0m\r")},
		{Time: time.Unix(2, 0), Stream: swarm.Stdout, Data: []byte("finished\x1b[26Gnow.\r")},
	}
	r := newOutputReader(cursor{id: "w"}, nil, 1000, true, true)
	if err := piecesOf(log, time.Time{}, r.add); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if got, want := r.text(), "done\nfinished                 now.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
