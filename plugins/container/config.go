package container

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings.
type Config struct {
	// Host is where the engine listens: unix:// and the path of its socket. Empty: the value of
	// DOCKER_HOST or CONTAINER_HOST, else the first of the usual sockets.
	Host string `json:"host"`
	// Image is the image of workers without an option image.
	Image string `json:"image"`
	// Pull says when an image is fetched: missing, always or never.
	Pull string `json:"pull"`
	// Network is a network of the engine, such as none; empty: the engine's default.
	Network string `json:"network"`
	// Mounts are directories and files of this machine that every worker has, each as
	// SRC[:DST][:ro].
	Mounts []string `json:"mounts"`
	// Env names the variables of the caller that a worker has. Others stay here.
	Env []string `json:"env"`
	// User is the user in the container, USER[:GROUP]; empty: the caller.
	User string `json:"user"`
	// Workdir is the working directory of workers whose directory is not mounted; empty:
	// the image's.
	Workdir string `json:"workdir"`
	// TTY gives workers a terminal.
	TTY bool `json:"tty"`
	// MCP gives workers 'swarm mcp': a server outside that knows which worker it serves.
	MCP bool `json:"mcp"`
}

func Defaults() Config { return Config{Pull: pullMissing} }

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
	bad(!slices.Contains([]string{pullMissing, pullAlways, pullNever}, c.Pull), "pull: '%s' is not one of missing, always, never", c.Pull)
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
	texts := map[string]*string{"image": &c.Image, "network": &c.Network, "pull": &c.Pull, "user": &c.User, "workdir": &c.Workdir}
	lists := map[string]*[]string{"env": &c.Env, "mount": &c.Mounts}
	flags := map[string]*bool{"mcp": &c.MCP, swarm.OptionTTY: &c.TTY}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch {
		case texts[key] != nil:
			*texts[key] = value
		case lists[key] != nil:
			*lists[key] = slices.Concat(*lists[key], strings.Split(value, ","))
		case flags[key] != nil:
			on, err := strconv.ParseBool(value)
			if err != nil {
				return c, fmt.Errorf("%w: option '%s': '%s' is neither true nor false", swarm.ErrInvalidSpec, key, value)
			}
			*flags[key] = on
		default:
			return c, fmt.Errorf("%w: the container backend has no option '%s' "+
				"(it has env, image, mcp, mount, network, pull, tty, user, workdir)", swarm.ErrInvalidSpec, key)
		}
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, errtext.Without(err, swarm.ErrInvalidConfig))
	}
	if c.Image == "" {
		return c, fmt.Errorf("%w: a worker in a container needs an image: --option image=IMAGE, or the setting 'image'", swarm.ErrInvalidSpec)
	}
	return c, nil
}
