package ssh

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings.
type Config struct {
	// Host is the host of workers without an option host: a name of ~/.ssh/config, or
	// USER@HOST, as for ssh.
	Host string `json:"host"`
	// Hosts are further hosts, which adopt looks for workers on.
	Hosts []string `json:"hosts"`
	// ConfigFile is read instead of ~/.ssh/config, as by ssh -F.
	ConfigFile string `json:"config_file"`
	// Program is the ssh that makes the connections.
	Program string `json:"program"`
	// Directory is where the workers and the programs are kept over there, relative to the
	// home directory.
	Directory string `json:"directory"`
	// Programs is the directory on this machine of the programs that are copied; empty:
	// next to the plugin.
	Programs string `json:"programs"`
	// Env names the variables of the caller that a worker has. Others stay here.
	Env []string `json:"env"`
	// TTY gives workers a terminal.
	TTY bool `json:"tty"`
	// ConnectTimeout is how many seconds a host may take to answer.
	ConnectTimeout int `json:"connect_timeout"`
	// Persist is for how many seconds a connection stays open for later calls; 0: it does
	// not.
	Persist int `json:"persist"`
}

func Defaults() Config {
	return Config{Program: "ssh", Directory: ".swarm-remote", ConnectTimeout: 10, Persist: 300}
}

const (
	optHost = "host"
	optEnv  = "env"
	optTTY  = swarm.OptionTTY
)

func (c Config) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidConfig}, args...)...))
		}
	}
	for _, host := range append([]string{c.Host}, c.Hosts...) {
		bad(host != "" && !validHost(host), "'%s' can't be a host", host)
	}
	bad(c.Program == "", "program: it names none")
	bad(c.ConfigFile != "" && !filepath.IsAbs(c.ConfigFile), "config_file: '%s' is not an absolute path", c.ConfigFile)
	bad(c.Programs != "" && !filepath.IsAbs(c.Programs), "programs: '%s' is not an absolute path", c.Programs)
	bad(!validDirectory(c.Directory), "directory: '%s' has to be a path within the home directory over there, of letters, digits and ._-", c.Directory)
	bad(c.ConnectTimeout < 1 || c.ConnectTimeout > 600, "connect_timeout: %d is not from 1 to 600", c.ConnectTimeout)
	bad(c.Persist < 0 || c.Persist > 86400, "persist: %d is not from 0 to 86400", c.Persist)
	for _, name := range c.Env {
		bad(!validVariable(name), "env: '%s' is not the name of a variable", name)
	}
	return errors.Join(errs...)
}

func (c Config) with(given map[string]string) (Config, error) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value := given[key]
		switch key {
		case optHost:
			c.Host = value
		case optEnv:
			c.Env = slices.Clone(c.Env)
			for name := range strings.SplitSeq(value, ",") {
				if !validVariable(name) {
					return c, fmt.Errorf("%w: option env: '%s' is not the name of a variable", swarm.ErrInvalidSpec, name)
				}
				c.Env = append(c.Env, name)
			}
		case optTTY:
			if value != "true" && value != "false" {
				return c, fmt.Errorf("%w: option tty: '%s' is not true or false", swarm.ErrInvalidSpec, value)
			}
			c.TTY = value == "true"
		default:
			return c, fmt.Errorf("%w: the ssh backend has no option %q (it has env, host and tty)", swarm.ErrInvalidSpec, key)
		}
	}
	switch {
	case c.Host == "":
		return c, fmt.Errorf("%w: no host: give one with --option host=HOST, or set host in the settings of the plugin", swarm.ErrInvalidSpec)
	case !validHost(c.Host):
		return c, fmt.Errorf("%w: '%s' can't be a host: use a name of ~/.ssh/config, or USER@HOST", swarm.ErrInvalidSpec, c.Host)
	}
	return c, nil
}

const (
	maxHost      = 255
	alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

func validHost(host string) bool {
	if host == "" || len(host) > maxHost || host[0] == '-' {
		return false
	}
	user, name, ok := strings.Cut(host, "@")
	if ok && (user == "" || name == "" || name[0] == '-') {
		return false
	}
	return strings.Trim(host, alphanumeric+"._-@:/[]%+") == ""
}

// validDirectory reports whether a directory over there needs no quoting for any shell.
func validDirectory(dir string) bool {
	if dir == "" || path.IsAbs(dir) || path.Clean(dir) != dir || dir == "." || dir[0] == '-' || strings.HasPrefix(dir, "..") {
		return false
	}
	return strings.Trim(dir, alphanumeric+"._-/") == ""
}

func validVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }
