//go:build container

package container_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func settings(e *enginetest.Engine) container.Config {
	var c container.Config
	if err := plugin.NewConfig(nil).Decode(&c); err != nil {
		panic(err)
	}
	c.Host, c.Image, c.Network, c.Pull = "unix://"+e.Socket, enginetest.Image, "none", "never"
	return c
}

func TestContract(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		backendtest.Run(t, backendtest.Backend{
			New: func(t backendtest.T) swarm.Backend {
				b, err := container.New(settings(e), os.Environ(), slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatalf("%v", err)
				}
				return b
			},
			Local: true, Spec: mounted, Command: command,
		})
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		backendtest.RunBinary(t, backendtest.Binary{
			Path:   pluginPath,
			Config: []byte(`{"host":"unix://` + e.Socket + `","image":"` + enginetest.Image + `","network":"none","pull":"never"}`),
			Spec:   mounted, Command: command, Workers: crowd(),
		})
	})
}

// crowd is how many workers run at once in the case "many-workers"; 0: as many as usual. An engine
// starts several processes for each, and gives up on what takes it minutes on a slow machine.
func crowd() int {
	if os.Getenv("SWARM_TEST_SLOW") != "" {
		return 20
	}
	return 0
}

// hostProc is where a worker sees the processes of this machine.
const hostProc = "/hostproc"

// mounted mounts the state directory, for the words of the worker, and the processes.
func mounted(_ backendtest.T, spec *swarm.Spec) {
	spec.Options = map[string]string{"mount": spec.Local.StateDir + ",/proc:" + hostProc + ":ro"}
}

// tree is [script.Tree] in a container: the numbers that it says are those of this
// machine.
const tree = `say() { if [ -n "$PLUGINTEST_SAY" ]; then echo "$*" >"$PLUGINTEST_SAY"; else echo "$*"; fi; }
me() { read -r pid _ <PROC/self/stat; }
if [ "$0" = child ]; then me; echo $pid >/tmp/$1; exec sleep 3600; fi
if [ "$0" = speaker ]; then
  while [ ! -s /tmp/a ] || [ ! -s /tmp/c ]; do sleep 0.01; done
  read -r a </tmp/a; read -r c </tmp/c; me
  say $1 $a $pid $c
  exec sleep 3600
fi
me
sh -c "$TREE" child a &
(sh -c "$TREE" child c >/dev/null 2>&1 &)
setsid sh -c "$TREE" speaker $pid &
wait`

func command(s script.Script) []string {
	if s != script.Tree {
		return script.Shell(s)
	}
	return []string{"env", "TREE=" + strings.ReplaceAll(tree, "PROC", hostProc), "sh", "-c", strings.ReplaceAll(tree, "PROC", hostProc)}
}
