package launch

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := buildtest.Write(junk, []byte("\x7fELF but not really"), 0o700); err != nil {
		t.Fatal(err)
	}
	configured := func(c map[string]any) catalog.Entry {
		e := entry("config")
		e.Config = c
		return e
	}
	tests := []struct {
		name  string
		entry catalog.Entry
		as    any
		want  string
	}{
		{
			"missing",
			catalog.Entry{Name: "test", Command: []string{"/no/such/file"}},
			new(*catalog.MissingError),
			"plugin 'test': /no/such/file does not exist",
		},
		{
			"not a program",
			catalog.Entry{Name: "test", Command: []string{junk}},
			new(error),
			"plugin 'test': cannot run " + junk + ": not a program for this machine",
		},
		{
			"garbage", entry("garbage"), new(error),
			`plugin 'test' printed "hello" before its handshake; a plugin must not write to stdout`,
		},
		{
			"garbage without newline", script(t, "printf 'bye|x'"), new(error),
			`plugin 'test' printed "bye|x" before its handshake; a plugin must not write to stdout`,
		},
		{
			"exits", entry("exits"), new(*CrashError),
			"plugin 'test' crashed when it was started (exit status 3): no engine here",
		},
		{
			"exits silently", script(t, "exit 0"), new(*CrashError),
			"plugin 'test' crashed when it was started (exit status 0)",
		},
		{
			"panics", entry("panics"), new(*CrashError),
			"plugin 'test' crashed when it was started (exit status 2): panic: out of luck",
		},
		{
			"other handshake", script(t, "echo '1|7|unix|/x|grpc|'; sleep 60"), new(error),
			"plugin 'test' speaks version 7 of the plugin protocol over grpc, this swarm speaks version 1 over grpc",
		},
		{
			"other protocol", script(t, "echo '1|1|unix|/x|netrpc|'; sleep 60"), new(error),
			"plugin 'test' speaks version 1 of the plugin protocol over netrpc, this swarm speaks version 1 over grpc",
		},
		{
			"newer contract", entry("newer"), new(*client.ContractError),
			"plugin 'test' speaks version 99 of the plugin contract, this swarm speaks version 1: update swarm",
		},
		{"config", configured(map[string]any{"colour": "red"}), new(*ConfigError), `plugin 'test': invalid config: …`},
		{"config that is no JSON", configured(map[string]any{"color": func() {}}), new(*ConfigError), `plugin 'test': invalid config: json: unsupported type…`},
		{
			"another plugin",
			catalog.Entry{Name: "other", Command: entry("serve").Command},
			new(*catalog.NameError),
			testPlugin + " is the plugin 'test', not 'other': rename it to swarm-plugin-test",
		},
		{
			"another plugin of the config",
			catalog.Entry{Name: "other", Command: entry("serve").Command, Configured: true},
			new(*catalog.NameError),
			testPlugin + " is the plugin 'test', not 'other': name its table [plugins.test], or install a plugin that calls itself 'other'",
		},
		{"hash", catalog.Entry{Name: "test", Command: entry("serve").Command, SHA256: strings.Repeat("ab", 32)}, new(*PinError), "plugin 'test': …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSet(t)
			_, err := s.Get(t.Context(), tt.entry)
			if err == nil {
				t.Fatal("no error")
			}
			want, open := strings.CutSuffix(tt.want, "…")
			if got := err.Error(); got != want && (!open || !strings.HasPrefix(got, want)) {
				t.Errorf("error %q\n want %q", got, tt.want)
			}
			if !errors.As(err, tt.as) {
				t.Errorf("error is a %T", err)
			}
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of more than one line: %q", err)
			}
			_, again := s.Get(t.Context(), tt.entry)
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the second time the error is %v", again)
			}
		})
	}
}

func TestStartTimeout(t *testing.T) {
	t.Parallel()
	for _, e := range []catalog.Entry{entry("hangs"), script(t, "echo thinking >&2; exec sleep 60"), script(t, "echo thinking >&2; sleep 60")} {
		o := options(t)
		o.StartTimeout = 300 * time.Millisecond
		s := New(o)
		t.Cleanup(s.Close)
		_, err := s.Get(t.Context(), e)
		var timeout *TimeoutError
		if !errors.As(err, &timeout) || err.Error() != "plugin 'test' was not ready after 300ms: thinking" {
			t.Errorf("error %v", err)
		}
		s.Close()
	}
}

func TestConfigErrorIsOfTheContract(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	e := entry("config")
	e.Config = map[string]any{"colour": "red"}
	if _, err := s.Get(t.Context(), e); !errors.Is(err, swarm.ErrInvalidConfig) {
		t.Errorf("error %v", err)
	}
}

func TestMissingIsNotExist(t *testing.T) {
	t.Parallel()
	_, err := newSet(t).Get(t.Context(), catalog.Entry{Name: "test", Command: []string{"/no/such/file"}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
