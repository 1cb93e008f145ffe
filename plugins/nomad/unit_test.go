package nomad

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestHandleStays reads a handle of the first version, as a registry has it.
func TestHandleStays(t *testing.T) {
	t.Parallel()
	const data = `{"namespace":"default","job":"swarm-w","id":"id-1","signal":"SIGTERM","grace_ns":5000000000,"stdin":true}`
	r, err := decode(swarm.Handle{Version: 1, Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.encode()
	if err != nil || string(h.Data) != data || h.Version != 1 {
		t.Errorf("handle %s, %v", h.Data, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"namespace":"default","job":"swarm-w","id":"id-1","signal":"SIGTERM","grace_ns":1}`))
	f.Add([]byte(`{"job":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decode(swarm.Handle{Version: 1, Data: data}); err == nil && (r.ID == "" || r.Job == "") {
			t.Errorf("%+v", r)
		} else if err != nil && !errors.Is(err, swarm.ErrInvalidHandle) {
			t.Error(err)
		}
	})
}

// FuzzEscape checks that a command is found again in its job.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"${x}", "$${", "%{", "%%{", "%$${", `${"$"}`, `${"%"}{`, "$", "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		escaped := toHCL.Replace(arg)
		if got := fromHCL.Replace(escaped); got != arg {
			t.Errorf("%q became %q, and then %q", arg, escaped, got)
		}
		// Templates that remain are ours.
		rest := strings.NewReplacer(`${"$"}`, ".", `${"%"}{`, ".").Replace(escaped)
		if strings.Contains(rest, "$") || strings.Contains(rest, "%{") {
			t.Errorf("%q became %q", arg, escaped)
		}
	})
}

// Defaults returns the settings of an empty table.
func Defaults() (c Config) {
	if err := plugin.NewConfig(nil).Decode(&c); err != nil {
		panic(err)
	}
	return c
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*Config){
		"token_file":      func(c *Config) { c.TokenFile = "/no/such/file" },
		"exclude":         func(c *Config) { c.Token, c.TokenFile = "a", "b" },
		"http://":         func(c *Config) { c.Address = "10.0.0.1:4646" },
		"no attribute":    func(c *Config) { c.Constraints = []Constraint{{Value: "x"}} },
		"tls":             func(c *Config) { c.TLS.CACert = "/no/such/file" },
		"Both client":     func(c *Config) { c.TLS.ClientCert = "/no/such/file" },
		"number 2 has no": func(c *Config) { c.Constraints = []Constraint{{Attribute: "x"}, {}} },
	} {
		c := Defaults()
		change(&c)
		if _, err := New(c, slog.New(slog.DiscardHandler)); !errors.Is(err, swarm.ErrInvalidConfig) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, json := range map[string]string{
		`not "podman"`:                     `{"driver":"podman"}`,
		`"memory" must be`:                 `{"memory":1}`,
		`"cpu" must be`:                    `{"cpu":0}`,
		`"disk" must be`:                   `{"disk":0}`,
		`from 1 to 100, not 101`:           `{"priority":101}`,
		`"start_timeout" must be`:          `{"start_timeout":0}`,
		`"constraints[0].attribute" is re`: `{"constraints":[{"value":"x"}]}`,
	} {
		if err := plugin.NewConfig([]byte(json)).Decode(&Config{}); !errors.Is(err, swarm.ErrInvalidConfig) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", json, err)
		}
	}
	if _, err := New(Defaults(), slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// TestErrors gives answers of Nomad, as they were recorded.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code int
		body string
		is   error
		text string
	}{
		"leader":     {500, "No cluster leader", swarm.ErrUnavailable, "No cluster leader"},
		"forward":    {500, "rpc error: EOF", swarm.ErrUnavailable, "EOF"},
		"rate":       {429, "Too many requests", swarm.ErrUnavailable, "Too many"},
		"gateway":    {502, "<html>\n<body>Bad gateway", swarm.ErrUnavailable, "<html> <body>Bad gateway"},
		"forbidden":  {403, "Permission denied", swarm.ErrPermission, "namespace 'default'"},
		"token":      {403, "ACL token not found", swarm.ErrPermission, "does not know this token"},
		"namespace":  {500, "1 error occurred:\n\t* job \"x\" is in nonexistent namespace \"x\"\n\n", swarm.ErrInvalidConfig, "namespace"},
		"region":     {500, "No path to region", swarm.ErrInvalidConfig, "region"},
		"validation": {400, "2 errors occurred:\n\t* a\n\t* b\n\n", swarm.ErrInvalidSpec, "a * b"},
		"gone":       {404, "alloc not found", swarm.ErrNotFound, "alloc not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := against(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.code)
				_, _ = w.Write([]byte(test.body))
			})
			_, err := b.look(t.Context(), b.at, "", 0)
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestSignalAtTheEnd has answers of Nomad for a task that ends at this moment.
func TestSignalAtTheEnd(t *testing.T) {
	t.Parallel()
	for body, ended := range map[string]bool{
		"Task not running": true, "os: process already finished": true, "task not found for given id": true,
		"rpc error: code = Unavailable desc = transport is closing": true, "No cluster leader": false,
	} {
		b := against(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(body))
		})
		if err := b.signal(t.Context(), ref{place: b.at}, "a", "SIGTERM"); err == nil || errors.Is(err, swarm.ErrNotFound) != ended {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestWrapperReport reads the report of a wrapper that is just being made: Nomad says so in
// place of the file.
func TestWrapperReport(t *testing.T) {
	t.Parallel()
	const notYet = "stat /data/alloc/a/worker/local/swarm-wrapper: no such file or directory"
	for name, test := range map[string]struct {
		answers []string // the last one stays
		code    int
		want    string
		asked   int32
	}{
		"it runs":    {[]string{"", notYet, "ok\n"}, 200, "", 3},
		"it refuses": {[]string{notYet, notYet, "refused: there is no directory '/x'\n"}, 200, "there is no directory '/x'", 3},
		"forbidden":  {[]string{"Permission denied"}, 403, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			b := against(t, func(w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, "/client/fs/cat/") {
					return
				}
				n := int(asked.Add(1))
				w.WriteHeader(test.code)
				_, _ = w.Write([]byte(test.answers[min(n, len(test.answers))-1]))
			})
			if why := b.refused(t.Context(), ref{place: b.at}, &api.AllocationListStub{ID: "a"}); why != test.want || asked.Load() != test.asked {
				t.Errorf("asked %d times: %q, want %q", asked.Load(), why, test.want)
			}
		})
	}
}

