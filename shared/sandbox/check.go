package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// places are where bubblewrap is looked for. The search path of a user may lead into
// directories that a worker has written.
var places = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap", "/run/wrappers/bin/bwrap"}

// checkLimit is how long the check of [Check] may take.
const checkLimit = 10 * time.Second

// Find returns the path of bubblewrap, or an [swarm.ErrUnavailable] that says how to get it.
func Find() (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("%w: sandboxes need Linux", swarm.ErrUnavailable)
	}
	for _, path := range places {
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: sandboxes need bubblewrap, which is not installed; 'sudo apt install bubblewrap', or the package of that name elsewhere", swarm.ErrUnavailable)
}

// Check returns the version of bubblewrap, such as "bubblewrap 0.8.0", once it has made a
// sandbox, or an error that says why it can't, and what to do.
func Check(ctx context.Context) (string, error) {
	path, err := Find()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	p := Plan{Bubblewrap: path, Dir: "/", Root: os.Geteuid() == 0, Temporary: []string{"/tmp"}}
	cmd := exec.CommandContext(ctx, path, append(bubblewrapArgs(p), "--", path, "--version")...)
	cmd.Env = []string{}
	out, err := cmd.Output()
	if err != nil {
		text := err.Error()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			if said, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n"); said != "" {
				text = said
			}
		}
		return "", Explain(fmt.Errorf("%w: no sandbox can be made: %s", swarm.ErrUnavailable, text))
	}
	return strings.TrimSpace(strings.Replace(string(out), "bwrap", "bubblewrap", 1)), nil
}

// Explain adds the likely reason on this machine to an error of bubblewrap, and the way out.
func Explain(err error) error {
	// Parts of errors that are typical for a machine on which the user can't make namespaces.
	parts := []string{"namespace", "uid map", "RTM_NEWADDR", "Operation not permitted", "pivot_root", "Failed to make / slave"}
	if err == nil || !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) }) {
		return err
	}
	return fmt.Errorf("%w; %s", err, advice("/proc/sys"))
}

// advice says why an ordinary user can't make namespaces.
func advice(sysctls string) string {
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(sysctls, name))
		return strings.TrimSpace(string(b))
	}
	switch {
	case read("kernel/unprivileged_userns_clone") == "0":
		return "this system denies user namespaces to ordinary users: 'sudo sysctl -w kernel.unprivileged_userns_clone=1' allows them"
	case read("user/max_user_namespaces") == "0":
		return "this system allows no user namespaces: 'sudo sysctl -w user.max_user_namespaces=10000' allows them"
	case read("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor denies user namespaces to programs without a profile: give bwrap one that allows userns, or 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'"
	default:
		return "swarm may run in a container that allows no namespaces: start the container with fewer restrictions, or use a backend for containers"
	}
}

// bubblewrapArgs are the options of a plan for bubblewrap itself, without the shim's.
func bubblewrapArgs(p Plan) []string {
	args := p.Args()[1:]
	return slices.DeleteFunc(args, func(arg string) bool { return arg == rundir.WrapHideSockets })
}
