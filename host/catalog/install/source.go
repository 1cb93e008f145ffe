package install

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/safefile"
)

// SumsFile is the list of hashes that may lie next to an archive, in the format of
// sha256sum.
const SumsFile = "SHA256SUMS"

// MaxSums is the largest SumsFile, in bytes.
const MaxSums = 1 << 20

// MaxSize bounds the size of the source and of the unpacked files, in bytes.
const MaxSize = 2 << 30

const archiveSuffix = ".tar.gz"

type source struct {
	path string
	// name is the plugin's.
	name string
	// archive says that it is one; version is set then. For others it may be the one that is required.
	archive bool
	version string
}

// parse reads the name of a file, which has to be for this machine.
func parse(path string) (source, error) {
	n, err := ParseName(filepath.Base(path))
	if err != nil {
		return source{}, fmt.Errorf("%s: %w", path, err)
	}
	s := source{path: path, name: n.Plugin, archive: n.Version != "", version: n.Version}
	if s.archive {
		err = catalog.CheckPlatform(path, n.OS, n.Arch)
	}
	return s, err
}

// Name is what the name of a file says of the plugin in it.
type Name struct {
	Plugin string
	// Version, OS and Arch are empty for a program, and set for an archive.
	Version, OS, Arch string
}

// ParseName reads the name of a file. An archive has the name that goreleaser makes by
// default: swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz.
func ParseName(base string) (Name, error) {
	stem, archive := strings.CutSuffix(base, archiveSuffix)
	rest, ok := strings.CutPrefix(stem, catalog.Prefix)
	if !archive {
		if !ok || !catalog.ValidName(rest) {
			return Name{}, fmt.Errorf("a plugin is named %sNAME, an archive %sNAME_VERSION_OS_ARCH%s; NAME is of lower-case letters, digits and hyphens",
				catalog.Prefix, catalog.Prefix, archiveSuffix)
		}
		return Name{Plugin: rest}, nil
	}
	parts := strings.Split(rest, "_")
	if !ok || len(parts) < 4 || !catalog.ValidName(parts[0]) {
		return Name{}, fmt.Errorf("an archive is named %sNAME_VERSION_OS_ARCH%s", catalog.Prefix, archiveSuffix)
	}
	n := len(parts)
	name := Name{Plugin: parts[0], Version: catalog.CleanVersion(strings.Join(parts[1:n-2], "_")), OS: parts[n-2], Arch: bareArch(parts[n-1])}
	if !catalog.ValidVersion(name.Version) {
		return Name{}, fmt.Errorf("%q is not a version", name.Version)
	}
	return name, nil
}

// bareArch drops the variant that goreleaser writes behind an architecture.
func bareArch(arch string) string {
	for _, base := range []string{"arm", "amd64"} {
		if rest, ok := strings.CutPrefix(arch, base+"v"); ok && strings.Trim(rest, "0123456789") == "" {
			return base
		}
	}
	return arch
}

// fetch copies the source to a private file, checks its hash if one is required, and
// returns the hash.
func (s source) fetch(ctx context.Context, to, want string) (sum string, err error) {
	if err := catalog.CheckFile(s.path); err != nil {
		return "", err
	}
	in, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(reader{ctx, in}, MaxSize+1))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", err
	}
	if n > MaxSize {
		return "", fmt.Errorf("%s: larger than %d GiB", s.path, MaxSize>>30)
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if want != "" && !strings.EqualFold(sum, want) {
		return "", s.wrongHash(sum, want, "--sha256")
	}
	return sum, s.checkList(sum, want != "")
}

// checkList compares the hash with that of a list next to the source. A list that
// does not name an archive is not its list; a plugin alone may lie next to any.
func (s source) checkList(sum string, known bool) error {
	path := filepath.Join(filepath.Dir(s.path), SumsFile)
	f, err := safefile.OpenForeign(path, MaxSums)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	want, err := FindSum(f, filepath.Base(s.path))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case want == "" && s.archive && !known:
		return fmt.Errorf("%s does not list %s: get the list that belongs to it, or give --sha256", path, filepath.Base(s.path))
	case want != "" && !strings.EqualFold(want, sum):
		return s.wrongHash(sum, want, path)
	}
	return nil
}

// FindSum returns the hash that a list of hashes has for a file, or "".
func FindSum(list io.Reader, file string) (sum string, err error) {
	lines := bufio.NewScanner(io.LimitReader(list, MaxSums))
	for lines.Scan() {
		want, name, ok := strings.Cut(lines.Text(), " ")
		// The second blank of sha256sum is '*' for a file that was read in binary mode.
		if ok && len(name) > 1 && name[1:] == file {
			return want, nil
		}
	}
	return "", lines.Err()
}

func (s source) wrongHash(got, want, where string) error {
	return fmt.Errorf("the sha256 of %s is %s, expected %s (%s)", s.path, got, strings.ToLower(want), where)
}

type reader struct {
	ctx context.Context //nolint:containedctx // it lives as long as one copy
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
