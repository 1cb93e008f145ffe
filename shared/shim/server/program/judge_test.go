package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// TestJudgeAsTheKernel has files of many kinds judged, and started.
func TestJudgeAsTheKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this kernel has other rules")
	}
	// A program that ends when it is asked for help, wherever its parts are.
	native, err := os.ReadFile("/bin/true")
	if err != nil || !bytes.HasPrefix(native, []byte("\x7fELF")) {
		t.Skip("/bin/true is not a program of its own")
	}
	with := func(at int, b ...byte) string {
		changed := bytes.Clone(native)
		copy(changed[at:], b)
		return string(changed)
	}
	half := func(n uint16) []byte { return binary.NativeEndian.AppendUint16(nil, n) }
	loader := func() string { // another name for its loader, of the same length
		at := bytes.Index(native, []byte("/ld-"))
		if at < 0 {
			return "\x7fELF"
		}
		return with(at, []byte("/no-")...)
	}
	dir := t.TempDir()
	if err := buildtest.Write(filepath.Join(dir, "true"), native, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"deep5": "#!" + dir + "/true\n", "text": "true\n", "self": "#!" + dir + "/self\n", "dos": "#!/bin/sh\r\ntrue\r\n"} {
		if err := buildtest.Write(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, next := range []string{"deep1", "deep2", "deep3", "deep4", "deep5"} {
		if err := buildtest.Write(filepath.Join(dir, "deep"+string(rune('0'+i))), []byte("#!"+dir+"/"+next+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "directory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"program": string(native), "empty": "", "text": "exec true\n", "mark": "\xef\xbb\xbf#!/bin/true\n", "space": " #!/bin/true\n",
		"script": "#!/bin/true\n", "no line end": "#!/bin/true", "blanks": "#! \t/bin/true\t-x \n", "argument": "#!/bin/true -x\n", "NUL": "#!/bin/true\x00x\n",
		"nothing": "#!", "nothing on the line": "#! \t\n/bin/true\n", "DOS": "#!/bin/true\r\n", "DOS with argument": "#!/bin/true -x\r\n",
		"missing": "#!/no/such\n", "relative": "#!true\n", "relative missing": "#!bin/true\n", "directory": "#!" + dir + "/directory\n", "pipe": "#!" + dir + "/pipe\n",
		"long argument": "#!/bin/true " + strings.Repeat("x", 400) + "\n", "long name": "#!/" + strings.Repeat("x", 400) + "\n", "all blank": "#!" + strings.Repeat(" ", 400) + "/bin/true\n",
		"of a text": "#!" + dir + "/text\n", "of itself": "#!" + dir + "/self\n", "of a DOS script": "#!" + dir + "/dos\n", "five deep": "#!" + dir + "/deep2\n", "six deep": "#!" + dir + "/deep1\n", "seven deep": "#!" + dir + "/deep0\n",
		"magic alone": "\x7fELF", "ends in its head": string(native[:40]), "ends in its parts": string(native[:100]),
		"ends after its parts": string(native[:5000]), "ends in the middle": string(native[:len(native)/2]),
		"an object": with(16, half(1)...), "a core": with(16, half(4)...), "no type": with(16, half(0)...), "no parts": with(56, half(0)...), "other parts": with(54, half(32)...),
		"another machine": with(18, half(0x1234)...), "no machine": with(18, half(0)...), "32 bits": with(18, half(3)...),
		"another class": with(4, 1), "another order": with(5, 2), "another system": with(7, 9), "no loader": loader(),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "file "+name)
			if err := buildtest.Write(file, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			judged := Judge(file, "it", dir)
			starts := start(file, dir)
			if (judged == nil) != (starts == nil) {
				t.Errorf("judged %v, started %v", judged, starts)
			}
			if errors.Is(starts, unix.ENOEXEC) && !strings.Contains(judged.Error(), "not a program") {
				t.Errorf("judged %q", judged)
			}
		})
	}
	if err := Judge(filepath.Join(dir, "file relative missing"), "it", ""); err != nil {
		t.Errorf("without a directory: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "file empty"), 0o111); err != nil {
		t.Fatal(err)
	}
	if err := Judge(filepath.Join(dir, "file empty"), "it", ""); err != nil && os.Geteuid() != 0 {
		t.Errorf("of a file that can't be read: %v", err)
	}
	if err := Executable(filepath.Join(dir, "pipe"), "pipe"); err == nil || err.Error() != "permission denied: pipe" {
		t.Errorf("a pipe: %v", err)
	}
}

// start runs a file, and returns an error if it can't be started or a signal ends it.
func start(file, dir string) error {
	pid, err := syscall.ForkExec(file, []string{file}, &syscall.ProcAttr{Dir: dir})
	if err != nil {
		return err
	}
	var end unix.WaitStatus
	if _, err := unix.Wait4(pid, &end, 0, nil); err != nil {
		return err
	}
	if end.Signaled() {
		return errors.New(end.Signal().String())
	}
	return nil
}

func TestDescribes(t *testing.T) {
	t.Parallel()
	const rest = "\ninterpreter /usr/bin/run\nflags: \n"
	arm := make([]byte, headLen)
	copy(arm, "\x7fELF\x02\x01\x01\x00")
	arm[elfMachine] = 0xb7
	for _, tt := range []struct {
		text string
		file string
		want bool
	}{
		{"enabled" + rest + "offset 0\nmagic 7f454c46020101\n", "/d/x", true},
		{"enabled" + rest + "offset 0\nmagic 7f454c460201ff\n", "/d/x", false},
		{"enabled" + rest + "offset 0\nmagic 7f454c460201ff\nmask ffffffffffff00\n", "/d/x", true},
		{"enabled" + rest + "offset 18\nmagic b700\n", "/d/x", true},
		{"enabled" + rest + "offset 255\nmagic b700\n", "/d/x", false},
		{"disabled" + rest + "offset 18\nmagic b700\n", "/d/x", false},
		{"enabled" + rest + "extension .exe\n", "/d/x.exe", true},
		{"enabled" + rest + "extension .exe\n", "/d/x", false},
		{"enabled\n", "/d/x", false},
	} {
		if got := describes(tt.text, tt.file, arm); got != tt.want {
			t.Errorf("%q, %s: %v", tt.text, tt.file, got)
		}
	}
}
