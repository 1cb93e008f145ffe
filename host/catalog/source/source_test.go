package source_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/host/catalog/index"
	"github.com/swarmhost/swarm/host/catalog/signature"
	"github.com/swarmhost/swarm/host/catalog/source"
)

// TestParse takes what exists as a file for one, whatever its name looks like.
func TestParse(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("github.com/me", 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]source.Source{
		"github.com/me":                {File: "github.com/me"},
		"github.com/you/x":             {Repository: "you/x"},
		"github.com/you/x@v1.2.0":      {Repository: "you/x", Version: "v1.2.0"},
		"https://h/swarm-plugin-x":     {URL: "https://h/swarm-plugin-x"},
		"./a://b":                      {File: "./a://b"},
		"queue":                        {Plugin: "queue"},
		"queue@1.2.0-rc.1":             {Plugin: "queue", Version: "1.2.0-rc.1"},
		"acme/queue@1":                 {Plugin: "queue", Index: "acme", Version: "1"},
		"swarm-plugin-x":               {File: "swarm-plugin-x"},
		"dir/swarm-plugin-x":           {File: "dir/swarm-plugin-x"},
		"swarm-plugin-x_1_l_a.tar.gz":  {File: "swarm-plugin-x_1_l_a.tar.gz"},
		"/abs/x":                       {File: "/abs/x"},
		"dir/sub/x":                    {File: "dir/sub/x"},
		"you@example.com:swarm-plugin": {},
		"github.com/you":               {},
		"github.com/../x":              {},
		"github.com/you/x/y":           {},
		"queue@../x":                   {},
		"http://h/swarm-plugin-x":      {},
		"https://h/swarm-plugin-x#y":   {},
	} {
		got, err := source.Parse(text)
		if (err != nil) != (want == source.Source{}) || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// world is a server with files, and a resolver that uses it.
type world struct {
	*testing.T
	base  string
	files map[string][]byte
	source.Resolver
	key     signature.Key
	private minisign.PrivateKey
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, files: map[string][]byte{}}
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		text, ok := w.files[r.URL.Path]
		if !ok {
			http.NotFound(out, r)
			return
		}
		_, _ = out.Write(text)
	}))
	t.Cleanup(s.Close)
	w.base = s.URL
	state, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	client := download.New()
	w.Resolver = source.Resolver{Client: client, Indexes: index.Store{Dir: state, Client: client, Env: os.Environ()}, GitHubAPI: w.base + "/api/"}
	var public minisign.PublicKey
	public, w.private, err = minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.key, err = signature.ParseKey(public.String()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) sign(content string) []byte {
	r := minisign.NewReader(strings.NewReader(content))
	if _, err := r.Read(make([]byte, len(content))); err != nil {
		w.Fatal(err)
	}
	return r.Sign(w.private)
}

func (w *world) json(path string, v any) {
	w.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	w.files[path] = text
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

func archive(name, version string) string {
	return "swarm-plugin-" + name + "_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
}

// get finds and downloads a source, and returns what it found; a failed download has to leave nothing.
func (w *world) get(text, want string) (*source.Build, source.Proof, error) {
	w.Helper()
	s, err := source.Parse(text)
	if err != nil {
		w.Fatal(err)
	}
	b, err := w.Find(w.Context(), s)
	if err != nil {
		return nil, source.Proof{}, err
	}
	dir := w.TempDir()
	path, proof, err := w.Download(w.Context(), b, want, dir)
	if left, globErr := filepath.Glob(filepath.Join(dir, "*")); globErr != nil || err != nil && len(left) > 0 {
		w.Errorf("%s: left %v, %v", text, left, globErr)
	}
	if err == nil && path != filepath.Join(dir, b.File) {
		w.Errorf("%s: the file is %s", text, path)
	}
	return b, proof, err
}

func (w *world) refused(text, hash, want string) {
	w.Helper()
	if b, p, err := w.get(text, hash); err == nil || !strings.Contains(err.Error(), want) {
		w.Errorf("%s: %+v, %+v, %v, want %q", text, b, p, err, want)
	}
}

// accepted returns the proof of a source that can be downloaded.
func (w *world) accepted(text, hash string) (source.Build, source.Proof) {
	w.Helper()
	b, p, err := w.get(text, hash)
	if err != nil {
		w.Fatalf("%s: %v", text, err)
	}
	return *b, p
}

// TestURL: a URL proves nothing, a hash or the signature of a known key does; with a known key there has
// to be a signature.
func TestURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := archive("queue", "1.2.0")
	at := w.base + "/d/" + file
	w.files["/d/"+file] = []byte("content")
	b, p := w.accepted(at, "")
	if p.Expected || !p.SignedBy.IsZero() || p.SHA256 != sum("content") || b.Source != at || b.Origin != "" {
		t.Errorf("a URL alone: %+v, %+v", b, p)
	}
	if _, p := w.accepted(at, strings.ToUpper(sum("content"))); !p.Expected {
		t.Errorf("with its hash: %+v", p)
	}
	w.refused(at, sum("other"), "expected "+sum("other")+" (--sha256)")

	w.Keys = map[string]signature.Key{w.base + "/d": w.key}
	w.refused(at, sum("content"), "is not signed, but this source has the key")
	w.files["/d/"+file+".minisig"] = w.sign("other content")
	w.refused(at, sum("content"), "is refused: it is not the signature of this file")
	w.files["/d/"+file+".minisig"] = w.sign("content")
	if _, p := w.accepted(at, ""); p.SignedBy != w.key || p.Expected {
		t.Errorf("signed: %+v", p)
	}
	// The name of a source has to be more than the mere beginning of another.
	w.Keys = map[string]signature.Key{w.base + "/d": {}, w.base[:len(w.base)-1]: w.key, w.base + "/": {}}
	if _, p := w.accepted(at, ""); !p.SignedBy.IsZero() {
		t.Errorf("the key of another source: %+v", p)
	}

	w.refused(w.base+"/d/"+archive("queue", "2.0.0"), "", "the server has no such file")
	for name, want := range map[string]string{
		"x.tar.gz": "an archive is named", "swarm-plugin-x_1_plan9_mips.tar.gz": "built for plan9/mips", "": "a plugin is named", "..": "names no file",
	} {
		w.refused(w.base+"/d/"+name, "", want)
	}
}

