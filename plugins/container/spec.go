package container

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	labelWorker = "swarm.worker"    // the worker's id
	labelName   = "swarm.name"      // its name
	labelState  = "swarm.state-dir" // the host's state directory
	labelID     = "swarm.state-id"  // the id of the state directory, see [stateFile]
	labelRun    = "swarm.run-dir"   // the worker's run directory
)

// stateFile returns the file in a state directory that holds its id. Machines that share an
// engine may have state directories of the same path, such as dev containers with the
// engine's socket; the id distinguishes them.
func stateFile(dir string) string { return filepath.Join(dir, "container-state-id") }

// nameOfContainer is unique on an engine: ids are used once.
func nameOfContainer(id, name string) string { return "swarm-" + name + "-" + id }

type plan struct {
	Config
	spec   swarm.Spec
	create client.ContainerCreateOptions
	ref    ref // without the container
}

// newPlan returns how to make the container of a worker. stateID reads the id of the state directory
// in its file.
func (b *Backend) newPlan(spec swarm.Spec, stateID func(file string) (string, error)) (*plan, error) {
	switch {
	case spec.Local == nil:
		return nil, fmt.Errorf("%w: the container backend runs workers on this machine only", swarm.ErrInvalidSpec)
	case len(spec.Command) == 0 || spec.Command[0] == "":
		return nil, fmt.Errorf("%w: no command", swarm.ErrInvalidSpec)
	}
	if err := spec.Limits.Check(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(spec.Dir); spec.Dir != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("%w: there is no directory '%s'", swarm.ErrInvalidSpec, spec.Dir)
	}
	c, err := b.config.with(spec.Options)
	if err != nil {
		return nil, err
	}
	env := c.environ(spec)
	if err := spec.CheckUTF8("the container engine", env); err != nil {
		return nil, err
	}
	signal, err := swarm.ParseSignal(cmp.Or(spec.Kill.Signal, "SIGTERM"))
	if err != nil {
		return nil, err
	}
	mounts, err := c.mounts(spec.Local.Workspace)
	if err != nil {
		return nil, err
	}
	if c.MCP {
		own, err := withServer(spec.Local)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, own...)
	}
	for _, m := range mounts {
		if !utf8.ValidString(m.Source) || !utf8.ValidString(m.Target) {
			return nil, fmt.Errorf("%w: the path %q is not UTF-8, and the container engine mounts no such path", swarm.ErrInvalidSpec, m.Source)
		}
	}
	state, err := stateID(stateFile(spec.Local.StateDir))
	if err != nil {
		return nil, fmt.Errorf("%w: the id of the state directory: %w", swarm.ErrUnavailable, err)
	}
	command := spec.Command
	hasFeeder := spec.Stdin && !c.TTY
	if hasFeeder {
		command = withStdin(command)
	}
	p := &plan{Config: c, spec: spec, ref: ref{
		Socket: b.socket, Name: nameOfContainer(spec.ID, spec.Name), Worker: spec.ID, Dir: spec.Local.RunDir, State: state,
		TTY: c.TTY, Stdin: hasFeeder,
	}}
	p.create = client.ContainerCreateOptions{
		Name: p.ref.Name,
		Config: &container.Config{
			Image: c.Image, Entrypoint: command[:1], Cmd: command[1:], WorkingDir: c.workdir(spec.Dir, mounts),
			Env: env, User: c.User, Hostname: hostname(spec.Name), StopSignal: forEngine(signal),
			StopTimeout: new(graceSeconds(spec.Kill.Grace)),
			Tty:         c.TTY, OpenStdin: c.TTY,
			Labels: map[string]string{
				labelWorker: spec.ID, labelName: spec.Name, labelState: spec.Local.StateDir, labelID: state,
				labelRun: spec.Local.RunDir,
			},
		},
		HostConfig: &container.HostConfig{
			NetworkMode: container.NetworkMode(c.Network), Mounts: mounts, Init: new(true),
			LogConfig: logConfig(spec.OutputLimit), Resources: resources(spec.Limits),
		},
	}
	return p, nil
}

// environ returns the environment of a worker: the variables of the caller that are named,
// and those that were given for this worker, without the state directory and the token of an
// agent: they are useless in there.
func (c Config) environ(spec swarm.Spec) []string {
	var env []string
	for _, kv := range swarm.MergeEnv(spec.Local.HostEnv) {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(c.Env, name) {
			env = append(env, kv)
		}
	}
	env = swarm.MergeEnv(append(env, spec.Env...))
	return slices.DeleteFunc(env, func(kv string) bool {
		return strings.HasPrefix(kv, swarm.EnvDir+"=") || strings.HasPrefix(kv, swarm.EnvToken+"=")
	})
}

// logParts is how many files the engine divides a log into.
const logParts = 4

// logConfig makes the engine keep about so many bytes of output. The engine adds some to
// each line.
func logConfig(limit int64) container.LogConfig {
	const least, usual = 64 << 10, 64 << 20
	if limit <= 0 {
		limit = usual
	}
	size := max(least, (limit+logParts-2)/(logParts-1))
	return container.LogConfig{Type: "json-file", Config: map[string]string{
		"max-size": strconv.FormatInt(size, 10) + "b", "max-file": strconv.Itoa(logParts),
	}}
}

var notInHostname = regexp.MustCompile(`[^A-Za-z0-9-]+`)

func hostname(name string) string {
	name = strings.Trim(notInHostname.ReplaceAllString(name, "-"), "-")
	return strings.Trim(name[:min(len(name), 63)], "-")
}

// mapUser has the worker run as the caller, so that the files it writes in what is mounted
// are the caller's. In a rootless Docker the caller is root; a rootless Podman is asked to
// keep the caller's number.
func (e *engine) mapUser(ctx context.Context, p *plan) error {
	uid, gid := os.Getuid(), os.Getgid()
	if p.User != "" {
		return nil
	}
	p.create.Config.User = fmt.Sprintf("%d:%d", uid, gid)
	if uid == 0 || !ownedBy(e.socket, uid) {
		return nil
	}
	// Podman does not say that it is rootless, but one with such a socket is.
	switch podman, _, err := e.version(ctx); {
	case err != nil:
		return err
	case podman:
		p.create.HostConfig.UsernsMode = "keep-id"
		return nil
	}
	info, err := e.Info(ctx, client.InfoOptions{})
	if err != nil {
		return e.explain(ctx, "ask the engine", err)
	}
	if slices.ContainsFunc(info.Info.SecurityOptions, func(o string) bool { return strings.Contains(o, "rootless") }) {
		p.create.Config.User = "0:0"
	}
	return nil
}

func ownedBy(path string, uid int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == uid
}
