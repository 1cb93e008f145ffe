package sandbox

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// TestOrdinaryUser checks that a sandbox holds that an ordinary user makes, also if the tests
// run as root.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	machinetest.Bubblewrap(t)
	bubblewrap, err := Find()
	if err != nil {
		t.Skip(err)
	}
	const stranger = 65534
	p := newPlace(t)
	if os.Geteuid() == 0 {
		machinetest.UserNamespaces(t)
		for _, dir := range []string{p.top, p.home, p.repo, p.state} {
			if err := os.Chown(dir, stranger, stranger); err != nil {
				t.Fatal(err)
			}
		}
	}
	plan := Plan{
		Bubblewrap: bubblewrap, Dir: p.repo, NoNetwork: true, Temporary: []string{"/tmp", "/run"},
		Empty: []string{p.home}, Write: []string{p.repo}, Protected: []string{p.repo + "/.git"},
	}
	script := `exec 2>/dev/null
touch inside || echo cannot write
touch ` + p.top + `/x && echo escaped to the directory above
touch .git/x && echo escaped to .git
mv .git stranger && echo escaped by a move
ls ` + p.state + ` && echo escaped to the state directory
test $(ls -d /proc/[0-9]* | wc -l) -gt 9 && echo escaped to stranger processes
test $(grep -c : /proc/net/dev) = 1 || echo escaped to the network
grep -q 'NoNewPrivs.*1' /proc/self/status || echo escaped by privileges
grep -q 'CapEff:.0*$' /proc/self/status || echo escaped by capabilities
unshare -Urm mount -o remount,rw / && echo escaped by a remount
unshare -Urm umount ` + p.home + ` && echo escaped below the home
echo done`
	args := append(bubblewrapArgs(plan), "--", "sh", "-c", script)
	cmd := exec.Command(bubblewrap, args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	}
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil || text != "done" {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := os.Stat(p.repo + "/inside"); err != nil {
		t.Error(err)
	}
}
