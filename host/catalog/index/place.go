package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/catalog/download"
	"github.com/swarmhost/swarm/shared/safefile"
)

// gitLimit is how long git may take to fetch an index.
const gitLimit = 5 * time.Minute

// gitEndLimit is how long git may take to end after it was asked to.
const gitEndLimit = 5 * time.Second

// resolve checks an address, and makes the path of a directory absolute.
func resolve(address string) (string, error) {
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case strings.HasPrefix(address, "-") || address == "":
		return "", fmt.Errorf("%q is not the address of an index", address)
	case isURL && (scheme == "https" || scheme == "http"):
		_, err := download.CheckAddress(address)
		return address, err
	case isURL && scheme != "ssh" && scheme != "file":
		return "", fmt.Errorf("%s: expected a directory, or an address that begins with https://, ssh:// or file://", address)
	case isURL || isRemote(address):
		return address, nil
	}
	path, err := filepath.Abs(address)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist", path)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory: name the directory or the repository that holds %s", path, File)
	}
	return path, nil
}

// isRemote reports whether an address is one of ssh, as git writes it: HOST:PATH.
func isRemote(address string) bool {
	host, _, ok := strings.Cut(address, ":")
	return ok && !strings.Contains(host, "/")
}

// kind says how an index is read.
type kind int

const (
	inGit kind = iota
	inDirectory
	atURL
)

// kindOf: a URL that ends in .json is that of the file, a directory that holds the file is read as it is,
// and everything else is a git repository.
func kindOf(address string) kind {
	switch u, err := url.Parse(address); {
	case err == nil && (u.Scheme == "https" || u.Scheme == "http") && strings.HasSuffix(u.Path, ".json"):
		return atURL
	case filepath.IsAbs(address):
		if _, err := os.Stat(filepath.Join(address, File)); err == nil {
			return inDirectory
		}
	}
	return inGit
}

// read returns the index at an address.
func (s Store) read(ctx context.Context, name, address string) ([]byte, error) {
	switch kindOf(address) {
	case atURL:
		return s.Client.Bytes(ctx, address, maxIndex)
	case inDirectory:
		path := filepath.Join(address, File)
		if err := catalog.CheckFile(path); err != nil {
			return nil, err
		}
		return safefile.ReadForeign(path, maxIndex)
	default:
		if err := s.fetch(ctx, name, address); err != nil {
			if filepath.IsAbs(address) {
				return nil, fmt.Errorf("%s has no %s, and is not a git repository that has one: %w", address, File, err)
			}
			return nil, fmt.Errorf("cannot fetch %s: %w", address, err)
		}
		var b bytes.Buffer
		err := s.blob(ctx, name, File, maxIndex, &b)
		return b.Bytes(), err
	}
}

// From returns where the file of a build is, of an index at that address.
func (b Build) From(address string) string {
	if !b.relative() {
		return b.URL
	}
	if kindOf(address) == atURL {
		if u, err := url.Parse(address); err == nil {
			return u.JoinPath("..", b.URL).String()
		}
	}
	return strings.TrimSuffix(address, "/") + "/" + b.URL
}

// Write writes the file of a build of an index to a new file, at most limit bytes.
func (s Store) Write(ctx context.Context, name, address string, b Build, path string, limit int64) error {
	kind := kindOf(address)
	if !b.relative() || kind == atURL {
		return s.Client.File(ctx, b.From(address), path, limit)
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if kind == inDirectory {
		return errors.Join(s.copy(b.From(address), limit, to), to.Close())
	}
	return errors.Join(s.blob(ctx, name, b.URL, limit, to), to.Close())
}

func (Store) copy(path string, limit int64, to io.Writer) error {
	if err := catalog.CheckFile(path); err != nil {
		return err
	}
	f, err := safefile.OpenForeign(path, limit)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(to, io.LimitReader(f, limit))
	return err
}

// fetched is the reference of the newest commit of an index in our copy of its repository.
const fetched = "refs/heads/index"

func (s Store) repository(name string) string { return filepath.Join(s.path(name), "repository.git") }

// fetch brings the newest commit of a repository, and nothing older, into a repository of our own.
func (s Store) fetch(ctx context.Context, name, address string) error {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	repository := s.repository(name)
	if err := s.git(ctx, nil, "init", "--quiet", "--bare", "--template=", repository); err != nil {
		return err
	}
	return s.git(ctx, nil, "--git-dir="+repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules",
		"--", address, "+HEAD:"+fetched)
}

// blob writes a file of the repository of an index.
func (s Store) blob(ctx context.Context, name, path string, limit int64, to io.Writer) error {
	object := fetched + ":" + path
	var size bytes.Buffer
	if err := s.git(ctx, &size, "--git-dir="+s.repository(name), "cat-file", "-s", object); err != nil {
		return fmt.Errorf("the repository has no file %s: %w", path, err)
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(size.String()), 10, 64); err != nil || n > limit {
		return fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return s.git(ctx, to, "--git-dir="+s.repository(name), "cat-file", "blob", object)
}

// git runs git without what could redirect it or make it wait for a terminal: hooks, questions, variables
// of a caller that is itself called by git.
func (s Store) git(ctx context.Context, out io.Writer, args ...string) error {
	program, err := exec.LookPath("git")
	if err != nil {
		return errors.New("an index in a repository needs git, which is not installed")
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "fetch.fsckObjects=true"}, args...)...)
	cmd.Env = slices.DeleteFunc(slices.Clone(s.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{
			"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
			"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_TRACE",
		}, name)
	})
	// No redirect leads from https to http, which is for servers on this machine.
	protocols := "https:ssh:file"
	if slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "http://") }) {
		protocols = "http"
	}
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL="+protocols, "LC_ALL=C")
	// A git that is killed leaves the locks of its repository, which would refuse each later update.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = gitEndLimit
	var complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &complaint
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && complaint.Len() > 0:
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return fmt.Errorf("git: %s", strings.TrimPrefix(lines[0], "fatal: "))
	}
	return err
}
