package launch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program is the executable of a plugin, open and hashed. Exactly this file is run: the
// file at its path could have been exchanged in between.
type program struct {
	file *os.File
	// path is where it was found, without links.
	path string
	// known is the hash with the facts about the file.
	known pinned
}

var errExchanged = errors.New("it was changed while it was started")

// folder is the name of the directory that holds a private copy, in the directory
// of the plugin's socket.
const folder = "program"

// copied makes cmd run a private copy, below dir. Files next to the original can be
// found next to the copy, by links: a script may look for its modules there.
func (p *program) copied(cmd *exec.Cmd, dir string) error {
	dir = filepath.Join(dir, folder)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.Base(p.path))
	if err := p.copy(to); err != nil {
		return err
	}
	siblings, err := os.ReadDir(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	for _, e := range siblings {
		err := os.Symlink(filepath.Join(filepath.Dir(p.path), e.Name()), filepath.Join(dir, e.Name()))
		if err != nil && !os.IsExist(err) { // the copy has its name already
			return err
		}
	}
	argv, err := interpreted(to)
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = argv[0], append(argv, cmd.Args[1:]...)
	return nil
}

func (p *program) copy(to string) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	copied, err := sum(io.TeeReader(io.LimitReader(p.file, p.known.Size+1), out))
	if err = errors.Join(err, out.Close()); err == nil && copied != p.known.SHA256 {
		err = errExchanged
	}
	return err
}

// unchanged returns [errExchanged] if the file's content was changed since it was
// hashed. Its inode changes too when another file takes its name.
func (p *program) unchanged() error {
	now, err := look(p.file)
	if err != nil {
		return err
	}
	if now.SHA256 = p.known.SHA256; now == p.known {
		return nil
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	again, err := sum(p.file)
	if err == nil && again != p.known.SHA256 {
		err = errExchanged
	}
	return err
}

// longestShebang is how much of a script's first line systems read.
const longestShebang = 256

// interpreted returns how to run a file: a script by its interpreter, as the system
// does, since the file system of a private copy may be mounted without permission
// to execute.
func interpreted(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, longestShebang)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	rest, script := strings.CutPrefix(string(line), "#!")
	if rest = strings.Trim(rest, " \t"); !script || rest == "" {
		return []string{path}, nil
	}
	// Up to one argument, which may contain blanks.
	at := strings.IndexAny(rest, " \t")
	if at < 0 {
		return []string{rest, path}, nil
	}
	return []string{rest[:at], strings.TrimLeft(rest[at:], " \t"), path}, nil
}

func (p *program) close() { _ = p.file.Close() }
