package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestConcurrentGetsShareOneProcess(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	clients := make([]*client.Client, 20)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { clients[i], _ = s.Get(t.Context(), entry("serve")) })
	}
	wg.Wait()
	for i, c := range clients {
		if c == nil || c != clients[0] {
			t.Fatalf("caller %d has client %p, the first has %p", i, c, clients[0])
		}
	}
	if got := len(s.all()); got != 1 {
		t.Errorf("%d processes", got)
	}
	if info := clients[0].Info(); info.Name != "test" || info.Version != "1.2.3" || info.Kind != client.KindBackend {
		t.Errorf("Info = %+v", info)
	}
}

func TestEntriesThatDifferGetTheirOwnProcess(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := entry("config")
	e.Config = map[string]any{"color": "red"}
	if get(t, s, e) == get(t, s, entry("config")) {
		t.Error("a plugin with settings and one without share a process")
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	var pids []int
	for _, arg := range []string{"a", "b", "c"} {
		pids = append(pids, pid(t, s, get(t, s, entry("serve", arg))))
	}
	s.Close()
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("plugin %d is still there", pid)
		}
	}
	left, err := os.ReadDir(s.sockets.path)
	if err != nil || len(left) > 0 {
		t.Errorf("socket directories left: %v, %v", left, err)
	}
	if _, err := s.Get(t.Context(), entry("serve")); !errors.Is(err, ErrClosed) {
		t.Errorf("Get after Close: %v", err)
	}
}

func TestRestartOnceForAll(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := entry("serve")
	old := get(t, s, e)
	_, err := old.Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("crash")})
	if !errors.Is(err, client.ErrPluginGone) {
		t.Fatalf("Status of a plugin that dies: %v", err)
	}
	died := s.Died(t.Context(), old)
	if want := "plugin 'test' crashed in a call (signal: killed): fatal error: a wire came loose"; died == nil || died.Error() != want {
		t.Errorf("Died = %v, want %s", died, want)
	}
	if !errors.Is(died, client.ErrPluginGone) {
		t.Error("a crash is not ErrPluginGone")
	}

	clients := make([]*client.Client, 10)
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { clients[i], _ = s.Restart(t.Context(), e, old) })
	}
	wg.Wait()
	for _, c := range clients {
		if c == nil || c == old || c != clients[0] {
			t.Fatalf("clients after the restart: %v", clients)
		}
	}
	st, err := clients[0].Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("x")})
	if err != nil || st.PID != pid(t, s, clients[0]) {
		t.Errorf("Status after the restart: %+v, %v", st, err)
	}
}

func TestPluginGetsACleanPlace(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Env = append(o.Env, "PLUGIN_CLIENT_CERT=junk", "PLUGIN_MULTIPLEX_GRPC=true", "PLUGIN_UNIX_SOCKET_DIR=/nowhere",
		"PLUGIN_PATH=mine", "SWARM_TOKEN=secret", "SWARM_SHIM=x", "SWARM_PLUGIN_DEATH_FD=9", "HOME=/home/me")
	s := New(o)
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "facts")
	get(t, s, entry("facts", path))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		facts[k] = v
	}
	for key, want := range map[string]string{
		"PLUGIN_CLIENT_CERT": "", "PLUGIN_MULTIPLEX_GRPC": "", "SWARM_TOKEN": "", "SWARM_SHIM": "",
		"PLUGIN_PATH": "mine", "HOME": "/home/me", "SWARM_PLUGIN_DEATH_FD": "3",
		"wd": "/", "stdin": "/dev/null", "leader": "true",
	} {
		if got := facts[key]; got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if dir := facts["PLUGIN_UNIX_SOCKET_DIR"]; filepath.Dir(dir) != s.sockets.path {
		t.Errorf("socket directory %s is not in %s", dir, s.sockets.path)
	}
}

func TestMTLS(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := entry("serve")
	e.MTLS = true
	c := get(t, s, e)
	if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1}); err != nil {
		t.Errorf("Status over mTLS: %v", err)
	}
}

func TestGetEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx, entry("hangs")); !errors.Is(err, context.Canceled) {
		t.Errorf("Get = %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Get(ctx, entry("hangs", "too"))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "plugin 'test' was not ready after ") {
		t.Errorf("Get = %v", err)
	}
}

// Spawn a process that has the plugin's standard error, and see that it holds up
// nothing.
func TestHeirOfStderrDoesNotBlockClose(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	c := get(t, s, entry("serve"))
	h, err := c.Backend().Spawn(t.Context(), swarm.Spec{ID: "a", Name: "a", Command: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	heir, err := strconv.Atoi(string(h.Data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(heir, syscall.SIGKILL) })
	within(t, "Close", s.Close)
	if !alive(heir) {
		t.Error("the heir is gone: the test proves nothing")
	}
}

func TestStartIsForTheGetThatFollows(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := entry("serve")
	s.Start(e)
	s.mu.Lock()
	for _, sl := range s.slots {
		select {
		case <-sl.begun:
		default:
			t.Error("Start returned before the process ran")
		}
	}
	s.mu.Unlock()
	eventually(t, "the plugin runs", bound, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, sl := range s.slots {
			select {
			case <-sl.done:
				return sl.err == nil
			default:
			}
		}
		return false
	})
	get(t, s, e)
	if got := len(s.all()); got != 1 {
		t.Errorf("%d processes", got)
	}
}
