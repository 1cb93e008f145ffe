package sandbox

import (
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	t.Parallel()
	p := Plan{
		Bubblewrap: "/usr/bin/bwrap", Dir: "/home/u/p/w", Temporary: []string{"/tmp", "/run"}, Empty: []string{"/home/u"},
		Read: []string{"/home/u/p/.git"}, Write: []string{"/home/u/p/w", "/home/u/p/.git/objects"},
		Protected: []string{"/home/u/p/w/.git"}, Absent: []string{"/home/u/p/.git/worktrees/w/config.worktree"},
		Hide: []string{
			"/home/u/.swarm", "/run/docker.sock", // in empty directories
			"/var/lib/docker", "/var/lib/docker/x", "/home/u/p/.git/swarm", // shown
			"/home/u/p/w/dev.sock", // the worker's own
		},
	}
	head := "/usr/bin/bwrap --unshare-pid --as-pid-1 --unshare-ipc --cap-drop ALL"
	rest := " --perms 1777 --tmpfs /run --perms 1777 --tmpfs /tmp --perms 0700 --tmpfs /home/u" +
		" --ro-bind /home/u/p/.git /home/u/p/.git" +
		" --hide /home/u/p/.git/swarm --hide /var/lib/docker --hide-sockets" +
		" --bind /home/u/p/.git/objects /home/u/p/.git/objects --bind /home/u/p/w /home/u/p/w" +
		" --ro-bind /home/u/p/w/.git /home/u/p/w/.git" +
		" --ro-bind /dev/null /home/u/p/.git/worktrees/w/config.worktree" +
		" --chdir /home/u/p/w"
	const root = " --ro-bind / / --dev /dev --proc /proc"
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"user", func(*Plan) {}, head + root + rest},
		{"root", func(p *Plan) { p.Root = true }, head + root + " --remount-ro /proc" + rest},
		{"no network", func(p *Plan) { p.NoNetwork = true }, head + " --unshare-net" + root + rest},
		{
			"another home", func(p *Plan) { p.Empty, p.Replace = nil, map[string]string{"/home/u": "/srv/h"} },
			head + root + strings.Replace(rest, "--perms 0700 --tmpfs /home/u", "--bind /srv/h /home/u", 1),
		},
	} {
		q := p
		c.change(&q)
		if got := strings.Join(q.Args(), " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
