package tmux

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/shim"
)

// TestQueriesAreShared asks a server that answers slowly where its windows are. The
// test sets PATH, so it can't be parallel.
func TestQueriesAreShared(t *testing.T) {
	dir := t.TempDir()
	// The third argument is the socket.
	script := "#!/bin/sh\necho >>" + dir + "/asked\nread line <" + dir + "$3\necho \"$line\"\necho \"$3\"\n"
	if err := buildtest.Write(filepath.Join(dir, "tmux"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "other"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(name string) {
		t.Helper()
		// This waits for the query.
		if err := os.WriteFile(filepath.Join(dir, name), []byte("1:2:%1:@1:1::id-1:now:name\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	s := new(newQueries(slog.New(slog.DiscardHandler)))
	h := handle{Worker: shim.Worker{ID: "id-1"}, Socket: "/one", Window: "@1", Pane: "%1", PanePID: 2, Session: "then", Name: "w"}
	first := s.of(t.Context(), h)
	if second := s.of(t.Context(), h); second != first {
		t.Error("two queries of one server are under way")
	}
	other := s.of(t.Context(), handle{Socket: "/other"})
	if other == first {
		t.Error("one query of two servers")
	}
	answer("one")
	answer("other")
	if got := first.where(t.Context(), h); got.Name != "now:name" {
		t.Errorf("where: %+v", got)
	}
	<-other.done
	later := s.of(t.Context(), h)
	if later == first {
		t.Error("a query that has ended was shared")
	}
	answer("one")
	<-later.done
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || len(asked) != 3 {
		t.Errorf("asked %d times, %v", len(asked), err)
	}
	if got := (*query)(nil).where(t.Context(), h); got.Name != "then:w" {
		t.Errorf("without a query: %+v", got)
	}
}
