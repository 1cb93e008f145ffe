package profile

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/profile/bundle"
)

// changed returns the built-in bundle with another version, which change may edit.
func changed(version string, change func(*bundle.Bundle)) *bundle.Bundle {
	b := &bundle.Bundle{Version: version, Profiles: maps.Clone(BuiltIn().Profiles), Screens: maps.Clone(BuiltIn().Screens)}
	if change != nil {
		change(b)
	}
	return b
}

// only leaves one client in a bundle.
func only(client string) func(*bundle.Bundle) {
	return func(b *bundle.Bundle) {
		maps.DeleteFunc(b.Profiles, func(name, _ string) bool { return name != client })
		maps.DeleteFunc(b.Screens, func(name, _ string) bool { return !strings.HasPrefix(name, client+"/") })
	}
}

func edit(client, old, with string) func(*bundle.Bundle) {
	return func(b *bundle.Bundle) {
		only(client)(b)
		b.Profiles[client] = strings.Replace(b.Profiles[client], old, with, 1)
	}
}

const newer, newest, older = "2099.01.01", "2099.01.02", "2020.01.01"

func TestInstall(t *testing.T) {
	t.Parallel()
	d := Dirs{Own: t.TempDir(), Bundle: filepath.Join(t.TempDir(), "profiles.tar")}
	load := func() *Set {
		t.Helper()
		s, err := d.Load()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	install := func(b *bundle.Bundle, older bool) error {
		t.Helper()
		_, err := d.Install(b, bundle.Origin{From: "here"}, older)
		return err
	}

	// A bundle counts for its clients, and the built-in one for the others.
	fixed := changed(newer, edit("codex", `title = "Codex"`, `title = "Codex, fixed"`))
	u, err := d.Install(fixed, bundle.Origin{From: "here"}, false)
	if err != nil || u.Before != BuiltInVersion() || u.Now != newer || u.Tested < 200 || u.Own != nil {
		t.Fatalf("%+v, %v", u, err)
	}
	s := load()
	if p := s.Named("codex"); p.Title() != "Codex, fixed" || !p.Installed || p.Bundle() != newer {
		t.Errorf("codex: %q, %q, %t", p.Title(), p.Bundle(), p.Installed)
	}
	if p := s.Named("claude"); p.Installed || p.Bundle() != BuiltInVersion() {
		t.Errorf("claude: %q, %t", p.Bundle(), p.Installed)
	}
	if in := s.Installed(); in.Version != newer || in.Ignored != "" || in.Origin.From != "here" {
		t.Errorf("installed: %+v", in)
	}
	if p := s.For([]string{"codex"}); p == nil || !p.Installed {
		t.Error("the command codex has another profile")
	}

	// The same one again changes nothing, and one with its version and other contents is refused.
	if u, err := d.Install(fixed, bundle.Origin{}, false); err != nil || u.Now != u.Before || load().Installed().Origin.From != "here" {
		t.Errorf("once more: %+v, %v", u, err)
	}
	if err := install(changed(newer, nil), false); !errors.Is(err, ErrOlder) {
		t.Errorf("other contents: %v", err)
	}

	// A bundle without screens is tested with the built-in ones.
	noScreens := changed(newest, edit("codex", "state = \"working\"\n", "state = \"compacting\"\n"))
	clear(noScreens.Screens)
	if failed, ok := errors.AsType[*FailedError](install(noScreens, false)); !ok {
		t.Errorf("a bundle without screens: %v", failed)
	}

	// One that fails changes nothing.
	for name, b := range map[string]*bundle.Bundle{
		"a rule":   changed(newest, edit("codex", "state = \"working\"\n", "state = \"compacting\"\n")),
		"a screen": changed(newest, func(b *bundle.Bundle) { b.Screens["codex/blocked-mine"] = "# codex 1, 80x24\nnothing\n" }),
	} {
		err := install(b, false)
		if failed, ok := errors.AsType[*FailedError](err); !ok || !slices.ContainsFunc(failed.Verdicts, func(v Verdict) bool { return v.Client == "codex" && len(v.Problems) > 0 }) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		change func(*bundle.Bundle)
		want   string
	}{
		"a pattern":     {edit("codex", "(?i)", "(?i"), "codex.toml:"},
		"a name":        {edit("codex", `name = "codex"`, `name = "codecs"`), `codex.toml: name: expected "codex", as the file is called, got "codecs"`},
		"extends":       {func(b *bundle.Bundle) { b.Profiles["x"] = "extends = \"codex\"\n" }, "a profile in a bundle can't extend another one"},
		"none":          {func(b *bundle.Bundle) { b.Profiles["none"] = b.Profiles["shell"] }, "none.toml: name"},
		"match":         {edit("codex", "[match]\n", "[match]\nbare = [\n"), "codex.toml:"},
		"match's lines": {edit("codex", "[match]\n", "[match]\npaths = [\n \"x\",\n]\n"), "expected each value on one line"},
		"a header":      {func(b *bundle.Bundle) { b.Screens["codex/prompt-x"] = "no header\n" }, "screens/codex/prompt-x.txt: the first line is not a header"},
		"a kind":        {func(b *bundle.Bundle) { b.Screens["codex/sleepy"] = "# codex 1, 1x1\n" }, "begins with one of background, blocked, busy"},
	} {
		if err := install(changed(newest, c.change), false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got := load().Installed().Version; got != newer {
		t.Errorf("a bundle that was refused has changed the version to %s", got)
	}

	// Going back is said.
	if err := install(changed(older, nil), false); err == nil || err.Error() != "this bundle, "+older+", is older than the profiles that are there, "+newer {
		t.Errorf("an older one: %v", err)
	}
	if err := install(changed(older, only("codex")), true); err != nil {
		t.Fatal(err)
	}
	if p := load().Named("codex"); p.Bundle() != older || load().Installed().Origin.Over != BuiltInVersion() {
		t.Errorf("codex is of %s", p.Bundle())
	}
	if was, err := d.Remove(); !was || err != nil || load().Installed() != nil {
		t.Errorf("removed: %t, %v", was, err)
	}
	if was, err := d.Remove(); was || err != nil {
		t.Errorf("removed again: %t, %v", was, err)
	}
}

// TestInstalledIgnored: the built-in profiles count if the installed ones are not newer, as after
// an update of swarm, or can't be read.
func TestInstalledIgnored(t *testing.T) {
	t.Parallel()
	d := Dirs{Bundle: filepath.Join(t.TempDir(), "profiles.tar")}
	for _, c := range []struct {
		version, over, why string
	}{
		{older, "", "it is not newer than the built-in profiles " + BuiltInVersion()},
		{BuiltInVersion(), "", "it is not newer than"},
		{older, older, "it is not newer than"}, // accepted over an older swarm
		{older, BuiltInVersion(), ""},
		{newer, "", ""},
	} {
		if err := changed(c.version, only("codex")).Write(d.Bundle, bundle.Origin{Over: c.over}); err != nil {
			t.Fatal(err)
		}
		s, err := d.Load()
		if err != nil {
			t.Fatal(err)
		}
		if in := s.Installed(); !strings.HasPrefix(in.Ignored, c.why) || (in.Ignored == "") != s.Named("codex").Installed {
			t.Errorf("%s over %q: %+v", c.version, c.over, in)
		}
	}
	if err := os.WriteFile(d.Bundle, []byte("no tar"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := d.Load()
	if err == nil || s.Named("codex") == nil || s.Installed().Ignored == "" {
		t.Errorf("a damaged file: %v, %+v", err, s.Installed())
	}
	// A profile in it that was damaged later is the built-in one.
	if err := changed(newer, edit("codex", "[input]", "[inputs")).Write(d.Bundle, bundle.Origin{}); err != nil {
		t.Fatal(err)
	}
	s, err = d.Load()
	if p := s.Named("codex"); err != nil || p == nil || p.Installed || s.Damaged() == nil {
		t.Errorf("a damaged profile: %v, %+v", err, p)
	}
}

// TestInstallKeepsOwn: an update takes away no profile of a user, and says what of them does not
// fit any more.
func TestInstallKeepsOwn(t *testing.T) {
	t.Parallel()
	d := Dirs{Own: t.TempDir(), Bundle: filepath.Join(t.TempDir(), "profiles.tar")}
	text := "extends = \"codex\"\nremove = [\"half-drawn\"]\n[[rules]]\nname = \"overlay\"\nstate = \"blocked\"\nall = ['^OVERLAY$']\n"
	if err := os.WriteFile(filepath.Join(d.Own, "codex.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := changed(newer, func(b *bundle.Bundle) {
		only("codex")(b)
		b.Profiles["codex"] = strings.NewReplacer(`name = "half-drawn"`, `name = "half"`, `name = "overlay"`, `name = "over"`).Replace(b.Profiles["codex"])
	})
	u, err := d.Install(b, bundle.Origin{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`profile "codex" has no rule "half-drawn"`, `the rule "overlay" replaced one, which is gone`} {
		if u.Own == nil || !strings.Contains(u.Own.Error(), want) {
			t.Errorf("%v lacks %q", u.Own, want)
		}
	}
	s, _ := d.Load()
	p := s.Named("codex")
	if l := p.Look(Screen{Lines: []string{"OVERLAY"}}); p.Source == "" || p.Bundle() != newer || !slices.Contains(ruleNames(p), "half") || l.Rule != "overlay" {
		t.Errorf("the own profile: %q of %q, %v", p.Source, p.Bundle(), ruleNames(p))
	}
}
