package container

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings.
type Config struct {
	// Env names the variables of the caller that a worker has. Others stay here.
	Env   []string `json:"env" help:"Names of variables of yours that workers have too. Others stay here."`
	Host  string   `json:"host" help:"Where the engine listens: \"unix://\" and the path of its socket. Without it: the value of DOCKER_HOST or CONTAINER_HOST, else the first of the usual sockets."`
	Image string   `json:"image" help:"The image of workers without the option \"image\"."`
	// MCP gives workers 'swarm mcp': a server outside that knows which worker it serves.
	MCP bool `json:"mcp" default:"false" help:"Whether \"swarm mcp\" works in the container."`
	// Mounts are directories and files of this machine that every worker has.
	Mounts  []string `json:"mounts" help:"Directories and files of this machine that workers have, each as SRC[:DST][:ro]."`
	Network string   `json:"network" help:"A network of the engine, such as \"none\", \"bridge\" or \"host\". Without it: the engine's own default."`
	Pull    string   `json:"pull" enum:"missing,always,never" default:"missing" help:"When the image is fetched."`
	TTY     bool     `json:"tty" default:"false" help:"Whether workers have a terminal."`
	User    string   `json:"user" help:"The user in the container, as USER[:GROUP]. Without it: you."`
	Workdir string   `json:"workdir" help:"The working directory of workers whose directory is not mounted, absolute. Without it: that of the image."`
}

// Options are the options of a worker; those that are left out are as in the settings.
type Options struct {
	Env     []string `json:"env" help:"Names of variables of yours that the worker has too, in addition to those of the settings."`
	Image   string   `json:"image" help:"The image, in place of that of the settings. One of the two is needed."`
	MCP     bool     `json:"mcp" help:"Whether \"swarm mcp\" works in the container, in place of what the settings say."`
	Mount   []string `json:"mount" help:"Directories and files of this machine, each as SRC[:DST][:ro], in addition to those of the settings."`
	Network string   `json:"network" help:"A network of the engine, in place of that of the settings."`
	Pull    string   `json:"pull" enum:"missing,always,never" help:"When the image is fetched, in place of what the settings say."`
	TTY     bool     `json:"tty" help:"Whether the worker has a terminal, in place of what the settings say."`
	User    string   `json:"user" help:"The user in the container, as USER[:GROUP], in place of that of the settings."`
	Workdir string   `json:"workdir" help:"The working directory if the worker's own is not mounted, in place of that of the settings."`
}

// The values of Config.Pull.
const (
	pullMissing = "missing"
	pullAlways  = "always"
	pullNever   = "never"
)

// socketScheme begins the address of an engine on this machine.
const socketScheme = "unix://"

func (c Config) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidConfig}, args...)...))
		}
	}
	bad(c.Host != "" && !strings.HasPrefix(c.Host, socketScheme+"/"),
		"host: '%s' is not unix:// and an absolute path: the engine has to be on this machine", c.Host)
	bad(c.Workdir != "" && !filepath.IsAbs(c.Workdir), "workdir: '%s' is not an absolute path", c.Workdir)
	for _, m := range c.Mounts {
		_, err := parseMount(m)
		bad(err != nil, "mounts: %v", err)
	}
	for _, name := range c.Env {
		bad(name == "" || strings.ContainsAny(name, "=\x00"), "env: '%s' is not the name of a variable", name)
	}
	return errors.Join(errs...)
}

func (c Config) socket(env []string) (string, error) {
	host := c.Host
	for _, name := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
		if host == "" {
			host = environ.Get(env, name)
		}
	}
	if host != "" {
		path, ok := strings.CutPrefix(host, socketScheme)
		if !ok || !filepath.IsAbs(path) {
			return "", fmt.Errorf("%w: the engine at '%s' is not on this machine: set host to unix:// and the path of its socket",
				swarm.ErrInvalidConfig, host)
		}
		return path, nil
	}
	usual := []string{"/var/run/docker.sock"}
	if run := environ.Get(env, "XDG_RUNTIME_DIR"); run != "" {
		usual = append(usual, filepath.Join(run, "docker.sock"), filepath.Join(run, "podman", "podman.sock"))
	}
	if home := environ.Get(env, "HOME"); home != "" {
		usual = append(usual, filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	usual = append(usual, "/run/podman/podman.sock")
	for _, path := range usual {
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return path, nil
		}
	}
	return usual[0], nil
}

func (c Config) with(given map[string]string) (Config, error) {
	o := Options{Image: c.Image, MCP: c.MCP, Network: c.Network, Pull: c.Pull, TTY: c.TTY, User: c.User, Workdir: c.Workdir}
	if err := plugin.DecodeOptions(given, &o); err != nil {
		return c, err
	}
	c.Image, c.MCP, c.Network, c.Pull, c.TTY, c.User, c.Workdir = o.Image, o.MCP, o.Network, o.Pull, o.TTY, o.User, o.Workdir
	c.Env, c.Mounts = slices.Concat(c.Env, o.Env), slices.Concat(c.Mounts, o.Mount)
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, errtext.Without(err, swarm.ErrInvalidConfig))
	}
	if c.Image == "" {
		return c, fmt.Errorf("%w: a worker in a container needs an image: --option image=IMAGE, or the setting 'image'", swarm.ErrInvalidSpec)
	}
	return c, nil
}
