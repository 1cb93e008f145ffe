package ssh

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// far is an ssh that runs the command on this machine, in another home directory.
const far = `case " $* " in *" -G "*) exit;; esac
export HOME="$DIR/far"; mkdir -p "$HOME"; cd "$HOME"
for last; do :; done
`

// linkOf returns a link to a host whose ssh is far and script, and the home directory there.
func linkOf(t *testing.T, script string) (l *link, home string) {
	t.Helper()
	c, dir := clientOf(t, far+script)
	c.config.ConnectTimeout, c.config.Programs = 60, filepath.Join(dir, "programs")
	if err := os.Mkdir(c.config.Programs, 0o700); err != nil {
		t.Fatal(err)
	}
	// The program over there notes what it was called with.
	for name, text := range map[string]string{
		remote.Program: "#!/bin/sh\necho \"$@\" >\"$HOME/called\"; ls \"${0%/*}\" >>\"$HOME/called\"\n",
		remote.Shim:    strings.Repeat("a shim ", 1<<19),
	} {
		if err := buildtest.Write(filepath.Join(c.config.Programs, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return &link{client: c, log: slog.New(slog.DiscardHandler), life: t.Context()}, filepath.Join(dir, "far")
}

// TestCopy copies the programs, compressed where that works.
func TestCopy(t *testing.T) {
	t.Parallel()
	const counted = `tee "$DIR/sent" | `
	for name, test := range map[string]struct {
		script     string
		compressed bool
	}{
		"with gzip":    {counted + `sh -c "$last"`, true},
		"without gzip": {`last=$(echo "$last" | sed 's/command -v gzip/command -v no-gzip/'); ` + counted + `sh -c "$last"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, home := linkOf(t, test.script)
			if err := l.copy(t.Context(), set{dir: l.client.config.Programs, hash: "the-hash"}); err != nil {
				t.Fatal(err)
			}
			called, err := os.ReadFile(filepath.Join(home, "called"))
			if err != nil || string(called) != "install the-hash\nswarm-remote\nswarm-shim\n" {
				t.Errorf("swarm-remote was called with %q, %v", called, err)
			}
			sent, err := os.Stat(filepath.Join(home, "../sent"))
			if err != nil || (sent.Size() < 1<<20) != test.compressed {
				t.Errorf("sent: %+v, %v", sent, err)
			}
			if text := l.copied.text(); text != "" {
				t.Errorf("after the copy: %q", text)
			}
		})
	}
}

// TestBrokenCopy breaks the connection in a copy: nothing is left over there, and the caller
// learns how far it came.
func TestBrokenCopy(t *testing.T) {
	t.Parallel()
	for name, hangup := range map[string]bool{"the end of the input": false, "a hangup": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testBrokenCopy(t, hangup)
		})
	}
}

func testBrokenCopy(t *testing.T, hangup bool) {
	t.Helper()
	// A pipe holds less than is sent.
	l, home := linkOf(t, `last=$(echo "$last" | sed 's/command -v gzip/command -v no-gzip/; s/umask 077;/umask 077; echo $$ >"$DIR\/shell";/')
{ head -c 100000; : >"$DIR/begun"; while [ ! -e "$DIR/broken" ]; do sleep 0.05; done; } | sh -c "$last"`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	copied := make(chan error, 1)
	go func() { copied <- l.copy(ctx, set{dir: l.client.config.Programs, hash: "the-hash"}) }()
	until(t, func() bool {
		_, err := os.Stat(filepath.Join(home, "../begun"))
		return err == nil
	})
	if got := l.copied.text(); got != "0 of 4 MiB" {
		t.Errorf("progress: %q", got)
	}
	left := func() []string {
		paths, err := filepath.Glob(filepath.Join(home, ".swarm-remote/bin/*"))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	until(t, func() bool { return len(left()) == 1 })
	if hangup {
		text, err := os.ReadFile(filepath.Join(home, "../shell"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "../broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-copied; !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("copy: %v", err)
	}
	until(t, func() bool { return len(left()) == 0 })
}

// until waits for a condition.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it did not come true within a minute")
		}
	}
}
