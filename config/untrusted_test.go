package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryKeyHasARule fails for a key without a rule for what a file may do with it
// that is not trusted.
func TestEveryKeyHasARule(t *testing.T) {
	t.Parallel()
	keys := keysBelow("", fields())
	keys = append(keys, keysBelow("workers.*.", workerFields())...)
	keys = append(keys, keysBelow("plugins.*.", pluginFields())...)
	keys = append(keys, keysBelow("hooks.", hookFields())...)
	keys = append(keys, keysBelow("answers.", answerFields())...)
	for _, key := range keys {
		r, ok := rules[key]
		if setting, ofWorker := strings.CutPrefix(key, "workers.*."); ofWorker && !ok {
			if r, ok = rules[setting]; !ok {
				r, ok = rules["defaults."+setting]
			}
			if ok && ruleOf(key).why != r.why {
				t.Errorf("%s has not the rule of the setting of all workers", key)
			}
		}
		if !ok || r.why == "" {
			t.Errorf("%s has no rule for files that are not trusted", key)
		}
	}
	for key := range rules {
		if !slices.Contains(keys, key) {
			t.Errorf("the rule of %s is for no key", key)
		}
	}
	for _, key := range []string{"defaults.new", "workers.*.new", "new"} {
		if !ruleOf(key).needsTrust(offer{}) {
			t.Errorf("%s, a key without a rule, needs no trust", key)
		}
	}
}

