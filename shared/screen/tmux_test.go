package screen

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// atoms are what random programs are made of. Left out is what tmux does its own way:
// it repeats no letters that are not ASCII, and shows line drawing letters as they came.
var atoms = []string{
	"a", "bc", "word ", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH", "漢", "é", "\r\n", "\r\n", "\n", "\r", "\b",
	"\x1b[A", "\x1b[2B", "\x1b[3C", "\x1b[2D", "\x1b[E", "\x1b[F", "\x1b[5G", "\x1b[3;7H", "\x1b[12;1H", "\x1b[H", "\x1b[d", "\x1b[4d", "\x1b[Z",
	"\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[L", "\x1b[2M", "\x1b[2P", "\x1b[3@", "\x1b[4X",
	"\x1b[2S", "\x1b[T", "\x1b[3;9r", "\x1b[r", "\x1bM", "\x1bD", "\x1bE", "\x1b7\x1b[4;4H", "x\x1b[3b",
	"\x1b[?1049hab\x1b[3;3Hc\x1b[?1049l", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l",
}

// TestLikeTmux: a screen shows what tmux shows.
func TestLikeTmux(t *testing.T) {
	t.Parallel()
	const columns, rows, programs = 40, 12, 100
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	var written [programs]string
	for i := range written {
		var b strings.Builder
		for range 5 + random.IntN(30) {
			b.WriteString(atoms[random.IntN(len(atoms))])
		}
		written[i] = b.String()
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(written[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", "s", "-f", os.DevNull}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	// Each program asks the terminal for its status: the answer comes when all before it
	// is shown.
	const program = `stty raw -echo; cat "$1"; printf '\033[5n'; dd bs=1 count=4 >answer 2>/dev/null; tmux -S s capture-pane -p >"$1.shown"; printf '\033c'`
	script := "cd " + dir + "; i=0; while test $i -lt " + strconv.Itoa(programs) + "; do set -- $i; " + program + "; i=$((i+1)); done; stty sane; tmux -S s wait-for -S done; exec sleep 600"
	tmux("start-server", ";", "set", "-g", "status", "off", ";", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), script)
	defer tmux("kill-server")
	tmux("wait-for", "done")
	for i, in := range written {
		want, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)+".shown"))
		if err != nil {
			t.Fatal(err)
		}
		var s Screen
		s.Resize(columns, rows)
		s.Write([]byte(in), time.Time{})
		var got []string
		for _, r := range s.grid().rows {
			r.wrapped = false
			got = append(got, strings.TrimRight(string(r.render(nil, 0, false)), " "))
		}
		if g, w := strings.TrimRight(strings.Join(got, "\n"), "\n"), strings.TrimRight(string(want), "\n"); g != w {
			t.Errorf("%q\nis  %q,\ntmux %q", in, g, w)
		}
	}
}
