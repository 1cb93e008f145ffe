package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/compare"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

var showNow = time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)

func details() host.Details {
	memory, cpu := int64(3<<20), 12*time.Second
	d := host.Details{Worker: jsontest.Full(), Profile: "claude", RunDir: "/s/workers/k3x9", Screen: true}
	d.Worker.Options = map[string]string{"session": "s", "socket": "k"}
	d.Figures = stats.Figures{Worker: d.Worker, Stats: &swarm.Stats{Memory: &memory, Usage: swarm.Usage{CPUTime: &cpu}}}
	d.Changes = &compare.Changes{Files: 2, Added: 12, Removed: 3, Ahead: new(2), Behind: new(1)}
	d.Log = &statedir.Log{Bytes: 2048, DroppedBytes: 4096, DroppedLines: 7}
	d.Processes = []proc.Process{{Identity: proc.Identity{PID: 12}, Name: "sh", Parent: 11}, {Identity: proc.Identity{PID: 13}, Name: "ev\x1bil", Parent: 12}}
	d.Events = []registry.Event{{Time: showNow.Add(-time.Minute), Kind: history.Failed, Text: "exit status 3"}}
	d.Lines = []string{"a\x1b[2Jb", strings.Repeat("long ", 40)}
	return d
}

func TestShowFollowsTheSchema(t *testing.T) {
	t.Parallel()
	a := &app.App{Env: []string{"SWARM_DIR=/s"}}
	worker, show := jsontest.ReadSchema(t, "worker"), jsontest.ReadSchema(t, "show")
	for _, d := range []host.Details{details(), {Worker: empty()}} {
		text := jsontest.Compact(t, ShowJSONIn(a, d))
		if strings.Contains(text, "SECRET=1") {
			t.Errorf("a value of the environment is shown: %s", text)
		}
		var all map[string]any
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		known := worker["properties"].(map[string]any)
		parts := [2]map[string]any{{}, {}}
		for name, value := range all {
			switch name {
			case "stats":
				for _, problem := range jsontest.Violations("stats", jsontest.ReadSchema(t, "stats"), value) {
					t.Error(problem)
				}
				value = map[string]any{}
			case "options": // any name
				value = map[string]any{}
			}
			part := 1
			if known[name] != nil {
				part = 0
			}
			parts[part][name] = value
		}
		for _, problem := range append(jsontest.Violations("worker", worker, parts[0]), jsontest.Violations("show", show, parts[1])...) {
			t.Error(problem)
		}
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	d := details()
	d.Worker.Started, d.Worker.Ended, d.Worker.Completion = time.Time{}, time.Time{}, nil // local times
	d.Worker.Restart = swarm.Restart{When: swarm.RestartOnFailure, MinDelay: time.Second, MaxDelay: time.Minute, Budget: 3, Window: time.Minute}
	want := `? w.1  lost, 1 alive

  Command      sh -c 'echo <&>'
  Directory    /r-worktrees/w.1
  Environment  SECRET
  Backend      tmux
  Tmux window  s:w.1
  Settings     session=s socket=k
  Worktree     /r-worktrees/w.1
  Branch       w.1
  Changes      +12 -3 in 2 files, see
               'swarm diff w.1'
  Commits      2 ahead, 1 behind
  Tags         a b
  Agent        claude: asks: Proceed? (1
               Yes), shows an error: API
               Error
  Team         crew agent-a1b2c3
  Project      /r/swarm.toml

  Exit         exit 3, detail
  Reason       shim died
  Still alive  sleep (pid 13)
  Maybe alive  sh (pid 12), since
               2026-01-02 02:04:05 (1h
               ago)
  Restart      on-failure, after 1s to
               1m; at most 3 within 1m; 2
               so far
  Limits       2.0GiB of memory, 1.5
               CPUs, 500 processes, I/O
               weight 50, as far as
               possible
  Unenforced   the limit of I/O weight
               can't be enforced
  Sandbox      home /h, no network,
               writes /data
  Kill         SIGINT, 1.5s, then
               SIGKILL; the main process
               first
  Retention    until-clean
  Owner        pid 7; the worker is
               killed when it ends
  Input        open for 'swarm send'

  Id           k3x9
  Earlier ids  k3x8
  Files        /s/workers/k3x9
  Log          2.0KiB; 4.0KiB of older
               output dropped (7 lines)

  CPU          12.0s in all
  Memory       3.0MiB now

Processes
  12 sh
    13 ev\x1bil

Last events
    1m ago  FAILED: exit status 3

Screen
  | a\x1b[2Jb
  | long long long long long long long l~`
	lines := Page(Look{Width: 41, Plain: true}, d, showNow)
	if diff := cmp.Diff(strings.Split(want, "\n"), lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range lines {
		if output.Columns(line) > 41 {
			t.Errorf("too wide: %q", line)
		}
	}
	for _, line := range Page(Look{Colours: true}, d, showNow) {
		for _, own := range []output.Style{output.Bold, output.Faint, output.Red} {
			line = strings.ReplaceAll(line, "\x1b["+string(own)+"m", "")
		}
		if strings.Contains(strings.ReplaceAll(line, "\x1b[0m", ""), "\x1b") {
			t.Errorf("an escape sequence of others: %q", line)
		}
	}
}

// TestPlaceDetails: what a backend says about a place is shown once.
func TestPlaceDetails(t *testing.T) {
	t.Parallel()
	container := swarm.Where{Kind: "container", Name: "swarm-w", ID: "0123456789abcdef", Parts: map[string]string{
		"container": "0123456789ab", "name": "swarm-w", "engine": "unix:///e.sock",
	}}
	for _, test := range []struct {
		where    swarm.Where
		settings map[string]string
		want     string
	}{
		{want: ""},
		{where: container, want: "engine=unix:///e.sock id=0123456789abcdef"},
		{where: swarm.Where{Name: "s:w", Parts: map[string]string{"socket": "k", "pane": "%1"}}, settings: map[string]string{"socket": "k"}, want: "pane=%1"},
	} {
		if got := placeDetails(test.where, test.settings); got != test.want {
			t.Errorf("placeDetails(%v) = %q, want %q", test.where, got, test.want)
		}
	}
}
