//go:build nomad

package nomad_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/plugins/nomad"
	"github.com/swarmhost/swarm/plugins/nomad/nomadtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func open(t *testing.T, c nomad.Config) *nomad.Backend {
	t.Helper()
	b, err := nomad.New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func specOf(name string, command ...string) swarm.Spec {
	return swarm.Spec{
		ID: "id-" + strings.ToLower(name), Name: name, Command: command, OutputLimit: 4 << 20,
		Kill: swarm.KillOptions{Grace: time.Second, Force: true},
	}
}

// TestHostileCommand gives arguments that Nomad would read as templates.
func TestHostileCommand(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	hostile := []string{
		"${x}", "${HOME}", "$${x}", "$$${x}", "$$$${x}", "%{if true}", "%%{x}", "%%%{x}", "$%{x}", "%${x}", "$", "$$", "%", "",
		`"`, "'", "`id`", "$(id)", `\`, `\n`, "\t", "two\nlines", "a  b", "-x", "--", "*", "~", "#", ";", "|", "&",
		"${node.unique.id}", "${NOMAD_TASK_DIR}", "${NOMAD_META_swarm_dollar}", `${"$"}{x}`, "日本語 é", "\u202e", "\x7f\x01",
		`{"json": "${x}"}`, "<!-- -->", "//", "/*", strings.Repeat("x", 100<<10) + "${x}",
	}
	for name, dir := range map[string]string{"plain": "", "dir": "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specOf("hostile-"+name, append([]string{"printf", `<%s>\0`}, hostile...)...)
			spec.Dir = dir
			h := workertest.Spawn(t, b, spec)
			if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Code != 0 {
				t.Fatalf("status %+v, exit %+v", st, st.Exit)
			}
			got := strings.Split(strings.TrimSuffix(strings.Join(workertest.Lines(t, b, h, swarm.OutputOptions{}), "\n"), "\x00"), "\x00")
			for i, want := range hostile {
				if want = "<" + want + ">"; i >= len(got) || got[i] != want {
					t.Errorf("argument %d: want %.60q, got %.60q", i, want, slices.Concat(got[min(i, len(got)):], []string{"nothing"})[0])
				}
			}
			if l := listed(t, b, spec.ID); !slices.Equal(l.Spec.Command, spec.Command) {
				t.Errorf("List reports another command: %.200q", l.Spec.Command)
			}
		})
	}
}

// TestEnvironment gives values that Nomad would replace, and checks that the worker gets no
// variable of its caller.
func TestEnvironment(t *testing.T) {
	b := open(t, settings(agent.Address))
	t.Setenv("CALLERS_SECRET", "hunter2")
	values := map[string]string{
		"PLAIN": "a b", "TEMPLATE": "${HOME} ${node.unique.id} ${NOMAD_TASK_DIR} $${x} %{x} ${", "EMPTY": "",
		"QUOTES": `"'\`, "LINES": "a\nb", "SECRET": "s3cr3t=x${SECRET}", "LONG": strings.Repeat("y", 100<<10),
	}
	var env, want []string
	for k, v := range values {
		env = append(env, k+"="+v)
		want = append(want, k+"=<"+v+">")
	}
	slices.Sort(want)
	script := `printf 'EMPTY=<%s>\0LINES=<%s>\0LONG=<%s>\0PLAIN=<%s>\0QUOTES=<%s>\0SECRET=<%s>\0TEMPLATE=<%s>\0' ` +
		`"$EMPTY" "$LINES" "$LONG" "$PLAIN" "$QUOTES" "$SECRET" "$TEMPLATE"; printf %s "$CALLERS_SECRET"`
	spec := specOf("env", "sh", "-c", script)
	spec.Env = env
	h := workertest.Spawn(t, b, spec)
	workertest.Ended(t, b, h)
	got := strings.Split(strings.Join(workertest.Lines(t, b, h, swarm.OutputOptions{}), "\n"), "\x00")
	for i, w := range want {
		if i >= len(got) || got[i] != w {
			t.Errorf("want %.80q, got %.80q", w, got[min(i, len(got)-1)])
		}
	}
	if last := got[len(got)-1]; last != "" && last != "hunter2" { // the agent may have it from the test itself
		t.Errorf("at the end %.80q", last)
	}
	if strings.Contains(string(h.Data), "s3cr3t") {
		t.Error("the handle holds a secret")
	}
	if l := listed(t, b, spec.ID); len(l.Spec.Env) > 0 {
		t.Errorf("List reports the environment")
	}
}

