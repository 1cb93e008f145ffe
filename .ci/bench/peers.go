package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// peer is another program that keeps processes, asked to do the same work. All
// of them have a daemon that is started before and not measured.
type peer struct {
	name string
	// start makes the daemon ready; stop ends it with all it keeps.
	start, stop func(context.Context) error
	// spawn, status and kill are the commands for the one worker; crowd starts
	// many and killAll ends them.
	spawn, status, kill, crowd, killAll []string
	// forget is run before each spawn; nil: nothing.
	forget []string
}

// peers measures swarm next to those that are installed.
func peers(ctx context.Context, w *world, o options) ([]row, error) {
	var there []peer
	for _, known := range []struct {
		name string
		make func(*world, options) (peer, error)
	}{{"supervisorctl", supervisor}, {"pm2", pm2}} {
		if _, err := exec.LookPath(known.name); err != nil {
			fmt.Fprintf(os.Stderr, "  %s is not installed\n", known.name)
			continue
		}
		p, err := known.make(w, o)
		if err != nil {
			return nil, err
		}
		there = append(there, p)
	}
	if len(there) == 0 {
		return nil, nil
	}
	there = append(there, w.self(o))
	rows, err := w.compare(ctx, there, o)
	for _, p := range there {
		err = errors.Join(err, p.stop(context.WithoutCancel(ctx)))
	}
	return rows, err
}

// self is swarm as one of the peers.
func (w *world) self(o options) peer {
	swarm := func(args ...string) []string { return append([]string{w.bin + "/swarm"}, args...) }
	many := fmt.Sprintf(`for i in $(seq %d); do "$1" spawn --name w$i -- sleep 1000; done`, o.crowd)
	return peer{
		name:   "swarm",
		start:  func(context.Context) error { return nil },
		stop:   w.clear,
		forget: swarm("clean", "--all"),
		spawn:  swarm("spawn", "--name", "one", "--", "sleep", "1000"),
		status: swarm("status", "one"), kill: swarm("kill", "one"),
		crowd: append([]string{"sh", "-c", many, "sh"}, swarm()...), killAll: swarm("kill", "--all"),
	}
}

func (w *world) compare(ctx context.Context, all []peer, o options) ([]row, error) {
	var spawns, queries, kills []contender
	for _, p := range all {
		if err := p.start(ctx); err != nil {
			return nil, err
		}
		do := func(argv []string) func(context.Context) (time.Duration, error) {
			return func(ctx context.Context) (time.Duration, error) { return w.do(ctx, argv...) }
		}
		ready := func(ctx context.Context) error {
			if p.forget == nil {
				return nil
			}
			_, err := w.do(ctx, p.forget...)
			return err
		}
		spawns = append(spawns, contender{name: p.name + "spawn", before: ready, run: do(p.spawn)})
		queries = append(queries, contender{name: p.name + "status", run: do(p.status)})
		kills = append(kills, contender{name: p.name + "kill", run: do(p.kill)})
	}
	// A round of all: spawn, ask, kill. The order within a round makes each find
	// what the one before has left.
	m, err := inOrder(ctx, max(5, o.runs/4), append(append(spawns, queries...), kills...)...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, what := range []string{"spawn", "status", "kill"} {
		for _, p := range all {
			rows = append(rows, row{what: p.name + ": " + what + " one", measured: millis(m[p.name+what])})
		}
	}
	for _, p := range all {
		if p.forget != nil {
			if _, err := w.do(ctx, p.forget...); err != nil {
				return nil, err
			}
		}
		if _, err := w.do(ctx, p.crowd...); err != nil {
			return nil, err
		}
		took, err := w.do(ctx, p.killAll...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{what: fmt.Sprintf("%s: kill all %d", p.name, o.crowd), measured: millis(took)})
	}
	return rows, nil
}

// supervisor is supervisord on a socket in the scratch directory.
func supervisor(w *world, o options) (peer, error) {
	conf := w.path("supervisord.conf")
	text := strings.NewReplacer("DIR", w.dir, "CROWD", fmt.Sprint(o.crowd)).Replace(`[unix_http_server]
file=DIR/supervisor.sock
[supervisord]
logfile=DIR/supervisord.log
pidfile=DIR/supervisord.pid
childlogdir=DIR
minfds=256
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix://DIR/supervisor.sock
[program:one]
command=sleep 1000
autostart=false
startsecs=0
[program:w]
command=sleep 1000
process_name=w%(process_num)d
numprocs=CROWD
autostart=false
startsecs=0
`)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return peer{}, err
	}
	ctl := func(args ...string) []string { return append([]string{"supervisorctl", "-c", conf}, args...) }
	return peer{
		name: "supervisorctl",
		start: func(ctx context.Context) error {
			_, err := w.do(ctx, "supervisord", "-c", conf)
			return err
		},
		stop: func(ctx context.Context) error {
			_, err := w.do(ctx, ctl("shutdown")...)
			return err
		},
		spawn: ctl("start", "one"), status: ctl("status", "one"), kill: ctl("stop", "one"),
		crowd: ctl("start", "w:*"), killAll: ctl("stop", "w:*"),
	}, nil
}

// pm2 is pm2 with its home in the scratch directory.
func pm2(w *world, o options) (peer, error) {
	w.env = append(w.env, "PM2_HOME="+w.path("pm2"))
	crowd := w.path("pm2.json")
	text := fmt.Sprintf(`{"apps": [{"name": "w", "script": "sleep", "args": "1000", "interpreter": "none", "exec_mode": "fork", "instances": %d}]}`, o.crowd)
	if err := os.WriteFile(crowd, []byte(text), 0o600); err != nil {
		return peer{}, err
	}
	return peer{
		name: "pm2",
		start: func(ctx context.Context) error {
			_, err := w.do(ctx, "pm2", "ping")
			return err
		},
		stop: func(ctx context.Context) error {
			_, err := w.do(ctx, "pm2", "kill")
			return err
		},
		spawn:  []string{"pm2", "start", "sleep", "--name", "one", "--interpreter", "none", "--", "1000"},
		status: []string{"pm2", "describe", "one"}, kill: []string{"pm2", "delete", "one"},
		crowd: []string{"pm2", "start", crowd}, killAll: []string{"pm2", "delete", "all"},
	}, nil
}
