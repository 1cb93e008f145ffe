package ssh

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Config is the plugin's own table of settings.
type Config struct {
	// Host is a name of ~/.ssh/config, or USER@HOST, as for ssh.
	Host       string   `json:"host" help:"The host of workers without the option \"host\": a name of ~/.ssh/config, or USER@HOST."`
	Hosts      []string `json:"hosts" help:"Further hosts that \"swarm adopt\" looks for workers on."`
	ConfigFile string   `json:"config_file" help:"A file that is read in place of ~/.ssh/config, absolute, as by ssh -F."`
	Program    string   `json:"program" default:"ssh" help:"The ssh that makes the connections."`
	Directory  string   `json:"directory" default:".swarm-remote" help:"Where the workers and the programs are kept over there, in the home directory."`
	Programs   string   `json:"programs" help:"The directory of the swarm-remote and swarm-shim that are copied, absolute. Without it: next to the plugin."`
	Env        []string `json:"env" help:"Names of variables of yours that workers have too. Others stay here."`
	TTY        bool     `json:"tty" default:"false" help:"Whether workers have a terminal, which needs tmux over there."`
	// ConnectTimeout and Persist are in seconds.
	ConnectTimeout int `json:"connect_timeout" default:"10" min:"1" max:"600" help:"How many seconds a host may take to answer."`
	Persist        int `json:"persist" default:"300" min:"0" max:"86400" help:"For how many seconds a connection stays open for later calls; 0: it is not shared."`
}

// Options are the options of a worker; those that are left out are as in the settings.
type Options struct {
	Env  []string `json:"env" help:"Names of variables of yours that the worker has too, in addition to those of the settings."`
	Host string   `json:"host" help:"The host, in place of that of the settings: a name of ~/.ssh/config, or USER@HOST. One of the two is needed."`
	TTY  bool     `json:"tty" help:"Whether the worker has a terminal, in place of what the settings say."`
}

const (
	optHost = "host"
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
	for _, name := range c.Env {
		bad(!validVariable(name), "env: '%s' is not the name of a variable", name)
	}
	return errors.Join(errs...)
}

func (c Config) with(given map[string]string) (Config, error) {
	o := Options{Host: c.Host, TTY: c.TTY}
	if err := plugin.DecodeOptions(given, &o); err != nil {
		return c, err
	}
	for _, name := range o.Env {
		if !validVariable(name) {
			return c, fmt.Errorf("%w: option env: '%s' is not the name of a variable", swarm.ErrInvalidSpec, name)
		}
	}
	c.Host, c.TTY, c.Env = o.Host, o.TTY, slices.Concat(c.Env, o.Env)
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