// TestGitHub: of a release the archive for this machine is taken, and its list has to have it.
func TestGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type asset struct {
		Name string `json:"name"`
		URL  string `json:"browser_download_url"`
	}
	release := func(tag string, names ...string) map[string]any {
		assets := []asset{}
		for _, name := range names {
			assets = append(assets, asset{name, w.base + "/d/" + name})
			w.files["/d/"+name] = []byte("content of " + name)
		}
		return map[string]any{"tag_name": tag, "assets": assets}
	}
	file := archive("queue", "1.2.0")
	const at = "/api/repos/ann/plugins/releases/"
	w.json(at+"latest", release("v1.2.0", "README.md", "swarm-plugin-queue_1.2.0_plan9_mips.tar.gz", "swarm-plugin-queue_1.2.0_all_all.tar.gz", file))
	b, p := w.accepted("github.com/ann/plugins", "")
	if b.File != file || b.Name != "queue" || b.Version != "1.2.0" || b.Origin != "github.com/ann/plugins" || p.Expected || !p.SignedBy.IsZero() {
		t.Errorf("%+v, %+v", b, p)
	}
	w.json(at+"tags/v1.3.0-rc.1", release("v1.3.0-rc.1", archive("queue", "1.3.0-rc.1")))
	w.json(at+"tags/1.1.0", release("1.1.0", "swarm-plugin-queue_1.1.0_all_all.tar.gz"))
	for version, want := range map[string]string{"1.3.0-rc.1": "1.3.0-rc.1", "v1.3.0-rc.1": "1.3.0-rc.1", "1.1.0": "1.1.0"} {
		if b, _ := w.accepted("github.com/ann/plugins@"+version, ""); b.Version != want {
			t.Errorf("%s: %+v", version, b)
		}
	}
	w.refused("github.com/ann/plugins@3.0.0", "", "github.com/ann/plugins has no release 3.0.0")
	w.refused("github.com/ann/other", "", "github.com/ann/other has no release")

	// The list finds a damaged file, and proves no more than that.
	w.json(at+"latest", release("v1.2.0", file, "SHA256SUMS"))
	w.refused("github.com/ann/plugins", "", "SHA256SUMS does not list "+file)
	w.files["/d/SHA256SUMS"] = []byte(sum("other") + "  " + file + "\n")
	w.refused("github.com/ann/plugins", "", "expected "+sum("other"))
	w.files["/d/SHA256SUMS"] = []byte(sum("content of "+file) + "  " + file + "\n")
	if _, p := w.accepted("github.com/ann/plugins", ""); p.Expected || !p.SignedBy.IsZero() {
		t.Errorf("with a list: %+v", p)
	}
	w.Keys = map[string]signature.Key{"github.com/ann": w.key}
	w.refused("github.com/ann/plugins", "", "is not signed")
	w.files["/d/"+file+".minisig"] = w.sign("content of " + file)
	if _, p := w.accepted("github.com/ann/plugins", ""); p.SignedBy != w.key {
		t.Errorf("signed: %+v", p)
	}

	for want, names := range map[string][]string{
		"has several plugins":                  {file, archive("other", "1.2.0")},
		"an archive of another version":        {archive("queue", "1.1.0")},
		"it has: swarm-plugin-queue_1.2.0_pla": {"swarm-plugin-queue_1.2.0_plan9_mips.tar.gz", "x"},
	} {
		w.json(at+"latest", release("v1.2.0", names...))
		w.refused("github.com/ann/plugins", "", want)
	}
	w.json(at+"latest", release("\x1b[2J"))
	w.refused("github.com/ann/plugins", "", "is not a version")
	w.files[at+"latest"] = []byte("<html>")
	w.refused("github.com/ann/plugins", "", "invalid character")
}

