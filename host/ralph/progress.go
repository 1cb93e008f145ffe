package ralph

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/swarmhost/swarm/shared/safefile"
)

const (
	// mostFiles and longestWalk bound how much of a working directory is compared.
	mostFiles   = 200_000
	longestWalk = 5 * time.Second
	// sameWords is which part of the words of two answers must be the same, in percent, so that
	// they count as one answer: agents add times, costs and a word of their own choice.
	sameWords = 70
	// maxReference bounds the files of git that are read.
	maxReference = 4 << 10
)

// progress compares an iteration with the one before.
type progress struct {
	// files identifies what is in the working directory; empty: it is not known.
	files string
	// answer are the words of the last answer, nil before the first one.
	answer map[string]int
}

// step records the outcome of an iteration. It reports whether the iteration has left no commit
// and changed no file, and whether it has the same answer as the one before.
func (p *progress) step(files, answer string) (idle, same bool) {
	idle = files != "" && files == p.files
	words := wordsOf(answer)
	same = p.answer != nil && alike(p.answer, words)
	p.files, p.answer = files, words
	return idle, same
}

// wordsOf returns how often each word is in a text. Numbers don't count as words.
func wordsOf(text string) map[string]int {
	words := make(map[string]int)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		words[word]++
	}
	return words
}

func alike(a, b map[string]int) bool {
	common, all := 0, 0
	for word, n := range a {
		common += 2 * min(n, b[word])
		all += n
	}
	for _, n := range b {
		all += n
	}
	return 100*common >= sameWords*all
}

// errTooMany says that a directory is too large to compare.
var errTooMany = errors.New("too many files")

// fingerprint identifies the files in a directory by their names, sizes and times, and the
// commits of its repository; empty: it can't be read, or is too large.
func fingerprint(dir string) string {
	h := sha256.New()
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		addRepository(h, filepath.Join(up, ".git"))
		if up == filepath.Dir(up) {
			break
		}
	}
	until, n := time.Now().Add(longestWalk), 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > mostFiles || n%1024 == 0 && time.Now().After(until) {
			return errTooMany
		}
		switch {
		case err != nil && path == dir:
			return err
		case err != nil:
			return nil //nolint:nilerr // the rest can be compared
		case d.Name() == ".git":
			addRepository(h, path)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case d.IsDir():
			// Its time changes with each temporary file.
			fmt.Fprintf(h, "%q %v\n", path, info.Mode())
		default:
			fmt.Fprintf(h, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// addRepository adds which commit a repository is at: git writes each change of that into the
// log of HEAD.
func addRepository(h hash.Hash, git string) {
	info, err := os.Lstat(git)
	if err != nil {
		return
	}
	if info.Mode().IsRegular() { // of a worktree
		text, err := safefile.Read(git, maxReference)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !ok {
			return
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(git), to)
		}
		git = to
	}
	head, err := safefile.Read(filepath.Join(git, "HEAD"), maxReference)
	fmt.Fprintf(h, "%q %q %v\n", git, head, err != nil)
	if log, err := os.Lstat(filepath.Join(git, "logs", "HEAD")); err == nil {
		fmt.Fprintf(h, "%d %d\n", log.Size(), log.ModTime().UnixNano())
	}
}

// here returns the fingerprint of the loop's working directory, if that is wanted.
func (l *loop) here(st *State) string {
	dir, err := os.Getwd()
	if st.NoProgress == 0 || err != nil {
		return ""
	}
	return fingerprint(dir)
}

// words returns what the agent has answered, or else what it shows.
func (it *iteration) words() string {
	if it.profile != nil {
		if answer := it.profile.Answer(it.shown(), string(it.prompt)); len(answer) > 0 {
			return strings.Join(answer, "\n")
		}
	}
	return strings.Join(it.screen.Shown(), "\n")
}

// count counts the iterations without progress. Each of them must have left no commit, changed
// no file, and have the same answer as the one before. One that has failed does not count.
func (s *State) count(out *outcome) {
	switch {
	case out.failed() || out.done || out.question != "" || out.ending != exited && out.ending != idle && out.ending != inactive:
	case !out.still:
		s.Still = 0
	case out.same:
		s.Still++
	default:
		s.Still = 1
	}
}

// stuck reports whether the loop is to stop because it makes no progress.
func (s *State) stuck() bool { return s.NoProgress > 0 && s.Still >= s.NoProgress }

// StillText says that some iterations made no progress.
func (s *State) StillText() string {
	count := fmt.Sprintf("the last %d iterations", s.Still)
	if s.Still == 1 {
		return "the last iteration left no commit and changed no file"
	}
	return count + " left no commit, changed no file, and had the same answer"
}
