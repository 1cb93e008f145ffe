package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// execError says that the operating system would not run the file.
func execError(name, path string, err error) error {
	if err = errtext.Cause(err); errors.Is(err, syscall.ENOEXEC) {
		err = errors.New("not a program for this machine")
	}
	return fmt.Errorf("plugin '%s': cannot run %s: %w", name, path, err)
}

// handshakeError returns what is wrong with the first line that a plugin printed, by which
// a plugin makes itself known; nil if it is the line of a plugin that this host speaks with.
func handshakeError(name, line string) error {
	fields := strings.Split(line, "|")
	if len(fields) < 4 || fields[0] != "1" || fields[2] != "unix" && fields[2] != "tcp" {
		return fmt.Errorf("plugin '%s' printed %q before its handshake; a plugin must not write to stdout", name, line)
	}
	version, transport := fields[1], "netrpc"
	if len(fields) > 4 {
		transport = fields[4]
	}
	ours := client.Handshake().ProtocolVersion
	if version == fmt.Sprint(ours) && transport == "grpc" {
		return nil
	}
	return fmt.Errorf("plugin '%s' speaks version %s of the plugin protocol over %s, this swarm speaks version %d over grpc",
		name, version, transport, ours)
}

// TimeoutError means that a plugin was not ready in time. It is a
// [context.DeadlineExceeded].
type TimeoutError struct {
	Name  string
	After time.Duration
	// Stderr is the last line that it wrote to its standard error, or empty.
	Stderr string
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("plugin '%s' was not ready after %v%s", e.Name, e.After, said(e.Stderr))
}

func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// CrashError means that a plugin ended by itself.
type CrashError struct {
	Name string
	// State says how: "exit status 3", "signal: killed".
	State string
	// Stderr is the line of its standard error that says why, or empty, see [pluginlog.Reader].
	Stderr string
	// Serving says that it had been started before.
	Serving bool
}

func (e *CrashError) Error() string {
	when := "when it was started"
	if e.Serving {
		when = "in a call"
	}
	return fmt.Sprintf("plugin '%s' crashed %s (%s)%s", e.Name, when, e.State, said(e.Stderr))
}

// Is makes the crash of a plugin in a call a [client.ErrPluginGone].
func (e *CrashError) Is(target error) bool { return e.Serving && target == client.ErrPluginGone }

// DeafError means that a plugin has closed its connection, but runs. It is a
// [client.ErrPluginGone].
type DeafError struct{ Name string }

func (e *DeafError) Error() string {
	return fmt.Sprintf("plugin '%s' closed its connection in a call, and still runs", e.Name)
}

func (e *DeafError) Is(target error) bool { return target == client.ErrPluginGone }

// PinError means that the executable has another hash than the configured one.
type PinError struct {
	Name, Path string
	// Want and Got are SHA-256 hashes in hex.
	Want, Got string
}

func (e *PinError) Error() string {
	return fmt.Sprintf("plugin '%s': the sha256 of %s is %s, the config expects %s", e.Name, e.Path, e.Got, e.Want)
}

// TrustError means that a program of a project is not the one that was there when the user trusted the
// project.
type TrustError struct {
	Name, Path string
	// Project is the directory of the project's file.
	Project string
}

func (e *TrustError) Error() string {
	return fmt.Sprintf("plugin '%s': %s was changed since %s was trusted: read it, then run 'swarm config trust' there", e.Name, e.Path, e.Project)
}

// ChangedError means that a file of a plugin has changed since its installation.
type ChangedError struct {
	Name, Path, Version string
	// Want and Got are SHA-256 hashes in hex; an empty Got means that the file is missing.
	Want, Got string
}

func (e *ChangedError) Error() string {
	how := fmt.Sprintf("was changed after version %s was installed (sha256 %s then, %s now)", e.Version, short(e.Want), short(e.Got))
	if e.Got == "" {
		how = fmt.Sprintf("is missing from version %s", e.Version)
	}
	return fmt.Sprintf("plugin '%s': %s %s; install it again with --force", e.Name, e.Path, how)
}

// short returns enough of a hash to recognize it.
func short(hash string) string { return hash[:min(12, len(hash))] + "…" }

// ConfigError means that a plugin does not take its settings. It is a
// [swarm.ErrInvalidConfig].
type ConfigError struct {
	Name string
	Err  error
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("plugin '%s': invalid config: %s", e.Name, errtext.Without(e.Err, swarm.ErrInvalidConfig))
}

func (e *ConfigError) Unwrap() error { return e.Err }

func said(line string) string {
	if line == "" {
		return ""
	}
	return ": " + line
}
