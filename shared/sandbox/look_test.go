package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// place is a home with a repository, a worktree of it and a state directory, below a
// directory that is not one for temporary files.
type place struct{ top, home, repo, tree, state string }

func newPlace(t *testing.T) place {
	t.Helper()
	machinetest.Bubblewrap(t)
	top, err := os.MkdirTemp("/var", "swarm-sandbox-test") //nolint:usetesting // not below /tmp, which sandboxes hide
	if errors.Is(err, os.ErrPermission) {
		home, _ := os.UserHomeDir()
		top, err = os.MkdirTemp(home, "swarm-sandbox-test") //nolint:usetesting // the same
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	p := place{top, top + "/home", top + "/home/repo", top + "/home/repo-worktrees/w", top + "/home/.swarm"}
	for _, dir := range []string{p.repo + "/sub", p.state + "/workers/x", p.home + "/.ssh"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "first"},
		{"worktree", "add", "-q", p.tree},
	} {
		cmd := exec.Command("git", append([]string{"-C", p.repo}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return p
}

func (p place) spec(dir string, s swarm.Sandbox) swarm.Spec {
	return swarm.Spec{Dir: dir, Sandbox: &s, Local: &swarm.Local{
		StateDir: p.state, RunDir: p.state + "/workers/x", HostEnv: []string{"HOME=" + p.home},
	}}
}

func TestLook(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	spec := p.spec(p.tree, swarm.Sandbox{})
	spec.Local.Workspace = p.tree
	plan, err := Look(spec)
	if err != nil {
		t.Fatal(err)
	}
	git := p.repo + "/.git"
	admin := git + "/worktrees/w"
	if want := []string{p.tree, git + "/objects", git + "/refs", git + "/logs", admin}; !slices.Equal(plan.Write, want) {
		t.Errorf("writable: %q", plan.Write)
	}
	if want := []string{p.tree + "/.git", admin + "/commondir", admin + "/gitdir"}; !slices.Equal(plan.Protected, want) {
		t.Errorf("protected: %q", plan.Protected)
	}
	if !slices.Contains(plan.Empty, p.home) || !slices.Contains(plan.Hide, p.state) || !slices.Contains(plan.Read, git) {
		t.Errorf("%+v", plan)
	}

	plan, err = Look(p.spec(p.repo, swarm.Sandbox{Network: "none", Home: "read-only"}))
	if err != nil || !slices.Equal(plan.Write, []string{p.repo}) || !slices.Equal(plan.Protected, []string{git}) ||
		!plan.NoNetwork || len(plan.Empty) != 0 || !slices.Contains(plan.Hide, p.home+"/.ssh") {
		t.Errorf("%+v, %v", plan, err)
	}
	plan, err = Look(p.spec(p.repo+"/sub", swarm.Sandbox{Home: p.home + "/box", Write: []string{p.home + "/.ssh"}}))
	if err == nil {
		t.Errorf("a home that does not exist: %+v", plan)
	}
	plan, err = Look(p.spec(p.repo+"/sub", swarm.Sandbox{Write: []string{p.home + "/.ssh"}}))
	if err != nil || !slices.Equal(plan.Write, []string{p.repo + "/sub", p.home + "/.ssh"}) || !slices.Contains(plan.Read, p.repo) {
		t.Errorf("%+v, %v", plan, err)
	}
	plan, err = Look(p.spec(p.repo, swarm.Sandbox{Write: []string{git}}))
	if err != nil || len(plan.Protected) != 0 {
		t.Errorf("what is named is writable: %+v, %v", plan, err)
	}
}

// TestTooWide checks what is never writable.
func TestTooWide(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.Symlink(p.home, p.repo+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/", "/etc", "/tmp", "/run", p.top, p.home, p.state, p.state + "/workers", p.repo + "/link"} {
		if _, err := Look(p.spec(dir, swarm.Sandbox{})); !errors.Is(err, ErrTooWide) {
			t.Errorf("%s as the working directory: %v", dir, err)
		}
		if _, err := Look(p.spec(p.repo, swarm.Sandbox{Write: []string{dir}})); !errors.Is(err, ErrTooWide) {
			t.Errorf("%s to be written: %v", dir, err)
		}
	}
	if _, err := Look(p.spec(p.repo, swarm.Sandbox{Home: p.top})); !errors.Is(err, ErrTooWide) {
		t.Errorf("a home above the home: %v", err)
	}
}

// TestForgedWorktree checks that a file .git gives nothing away that is no worktree of it.
func TestForgedWorktree(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	forged := p.top + "/forged"
	admin := p.home + "/victim/worktrees/w"
	for _, dir := range []string{forged, admin, p.home + "/victim/objects"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		_ = os.Remove(name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dot := range []string{
		"gitdir: " + p.repo + "/.git/worktrees/w\n", "gitdir: " + p.repo + "/.git\n", "gitdir: " + admin + "\n", "gitdir: /\n", "", "x\ny\n",
	} {
		write(forged+"/.git", dot)
		plan, err := Look(p.spec(forged, swarm.Sandbox{}))
		if err != nil || !slices.Equal(plan.Write, []string{forged}) || !slices.Equal(plan.Protected, []string{forged + "/.git"}) {
			t.Errorf("%q: %+v, %v", dot, plan, err)
		}
	}
	// The directory leads back, and names another repository.
	write(forged+"/.git", "gitdir: "+admin+"\n")
	write(admin+"/gitdir", forged+"/.git\n")
	write(admin+"/commondir", p.repo+"/.git\n")
	if plan, err := Look(p.spec(forged, swarm.Sandbox{})); err != nil || !slices.Equal(plan.Write, []string{forged}) {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestLinkedGitConfig checks that a configuration of git is shown at its name, wherever that
// leads, and that read-only homes hide their keys.
func TestLinkedGitConfig(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dotfiles := filepath.Join(p.home, "dotfiles")
	if err := os.Mkdir(dotfiles, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dotfiles/gitconfig", ".netrc"} {
		if err := os.WriteFile(filepath.Join(p.home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(p.home, ".gitconfig")
	if err := os.Symlink("dotfiles/gitconfig", name); err != nil {
		t.Fatal(err)
	}
	plan, err := Look(p.spec(p.repo, swarm.Sandbox{}))
	if err != nil || plan.Kept[name] != filepath.Join(dotfiles, "gitconfig") {
		t.Errorf("%q, %v", plan.Kept, err)
	}
	if args := strings.Join(plan.Args(), " "); !strings.Contains(args, " --ro-bind-try "+dotfiles+"/gitconfig "+name+" ") {
		t.Error(args)
	}
	plan, err = Look(p.spec(p.repo, swarm.Sandbox{Home: swarm.HomeReadOnly}))
	if err != nil || !slices.Contains(plan.Hide, filepath.Join(p.home, ".netrc")) {
		t.Errorf("%q, %v", plan.Hide, err)
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"kernel/unprivileged_userns_clone=0":             "kernel.unprivileged_userns_clone=1",
		"user/max_user_namespaces=0":                     "user.max_user_namespaces=10000",
		"kernel/apparmor_restrict_unprivileged_userns=1": "AppArmor",
		"kernel/other=1":                                 "container",
	} {
		dir := t.TempDir()
		file, value, _ := strings.Cut(name, "=")
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := advice(dir); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	err := errors.New("bwrap: No permissions to create new namespace")
	if got := Explain(err); got.Error() == err.Error() || !errors.Is(got, err) {
		t.Errorf("%v", got)
	}
	if err := errors.New("bwrap: Can't find source path /x"); Explain(err).Error() != err.Error() {
		t.Error("another error is explained")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	version, err := Check(t.Context())
	if err == nil && !strings.HasPrefix(version, "bubblewrap ") || err != nil && !errors.Is(err, swarm.ErrUnavailable) {
		t.Errorf("%q, %v", version, err)
	}
}

// A mount that the worker could use to leave its sandbox, at once or at its next start, is refused.
func TestNotKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bare := filepath.Join(p.home, "bare")
	linked := filepath.Join(p.home, "linked")
	separate := filepath.Join(p.home, "separate")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{bare + "/objects", bare + "/refs", linked, separate + "/.bare", p.repo + "/sub/home"} {
		must(os.MkdirAll(dir, 0o700))
	}
	must(os.WriteFile(bare+"/HEAD", []byte("ref: refs/heads/main\n"), 0o600))
	must(os.Symlink(p.repo+"/.git", linked+"/.git"))
	must(os.WriteFile(separate+"/.git", []byte("gitdir: ./.bare\n"), 0o600))
	for _, tt := range []struct {
		name, dir string
		s         swarm.Sandbox
	}{
		{"bare", bare, swarm.Sandbox{}},
		{"linked", linked, swarm.Sandbox{}},
		{"separate", separate, swarm.Sandbox{}},
		{"home-within", p.repo, swarm.Sandbox{Home: p.repo + "/sub/home"}},
		{"home-same", p.repo, swarm.Sandbox{Home: p.repo}},
		{"home-of-state", p.repo, swarm.Sandbox{Home: p.state}},
		{"repository-below", p.tree, swarm.Sandbox{Write: []string{p.repo}}},
	} {
		if plan, err := Look(p.spec(tt.dir, tt.s)); !errors.Is(err, ErrTooWide) {
			t.Errorf("%s: %+v, %v", tt.name, plan, err)
		}
	}
	plan, err := Look(p.spec(p.repo, swarm.Sandbox{Write: []string{p.repo + "/sub"}}))
	if err != nil || slices.Contains(plan.Write, p.repo+"/sub") {
		t.Errorf("a directory in one that can be written is mounted: %v, %v", plan.Write, err)
	}
}

// TestMovedSockets checks that a directory of sockets is hidden where it really is.
func TestMovedSockets(t *testing.T) {
	p := newPlace(t)
	for _, dir := range []string{p.top + "/docker"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := p.top + "/lib-docker"
	if err := os.Symlink(p.top+"/docker", link); err != nil {
		t.Fatal(err)
	}
	before := sockets
	t.Cleanup(func() { sockets = before })
	sockets = []string{link, p.top + "/later"}
	plan, err := Look(p.spec(p.repo, swarm.Sandbox{}))
	if err != nil || slices.Contains(plan.Hide, link) || !slices.Contains(plan.Hide, p.top+"/docker") || !slices.Contains(plan.Hide, p.top+"/later") {
		t.Errorf("%q, %v", plan.Hide, err)
	}
}

// TestPrivateDirectories checks that keys, and settings that have programs run, are never
// writable because the worker runs in, below or above them.
func TestPrivateDirectories(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	elsewhere := p.top + "/elsewhere"
	for _, dir := range []string{
		".ssh/keys", ".gnupg", ".config/gh", ".config/git", ".config/gcloud/x", ".config/swarm/profiles", ".config/systemd/user",
		".local/bin", ".local/share/keyrings", ".local/share/app", ".config/nvim", ".docker/run", "xdg/swarm", "own-gnupg",
		"bin/x", "go/bin/x", "go/src/x", ".cargo/bin", "node_modules/x", ".claude/worktrees/x", ".codex/worktrees/x", ".config/opencode/x", "src/node_modules/x",
	} {
		if err := os.MkdirAll(filepath.Join(p.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(elsewhere+"/aws/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere+"/aws", p.home+"/.aws"); err != nil {
		t.Fatal(err)
	}
	look := func(dir string, workspace bool) error {
		spec := p.spec(dir, swarm.Sandbox{})
		spec.Env = []string{"XDG_CONFIG_HOME=" + p.home + "/xdg", "GNUPGHOME=" + p.home + "/own-gnupg"}
		if workspace {
			spec.Local.Workspace = dir
		}
		_, err := Look(spec)
		return err
	}
	for _, dir := range []string{
		p.home + "/.ssh", p.home + "/.ssh/keys", p.home + "/.gnupg", p.home + "/.config", p.home + "/.config/gh", p.home + "/.config/git",
		p.home + "/.config/gcloud/x", p.home + "/.config/swarm", p.home + "/.config/swarm/profiles", p.home + "/.config/systemd/user",
		p.home + "/.local", p.home + "/.local/bin", p.home + "/.local/share", p.home + "/.local/share/keyrings", p.home + "/.docker",
		p.home + "/.docker/run", elsewhere, elsewhere + "/aws", elsewhere + "/aws/sub", p.home + "/xdg/swarm", p.home + "/xdg", p.home + "/own-gnupg",
		p.home + "/bin", p.home + "/bin/x", p.home + "/go", p.home + "/go/bin/x", p.home + "/.cargo", p.home + "/.cargo/bin",
		p.home + "/node_modules", p.home + "/node_modules/x", p.home + "/.claude", p.home + "/.codex", p.home + "/.config/opencode/x",
	} {
		for _, workspace := range []bool{false, true} {
			if err := look(dir, workspace); !errors.Is(err, ErrTooWide) {
				t.Errorf("%s, workspace %t: %v", dir, workspace, err)
			}
		}
	}
	for _, dir := range []string{
		p.home + "/.config/nvim", p.home + "/.local/share/app", p.repo,
		p.home + "/go/src/x", p.home + "/.claude/worktrees/x", p.home + "/.codex/worktrees/x", p.home + "/src/node_modules/x",
	} {
		if err := look(dir, false); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{p.home + "/src/node_modules", p.home + "/src/node_modules/x"} {
		if err := look(dir, true); !errors.Is(err, ErrTooWide) {
			t.Errorf("a worktree at %s: %v", dir, err)
		}
	}
	if err := look(p.home+"/.aws/sub", false); !errors.Is(err, ErrTooWide) {
		t.Errorf("over a link: %v", err)
	}
}
