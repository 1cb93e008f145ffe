package rundir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]rundir.Request{
		"kill signal=SIGTERM grace=5000 force=1 mode=tree":     {Verb: "kill", Signal: "SIGTERM", GraceMS: 5000, Force: true},
		"kill signal=SIGINT grace=0 force=0 mode=main":         {Verb: "kill", Signal: "SIGINT", MainOnly: true},
		"signal signal=SIGUSR1 mode=main":                      {Verb: "signal", Signal: "SIGUSR1", MainOnly: true},
		"watch":                                                {Verb: "watch"},
		"kill id=a-1 signal=SIGTERM grace=0 force=0 mode=tree": {Verb: "kill", ID: "a-1", Signal: "SIGTERM"},
		"signal id=a-1 signal=SIGHUP mode=main":                {Verb: "signal", ID: "a-1", Signal: "SIGHUP", MainOnly: true},
		"watch id=a-1":                                         {Verb: "watch", ID: "a-1"},
		"complete id=a-1 signal=SIGTERM grace=7 force=1 mode=tree summary=a%20b%25%0A%C3%A9": {
			Verb: "complete", ID: "a-1", Signal: "SIGTERM", GraceMS: 7, Force: true, Summary: "a b%\né",
		},
		"complete signal=SIGINT grace=0 force=0 mode=main summary=": {Verb: "complete", Signal: "SIGINT", MainOnly: true},
		"input id=a-1 kind=text enter=1 size=1048576":               {Verb: "input", ID: "a-1", Kind: "text", Enter: true, Size: 1 << 20},
		"input kind=eof enter=0 size=0":                             {Verb: "input", Kind: "eof"},
		"input kind=keys enter=0 size=4":                            {Verb: "input", Kind: "keys", Size: 4},
		"input kind=text enter=0 size=4 after=1 paste=1":            {Verb: "input", Kind: "text", Size: 4, AfterMS: 1, PasteOnly: true},
		"input kind=text enter=1 size=4 after=5000":                 {Verb: "input", Kind: "text", Enter: true, Size: 4, AfterMS: 5000},
		"pause id=a-1 paused=1":                                     {Verb: "pause", ID: "a-1", Paused: true},
		"exec id=a-1 size=70":                                       {Verb: "exec", ID: "a-1", Size: 70},
		"pause paused=0":                                            {Verb: "pause"},
		"limits id=a-1 limits=none":                                 {Verb: "limits", ID: "a-1"},
		"limits limits=2147483648,1500,64,0,10,0":                   {Verb: "limits", Limits: swarm.Limits{Memory: 2 << 30, CPUs: 1.5, PIDs: 64, IOWeight: 10}},
	} {
		got, err := rundir.ParseRequest(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
		if got := want.String(); got != line {
			t.Errorf("written %q, want %q", got, line)
		}
	}
	if got := (rundir.Request{Verb: "kill", Signal: "SIGTERM", GraceMS: -5}).String(); !strings.Contains(got, "grace=0 ") {
		t.Errorf("a negative grace is written %q", got)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "dance", "watch id=", "watch color=red", "signal signal=SIGHUP mode=all",
		"kill signal=SIGTERM grace=-1 force=1 mode=tree",
		"complete signal=SIGTERM grace=7 force=1 mode=tree",
		"complete signal=SIGTERM grace=7 force=1 mode=tree summary=%",
		"complete signal=SIGTERM grace=7 force=1 mode=tree summary=%2",
		"complete signal=SIGTERM grace=7 force=1 mode=tree summary=%zz",
		"input kind=text enter=1", "input kind=voice enter=0 size=0",
		"input kind=text enter=1 size=0 after=-1", "input kind=text enter=1 size=0 after=5001",
		"pause", "pause paused=2", "limits limits=", "limits limits=1,2", "limits limits=-1,0,0,0,0,0", "limits limits=0,0,0,0,0,2",
		"input kind=text enter=0 size=-1", "input kind=text enter=0 size=1048577",
	} {
		if r, err := rundir.ParseRequest(line); err == nil {
			t.Errorf("%q is read as %+v", line, r)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]rundir.Answer{
		"accepted": {Kind: "accepted"},
		"ok":       {Kind: "ok"},
		"stale":    {Kind: "stale"},
		"changed":  {Kind: "changed"},
		"late":     {Kind: "late"},
		"pending":  {Kind: "pending"},
		"ready":    {Kind: "ready"},
		"exit 143": {Kind: "exit", Code: 143},
		"busy so":  {Kind: "busy", Text: "so"},
		"ended forced=0 already=0 signal=SIGTERM":             {Kind: "ended", Signal: "SIGTERM"},
		"ended forced=1 already=1 signal=":                    {Kind: "ended", Forced: true, Already: true},
		"survivors forced=0 signal=SIGTERM 123:sleep 124:npm": {Kind: "survivors", Signal: "SIGTERM", Survivors: []swarm.Process{{PID: 123, Name: "sleep"}, {PID: 124, Name: "npm"}}},
		"survivors forced=1 signal=SIGINT 7:_ 8:a.b_c-d":      {Kind: "survivors", Forced: true, Signal: "SIGINT", Survivors: []swarm.Process{{PID: 7, Name: "_"}, {PID: 8, Name: "a.b_c-d"}}},
		"error no such thing: forced=1":                       {Kind: "error", Text: "no such thing: forced=1"},
	} {
		got, err := rundir.ParseAnswer(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
		if got := want.String(); got != line {
			t.Errorf("written %q, want %q", got, line)
		}
	}
}

// The name of a process can't break a line.
func TestSurvivorsName(t *testing.T) {
	t.Parallel()
	a := rundir.Answer{Kind: "survivors", Survivors: []swarm.Process{{PID: 1}, {PID: 2, Name: "a b\nended:\xff(é)"}}}
	if got, want := a.String(), "survivors forced=0 signal= 1:_ 2:a_b_ended______"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := rundir.ParseAnswer(a.String()); err != nil {
		t.Error(err)
	}
}

func TestUnknownAnswers(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "done", "ended 1:sleep", "survivors x:y", "exit", "exit x"} {
		if a, err := rundir.ParseAnswer(line); err == nil {
			t.Errorf("%q is read as %+v", line, a)
		}
	}
	if _, err := rundir.ParseAnswer("ended forced=0 already=0 signal=SIGTERM color=red"); err != nil {
		t.Errorf("a newer shim's answer: %v", err)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add("kill signal=SIGTERM grace=5000 force=1 mode=tree")
	f.Add("signal signal=SIGUSR1 mode=main")
	f.Fuzz(func(t *testing.T, line string) {
		r, err := rundir.ParseRequest(line)
		if err != nil {
			return
		}
		again, err := rundir.ParseRequest(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %+v, then %+v, %v", line, r, again, err)
		}
	})
}

func TestExecArgs(t *testing.T) {
	t.Parallel()
	want := rundir.Exec{Dir: "a=b", Command: []string{"ls", "", "end=", "\xff"}, Env: []string{"K=", "L=x y"}, Terminal: true}
	args, err := rundir.ExecArgs("/run", "w", want)
	if err != nil {
		t.Fatal(err)
	}
	dir, id, got, message, err := rundir.ParseExecArgs(args)
	if diff := cmp.Diff(want, got); diff != "" || dir != "/run" || id != "w" || err != nil {
		t.Errorf("%q, %q, %v\n%s", dir, id, err, diff)
	}
	if again, err := rundir.DecodeExec(message); err != nil || !cmp.Equal(again, want) {
		t.Errorf("the message is read as %+v, %v", again, err)
	}
	if _, err := rundir.ExecArgs("/run", "w", rundir.Exec{Command: []string{"a\x00b"}}); err == nil {
		t.Error("a zero byte was accepted")
	}
	for _, bad := range [][]string{nil, args[:3], args[:len(args)-1], {"exec", "/run", "w", "swarm-exec=1", "end="}, append(args[:4:4], "other=1", "end=")} {
		if _, _, e, _, err := rundir.ParseExecArgs(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, e)
		}
	}
}