// TestProjectOnlyTightens has a project's file, once trusted and once not, over a user's.
func TestProjectOnlyTightens(t *testing.T) {
	t.Parallel()
	const limits = "[defaults]\nmemory = \"1GiB\"\ncpus = 1.5\npids = 100\nnice = 5\nio_weight = 50\n"
	const boxed = "[defaults]\nsandbox = true\nsandbox_network = \"none\"\nsandbox_home = \"empty\"\n"
	for _, tt := range []struct{ name, user, loose, tight string }{
		{"memory", limits, `memory = "2GiB"`, `memory = "512MiB"`},
		{"memory of bytes", limits, `memory = 1073741825`, `memory = 1073741824`},
		{"cpus", limits, `cpus = 2`, `cpus = 1`},
		{"pids", limits, `pids = 101`, `pids = 100`},
		{"nice", limits, `nice = 4`, `nice = 19`},
		{"nice of none", "", `nice = -1`, `nice = 1`},
		{"io_weight", limits, `io_weight = 51`, `io_weight = 1`},
		{"io_weight of none", "", `io_weight = 101`, `io_weight = 100`},
		{"limits", limits, `limits = "best-effort"`, `limits = "strict"`},
		{"limits said", "[defaults]\nlimits = \"strict\"\n", `limits = "best-effort"`, `limits = "strict"`},
		{"limits of none", "", ``, `limits = "best-effort"`},
		{"limits loose", limits + "limits = \"best-effort\"\n", ``, `limits = "best-effort"`},
		{"no limits", "", ``, `memory = "64GiB"`},
		{"sandbox", boxed, `sandbox = false`, `sandbox = true`},
		{"network", boxed, `sandbox_network = "host"`, `sandbox_network = "none"`},
		{"home", boxed, `sandbox_home = "read-only"`, `sandbox_home = "empty"`},
		{"home of the user", boxed, `sandbox_home = "~"`, `sandbox_home = "empty"`},
		{"write", boxed, `sandbox_write = ["sub"]`, `sandbox_write = []`},
		{"signal", "", `kill.signal = "CONT"`, `kill.signal = "INT"`},
		{"signal in lower case", "", `kill.signal = "sigwinch"`, `kill.signal = "sigquit"`},
		{"signal that stops", "", `kill.signal = "STOP"`, `kill.signal = "KILL"`},
		{"signal that is ignored", "", `kill.signal = "URG"`, `kill.signal = "9"`},
		{"signal of the user", "[kill]\nsignal = \"CHLD\"\n", `kill.signal = "IO"`, `kill.signal = "CHLD"`},
		{"timeout", "", `kill.timeout = "10000h"`, `kill.timeout = "1m"`},
		{"timeout of more than a minute", "", `kill.timeout = 61`, `kill.timeout = 0`},
		{"timeout of the user", "[kill]\ntimeout = \"5m\"\n", `kill.timeout = "6m"`, `kill.timeout = "5m"`},
		{"force", "", `kill.force = false`, `kill.force = true`},
		{"force of the user", "[kill]\nforce = false\n", ``, `kill.force = false`},
		{"mode", "", `kill.mode = "main"`, `kill.mode = "tree"`},
		{"log", "", `log_limit = "65MiB"`, `log_limit = "64MiB"`},
		{"log of the user", "[log]\nlimit = \"1MiB\"\n", `log_limit = "2MiB"`, `log_limit = 1`},
		{"restarts", "", `restart = { min_delay = "1ms" }`, `restart = { when = "always", min_delay = "100ms", budget = 999999 }`},
		{"backend", "[defaults]\nbackend = \"container\"\n", `backend = "process"`, `backend = "container"`},
		{"backend of none", "", ``, `backend = "container"`},
		{"mount", "", `options = { mount = "/home/u/.ssh:/k" }`, `options = { image = "registry.example.com:5000/a/b:1", tty = true }`},
		{"mount of home", "", `options = { mount = "~/.ssh:/k" }`, `options = { network = "none" }`},
		{"mount of several", "", `options = { mount = "sub,../../x:/k" }`, `options = { mount = "sub" }`},
		{"directory", "", `cwd = "../x"`, `cwd = "x/../y"`},
		{"variables", "", `env_file = [".env", "/etc/environment"]`, `env_file = ".env"`},
		{"worktree", "", `worktree = { dir = ".vim" }`, `worktree = { dir = "trees" }`},
		{"workspace", "", `workspace.dir = ".vim"`, `workspace.dir = "trees"`},
		{"workspace plugin", "", ``, `workspace = "copy"`},
		{"options of a workspace", "", `workspace.options = { from = "../x" }`, `workspace.options = { exclude = "a,*.o" }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			user := write(t, "config.toml", tt.user)
			load := func(line string, section bool, trusted bool) *Loaded {
				src := "[workers.w]\ncommand = [\"x\"]\n" + line + "\n"
				if section {
					src = "[defaults]\n" + strings.Replace(line, "log_limit", "log.limit", 1) + "\n"
					if strings.HasPrefix(line, "kill.") || strings.HasPrefix(line, "log_limit") {
						src = strings.TrimPrefix(src, "[defaults]\n")
					}
					src += "\n[workers.w]\ncommand = [\"x\"]\n"
				}
				l, err := Load(Options{
					User: user, Project: write(t, "swarm.toml", src), Home: "/home/u",
					Trusted: func(string, []byte) bool { return trusted },
				})
				if err != nil {
					t.Fatalf("%s: %v", src, err)
				}
				return l
			}
			for _, section := range []bool{false, true} {
				key, _, _ := strings.Cut(strings.TrimSpace(tt.tight), " ")
				if section && !slices.Contains(keysOutside(), "defaults."+key) && !strings.HasPrefix(key, "kill.") && key != "log_limit" {
					continue
				}
				if tt.loose != "" {
					l := load(tt.loose, section, false)
					if len(l.Ignored) != 1 {
						t.Errorf("section %t: %s: ignored %+v", section, tt.loose, l.Ignored)
					}
					plain := load("", false, false)
					if diff := cmp.Diff(effective(plain), effective(l)); diff != "" {
						t.Errorf("section %t: %s (-without +with):\n%s", section, tt.loose, diff)
					}
					if l := load(tt.loose, section, true); l.Ignored != nil {
						t.Errorf("trusted: ignored %+v", l.Ignored)
					}
				}
				if l := load(tt.tight, section, false); l.Ignored != nil {
					t.Errorf("section %t: %s: ignored %+v", section, tt.tight, l.Ignored)
				}
			}
		})
	}
}

// effective returns what is in effect for the worker, without what depends on the place of the
// file, and without what the presence of a table says.
func effective(l *Loaded) Worker {
	w := l.Config.Workers["w"]
	w.Dir, w.Workspace.Use, w.Restart.When = "", false, ""
	return w
}

// TestLinksOutOfTheProject has links of every kind in a clone.
func TestLinksOutOfTheProject(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	project := filepath.Join(home, "clone")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{home + "/.ssh", home + "/other", project + "/sub/deep", home + "/clone2"} {
		must(os.MkdirAll(dir, 0o700))
	}
	must(os.WriteFile(home+"/other/.env", []byte("A=secret\n"), 0o600))
	must(os.WriteFile(project+"/sub/own.env", []byte("A=own\n"), 0o600))
	for name, target := range map[string]string{
		"docs": "../.ssh", "abs": home + "/.ssh", "chain": "docs", "chain2": "sub/../chain", "up": "..", "self": ".",
		"sub/deep/out": "../../../.ssh", "dangling": "../nowhere", "sibling": "../clone2", "in": "sub", "inabs": project + "/sub",
		"round": "../clone/sub", "loop": "loop", "env": "../other/.env", "envdir": "../other", "ownenv": "sub/own.env",
	} {
		must(os.Symlink(target, filepath.Join(project, name)))
	}
	file := filepath.Join(project, "swarm.toml")
	load := func(key, value string, trusted bool) *Loaded {
		t.Helper()
		must(os.WriteFile(file, fmt.Appendf(nil, "[workers.w]\ncommand = [\"x\"]\n%s = %q\n", key, value), 0o600))
		l, err := Load(Options{Project: file, Home: home, Trusted: func(string, []byte) bool { return trusted }})
		must(err)
		return l
	}
	for path, out := range map[string]bool{
		"docs": true, "docs/new": true, "abs": true, "chain": true, "chain2/x": true, "up": true, "up/clone": false, "self": false,
		"sub/deep/out": true, "dangling": true, "dangling/x": true, "sibling": true, "in": false, "in/deep": false, "in/new/er": false,
		"inabs": false, "round": false, "loop": true, "up/.ssh": true, "self/docs": true, "new": false,
	} {
		l := load("cwd", path, false)
		if got := len(l.Ignored) > 0; got != out {
			t.Errorf("cwd = %q: ignored %+v", path, l.Ignored)
			continue
		}
		if out {
			continue
		}
		if dir := l.Config.Workers["w"].Dir; strays(dir, project) || !l.HoldsDir("w") {
			t.Errorf("cwd = %q is %s", path, dir)
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(project, path)); err == nil && real != l.Config.Workers["w"].Dir {
			t.Errorf("cwd = %q is %s, want %s", path, l.Config.Workers["w"].Dir, real)
		}
	}
	for path, want := range map[string]string{
		"env": "", "envdir/.env": "", "up/other/.env": "", "ownenv": "A=own", "in/own.env": "A=own", "inabs/own.env": "A=own", "sub/own.env": "A=own",
	} {
		l := load("env_file", path, false)
		got, problems := l.Environ("w")
		if strings.Join(got, " ") != want || (want == "") != (len(l.Ignored) == 1) || problems != nil {
			t.Errorf("env_file = %q: %q, %v, %+v", path, got, problems, l.Ignored)
		}
	}
	if got, problems := load("env_file", "env", true).Environ("w"); len(got) != 1 || problems != nil {
		t.Errorf("a trusted file: %q, %v", got, problems)
	}

	// The link is exchanged between the check and the use.
	l := load("env_file", "sub/own.env", false)
	must(os.Rename(project+"/sub", project+"/gone"))
	must(os.Symlink("../other", project+"/sub"))
	must(os.Rename(home+"/other/.env", home+"/other/own.env"))
	if got, problems := l.Environ("w"); problems == nil || !strings.Contains(problems.Error(), whyLink) {
		t.Errorf("after an exchange: %q, %v", got, problems)
	}
	must(os.Remove(project + "/sub"))
	must(os.Mkdir(project+"/sub", 0o700))
	must(syscall.Mkfifo(project+"/sub/own.env", 0o600))
	if got, problems := l.Environ("w"); problems == nil {
		t.Errorf("a FIFO: %q", got)
	}
}
