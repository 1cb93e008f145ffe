package view

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/swarm"
)

// empty is a worker about which as little is known as can be.
func empty() worker.Worker {
	return worker.Worker{Spec: registry.Spec{ID: "k3x9", Name: "w", Backend: "x", Retain: "until-clean"}, Status: worker.StatusUnknown}
}

func signalled() worker.Worker {
	w := empty()
	w.Exit = &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled}
	return w
}

func TestWorkerJSON(t *testing.T) {
	t.Parallel()
	const want = `{"name":"w.1","id":"k3x9","status":"lost","backend":"tmux","pid":12,"cmd":["sh","-c","echo <&>"],` +
		`"cwd":"/r-worktrees/w.1","tags":["a","b"],"started":"2026-01-02T02:04:05.006Z","ended":"2026-01-02T02:05:05.006Z",` +
		`"exit":{"code":3,"signal":null,"reason":"exited"},"tmux":{"session":"s","window":"w.1","socket":"k"},` +
		`"worktree":{"path":"/r-worktrees/w.1","branch":"w.1","base_repo":"/r"},"retain":"until-clean","owner":"7",` +
		`"team":"crew","ralph":"/s/ralph/w.1","status_reason":"shim died","survivors":[{"pid":13,"name":"sleep"}],` +
		`"kill":{"signal":"SIGINT","grace":1.5,"force":true,"mode":"main"},` +
		`"restart":{"when":"on-failure","min_delay":0.1,"max_delay":30,"budget":3,"window":60},"restarts":2,` +
		`"completion":{"summary":"fixed <it>","time":"2026-01-02T02:04:05.006Z"},"previous":["k3x8"],"stdin":true,` +
		`"project":"/r/swarm.toml","agent":"agent-a1b2c3",` +
		`"state":{"state":"blocked","source":"screen","since":"2026-01-02T02:04:05.006Z","profile":"claude","question":"Proceed?",` +
		`"choices":[{"key":"1","label":"Yes","selected":true}],"command":null,"reason":null,"broken":"API Error","dialog":null},"condition":"lost","usage":{"cpu_seconds":1.5,"peak":4096,"read":null,"written":0},"resurrect":false,` +
		`"limits":{"memory":2147483648,"cpus":1.5,"pids":500,"nice":null,"io_weight":50,"best_effort":true},` +
		`"unenforced":"the limit of I/O weight can't be enforced","exit_detail":"detail",` +
		`"sandbox":{"network":"none","home":"/h","write":["/data"]},"perhaps_alive":[{"pid":12,"name":"sh","since":"2026-01-02T02:04:05.006Z"}],` +
		`"where":{"kind":"tmux window","name":"s:w.1","id":null,"parts":{"session":"s","socket":"k","window":"w.1"}}}`
	a := &app.App{Env: []string{"SWARM_DIR=/s"}}
	if diff := cmp.Diff(want, jsontest.Compact(t, WorkerJSONIn(a, jsontest.Full()))); diff != "" {
		t.Errorf("full worker (-want +got):\n%s", diff)
	}
	const wantEmpty = `{"name":"w","id":"k3x9","status":"unknown","backend":"x","pid":null,"cmd":[],"cwd":null,"tags":[],` +
		`"started":null,"ended":null,"exit":null,"tmux":null,"worktree":null,"retain":"until-clean","owner":null,` +
		`"team":null,"ralph":null,"status_reason":null,"survivors":[],` +
		`"kill":{"signal":null,"grace":0,"force":false,"mode":"tree"},"restart":null,"restarts":0,"completion":null,` +
		`"previous":[],"stdin":false,"project":null,"agent":null,"state":null,"condition":"unknown","usage":null,"resurrect":false,"limits":null,"unenforced":null,"exit_detail":null,"sandbox":null,"perhaps_alive":[],"where":null}`
	if diff := cmp.Diff(wantEmpty, jsontest.Compact(t, WorkerJSONIn(a, empty()))); diff != "" {
		t.Errorf("empty worker (-want +got):\n%s", diff)
	}
	if got := jsontest.Compact(t, WorkerJSONIn(a, signalled()).Exit); got != `{"code":null,"signal":"SIGKILL","reason":"killed"}` {
		t.Errorf("exit by a signal is %s", got)
	}
	asks := judgement.State{State: profile.Blocked, Dialog: profile.Dialog{Digest: "d1", Lines: []string{"Run", "1. Yes"}, Cut: true}}
	if got := jsontest.Compact(t, StateJSONOf(&asks).Dialog); got != `{"digest":"d1","lines":["Run","1. Yes"],"cut":true}` {
		t.Errorf("a dialog is %s", got)
	}
	if got := jsontest.Compact(t, WorkersJSONIn(a, nil)); got != "[]" {
		t.Errorf("no workers are %s, want an array", got)
	}
}

func TestWorkerJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema := jsontest.ReadSchema(t, "worker")
	a := &app.App{Env: []string{"SWARM_DIR=/s"}}
	for _, w := range []worker.Worker{jsontest.Full(), empty(), signalled()} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, WorkerJSONIn(a, w))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("worker", schema, v) {
			t.Error(problem)
		}
		// The validator itself: what is missing, unknown or of a wrong type is found.
		delete(v, "team")
		v["new"] = 1
		v["pid"] = "12"
		if got := jsontest.Violations("worker", schema, v); len(got) != 3 {
			t.Errorf("three violations, found %q", got)
		}
	}
}

// measured is a worker about whose figures all is known.
func measured() stats.Figures {
	return stats.Figures{
		Worker: jsontest.Full(), CPU: new(1.5),
		Stats: &swarm.Stats{
			Time:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Usage:  swarm.Usage{CPUTime: new(1500 * time.Millisecond), Peak: new(int64(9)), Read: new(int64(4096)), Written: new(int64(0))},
			Memory: new(int64(7)), MemoryKind: swarm.MemoryPSS, Processes: new(2), Threads: new(5),
		},
	}
}

func TestStatsJSON(t *testing.T) {
	t.Parallel()
	const want = `{"name":"w.1","id":"k3x9","status":"lost","time":"2026-01-02T03:04:05Z","cpu":1.5,"cpu_seconds":1.5,` +
		`"memory":7,"memory_kind":"pss","peak":9,"processes":2,"threads":5,"read":4096,"written":0}`
	if diff := cmp.Diff(want, jsontest.Compact(t, StatsJSONOf(measured()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const wantEmpty = `{"name":"w","id":"k3x9","status":"unknown","time":null,"cpu":null,"cpu_seconds":null,` +
		`"memory":null,"memory_kind":null,"peak":null,"processes":null,"threads":null,"read":null,"written":null}`
	if diff := cmp.Diff(wantEmpty, jsontest.Compact(t, StatsJSONOf(stats.Figures{Worker: empty()}))); diff != "" {
		t.Errorf("without figures (-want +got):\n%s", diff)
	}
	ended := empty()
	ended.Exit = &swarm.Exit{Usage: &swarm.Usage{CPUTime: new(time.Second)}}
	if got := StatsJSONOf(stats.Figures{Worker: ended}); got.CPUSeconds == nil || *got.CPUSeconds != 1 || got.Peak != nil {
		t.Errorf("an ended worker: %+v", got)
	}
	schema := jsontest.ReadSchema(t, "stats")
	for _, f := range []stats.Figures{measured(), {Worker: empty()}} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, StatsJSONOf(f))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("stats", schema, v) {
			t.Error(problem)
		}
	}
}

// TestRawBytes checks that what JSON can't hold can be restored from a document, and that other
// documents have nothing more.
func TestRawBytes(t *testing.T) {
	t.Parallel()
	a := &app.App{Env: []string{"SWARM_DIR=/s"}}
	w := empty()
	w.Command, w.Dir, w.Env = []string{"cat", "f\xe9"}, "/d\xff", []string{"N\xfe=v"}
	schema := jsontest.ReadSchema(t, "worker")
	for name, v := range map[string]any{"status": WorkerJSONIn(a, w), "show": ShowJSONIn(a, host.Details{Worker: w})} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back ShowJSON
		if err := rawjson.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.Command, back.Cmd); diff != "" || *back.Cwd != w.Dir {
			t.Errorf("%s: the command (-want +got):\n%s\nin %q", name, diff, *back.Cwd)
		}
		if name == "show" {
			if diff := cmp.Diff([]string{"N\xfe"}, back.Environment); diff != "" {
				t.Errorf("the environment (-want +got):\n%s", diff)
			}
			continue
		}
		var read any
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("worker", schema, read) {
			t.Error(problem)
		}
	}
}