// against returns a backend whose Nomad is a handler.
func against(t *testing.T, h http.HandlerFunc) *Backend {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return at(t, server.URL)
}

func at(t *testing.T, address string) *Backend {
	t.Helper()
	c := Defaults()
	c.Address = address
	b, err := New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b.at = place{Namespace: api.DefaultNamespace}
	return b
}

// TestSilent obeys the context with an agent that never answers, and with a program that is
// not an agent.
func TestSilent(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := against(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.look(ctx, b.at, "", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-OpenSSH\r\n"))
			_ = c.Close()
		}
	}()
	b = at(t, "http://"+l.Addr().String())
	if _, err := b.look(t.Context(), b.at, "", 0); !errors.Is(err, swarm.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

// TestNameAfterTheEnd: a worker that has ended leaves its name free, also before Nomad
// has seen the end of its job.
func TestNameAfterTheEnd(t *testing.T) {
	t.Parallel()
	alloc := func(name, status string) map[string]any {
		return map[string]any{
			"ID": name, "JobID": "swarm-w", "TaskGroup": "first", "ClientStatus": status,
			"DesiredStatus": api.AllocDesiredStatusRun, "CreateIndex": len(name),
		}
	}
	for name, test := range map[string]struct {
		allocs []map[string]any
		free   bool
	}{
		"ended":                {[]map[string]any{alloc("a", api.AllocClientStatusComplete)}, true},
		"failed":               {[]map[string]any{alloc("a", api.AllocClientStatusFailed)}, true},
		"runs":                 {[]map[string]any{alloc("a", api.AllocClientStatusRunning)}, false},
		"node lost":            {[]map[string]any{alloc("a", api.AllocClientStatusLost)}, false},
		"not placed":           {nil, false},
		"ended and runs again": {[]map[string]any{alloc("a", api.AllocClientStatusComplete), alloc("ab", api.AllocClientStatusRunning)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			meta := map[string]string{metaID: "first", metaName: "w", metaSpec: "{}"}
			b := against(t, func(w http.ResponseWriter, r *http.Request) {
				answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
				switch {
				case r.Method == http.MethodPut && r.URL.Path == "/v1/jobs":
					var req struct{ JobModifyIndex uint64 }
					if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.JobModifyIndex != 7 {
						http.Error(w, api.RegisterEnforceIndexErrPrefix+" 0: job exists", http.StatusInternalServerError)
						return
					}
					answer(api.JobRegisterResponse{EvalID: "placed"})
				case r.URL.Path == "/v1/job/swarm-w":
					answer(map[string]any{"ID": "swarm-w", "Status": "running", "Meta": meta, "JobModifyIndex": 7})
				case r.URL.Path == "/v1/jobs":
					answer([]map[string]any{{"ID": "swarm-w", "Status": "running", "Meta": meta}})
				case r.URL.Path == "/v1/allocations":
					answer(test.allocs)
				default:
					answer(map[string]any{})
				}
			})
			spec := swarm.Spec{ID: "second", Name: "w", Command: []string{"true"}, Dir: "/"}
			j, r, err := b.config.newJob(b.at, spec)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := b.register(t.Context(), j, r)
			switch {
			case test.free && (err != nil || resp.EvalID != "placed"):
				t.Errorf("registered as %q, error %v", resp.EvalID, err)
			case !test.free && (!errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), "has a worker 'w' already")):
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestUnplaceable(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]api.AllocationMetric{
		"no node that is ready":              {},
		"dc1 has 0, dc2 has 3":               {NodesAvailable: map[string]int{"dc2": 3, "dc1": 0}},
		"of 3 nodes 2 have no space: memory": {NodesEvaluated: 3, DimensionExhausted: map[string]int{"memory": 2}},
		"1 do not meet the constraint 'x'":   {NodesEvaluated: 1, ConstraintFiltered: map[string]int{"x": 1}},
		"quota is used up: cpu":              {NodesEvaluated: 1, QuotaExhausted: []string{"cpu"}},
		"Nomad gives no reason":              {NodesEvaluated: 1},
	} {
		if got := unplaceable(&m); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("want %q in %q", want, got)
		}
	}
}

// TestStatusOfWhatIsNotThere reports how workers are that no node has.
func TestStatusOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	b := at(t, "http://127.0.0.1:1")
	r := ref{place: b.at, Job: "swarm-w", ID: "id", Signal: "SIGTERM", Grace: 1}
	mine := map[string]string{metaID: "id"}
	alloc := func(status string) *api.AllocationListStub {
		return &api.AllocationListStub{TaskGroup: "id", ClientStatus: status, NodeName: "n", DesiredStatus: api.AllocDesiredStatusRun}
	}
	for name, test := range map[string]struct {
		job    *api.JobListStub
		alloc  *api.AllocationListStub
		state  swarm.State
		reason string
	}{
		"unknown to Nomad": {nil, nil, swarm.StateLost, "no longer knows it"},
		"name used again":  {&api.JobListStub{Meta: map[string]string{metaID: "other"}}, nil, swarm.StateLost, "no longer knows it"},
		"collected":        {&api.JobListStub{Meta: mine, Status: "dead"}, nil, swarm.StateLost, "garbage"},
		"waits":            {&api.JobListStub{Meta: mine, Status: "pending"}, nil, swarm.StatePending, "waiting for a node"},
		"stopped":          {&api.JobListStub{Meta: mine, Status: "dead", Stop: true}, nil, swarm.StateExited, ""},
		"pending":          {&api.JobListStub{Meta: mine}, alloc(api.AllocClientStatusPending), swarm.StatePending, "not started"},
		"node lost":        {&api.JobListStub{Meta: mine}, alloc(api.AllocClientStatusLost), swarm.StateUnknown, "node 'n'"},
		"node silent":      {&api.JobListStub{Meta: mine}, alloc(api.AllocClientStatusUnknown), swarm.StateUnknown, "node 'n'"},
		"newer state":      {&api.JobListStub{Meta: mine}, alloc("resting"), swarm.StateUnknown, "node 'n'"},
	} {
		s := snapshot{jobs: map[string]*api.JobListStub{"swarm-w": test.job}, allocs: map[string]*api.AllocationListStub{"id": test.alloc}}
		st := b.statusIn(t.Context(), s, r)
		if st.State != test.state || !strings.Contains(st.Reason, test.reason) || (st.Exit != nil) != (st.State == swarm.StateExited) {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// TestStatsOf checks that a figure which a driver did not measure is absent, not 0.
func TestStatsOf(t *testing.T) {
	t.Parallel()
	usage := func(cpu, memory []string) *api.TaskResourceUsage {
		return &api.TaskResourceUsage{Timestamp: 1, ResourceUsage: &api.ResourceUsage{
			CpuStats:    &api.CpuStats{Percent: 150, Measured: cpu},
			MemoryStats: &api.MemoryStats{RSS: 10, Usage: 20, MaxUsage: 5, Measured: memory},
		}}
	}
	for name, u := range map[string]*api.TaskResourceUsage{
		"nothing": nil, "not yet": {Timestamp: 1}, "none measured": usage(nil, nil), "no time": {ResourceUsage: &api.ResourceUsage{}},
	} {
		if s, ok := statsOf(u); ok {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s, ok := statsOf(usage([]string{"Percent"}, []string{"RSS", "Max Usage"}))
	if !ok || s.CPUShare == nil || *s.CPUShare != 1.5 || s.Memory == nil || *s.Memory != 10 || *s.Peak != 10 || s.Processes != nil || s.CPUTime != nil {
		t.Errorf("%+v", s)
	}
	s, ok = statsOf(usage(nil, []string{"Usage"}))
	if !ok || s.CPUShare != nil || *s.Memory != 20 || s.MemoryKind != "" || s.Peak != nil {
		t.Errorf("%+v", s)
	}
}
