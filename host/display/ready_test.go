package display

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// talker is a backend whose one worker writes what it is given until it ends.
type talker struct {
	*client.Backend // nil: nothing else is asked for
	pieces          chan string

	mu     sync.Mutex
	screen []string
	looks  int
}

func (b *talker) Output(ctx context.Context, _ swarm.Handle, _ swarm.OutputOptions, each func(swarm.Output) error) error {
	for {
		select {
		case p, ok := <-b.pieces:
			if !ok {
				return nil
			}
			if err := each(piece(p)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b *talker) Screen(context.Context, swarm.Handle, swarm.ScreenOptions) (swarm.Screen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	if b.screen == nil {
		return swarm.Screen{}, swarm.ErrUnavailable
	}
	return swarm.Screen{Lines: b.screen}, nil
}

func (b *talker) looked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.looks
}

func (b *talker) shows(lines ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.screen = lines
}

// followWorker follows a worker with a screen, or without, in a bubble of time.
func followWorker(t *testing.T, screen bool, r ReadyRequest, act func(b *talker, over <-chan error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &talker{pieces: make(chan string)}
		p := &backend.Peer{Backend: b}
		p.Capabilities = []swarm.Capability{swarm.CapOutput}
		if screen {
			p.Capabilities = append(p.Capabilities, swarm.CapScreen)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		over := make(chan error, 1)
		go func() { over <- followReady(ctx, p, swarm.Handle{}, r) }()
		act(b, over)
	})
}

// still fails if the following has ended.
func still(t *testing.T, over <-chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-over:
		t.Errorf("it ended too early: %v", err)
	default:
	}
}

func TestReadyInOutput(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pattern string
		pieces  []string
	}{
		"a prompt without a newline": {"", []string{"starting", "\x1b[1m>\x1b[0m …"}},
		"a prompt in two pieces":     {"", []string{"sh-5…", ".2$ …"}},
		"on stderr":                  {"", []string{"!$ …"}},
		"a pattern":                  {`listening on \d+`, []string{"> …", "", "listening on port", "listening on 80"}},
	} {
		r := ReadyRequest{}
		if c.pattern != "" {
			r.Pattern = regexp.MustCompile(c.pattern)
		}
		followWorker(t, false, r, func(b *talker, over <-chan error) {
			for _, p := range c.pieces {
				still(t, over)
				b.pieces <- p
			}
			if err := <-over; err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
}

func TestReadyOnScreen(t *testing.T) {
	t.Parallel()
	followWorker(t, true, ReadyRequest{}, func(b *talker, over <-chan error) {
		still(t, over) // there is no screen yet
		b.pieces <- "> a line that scrolls by"
		b.shows("loading")
		time.Sleep(5 * time.Second)
		still(t, over)
		looks := b.looked()
		time.Sleep(20 * time.Second)
		if more := b.looked() - looks; more > 0 {
			t.Errorf("looked %d times at a screen of a silent worker", more)
		}
		b.shows("Select login method:", "> 1. Account")
		b.pieces <- "x"
		time.Sleep(5 * time.Second)
		still(t, over)
		// The screen is later than the output.
		b.pieces <- "x"
		time.Sleep(screenQuiet + time.Millisecond)
		b.shows("> ")
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// A worker that never stops drawing is looked at nevertheless, and not each time.
func TestReadyOfBusyWorker(t *testing.T) {
	t.Parallel()
	followWorker(t, true, ReadyRequest{}, func(b *talker, over <-chan error) {
		b.shows("| loading")
		for range 500 {
			b.pieces <- "\r/…"
			time.Sleep(10 * time.Millisecond)
		}
		if n := b.looked(); n < 10 || n > 30 {
			t.Errorf("looked %d times in 5 seconds", n)
		}
		b.shows("❯")
		for {
			select {
			case b.pieces <- "\r/…":
				time.Sleep(10 * time.Millisecond)
			case err := <-over:
				if err != nil {
					t.Error(err)
				}
				return
			}
		}
	})
}

// A pattern of the user's may be on the screen, or scroll by.
func TestReadyPatternWithScreen(t *testing.T) {
	t.Parallel()
	r := ReadyRequest{Pattern: regexp.MustCompile(`^up$`)}
	followWorker(t, true, r, func(b *talker, over <-chan error) {
		b.shows("> ")
		b.pieces <- "> "
		time.Sleep(5 * time.Second)
		still(t, over)
		b.pieces <- "up"
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	followWorker(t, true, r, func(b *talker, over <-chan error) {
		b.shows("up")
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

func TestReadyEnds(t *testing.T) {
	t.Parallel()
	for _, screen := range []bool{false, true} {
		followWorker(t, screen, ReadyRequest{}, func(b *talker, over <-chan error) {
			b.pieces <- "oops"
			close(b.pieces)
			if err := <-over; !errors.Is(err, swarm.ErrNotFound) {
				t.Errorf("after the end: %v", err)
			}
		})
		followWorker(t, screen, ReadyRequest{}, func(b *talker, over <-chan error) {
			if err := <-over; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after the time: %v", err)
			}
		})
	}
}

func piece(p string) swarm.Output {
	o := swarm.Output{Stream: swarm.Stdout}
	text, stderr := strings.CutPrefix(p, "!")
	if stderr {
		o.Stream = swarm.Stderr
	}
	text, o.Partial = strings.CutSuffix(text, "…")
	o.Data = []byte(text)
	return o
}

// Codex draws its prompt first, and its dialog after that, which takes longer on a busy
// machine.
func TestHalfDrawnPromptIsNoPrompt(t *testing.T) {
	profiles, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	codex := profiles.Named("codex")
	half := []string{"", "› Ask Codex to do anything", "", "  ? for shortcuts"}
	whole := []string{"", "› Ask Codex to do anything", "", "  gpt-5 default · ~/project", "  ? for shortcuts"}
	asks := []string{"  Trust this folder?", "", "› 1. Trust and continue", "  2. Back", "", "  enter continue · esc back"}
	type screen struct {
		at    time.Duration
		lines []string
		over  bool
	}
	for what, c := range map[string]struct {
		screens []screen
		state   profile.State
	}{
		"a dialog after it":       {[]screen{{0, half, false}, {3 * time.Second, half, false}, {3100 * time.Millisecond, asks, false}, {3500 * time.Millisecond, asks, true}}, profile.Blocked},
		"the whole prompt":        {[]screen{{0, half, false}, {time.Second, whole, false}, {1500 * time.Millisecond, whole, true}}, profile.Idle},
		"a prompt without a line": {[]screen{{0, half, false}, {3900 * time.Millisecond, half, false}, {4 * time.Second, half, true}}, profile.Idle},
	} {
		start, begin := startState{profile: codex}, time.Now()
		for _, s := range c.screens {
			if over := start.over(profile.Screen{Lines: s.lines}, begin.Add(s.at)); over != s.over {
				t.Errorf("%s: after %v: %v, want %v", what, s.at, over, s.over)
			}
		}
		if start.look.State != c.state {
			t.Errorf("%s: %+v", what, start.look)
		}
	}
}

// A program that takes long to draw anything may draw its dialog in parts, and a part may
// look like a prompt. Only how long that part is there counts.
func TestPartOfDialogIsNoPrompt(t *testing.T) {
	profiles, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	start := startState{profile: profiles.Named("claude")}
	begin := time.Now()
	screens := []struct {
		at    time.Duration
		lines []string
		over  bool
	}{
		{0, nil, false},
		{10 * time.Second, []string{"Some new words of this program", "❯ "}, false},
		{11 * time.Second, []string{"Some new words of this program", "❯ "}, false},
		{12 * time.Second, nil, false},
		{20 * time.Second, []string{"Some new words of this program", "❯ "}, false},
		{20*time.Second + unknownFor, []string{"Some new words of this program", "❯ "}, true},
	}
	for _, s := range screens {
		if over := start.over(profile.Screen{Lines: s.lines}, begin.Add(s.at)); over != s.over {
			t.Errorf("after %v with %q: %v, want %v", s.at, s.lines, over, s.over)
		}
	}
}
