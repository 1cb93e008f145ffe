package nomad

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// inDir runs a command in a directory: the drivers that are not docker have no
// setting for it.
const inDir = `cd -- "$1" && shift && exec "$@"`

// driverConfig returns how the driver of the task is to run the command.
func (c Config) driverConfig(spec swarm.Spec) (map[string]any, error) {
	command := spec.Command
	if len(command) == 0 || command[0] == "" {
		return nil, fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
	}
	config := make(map[string]any)
	switch {
	case c.Driver == driverDocker && c.Image == "":
		return nil, fmt.Errorf("%w: the driver docker needs an image: --option image=IMAGE, or the setting 'image'", swarm.ErrInvalidSpec)
	case c.Driver == driverDocker:
		config["image"] = toHCL.Replace(c.Image)
		config["init"] = true // reaps what the command leaves behind
		if spec.Dir != "" {
			config["work_dir"] = toHCL.Replace(spec.Dir)
		}
		config["entrypoint"] = []string{}
	case spec.Dir != "":
		command = append([]string{"sh", "-c", inDir, "sh", spec.Dir}, command...)
	}
	config["command"] = toHCL.Replace(command[0])
	config["args"] = escapeAll(command[1:])
	return config, nil
}
