package scaffold_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/swarmhost/swarm/cmd/internal/scaffold"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/install"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/host/catalog/source"
)

// workflow is what GitHub runs for a tag, as far as a release needs it.
type workflow struct {
	On          struct{ Push struct{ Tags []string } }
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []struct {
			Uses, Name, Run string
			With, Env       map[string]string
		}
	}
}

// TestReleases runs the steps of the workflow of each template, with compilers that write an empty program, and
// installs from what they hand to GitHub.
func TestReleases(t *testing.T) {
	t.Parallel()
	for _, kind := range scaffold.Kinds() {
		for _, language := range scaffold.Languages() {
			p := scaffold.Plugin{Name: "mine", Kind: kind, Language: language}
			if _, err := p.Files(); err != nil {
				continue // there is no such template
			}
			t.Run(kind+"-"+language, func(t *testing.T) {
				t.Parallel()
				testRelease(t, p)
			})
		}
	}
}

func testRelease(t *testing.T, p scaffold.Plugin) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plugin")
	if _, err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".github/workflows/release.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.On.Push.Tags, []string{"v*"}) || w.Permissions["contents"] != "write" || len(w.Jobs) != 1 {
		t.Errorf("the workflow is\n%s", text)
	}

	r := newRunner(t, dir)
	var public signature.Key
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Name == "sign" {
				public = r.makeKey()
			}
			if step.Run != "" {
				r.run("bash", "-e", "-c", step.Run)
			}
		}
	}

	want := []string{"swarm-plugin-mine_1.2.0_all_all.tar.gz"}
	if p.Language == "go" {
		want = nil
		for _, machine := range []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64"} {
			want = append(want, "swarm-plugin-mine_1.2.0_"+machine+".tar.gz")
		}
	}
	assets := r.assets()
	var got []string
	for _, name := range assets {
		if strings.HasSuffix(name, ".tar.gz") {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the archives of the release (-want +got):\n%s", diff)
	}
	if !slices.Contains(assets, install.SumsFile) {
		t.Errorf("the release has no %s: %q", install.SumsFile, assets)
	}
	r.install(public, assets)
}

// runner runs the steps of a workflow in the folder of a plugin.
type runner struct {
	*testing.T
	dir, tools string
	env        []string
}

// tools are the programs that the steps use and that are not those of this machine: a compiler writes an
// empty program, gh writes down what it gets.
var tools = map[string]string{
	"go": `while [ "$1" != -o ]; do shift; done
echo program > "$2"`,
	"protoc": "mkdir -p build/swarm",
	"python": `case "$*" in *zipapp*) echo program > swarm-plugin-mine ;; esac`,
	"npm": `case "$*" in
version*) for version; do :; done; echo "$version" > "$TOOLS/version" ;;
"run package") npm_package_version=$(cat "$TOOLS/version") exec sh -c "$PACKAGE" ;;
"run build") echo program > swarm-plugin-mine ;;
esac`,
	"sudo": ":",
	"gh":   `printf '%s\n' "$@" > "$TOOLS/released"`,
}

func newRunner(t *testing.T, dir string) *runner {
	t.Helper()
	r := &runner{T: t, dir: dir, tools: t.TempDir()}
	for name, script := range tools {
		if err := os.WriteFile(filepath.Join(r.tools, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var manifest struct{ Scripts map[string]string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "PATH="+r.tools+":"+os.Getenv("PATH"), "TOOLS="+r.tools, "GITHUB_REF_NAME=v1.2.0",
		"PYTHON=python", "PACKAGE="+manifest.Scripts["package"], "TMPDIR="+t.TempDir())
	return r
}

func (r *runner) run(name string, args ...string) {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), name, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// makeKey gives the steps the secret key of an author, and returns the public one; none without minisign.
func (r *runner) makeKey() (public signature.Key) {
	r.Helper()
	if _, err := exec.LookPath("minisign"); err != nil {
		r.Log("nothing is signed, minisign is not installed: .ci/setup minisign")
		return public
	}
	r.run("minisign", "-G", "-W", "-p", r.tools+"/public", "-s", r.tools+"/secret")
	secret, err := os.ReadFile(filepath.Join(r.tools, "secret"))
	if err != nil {
		r.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(r.tools, "public"))
	if err != nil {
		r.Fatal(err)
	}
	if public, err = signature.ParseKey(string(text)); err != nil {
		r.Fatal(err)
	}
	r.env = append(r.env, "MINISIGN_KEY="+strings.TrimSpace(string(secret)))
	return public
}

// assets returns the names of the files that GitHub gets.
func (r *runner) assets() (names []string) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.tools, "released"))
	if err != nil {
		r.Fatal(err)
	}
	args := strings.Fields(string(text))
	if want := []string{"release", "create", "v1.2.0", "--generate-notes"}; len(args) < len(want) || !slices.Equal(args[:len(want)], want) {
		r.Fatalf("gh %q", args)
	}
	for _, arg := range args[4:] {
		names = append(names, strings.TrimPrefix(arg, "dist/"))
	}
	return names
}

// install downloads the plugin for this machine from the release, as 'swarm plugin install' does.
func (r *runner) install(public signature.Key, assets []string) {
	r.Helper()
	files := http.FileServer(http.Dir(filepath.Join(r.dir, "dist")))
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.URL.Path != "/repos/ann/mine/releases/latest" {
			files.ServeHTTP(out, in)
			return
		}
		release := map[string]any{"tag_name": "v1.2.0"}
		var list []map[string]string
		for _, name := range assets {
			list = append(list, map[string]string{"name": name, "browser_download_url": "http://" + in.Host + "/" + name})
		}
		release["assets"] = list
		_ = json.NewEncoder(out).Encode(release)
	}))
	defer server.Close()
	from := source.Resolver{Client: download.New(), GitHubAPI: server.URL}
	if !public.IsZero() {
		from.Keys = map[string]signature.Key{"github.com/ann": public}
	}
	s, err := source.Parse("github.com/ann/mine")
	if err != nil {
		r.Fatal(err)
	}
	build, err := from.Find(r.Context(), s)
	if err != nil {
		r.Fatalf("on %s/%s: %v", runtime.GOOS, runtime.GOARCH, err)
	}
	if build.Name != "mine" || build.Version != "1.2.0" {
		r.Errorf("the release has %s %s", build.Name, build.Version)
	}
	_, proof, err := from.Download(r.Context(), build, "", r.TempDir())
	if err != nil || proof.SignedBy != public {
		r.Errorf("the download is signed by %q: %v", proof.SignedBy, err)
	}
}
