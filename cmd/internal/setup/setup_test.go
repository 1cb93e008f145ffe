package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestLoadUser: what is right in a damaged file is there all the same.
func TestLoadUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := setup.Setup{Env: []string{"HOME=/h", "XDG_CONFIG_HOME=/other", "XDG_CONFIG_HOME=" + dir}}
	if err := os.Mkdir(filepath.Join(dir, "swarm"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "swarm", "config.toml")
	if err := os.WriteFile(file, []byte("[kill]\ntimeout = \"7s\"\nsignal = \"nope\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := s.LoadUser()
	problems, ok := errors.AsType[config.Problems](err)
	if !ok || len(problems) != 1 || problems[0].Key != "kill.signal" {
		t.Errorf("problems: %v", err)
	}
	if got := setup.KillPolicy(loaded.Config.Kill).Grace; got != 7*time.Second {
		t.Errorf("the grace is %v", got)
	}
}

func TestKillPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   config.Kill
		want swarm.KillOptions
	}{
		{config.Kill{Signal: "int", Timeout: time.Second, Force: true, Mode: "main"}, swarm.KillOptions{Signal: "SIGINT", Grace: time.Second, Force: true, Mode: swarm.KillMain}},
		{config.Kill{Mode: "tree"}, swarm.KillOptions{Mode: swarm.KillTree}},
	} {
		if diff := cmp.Diff(c.want, setup.KillPolicy(c.in)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	err := errors.Join(errors.New("one"), errors.New("two"))
	if got := setup.Message(err); got != "one; two" {
		t.Errorf("%q", got)
	}
	_, err = swarm.ParseSignal("nope")
	if got, want := setup.Message(err), `unknown signal "nope" (try SIGTERM, SIGINT, SIGHUP or SIGKILL)`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	l := swarm.Limits{Nice: 3, PIDs: 7}
	want := swarm.Limits{Memory: 2 << 30, CPUs: 1.5, PIDs: 500, Nice: 3}
	if err := setup.ParseLimits("memory=2g, cpus=1.5,pids=500", &l); err != nil || l != want {
		t.Errorf("%+v, %v", l, err)
	}
	for _, bad := range []string{"memory", "memory=x", "cpus=0", "pids=-1", "nice=99", "color=red", ","} {
		if err := setup.ParseLimits(bad, &swarm.Limits{}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