// queue is an entry of an index with versions of these files, by their contents.
func (w *world) queue(key signature.Key, builds ...index.Build) index.Plugin {
	p := index.Plugin{Name: "queue", Kind: "backend", Description: "Waits in a queue", Key: key}
	for _, b := range builds {
		version := strings.Split(filepath.Base(b.URL), "_")[1]
		b.OS, b.Arch = "all", "all"
		p.Versions = append(p.Versions, index.Version{Version: version, Files: []index.Build{b}})
	}
	return p
}

// TestIndex: a plugin of an index has the hash and the key of the index; another key is refused until it is
// trusted, and the user's own key counts more than any.
func TestIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two, rc := archive("queue", "1.0.0"), archive("queue", "1.2.0"), archive("queue", "2.0.0-rc.1")
	build := func(name string) index.Build {
		w.files["/i/"+name] = []byte(name)
		return index.Build{URL: name, SHA256: sum(name), Signature: string(w.sign(name))}
	}
	signed := []index.Build{build(one), build(rc), build(two)}
	publish := func(p index.Plugin) { w.json("/i/index.json", index.Index{Format: 1, Plugins: []index.Plugin{p}}) }
	publish(w.queue(w.key, signed...))
	w.refused("queue", "", "no index that could have")
	update := func() {
		t.Helper()
		if _, err := w.Indexes.Update(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Indexes.Add(t.Context(), "acme", w.base+"/i/index.json"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"queue": "1.2.0", "acme/queue": "1.2.0", "queue@1.0.0": "1.0.0", "queue@v2.0.0-rc.1": "2.0.0-rc.1"} {
		b, p := w.accepted(text, "")
		if b.Version != want || !p.Expected || p.SignedBy != w.key || b.Origin != "acme/queue" || b.Source != w.base+"/i/"+b.File {
			t.Errorf("%s: %+v, %+v", text, b, p)
		}
	}
	w.refused("queue@3.0.0", "", "no version 3.0.0 of 'queue' for this machine; it has: 1.0.0 (all/all)")
	w.refused("other", "", "no plugin of that name in the indexes acme")
	w.refused("acme/other", "", "has no plugin 'other'")
	w.refused("else/queue", "", "no index 'else'; added: acme")

	w.files["/i/"+two] = []byte("other content")
	w.refused("queue", "", "expected "+sum(two)+" (acme/queue)")
	forged := build(two)
	forged.SHA256 = sum("other content") // who can write the index can write a hash
	w.files["/i/"+two] = []byte("other content")
	publish(w.queue(w.key, forged))
	update()
	w.refused("queue", "", "it is not the signature of this file")
	forged.Signature = ""
	publish(w.queue(w.key, forged))
	update()
	w.refused("queue", "", "is not signed")

	// Another key, or none.
	other := newWorld(t)
	forged.Signature = string(other.sign("other content"))
	for _, key := range []signature.Key{other.key, {}} {
		publish(w.queue(key, forged))
		update()
		_, _, err := w.get("queue", "")
		changed, ok := errors.AsType[*source.ChangedKeyError](err)
		if !ok || changed.Index != "acme" || changed.Was != w.key || changed.Now != key {
			t.Fatalf("another key: %v", err)
		}
	}
	publish(w.queue(other.key, forged))
	update()
	if changes, err := w.Indexes.Trust(t.Context(), "acme"); err != nil || len(changes) != 1 || changes[0].Now != other.key {
		t.Errorf("trusted %+v, %v", changes, err)
	}
	if _, p := w.accepted("queue", ""); p.SignedBy != other.key {
		t.Errorf("trusted: %+v", p)
	}
	w.Keys = map[string]signature.Key{"acme": w.key}
	w.refused("queue", "", "expected "+w.key.ID())
	w.Keys = nil

	// A name of an entry that is not that of its file.
	w.files["/i/"+archive("tmux", "1.0.0")] = []byte("x")
	publish(w.queue(other.key, index.Build{URL: archive("tmux", "1.0.0"), SHA256: sum("x"), Signature: string(other.sign("x"))}))
	update()
	w.refused("queue", "", "is not the file of 'queue' 1.0.0")

	publish(w.queue(other.key, signed...))
	if _, err := w.Indexes.Add(t.Context(), "second", w.base+"/i/index.json"); err != nil {
		t.Fatal(err)
	}
	w.refused("queue", "", "in several indexes: name one of acme/queue, second/queue")
	var found []string
	for word, want := range map[string]int{"": 2, "WAITS": 2, "eue": 2, "zebra": 0} {
		offers, err := w.Search(word)
		if err != nil || len(offers) != want {
			t.Errorf("search %q: %d, %v", word, len(offers), err)
		}
		for _, o := range offers {
			found = append(found, o.Origin())
		}
	}
	if diff := cmp.Diff(6, len(found)); diff != "" {
		t.Error(diff, found)
	}
}