func listed(t *testing.T, b *nomad.Backend, id string) (found swarm.Listed) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workertest.Limit)
	defer cancel()
	err := b.List(ctx, func(l swarm.Listed) error {
		if l.Spec.ID == id {
			found = l
		}
		return nil
	})
	if err != nil || found.Spec.ID == "" {
		t.Errorf("%s is not listed: %v", id, err)
	}
	return found
}

// TestNameIsUnique has Nomad refuse a second worker of a name, until the first one
// has ended; what that was is still known then.
func TestNameIsUnique(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	name := strings.Repeat("N.-_x", 13)[:64]
	first, second := specOf(name, "sleep", "3600"), specOf(name, "sh", "-c", "exit 4")
	first.ID, second.ID = "first", "second"
	h := workertest.Spawn(t, b, first)
	if _, err := b.Spawn(t.Context(), second); !errors.Is(err, swarm.ErrInvalidSpec) || !strings.Contains(err.Error(), name) {
		t.Errorf("spawn again: %v", err)
	}
	if st, err := b.Status(t.Context(), h); err != nil || st.State != swarm.StateRunning {
		t.Errorf("the first one: %+v, %v", st, err)
	}
	if _, err := b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGUSR1", Grace: workertest.Limit, Force: true}); err != nil {
		t.Fatal(err)
	}
	h2 := workertest.Spawn(t, b, second)
	if st := workertest.Ended(t, b, h2); st.Exit == nil || st.Exit.Code != 4 || st.Exit.Cause != swarm.CauseExited {
		t.Errorf("the second one: %+v", st)
	}
	if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Signal != "SIGUSR1" {
		t.Errorf("the first one: %+v", st)
	}
}

// TestRace has many spawn the same name at once: one gets it.
func TestRace(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	const racers = 8
	errs := make([]error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			spec := specOf("race", "sleep", "3600")
			spec.ID = fmt.Sprintf("racer-%d", i)
			_, errs[i] = b.Spawn(t.Context(), spec)
		})
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
			h, err := b.Find(t.Context(), swarm.Lookup{ID: fmt.Sprintf("racer-%d", i), Name: "race"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Kill(t.Context(), h, swarm.KillOptions{Force: true}); err != nil {
				t.Error(err)
			}
		case !errors.Is(err, swarm.ErrInvalidSpec):
			t.Errorf("racer %d: %v", i, err)
		}
	}
	if won != 1 {
		t.Errorf("%d have the name", won)
	}
}

