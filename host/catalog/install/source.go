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

// maxSums is the largest SumsFile, in bytes.
const maxSums = 1 << 20

// maxSize bounds the size of the source and of the unpacked files.
const maxSize = 2 << 30

const archiveSuffix = ".tar.gz"

type source struct {
	path string
	// name is the plugin's.
	name string
	// archive says that it is one; version is set then.
	archive bool
	version string
}

// parse reads the name of a file. An archive has the name that goreleaser makes by
// default: swarm-plugin-NAME_VERSION_OS_ARCH.tar.gz.
func parse(path string) (source, error) {
	s := source{path: path}
	base := filepath.Base(path)
	stem, archive := strings.CutSuffix(base, archiveSuffix)
	rest, ok := strings.CutPrefix(stem, catalog.Prefix)
	if !archive {
		if !ok || !catalog.ValidName(rest) {
			return s, fmt.Errorf("%s: a plugin is named %sNAME, an archive %sNAME_VERSION_OS_ARCH%s; NAME is of lower-case letters, digits and hyphens",
				path, catalog.Prefix, catalog.Prefix, archiveSuffix)
		}
		s.name = rest
		return s, nil
	}
	parts := strings.Split(rest, "_")
	if !ok || len(parts) < 4 || !catalog.ValidName(parts[0]) {
		return s, fmt.Errorf("%s: an archive is named %sNAME_VERSION_OS_ARCH%s", path, catalog.Prefix, archiveSuffix)
	}
	n := len(parts)
	s.archive, s.name, s.version = true, parts[0], catalog.CleanVersion(strings.Join(parts[1:n-2], "_"))
	if !catalog.ValidVersion(s.version) {
		return s, fmt.Errorf("%s: %q is not a version", path, s.version)
	}
	return s, catalog.CheckPlatform(path, parts[n-2], bareArch(parts[n-1]))
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
	n, err := io.Copy(io.MultiWriter(out, hash), io.LimitReader(reader{ctx, in}, maxSize+1))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return "", err
	}
	if n > maxSize {
		return "", fmt.Errorf("%s: larger than %d GiB", s.path, maxSize>>30)
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
	f, err := safefile.OpenForeign(path, maxSums)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxSums))
	for lines.Scan() {
		want, name, ok := strings.Cut(lines.Text(), " ")
		// The second blank of sha256sum is '*' for a file that was read in binary mode.
		if !ok || len(name) < 2 || name[1:] != filepath.Base(s.path) {
			continue
		}
		if !strings.EqualFold(want, sum) {
			return s.wrongHash(sum, want, path)
		}
		return nil
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if s.archive && !known {
		return fmt.Errorf("%s does not list %s: get the list that belongs to it, or give --sha256", path, filepath.Base(s.path))
	}
	return nil
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
