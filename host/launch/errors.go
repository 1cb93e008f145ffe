package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// StartError is any of the errors below: the plugin of that name can't be used.
type StartError interface {
	error
	Plugin() string
}

type named struct{ name string }

// Plugin returns the name of the plugin.
func (n named) Plugin() string { return n.name }

// ExecError means that the operating system would not run the file.
type ExecError struct {
	named
	Path string
	Err  error
}

func (e *ExecError) Error() string {
	reason := e.Err.Error()
	if errors.Is(e.Err, syscall.ENOEXEC) {
		reason = "not a program for this machine"
	}
	return fmt.Sprintf("plugin '%s': cannot run %s: %s", e.name, e.Path, reason)
}

// Unwrap returns the error of the operating system.
func (e *ExecError) Unwrap() error { return e.Err }

// HandshakeError means that the first line a plugin printed was not the one by
// which a plugin makes itself known.
type HandshakeError struct {
	named
	// Line is what it printed.
	Line string
}

func (e *HandshakeError) Error() string {
	if fields := strings.Split(e.Line, "|"); isHandshake(e.Line) {
		return fmt.Sprintf("plugin '%s' speaks version %s of the plugin protocol over %s, this swarm speaks version %d over grpc",
			e.name, fields[1], protocolOf(fields), plugin.Handshake().ProtocolVersion)
	}
	return fmt.Sprintf("plugin '%s' printed %q before its handshake; a plugin must not write to stdout", e.name, e.Line)
}

func isHandshake(line string) bool {
	fields := strings.Split(line, "|")
	return len(fields) >= 4 && fields[0] == "1" && (fields[2] == "unix" || fields[2] == "tcp")
}

// isOurs reports whether the program is a plugin of a contract that this host speaks.
func isOurs(line string) bool {
	fields := strings.Split(line, "|")
	return fields[1] == strconv.FormatUint(uint64(plugin.Handshake().ProtocolVersion), 10) && protocolOf(fields) == "grpc"
}

func protocolOf(fields []string) string {
	if len(fields) > 4 {
		return fields[4]
	}
	return "netrpc"
}

// TimeoutError means that a plugin was not ready in time. It is a
// [context.DeadlineExceeded].
type TimeoutError struct {
	named
	After time.Duration
	// Stderr is the last line that it wrote to its standard error, or empty.
	Stderr string
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("plugin '%s' was not ready after %v%s", e.name, e.After, said(e.Stderr))
}

// Is makes it a [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// CrashError means that a plugin ended by itself.
type CrashError struct {
	named
	// State says how: "exit status 3", "signal: killed".
	State string
	// Stderr is the last line that it wrote to its standard error, or empty.
	Stderr string
	// Serving says that it had been started before.
	Serving bool
}

func (e *CrashError) Error() string {
	when := "when it was started"
	if e.Serving {
		when = "in a call"
	}
	return fmt.Sprintf("plugin '%s' crashed %s (%s)%s", e.name, when, e.State, said(e.Stderr))
}

// Is makes the crash of a plugin in a call a [plugin.ErrPluginGone].
func (e *CrashError) Is(target error) bool { return e.Serving && target == plugin.ErrPluginGone }

// PinError means that the executable has another hash than the configured one.
type PinError struct {
	named
	Path string
	// Want and Got are SHA-256 hashes in hex.
	Want, Got string
}

func (e *PinError) Error() string {
	return fmt.Sprintf("plugin '%s': the sha256 of %s is %s, the config expects %s", e.name, e.Path, e.Got, e.Want)
}

// ChangedError means that a file of a plugin has changed since its installation.
type ChangedError struct {
	named
	Path, Version string
	// Want and Got are SHA-256 hashes in hex; an empty Got means that the file is missing.
	Want, Got string
}

func (e *ChangedError) Error() string {
	how := fmt.Sprintf("was changed after version %s was installed (sha256 %s then, %s now)", e.Version, short(e.Want), short(e.Got))
	if e.Got == "" {
		how = fmt.Sprintf("is missing from version %s", e.Version)
	}
	return fmt.Sprintf("plugin '%s': %s %s; install it again with --force", e.name, e.Path, how)
}

// short returns enough of a hash to recognize it.
func short(hash string) string { return hash[:min(12, len(hash))] + "…" }

// ConfigError means that a plugin does not take its settings. It is a
// [swarm.ErrInvalidConfig].
type ConfigError struct {
	named
	Err error
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("plugin '%s': invalid config: %s", e.name, errtext.Without(e.Err, swarm.ErrInvalidConfig))
}

// Unwrap returns the error of the plugin.
func (e *ConfigError) Unwrap() error { return e.Err }

func said(line string) string {
	if line == "" {
		return ""
	}
	return ": " + line
}

// lastWords returns the line of a plugin's standard error that says most about its end.
func lastWords(stderr []byte) string {
	var last string
	for line := range bytes.Lines(stderr) {
		text := strings.TrimSpace(string(line))
		if text == "" {
			continue
		}
		// A panic is followed by its stack.
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return text
		}
		last = text
	}
	var entry struct {
		Message string `json:"@message"`
		Error   string `json:"error"`
	}
	if json.Unmarshal([]byte(last), &entry) == nil && entry.Message != "" {
		last = entry.Message
		if entry.Error != "" {
			last += ": " + entry.Error
		}
	}
	return last
}

func exitText(st *os.ProcessState) string {
	if st == nil {
		return "unknown exit"
	}
	return st.String()
}
