package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// pinnedEntry is a plugin in a directory of its own, with its hash in the config.
func pinnedEntry(t *testing.T, content []byte) catalog.Entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "swarm-plugin-pinned")
	if err := buildtest.Write(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return catalog.Entry{Name: "test", Command: []string{path, "serve"}, SHA256: hex.EncodeToString(sum[:])}
}

// binaryAndScript are the two kinds of programs.
func binaryAndScript(t *testing.T) map[string][]byte {
	t.Helper()
	binary, err := os.ReadFile(testPlugin)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"binary": binary, "script": []byte("#! /bin/sh \nexec " + testPlugin + ` "$@"` + "\n")}
}

// The hashed program runs even if another program replaces it right after the hashing.
func TestExchangedProgramDoesNotRun(t *testing.T) {
	t.Parallel()
	for kind, content := range binaryAndScript(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			e := pinnedEntry(t, content)
			verified, err := s.verify(e)
			if err != nil {
				t.Fatal(err)
			}
			defer verified.close()
			mark := filepath.Join(t.TempDir(), "mark")
			evil := e.Path() + ".new"
			if err := errors.Join(buildtest.Write(evil, []byte("#!/bin/sh\n: > "+mark+"\n"), 0o700), os.Rename(evil, e.Path())); err != nil {
				t.Fatal(err)
			}
			p := newProcess([]string{e.Path(), "exits"}, os.Environ())
			p.program, p.dir = verified, t.TempDir()
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-p.exited
			if got := p.cmd.ProcessState.ExitCode(); got != 3 {
				t.Errorf("exit code %d, want that of the program that was hashed", got)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("the other program ran")
			}
		})
	}
}

// A program that is overwritten after the hashing is not served by.
func TestOverwrittenProgramDoesNotServe(t *testing.T) {
	t.Parallel()
	for kind, content := range binaryAndScript(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			e := pinnedEntry(t, content)
			verified, err := s.verify(e)
			if err != nil {
				t.Fatal(err)
			}
			defer verified.close()
			f, err := os.OpenFile(e.Path(), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("\n")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			p := newProcess(e.Command, os.Environ())
			p.program, p.dir = verified, t.TempDir()
			if err := p.Start(t.Context()); !errors.Is(err, errExchanged) {
				t.Errorf("Start = %v", err)
			}
		})
	}
}

// A pinned plugin is a process like any other: it has its name, finds what lies
// next to it, gets no descriptor that is not its own, and leaves nothing.
func TestPinnedPlugin(t *testing.T) {
	t.Parallel()
	for kind, content := range binaryAndScript(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			e := pinnedEntry(t, content)
			c := get(t, s, e)
			st, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1})
			if err != nil || st.PID != pid(t, s, c) {
				t.Errorf("Status = %+v, %v", st, err)
			}
			if runtime.GOOS == "linux" && kind == "binary" {
				if comm, _ := os.ReadFile(procFile(st.PID, "comm")); !strings.HasPrefix("swarm-plugin-pinned", strings.TrimSpace(string(comm))) {
					t.Errorf("its name is %s", comm)
				}
				if exe, _ := os.Readlink(procFile(st.PID, "exe")); exe != e.Path() {
					t.Errorf("its program is %s", exe)
				}
				fds, err := os.ReadDir(procFile(st.PID, "fd"))
				if err != nil {
					t.Fatal(err)
				}
				for _, fd := range fds {
					if to, _ := os.Readlink(filepath.Join(procFile(st.PID, "fd"), fd.Name())); to == e.Path() {
						t.Errorf("it has its program as descriptor %s", fd.Name())
					}
				}
			}
			s.Close()
			sockets, err := s.socketDir()
			if err != nil {
				t.Fatal(err)
			}
			if dirs := left(t, sockets); len(dirs) > 0 {
				t.Errorf("left: %v", dirs)
			}
		})
	}
}

func procFile(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }

func TestPinnedScriptFindsItsNeighbours(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := pinnedEntry(t, []byte("#!/bin/sh\n. \"$(dirname \"$0\")/lib/serve.sh\"\n"))
	lib := filepath.Join(filepath.Dir(e.Path()), "lib")
	if err := errors.Join(os.Mkdir(lib, 0o700), buildtest.Write(filepath.Join(lib, "serve.sh"), []byte("exec "+testPlugin+" serve\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	get(t, s, e)
}

func TestInterpreted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script")
	for text, want := range map[string][]string{
		"#!/bin/sh\nx":                    {"/bin/sh", path},
		"#! /usr/bin/env  -S python3 -u ": {"/usr/bin/env", "-S python3 -u", path},
		"#!\n":                            {path},
		"":                                {path},
		"\xcf\xfa\xed\xfe#!/bin/sh":       {path},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := interpreted(path)
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
