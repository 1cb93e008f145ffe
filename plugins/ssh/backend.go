package ssh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend] and the capabilities asserted below. All its methods
// may be called at the same time.
type Backend struct {
	config   Config
	env      []string
	control  control
	programs programs
	log      *slog.Logger
	life     context.Context //nolint:containedctx // of the plugin
	end      context.CancelFunc

	mu    sync.Mutex
	links map[string]*link // by their hosts
}

var _ swarm.Backend = (*Backend)(nil)

// New returns the backend, whose connections end with ctx. env is the environment of the
// plugin. It logs to log, which must not be nil, and does not connect yet.
func New(ctx context.Context, c Config, env []string, log *slog.Logger) (*Backend, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	b := &Backend{config: c, env: env, control: controlOf(env), log: log, links: make(map[string]*link)}
	b.programs = programsIn(c.Programs, b.control.note("programs.json"))
	b.life, b.end = context.WithCancel(ctx)
	return b, nil
}

func (b *Backend) Close() {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		if s := l.awaitAttempt(); s != nil {
			s.close()
		}
	}
}

// Leave ends the attempts to connect, and returns when no ssh of them is left that asks for
// settings. Connections end with the plugin.
func (b *Backend) Leave() {
	b.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		l.awaitAttempt()
	}
}

func (b *Backend) link(host string) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.links[host]
	if l == nil {
		l = &link{
			client:   &sshClient{config: b.config, host: host, env: b.env, control: b.control},
			programs: b.programs, silence: silenceOf(b.control, host), log: b.log, life: b.life,
		}
		b.links[host] = l
	}
	return l
}

// of returns the way to the host of a worker, and the worker's handle there.
func (b *Backend) of(h swarm.Handle) (ref, *link, swarm.Handle, error) {
	r, err := decode(h)
	if err != nil {
		return ref{}, nil, swarm.Handle{}, err
	}
	far, err := r.far()
	return r, b.link(r.Host), far, err
}

// Capabilities returns those of the machines over there, and the check of this one. A worker reports
// its completion where it runs.
func (b *Backend) Capabilities() []swarm.Capability {
	far := slices.DeleteFunc(swarm.CapabilitiesOf((*remote.Backend)(nil)), func(c swarm.Capability) bool { return c == swarm.CapComplete })
	return append(far, swarm.CapCheck)
}

// Check reports whether there is an ssh, and what it copies.
func (b *Backend) Check(context.Context) error {
	if _, err := exec.LookPath(b.config.Program); err != nil {
		return fmt.Errorf("%w: there is no '%s' on this machine: install the OpenSSH client", swarm.ErrUnavailable, b.config.Program)
	}
	_, err := b.programs()
	return err
}

func (b *Backend) Report(ctx context.Context) (string, error) {
	return (&sshClient{config: b.config, env: b.env}).version(ctx)
}

func on(l *link, err error) error {
	if err == nil || errors.Is(err, errBroken) || errors.Is(err, errNoConnection) {
		return err
	}
	return fmt.Errorf("on %s: %w", l.client.host, err)
}

// listLimit is how long a host may take to list its workers. It is less than a swarm host waits
// for all of them.
const listLimit = 40 * time.Second

// List lists the workers on the hosts that the settings name. A host that can't be asked does
// not keep it from listing the others; the error names each such host.
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	hosts := slices.Clone(b.config.Hosts)
	if b.config.Host != "" {
		hosts = append(hosts, b.config.Host)
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	lists := make([][]swarm.Listed, len(hosts))
	errs := make([]error, len(hosts))
	var asking sync.WaitGroup
	for i, host := range hosts {
		asking.Go(func() {
			limited, cancel := context.WithTimeout(ctx, listLimit)
			defer cancel()
			lists[i], errs[i] = b.list(limited, host)
			if errors.Is(errs[i], context.DeadlineExceeded) && ctx.Err() == nil {
				errs[i] = fmt.Errorf("%w: %s did not answer within %s", swarm.ErrUnavailable, host, listLimit)
			}
			errs[i] = on(b.link(host), errs[i])
		})
	}
	asking.Wait()
	for _, listed := range lists {
		for _, l := range listed {
			if err := each(l); err != nil {
				return err
			}
		}
	}
	return errors.Join(errs...)
}

func (b *Backend) list(ctx context.Context, host string) ([]swarm.Listed, error) {
	return again(ctx, b.link(host), func(s *session) (all []swarm.Listed, err error) {
		err = s.backend.List(ctx, func(l swarm.Listed) error {
			l.Spec.Options = listedOptions(host, l.Spec.Options)
			placed(host, &l.Status)
			var err error
			if l.Handle, err = near(host, l.Handle); err == nil {
				all = append(all, l)
			}
			return nil
		})
		return all, err
	})
}

// listedOptions returns the options of a worker that a host lists. The host is not trusted with
// the others: env, for instance, names variables of this machine that a respawn sends there.
func listedOptions(host string, far map[string]string) map[string]string {
	options := map[string]string{optHost: host}
	if tty := far[optTTY]; tty == "true" || tty == "false" {
		options[optTTY] = tty
	}
	return options
}

func placed(host string, s *swarm.Status) {
	parts := make(map[string]string, len(s.Where.Parts)+1)
	maps.Copy(parts, s.Where.Parts)
	parts["host"] = host
	w := swarm.Where{Kind: "host", Name: host, Parts: parts, ID: s.Where.ID}
	if s.Where.Kind != "" {
		w.Kind = s.Where.Kind
		if w.Name = s.Where.Name; w.Name != "" {
			w.Name = host + " " + w.Name
		}
	}
	s.Where = w
}
