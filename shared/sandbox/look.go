package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ErrTooWide means that a directory can't be made writable, since it contains what the
// sandbox protects.
var ErrTooWide = fmt.Errorf("%w: the worker could write to too much in its sandbox", swarm.ErrInvalidSpec)

// temporary are the directories for temporary files and for sockets. Each worker has its own.
var temporary = []string{"/tmp", "/var/tmp", "/run", "/var/run"}

// kept are parts of those that programs need and that hold no sockets.
var kept = []string{"/run/current-system", "/run/opengl-driver"}

// sockets are directories of sockets elsewhere that rule the machine or the session of its
// user.
var sockets = []string{
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/incus", "/var/lib/lxd", "/var/snap/lxd",
	"/var/lib/libvirt", "/mnt/wslg",
}

// private are parts of a home that hold keys, or the sockets of programs that hand out keys.
// docs/sandbox.md lists them.
var private = []string{
	".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".config/sops", ".config/age",
	".aws", ".azure", ".config/gcloud", ".config/doctl", ".oci", ".kube", ".vault-token", ".terraform.d",
	".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli",
	".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".gradle/gradle.properties", ".pgpass", ".my.cnf", ".config/rclone", ".s3cfg",
	".docker/config.json", ".docker/run", ".docker/desktop", ".config/containers/auth.json", ".local/share/containers",
	".colima", ".orbstack", ".rd", ".lima", ".1password", ".config/op", ".config/Bitwarden CLI",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".tmux", ".dbus", ".Xauthority",
}

// deciding are parts of a home that say what programs of the user run, in addition to the
// files in the home itself.
var deciding = []string{
	".config/swarm", ".config/systemd", ".config/autostart", ".config/environment.d", ".config/git",
	".local/bin", "bin", "go/bin", ".cargo/bin", modules,
	".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", ".qwen/settings.json", ".config/opencode",
}

// modules is the directory in which programs of Node.js look for modules, as well as in those of
// that name in all directories above the program.
const modules = "node_modules"

var system = []string{"/bin", "/boot", "/etc", "/home", "/lib", "/lib64", "/opt", "/root", "/sbin", "/srv", "/usr", "/var"}

// Look plans the sandbox of a worker on this machine. The error is [swarm.ErrInvalidSpec],
// and [ErrTooWide] for a directory that can't be writable; it is [swarm.ErrUnavailable]
// without bubblewrap.
func Look(spec swarm.Spec) (Plan, error) {
	s := spec.Sandbox
	bubblewrap, err := Find()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Bubblewrap: bubblewrap, Root: os.Geteuid() == 0, NoNetwork: s.Network == swarm.NetworkNone}
	p.Temporary = slices.DeleteFunc(slices.Clone(temporary), func(dir string) bool { return !isDir(dir) })
	env := spec.Environ()
	homes := appendNew(homesOf(env), homesOf(hostEnv(spec))...)
	if len(homes) == 0 {
		return Plan{}, fmt.Errorf("%w: the home directory, which the sandbox hides, is unknown: set HOME", swarm.ErrInvalidSpec)
	}
	if err := p.home(s.Home, homes); err != nil {
		return Plan{}, err
	}
	var state string
	if l := spec.Local; l != nil {
		for _, dir := range []string{l.StateDir, l.RunDir} {
			if r, ok := real(dir); ok {
				p.Hide = append(p.Hide, r)
			}
		}
		state, _ = real(l.StateDir)
	}
	if err := p.write(spec, state, homes); err != nil {
		return Plan{}, err
	}
	if err := p.separate(state); err != nil {
		return Plan{}, err
	}
	p.keep()
	for _, path := range s.Write { // what the user names as writable is not protected
		r, _ := real(path)
		p.Protected = slices.DeleteFunc(p.Protected, func(protected string) bool { return protected == r })
	}
	for _, dir := range sockets {
		// A directory that is made later is hidden as well.
		if r, ok := real(dir); ok {
			dir = r // it was moved to a larger disk, say
		}
		p.Hide = append(p.Hide, dir)
	}
	p.Hide = append(p.Hide, named(env)...)
	return p, nil
}

// touches returns the first private part of a home that is a path, in it or above it; empty if
// none is.
func touches(path string, homes []string, spec swarm.Spec) string {
	for _, home := range homes {
		tops := []string{home}
		if home == "/home" {
			// For root, the homes of all users are below it.
			if rest, ok := strings.CutPrefix(path, "/home/"); ok {
				user, _, _ := strings.Cut(rest, "/")
				tops = []string{filepath.Join(home, user)}
			}
		}
		for _, top := range tops {
			for _, name := range slices.Concat(private, deciding) {
				if at := nearest(filepath.Join(top, name)); within(path, at) || within(at, path) {
					return at
				}
			}
		}
	}
	for _, env := range [][]string{spec.Environ(), hostEnv(spec)} {
		for variable, name := range map[string]string{"XDG_CONFIG_HOME": "swarm", "GNUPGHOME": "", "AWS_SHARED_CREDENTIALS_FILE": "", "KUBECONFIG": ""} {
			dir := environ.Get(env, variable)
			if !filepath.IsAbs(dir) {
				continue
			}
			if at := nearest(filepath.Join(dir, name)); within(path, at) || within(at, path) {
				return at
			}
		}
	}
	return ""
}

func hostEnv(spec swarm.Spec) []string {
	if spec.Local == nil {
		return nil
	}
	return spec.Local.HostEnv
}

// nearest returns a path without symbolic links, as far as it exists.
func nearest(path string) string {
	if r, ok := real(path); ok {
		return r
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(nearest(dir), filepath.Base(path))
	}
	return path
}

// homesOf returns the homes of the user: the worker's, and the one in the system's list of
// users. For root these are all homes, since it could read them all.
func homesOf(env []string) []string {
	candidates := []string{environ.Get(env, "HOME")}
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		candidates = append(candidates, u.HomeDir)
	}
	if os.Geteuid() == 0 {
		candidates = append(candidates, "/root", "/home")
	}
	var homes []string
	for _, dir := range candidates {
		r, ok := real(dir)
		if ok && filepath.IsAbs(dir) && r != "/" && !slices.Contains(homes, r) {
			homes = append(homes, r)
		}
	}
	return homes
}

// home decides what replaces the user's homes, at least one. The first one is the worker's.
func (p *Plan) home(asked string, homes []string) error {
	switch asked {
	case swarm.HomeReadOnly:
		for _, home := range homes {
			for _, name := range private {
				if r, ok := real(filepath.Join(home, name)); ok {
					p.Hide = append(p.Hide, r)
				}
			}
		}
		return nil
	case "", swarm.HomeEmpty:
		p.Empty = homes
		return nil
	}
	dir, err := directory(asked, "the home of the sandbox")
	if err != nil {
		return err
	}
	for _, home := range homes {
		if within(home, dir) {
			return fmt.Errorf("%w: %s contains the home directory %s", ErrTooWide, asked, home)
		}
	}
	p.Empty = homes[1:]
	p.Replace = map[string]string{homes[0]: dir}
	return nil
}

// write decides what is writable: the working directory, the workspace, and what was asked
// for.
func (p *Plan) write(spec swarm.Spec, state string, homes []string) error {
	dir, err := directory(spec.Dir, "the working directory")
	if err != nil {
		return err
	}
	p.Dir = dir
	guarded := slices.Concat(homes, p.Temporary, system, []string{state})
	wanted := []string{dir}
	workspace := ""
	if spec.Local != nil && spec.Local.Workspace != "" {
		if workspace, err = directory(spec.Local.Workspace, "the workspace"); err != nil {
			return err
		}
		if wanted = []string{workspace}; !within(dir, workspace) {
			wanted = append(wanted, dir)
		}
	}
	if slices.Contains(strings.Split(workspace, "/"), modules) {
		return fmt.Errorf("%w: %s would hold code that the programs of other projects load; choose another directory for worktrees", ErrTooWide, workspace)
	}
	for _, path := range wanted {
		if isBare(path) {
			return fmt.Errorf("%w: %s is a bare git repository", ErrTooWide, path)
		}
		if secret := touches(path, homes, spec); secret != "" {
			return fmt.Errorf("%w: %s holds keys, or settings that have programs run; choose the directory of a project", ErrTooWide, secret)
		}
	}
	for _, path := range spec.Sandbox.Write {
		r, err := resolve(path, "what the sandbox can write")
		if err != nil {
			return err
		}
		wanted = append(wanted, r)
	}
	for _, path := range wanted {
		if g := holds(path, guarded); g != "" {
			why := " contains " + g
			if g == path {
				why = " is a home directory or a system directory"
			}
			return fmt.Errorf("%w: %s%s; choose the directory of a project", ErrTooWide, path, why)
		}
		inWorkspace := workspace != "" && within(path, workspace)
		if state != "" && within(path, state) && !inWorkspace {
			return fmt.Errorf("%w: %s is in the state directory of swarm", ErrTooWide, path)
		}
		p.Write = append(p.Write, path)
		if err := p.git(path, guarded); err != nil {
			return err
		}
	}
	return nil
}

