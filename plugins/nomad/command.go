package nomad

import (
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// wrapperFile is where a wrapper says why it can't run the command, or that it does,
// in the directory that NOMAD_TASK_DIR names.
const (
	wrapperFile = "swarm-wrapper"
	wrapperRuns = "ok"
)

// wrapped begins a command that does, in a shell, what the driver has no setting
// for, and then becomes the command: it is started in the directory that is the
// first argument, if that is not empty.
const wrapped = `refuse() { echo "$1" >"$NOMAD_TASK_DIR/` + wrapperFile + `"; echo "swarm: $1" >&2; exit 127; }
if [ -n "$1" ]; then cd -- "$1" 2>/dev/null || refuse "there is no directory '$1'"; fi
shift
command -v -- "$1" >/dev/null 2>&1 || refuse "there is no command '$1'"
`

// A wrapper is known by its $0.
const wrapper = "swarm-worker"

// becomes is how a wrapper ends.
const (
	runs             = `echo ` + wrapperRuns + ` >"$NOMAD_TASK_DIR/` + wrapperFile + "\"\n"
	becomes          = runs + `exec "$@"`
	becomesWithStdin = withFeeder + runs + `exec "$@" <"$d/pipe"`
)

// driverConfig returns how the driver of the task is to run the command.
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
		config["init"] = true // reaps what the command leaves behind
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

// isWrapped reports that the command of a job is one that a wrapper becomes.
func isWrapped(command string, args []string) bool {
	return command == "sh" && len(args) > 4 && args[2] == wrapper
}

// commandOf returns the command that a job was made for, or nil if it can't be told.
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
