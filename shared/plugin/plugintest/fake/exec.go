package fake

import (
	"context"
	"os"

	"github.com/swarmhost/swarm/shared/swarm"
)

// within is a shell script that runs a command while a file exists, and while it runs itself. Its
// arguments are the file, the worker's directory, the command's, and the command.
const within = `alive=$1; [ -z "$2" ] || cd "$2" || exit 126; [ -z "$3" ] || cd "$3" || exit 126; shift 3
exec 3<&0; "$@" <&3 3<&- & pid=$!
(while [ -e "$alive" ] && kill -0 $$ 2>/dev/null; do sleep 0.02; done; kill $pid) 3<&- >/dev/null 2>&1 & watch=$!
trap 'kill $pid' TERM HUP INT; wait $pid; code=$?; kill $watch 2>/dev/null; exit $code`

// Exec implements [swarm.Execer]. Workers of the engine are no processes, but the command is one, on
// this machine.
func (b *Backend) Exec(_ context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	w, err := b.runningWorker(h)
	if err != nil {
		return swarm.Program{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alive == "" && w.exit == nil {
		f, err := os.CreateTemp("", "swarm-fake-")
		if err != nil {
			return swarm.Program{}, err
		}
		_ = f.Close()
		w.alive = f.Name()
	}
	command := append([]string{"env", "-i", "PATH=" + os.Getenv("PATH")}, w.spec.Environ()...)
	command = append(append(command, o.Env...), "sh", "-c", within, "within", w.alive, w.spec.Dir, o.Dir)
	return swarm.Program{Command: append(command, o.Command...)}, nil
}
