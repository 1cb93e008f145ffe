package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/plugins/worktree/git"
	"github.com/swarmhost/swarm/plugins/worktree/inspect"
)

// modesName is the name of a list of permissions in the tree of what a tree can't express. Each
// of them is the octal digits and the path, both with a NUL behind them.
const modesName = "modes"

// Permissions that are not in the list: those of most files and directories.
const (
	plainFile = 0o644
	plainDir  = 0o755
)

// specialBits are the bits of chmod(2) that os has elsewhere.
var specialBits = map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

// modes lists the permissions of files that are saved, and of the directories that they are in:
// a tree knows only whether the owner may run a file, and not even that with core.fileMode=false.
// A directory comes after what is in it.
func modes(t *inspect.Tree, paths []string) ([]string, error) {
	found := make(map[string]string)
	for _, path := range paths {
		for path = strings.TrimSuffix(path, "/"); path != "."; path = filepath.Dir(path) {
			if _, seen := found[path]; seen {
				break
			}
			mode, err := modeWord(filepath.Join(t.Ref.Path, path))
			if err != nil {
				return nil, err
			}
			found[path] = mode
		}
	}
	var list []string
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(found))) {
		if mode := found[path]; mode != "" {
			list = append(list, mode, path)
		}
	}
	return list, nil
}

// modeWord returns the permissions of a file or directory, or an empty text if a restored one
// has them anyway. The bits that let others act as its owner are only for a file of this user.
func modeWord(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	usual := uint32(plainFile)
	switch {
	case info.IsDir():
		usual = plainDir
	case !info.Mode().IsRegular():
		return "", nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", nil
	}
	mode := uint32(info.Mode().Perm())
	for bit, m := range specialBits {
		if info.Mode()&m != 0 && int(stat.Uid) == os.Geteuid() {
			mode |= bit
		}
	}
	if mode == usual {
		return "", nil
	}
	return fmt.Sprintf("%04o", mode), nil
}

// addModes adds the list of permissions to the entries of a tree, unless it is empty.
func addModes(ctx context.Context, t *inspect.Tree, entries, paths []string) (_ []string, listed bool, err error) {
	list, err := modes(t, paths)
	if err != nil || len(list) == 0 {
		return entries, false, err
	}
	hash, err := t.Git.Feed(ctx, git.Input(list), "hash-object", "-w", "--no-filters", "--stdin")
	return append(entries, "100644 blob "+strings.TrimSpace(hash)+"\t"+modesName), true, err
}

// restoreModes gives restored files the permissions of a list. Nothing outside of the directory
// changes, and nothing that a link leads to.
func restoreModes(list []string, path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for i := 0; i+1 < len(list); i += 2 {
		bits, err := strconv.ParseUint(list[i], 8, 12)
		if err != nil {
			return fmt.Errorf("the saved permissions of %s can't be read: %w", git.Quote(list[i+1]), err)
		}
		info, err := root.Lstat(list[i+1])
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		if err == nil {
			err = root.Chmod(list[i+1], fileMode(uint32(bits)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fileMode converts the permissions of a file, as chmod(2) has them.
func fileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, m := range specialBits {
		if bits&bit != 0 {
			mode |= m
		}
	}
	return mode
}
