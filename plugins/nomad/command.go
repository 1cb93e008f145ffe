package nomad

import (
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/feeder"
	"github.com/swarmhost/swarm/shared/swarm"
)

// wrapperFile is the file in the directory NOMAD_TASK_DIR in which a wrapper reports that
// it runs the command, or why it can't.
const (
	wrapperFile    = "swarm-wrapper"
	wrapperRuns    = "ok"
	wrapperRefuses = "refused: "
)

// wrapped is the beginning of a wrapper: a shell command that does what the driver has no
// setting for, and then execs the worker's command, in the directory given by the first
// argument unless that is empty.
const wrapped = `refuse() { echo "` + wrapperRefuses + `$1" >"$NOMAD_TASK_DIR/` + wrapperFile + `"; echo "swarm: $1" >&2; exit 127; }
if [ -n "$1" ]; then cd -- "$1" 2>/dev/null || refuse "there is no directory '$1'"; fi
shift
command -v -- "$1" >/dev/null 2>&1 || refuse "there is no command '$1'"
`

// A wrapper is known by its $0.
const wrapper = "swarm-worker"

// becomes is the end of a wrapper.
const (
	runs    = `echo ` + wrapperRuns + ` >"$NOMAD_TASK_DIR/` + wrapperFile + "\"\n"
	becomes = runs + `exec "$@"`
)

// stdin is the feeder of a worker with a standard input.
const stdin feeder.Feeder = "$NOMAD_TASK_DIR/swarm-stdin"

var becomesWithStdin = stdin.Start() + runs + feeder.Exec

func (c Config) driverConfig(spec swarm.Spec) (map[string]any, error) {
	command, dir := spec.Command, spec.Dir
	if len(command) == 0 || command[0] == "" {
		return nil, fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
	}
	config := make(map[string]any)
	if c.Driver == driverDocker {
		if c.Image == "" {
			return nil, fmt.Errorf("%w: the driver docker needs an image: --option image=IMAGE, or the setting 'image'", swarm.ErrInvalidSpec)
		}
		config["image"] = toHCL.Replace(c.Image)
		config["init"] = true // reaps the processes that the command leaves behind
		config["entrypoint"] = []string{}
		if dir != "" {
			config["work_dir"], dir = toHCL.Replace(dir), ""
		}
	}
	switch {
	case spec.Stdin:
		command = append([]string{"sh", "-c", wrapped + becomesWithStdin, wrapper, dir}, command...)
	case dir != "":
		command = append([]string{"sh", "-c", wrapped + becomes, wrapper, dir}, command...)
	}
	config["command"] = toHCL.Replace(command[0])
	config["args"] = escapeAll(command[1:])
	return config, nil
}

func isWrapped(command string, args []string) bool {
	return command == "sh" && len(args) > 4 && args[2] == wrapper
}

// commandOf returns the worker's command of a job, or nil if it is unknown.
func commandOf(j *api.Job) []string {
	if len(j.TaskGroups) != 1 || len(j.TaskGroups[0].Tasks) != 1 {
		return nil
	}
	config := j.TaskGroups[0].Tasks[0].Config
	name, ok := config["command"].(string)
	args, ok2 := config["args"].([]any)
	if !ok || !ok2 {
		return nil
	}
	command := []string{fromHCL.Replace(name)}
	for _, arg := range args {
		text, ok := arg.(string)
		if !ok {
			return nil
		}
		command = append(command, fromHCL.Replace(text))
	}
	if isWrapped(command[0], command[1:]) {
		command = command[5:]
	}
	return command
}