// separate refuses a plan that mounts a directory from inside one that the worker can write
// to: the worker could replace it before the next start.
func (p *Plan) separate(state string) error {
	for _, home := range p.Replace {
		for _, path := range append([]string{state}, p.Write...) {
			if path != "" && (within(home, path) || within(path, home)) {
				return fmt.Errorf("%w: the home %s of the sandbox and %s overlap", ErrTooWide, home, path)
			}
		}
		if g := holds(home, system); g != "" {
			return fmt.Errorf("%w: %s contains %s", ErrTooWide, home, g)
		}
	}
	for _, repository := range p.repositories {
		for _, path := range p.Write {
			if path != repository && within(repository, path) {
				return fmt.Errorf("%w: the repository %s is in %s, which the worker can write to", ErrTooWide, repository, path)
			}
		}
	}
	all := p.Write
	p.Write = slices.DeleteFunc(appendNew(nil, all...), func(path string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return path != other && within(path, other) })
	})
	return nil
}

func appendNew(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// holds returns the first of some directories that is path or in it; empty if none is.
func holds(path string, dirs []string) string {
	i := slices.IndexFunc(dirs, func(dir string) bool { return dir != "" && within(dir, path) })
	if i < 0 {
		return ""
	}
	return dirs[i]
}

// keep shows the files that the worker needs in the directories that are empty for it.
func (p *Plan) keep() {
	names := slices.Clone(kept)
	// The names of machines and the time are those of the machine.
	for _, name := range []string{"/etc/resolv.conf", "/etc/hosts", "/etc/localtime"} {
		if r, ok := real(name); ok {
			names = append(names, r)
		}
	}
	// The user's configuration of git names the author of commits, and holds no secret.
	for _, home := range p.Empty {
		for _, name := range []string{".gitconfig", ".config/git/config"} {
			names = append(names, filepath.Join(home, name))
		}
	}
	p.Kept = make(map[string]string)
	for _, name := range names {
		// It may be a link, to a directory of such files for instance.
		if r, ok := real(name); ok && !p.shows(name) {
			p.Kept[name] = r
		}
	}
}

// resolve returns the path of something that exists. The host has replaced all symbolic links
// when the worker was first started; one that is there now may have been put there by another
// worker.
func resolve(path, what string) (string, error) {
	r, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w: %s does not exist: %s", swarm.ErrInvalidSpec, what, path)
	case err != nil:
		return "", fmt.Errorf("%w: %s: %w", swarm.ErrInvalidSpec, what, err)
	case r != filepath.Clean(path):
		return "", fmt.Errorf("%w: %s, %s, is reached over a symbolic link, to %s, that was not there when it was first started", ErrTooWide, what, path, r)
	}
	return r, nil
}

// directory returns the path of a directory.
func directory(path, what string) (string, error) {
	r, err := resolve(path, what)
	if err != nil {
		return "", err
	}
	if fi, err := os.Stat(r); err != nil || !fi.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory: %s", swarm.ErrInvalidSpec, what, path)
	}
	return r, nil
}

// named returns the sockets that variables of an environment lead to.
func named(env []string) []string {
	var found []string
	add := func(path string) {
		if r, ok := real(path); ok && filepath.IsAbs(path) {
			found = append(found, r)
		}
	}
	first := func(s, sep string) string {
		head, _, _ := strings.Cut(s, sep)
		return head
	}
	add(environ.Get(env, "SSH_AUTH_SOCK"))
	add(first(environ.Get(env, "TMUX"), ","))
	for _, name := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
		add(strings.TrimPrefix(environ.Get(env, name), "unix://"))
	}
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"} {
		_, path, _ := strings.Cut(environ.Get(env, name), "unix:path=")
		add(first(first(path, ","), ";"))
	}
	if dir := environ.Get(env, "TMUX_TMPDIR"); dir != "" {
		add(filepath.Join(dir, "tmux-"+strconv.Itoa(os.Geteuid())))
	}
	for _, name := range []string{"XDG_RUNTIME_DIR", "GNOME_KEYRING_CONTROL"} {
		if dir := environ.Get(env, name); dir != "/" {
			add(dir)
		}
	}
	return found
}