// TestRefused checks the one line of each spawn that can't be carried out, and that
// nothing of it is left.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config func(*nomad.Config)
		spec   func(*swarm.Spec)
		is     error
		text   string
	}{
		"no-space":      {spec: option("cpu", "100000000"), is: swarm.ErrInvalidSpec, text: "no space: cpu"},
		"no-driver":     {spec: option("image", "alpine"), is: swarm.ErrInvalidSpec, text: "missing drivers"},
		"no-datacenter": {spec: option("datacenters", "mars"), is: swarm.ErrInvalidSpec, text: "datacenters"},
		"no-pool":       {spec: option("node_pool", "mars"), is: swarm.ErrInvalidSpec, text: "mars"},
		"no-image":      {spec: option("driver", "docker"), is: swarm.ErrInvalidSpec, text: "image"},
		"no-number":     {spec: option("memory", "much"), is: swarm.ErrInvalidSpec, text: "memory"},
		"no-directory":  {spec: func(s *swarm.Spec) { s.Dir = "/no/such" }, is: swarm.ErrInvalidSpec, text: "no directory '/no/such'"},
		"no-command-in-a-directory": {
			spec: func(s *swarm.Spec) { s.Dir, s.Command = "/", []string{"no-such"} },
			is:   swarm.ErrInvalidSpec, text: "no command 'no-such'",
		},
		"no-command": {spec: func(s *swarm.Spec) { s.Command = []string{"no-such", "secret"} }, is: swarm.ErrInvalidSpec, text: "no-such"},
		"constraint": {
			config: func(c *nomad.Config) {
				c.Constraints = []nomad.Constraint{{Attribute: "${attr.kernel.name}", Value: "plan9"}}
			},
			is: swarm.ErrInvalidSpec, text: "${attr.kernel.name} = plan9",
		},
		"namespace":   {config: func(c *nomad.Config) { c.Namespace = "nowhere" }, is: swarm.ErrInvalidConfig, text: "namespace 'nowhere'"},
		"region":      {config: func(c *nomad.Config) { c.Region = "nowhere" }, is: swarm.ErrInvalidConfig, text: "region 'nowhere'"},
		"unreachable": {config: func(c *nomad.Config) { c.Address = "http://127.0.0.1:1" }, is: swarm.ErrUnavailable, text: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := settings(agent.Address)
			if test.config != nil {
				test.config(&c)
			}
			spec := specOf("refused-"+name, "sleep", "3600")
			if test.spec != nil {
				test.spec(&spec)
			}
			h, err := open(t, c).Spawn(t.Context(), spec)
			if err == nil {
				st := workertest.Ended(t, open(t, c), h)
				t.Fatalf("spawned; %+v %+v", st, st.Exit)
			}
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.text) || strings.ContainsAny(err.Error(), "\n\t") ||
				strings.Contains(err.Error(), "rpc error") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
			if _, err := open(t, settings(agent.Address)).Find(t.Context(), swarm.Lookup{ID: spec.ID, Name: spec.Name}); !errors.Is(err, swarm.ErrNotFound) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func option(key, value string) func(*swarm.Spec) {
	return func(s *swarm.Spec) { s.Options = map[string]string{key: value} }
}

// TestToken checks what is said about tokens, and that the policy of the
// documentation is enough.
func TestToken(t *testing.T) {
	t.Parallel()
	a := nomadtest.Start(t, "acl { enabled = true }")
	c, err := a.Client()
	if err != nil {
		t.Fatal(err)
	}
	root := bootstrap(t, c)
	for name, test := range map[string]struct{ token, text string }{
		"none":  {"", "ACL does not allow"},
		"wrong": {"00000000-0000-0000-0000-000000000000", "does not know this token"},
	} {
		config := settings(a.Address)
		config.Token = test.token
		b := open(t, config)
		_, err := b.Spawn(t.Context(), specOf("token-"+name, "true"))
		if !errors.Is(err, swarm.ErrPermission) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: spawn: %v", name, err)
		}
		if err := b.Check(t.Context()); !errors.Is(err, swarm.ErrPermission) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: check: %v", name, err)
		}
	}
	c.SetSecretID(root)
	if err := a.Ready(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	policy := &api.ACLPolicy{Name: "swarm", Rules: documented(t)}
	if _, err := c.ACLPolicies().Upsert(policy, nil); err != nil {
		t.Fatal(err)
	}
	token, _, err := c.ACLTokens().Create(&api.ACLToken{Name: "swarm", Type: "client", Policies: []string{"swarm"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	config := settings(a.Address)
	config.Token = token.SecretID
	b := open(t, config)
	if err := b.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	spec := specOf("token-right", "sh", "-c", `trap 'exit 7' USR1; read -r line; echo "got $line"; while :; do sleep 0.1; done`)
	spec.Stdin = true
	h := workertest.Spawn(t, b, spec)
	if _, err := b.Input(t.Context(), h, swarm.Input{Data: []byte("x"), Enter: true}); err != nil {
		t.Errorf("input: %v", err)
	}
	if _, err := b.Kill(t.Context(), h, swarm.KillOptions{Signal: "SIGUSR1", Grace: workertest.Limit, Force: true}); err != nil {
		t.Errorf("kill: %v", err)
	}
	if got := workertest.Lines(t, b, h, swarm.OutputOptions{}); !slices.Equal(got, []string{"got x"}) {
		t.Errorf("output %q", got)
	}
	if st := workertest.Ended(t, b, h); st.Exit == nil || st.Exit.Code != 7 || st.Exit.Cause != swarm.CauseKilled {
		t.Errorf("status %+v %+v", st, st.Exit)
	}
	listed(t, b, spec.ID)
}

// TestKillPending ends a worker that no node has taken yet.
func TestKillPending(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	c, err := agent.Client()
	if err != nil {
		t.Fatal(err)
	}
	h := workertest.Spawn(t, b, specOf("pending", "sleep", "3600"))
	// Again under its name, and for no node there is.
	j, _, err := c.Jobs().Info("swarm-pending", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Kill(t.Context(), h, swarm.KillOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	j.Meta["swarm_id"], *j.TaskGroups[0].Name, *j.Stop = "id-waits", "id-waits", false
	*j.TaskGroups[0].Tasks[0].Resources.MemoryMB = 1 << 30
	if _, _, err := c.Jobs().Register(j, nil); err != nil {
		t.Fatal(err)
	}
	waits := listed(t, b, "id-waits")
	if waits.Status.State != swarm.StatePending || !strings.Contains(waits.Status.Reason, "waiting for a node") {
		t.Errorf("status %+v", waits.Status)
	}
	if err := b.Signal(t.Context(), waits.Handle, swarm.SignalOptions{Signal: "SIGUSR1"}); !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("signal: %v", err)
	}
	if got := workertest.Lines(t, b, waits.Handle, swarm.OutputOptions{}); len(got) > 0 {
		t.Errorf("output %q", got)
	}
	r, err := b.Kill(t.Context(), waits.Handle, swarm.KillOptions{Signal: "SIGTERM", Grace: workertest.Limit})
	if err != nil || r.Status.Exit == nil || r.Status.Exit.Cause != swarm.CauseKilled || r.Status.Exit.Code != -1 {
		t.Errorf("kill: %+v, %v", r, err)
	}
	if r, err = b.Kill(t.Context(), waits.Handle, swarm.KillOptions{Force: true}); err != nil || !r.AlreadyEnded {
		t.Errorf("kill again: %+v, %v", r, err)
	}
}

// TestLogIsRotated reads the rest of a log that exceeded the limit.
func TestLogIsRotated(t *testing.T) {
	t.Parallel()
	b := open(t, settings(agent.Address))
	const n = 300000
	spec := specOf("rotated", "sh", "-c", fmt.Sprintf("seq -f 'line %%010.0f of several' 1 %d; echo done >&2", n))
	h := workertest.Spawn(t, b, spec)
	workertest.Ended(t, b, h)
	var dropped int64
	var all strings.Builder
	err := b.Output(t.Context(), h, swarm.OutputOptions{Stream: swarm.Stdout}, func(p swarm.Output) error {
		dropped += p.Dropped
		all.Write(p.Data)
		if !p.Partial {
			all.WriteByte('\n')
		}
		return nil
	})
	kept := strings.Split(strings.TrimSuffix(all.String(), "\n"), "\n")
	first, last := kept[0], kept[len(kept)-1]
	if err != nil || dropped < 1<<20 || !strings.HasPrefix(first, "line ") || last != fmt.Sprintf("line %010d of several", n) {
		t.Errorf("from %q to %q, %d bytes dropped, %v", first, last, dropped, err)
	}
	two := 2
	// Nomad does not say which of two streams was written to first.
	for stream, want := range map[swarm.Stream][]string{
		swarm.Stdout: {fmt.Sprintf("line %010d of several", n-1), fmt.Sprintf("line %010d of several", n)},
		swarm.Stderr: {"done"},
	} {
		if got := workertest.Lines(t, b, h, swarm.OutputOptions{Stream: stream, Tail: &two}); !slices.Equal(got, want) {
			t.Errorf("the last two of %s: %q", stream, got)
		}
	}
}
