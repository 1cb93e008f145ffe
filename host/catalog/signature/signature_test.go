package signature_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"aead.dev/minisign"

	"github.com/swarmhost/swarm/host/catalog/signature"
)

const content = "the archive of a plugin\n"

// pair returns a new key as a user has it in a file, and the private half of it.
func pair(t *testing.T) (signature.Key, minisign.PrivateKey) {
	t.Helper()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := public.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	k, err := signature.ParseKey(string(text) + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return k, private
}

func sign(private minisign.PrivateKey, text string) []byte {
	r := minisign.NewReader(strings.NewReader(text))
	if _, err := r.Read(make([]byte, len(text))); err != nil {
		panic(err)
	}
	return r.Sign(private)
}

// TestVerify accepts the signature of the key for the content, and nothing else.
func TestVerify(t *testing.T) {
	t.Parallel()
	key, private := pair(t)
	good := sign(private, content)
	_, other := pair(t)
	for name, tt := range map[string]struct {
		key       signature.Key
		content   string
		signature []byte
		want      string
	}{
		"good":            {key, content, good, ""},
		"other content":   {key, content + "x", good, "not the signature of this file"},
		"empty content":   {key, "", good, "not the signature of this file"},
		"other key":       {key, content, sign(other, content), "expected " + key.ID()},
		"no signature":    {key, content, nil, "not a signature of minisign"},
		"garbage":         {key, content, []byte("\x1b[2J"), "not a signature of minisign"},
		"changed comment": {key, content, bytes.Replace(good, []byte("timestamp:"), []byte("timestamp:1"), 1), "not the signature"},
		"older kind":      {key, content, minisign.Sign(private, []byte(content)), "of the older kind"},
		"no key":          {signature.Key{}, content, good, "no key"},
	} {
		err := tt.key.Verify(strings.NewReader(tt.content), tt.signature)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	broken := errors.New("the disk is broken")
	if err := key.Verify(iotest.ErrReader(broken), good); !errors.Is(err, broken) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	key, _ := pair(t)
	again, err := signature.ParseKey(key.String())
	if err != nil || again != key || again.IsZero() || len(again.ID()) != 16 {
		t.Errorf("%v, %v, want %v", again, err, key)
	}
	if none, err := signature.ParseKey("  \n"); err != nil || !none.IsZero() {
		t.Errorf("no key: %v, %v", none, err)
	}
	for _, text := range []string{"x", key.String()[:20], "ssh-ed25519 AAAA", key.String() + "\nx"} {
		if k, err := signature.ParseKey(text); err == nil {
			t.Errorf("%q: %v", text, k)
		}
	}
}

// TestMinisign verifies what the program minisign signs, and lets it verify what the library signs.
func TestMinisign(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("minisign")
	if err != nil {
		t.Skip("minisign is not installed: .ci/setup minisign")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("minisign %q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}

	run("-G", "-W", "-p", "theirs.pub", "-s", "theirs.key")
	write("file", content)
	run("-S", "-s", "theirs.key", "-m", "file")
	theirs, err := signature.ParseKey(string(read("theirs.pub")))
	if err != nil {
		t.Fatal(err)
	}
	if err := theirs.Verify(strings.NewReader(content), read("file.minisig")); err != nil {
		t.Errorf("a signature of minisign: %v", err)
	}
	if err := theirs.Verify(strings.NewReader(content+"x"), read("file.minisig")); err == nil {
		t.Error("another file has the signature of minisign")
	}

	ours, private := pair(t)
	write("file.minisig", string(sign(private, content)))
	run("-V", "-P", ours.String(), "-m", "file")
}
