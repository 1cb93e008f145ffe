package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/profile/bundle"
	"github.com/swarmhost/swarm/shared/screen"
)

// Recording is a recorded screen of a real program, which tests the rules of its profile.
//
// Its first line is a header that begins with "# " and has parts after commas: the program with
// its version, the size of the terminal, and then any remarks. The remarks "shows STATE",
// "rule NAME", "N choices" and, as the last one, "asks TEXT" are what is expected of the screen,
// besides what its name says. The other lines are what the terminal showed, newer ones with the
// styles as SGR sequences.
type Recording struct {
	// Client is the name of the profile, and Name that of the recording, which begins with
	// what it shows: one of [Kinds].
	Client, Name string
	// Version is the version of the program; empty: unknown.
	Version string
	Screen  Screen

	state   State
	rule    string
	asks    string
	choices int
}

// recordedAs are the states that the names of recordings stand for. A recording of "error" or "other"
// may have any of several states.
var recordedAs = map[string]State{
	"prompt": Idle, "draft": Idle, "busy": Working, "blocked": Blocked,
	"background": Background, "compacting": Compacting, "limit": Idle, "error": "", "other": "",
}

// Kinds returns the words with which the name of a recording can begin.
func Kinds() []string { return slices.Sorted(maps.Keys(recordedAs)) }

// kind returns the first word of the recording's name.
func (r *Recording) kind() string {
	kind, _, _ := strings.Cut(r.Name, "-")
	return kind
}

// ParseRecording returns the recording in the text of a file. name is CLIENT/NAME.
func ParseRecording(name, text string) (*Recording, error) {
	client, name, _ := strings.Cut(name, "/")
	r := &Recording{Client: client, Name: name}
	if _, known := recordedAs[r.kind()]; !known {
		return nil, fmt.Errorf("the name of a screen begins with one of %s, got %q", strings.Join(Kinds(), ", "), name)
	}
	head, lines, ok := strings.Cut(text, "\n")
	head, marked := strings.CutPrefix(strings.TrimSuffix(head, "\r"), "# ")
	if !ok || !marked {
		return nil, errors.New(`the first line is not a header, such as "# claude 2.1.332, 120x40, with styles"`)
	}
	r.readHeader(head)
	if another := r.state; another != "" && !slices.Contains(States(), another) {
		return nil, fmt.Errorf("the header says \"shows %s\", which is not a state", another)
	}
	if !strings.Contains(lines, "\x1b[") {
		r.Screen = Screen{Lines: strings.Split(lines, "\n")}
		return r, nil
	}
	r.Screen.Styled = screen.Styled(lines)
	for _, line := range r.Screen.Styled {
		r.Screen.Lines = append(r.Screen.Lines, screen.Plain(line))
	}
	return r, nil
}

// unknownVersion stands for a version in a header.
const unknownVersion = "?"

func (r *Recording) readHeader(head string) {
	if before, asks, found := strings.Cut(head, ", asks "); found {
		head, r.asks = before, asks
	}
	parts := strings.Split(head, ", ")
	if words := strings.Fields(parts[0]); len(words) > 1 && words[len(words)-1] != unknownVersion {
		r.Version = words[len(words)-1]
	}
	for _, part := range parts[1:] {
		word, rest, _ := strings.Cut(part, " ")
		switch {
		case word == "shows":
			r.state = State(rest)
		case word == "rule":
			r.rule = rest
		case rest == "choices":
			if n, err := strconv.Atoi(word); err == nil {
				r.choices = n
			}
		}
	}
}

// Text returns a screen as the text of a recording. version is that of the program; empty: it is
// unknown. If the screen shows what the recording's name says, the header also has the rule, the
// number of choices and the question that it is read as.
func (r *Recording) Text(p *Profile, version, size string) string {
	head := fmt.Sprintf("# %s %s, %s", r.Client, cmp.Or(version, unknownVersion), size)
	lines := r.Screen.Lines
	if r.Screen.Styled != nil {
		head += ", with styles"
		lines = r.Screen.Styled
	}
	if l := p.Look(r.Screen); len(r.problems(p, l)) == 0 {
		if l.Rule != "" {
			head += ", rule " + l.Rule
		}
		if l.State == Blocked {
			head += fmt.Sprintf(", %d choices, asks %s", len(l.Choices), l.Question)
		}
	}
	return head + "\n" + strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// parseRecordings returns recordings, sorted by their names, by CLIENT/NAME. The error names
// those that are damaged.
func parseRecordings(texts map[string]string) (all []*Recording, err error) {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		r, err := ParseRecording(name, texts[name])
		if err != nil {
			problems = append(problems, problem{file: path.Join(bundle.Screens, name+".txt"), text: err.Error()})
			continue
		}
		all = append(all, r)
	}
	return all, errors.Join(problems...)
}

// Recordings returns the recorded screens that test the profiles of the set, sorted by
// client: those of the installed bundle, of clients of which it has none the built-in ones,
// and the user's own, which are in the directory "screens" next to their profiles. The error
// names those that are damaged.
func (s *Set) Recordings() ([]*Recording, error) {
	var unread []error
	texts := map[string]string{}
	if b := s.bundle; b != nil {
		if s.installed != nil {
			var err error
			if b, _, err = bundle.ReadInstalled(s.installed.Path, true); err != nil {
				b, unread = s.bundle, append(unread, err)
			}
		}
		maps.Copy(texts, b.Screens)
	}
	has := map[string]bool{}
	for name := range texts {
		has[path.Dir(name)] = true
	}
	for name, text := range BuiltIn().Screens {
		if !has[path.Dir(name)] {
			texts[name] = text
		}
	}
	if s.dirs.Own != "" {
		own, err := ownScreens(s.dirs.Own)
		maps.Copy(texts, own)
		unread = append(unread, err)
	}
	all, err := parseRecordings(texts)
	return all, errors.Join(append(unread, err)...)
}

// ownScreens returns the texts of the recordings in a directory of a user.
func ownScreens(dir string) (map[string]string, error) {
	files, err := bundle.DirFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for name, text := range files {
		client, file := filepath.Split(strings.TrimPrefix(name, bundle.Screens+"/"))
		if file, ok := strings.CutSuffix(file, ".txt"); ok && client != "" {
			texts[client+file] = string(text)
		}
	}
	return texts, nil
}

// KindOf returns the word with which the name of a recording begins if its screen is read like this.
func KindOf(l Look) string {
	switch {
	case l.State == Blocked && len(l.Choices) > 1:
		return "blocked"
	case l.State == Working:
		return "busy"
	case l.State == Background, l.State == Compacting:
		return string(l.State)
	case l.Limit != "" && l.State == Idle:
		return "limit"
	case l.Broken != "":
		return "error"
	case l.State != Idle:
		return "other"
	case l.Draft != "":
		return "draft"
	}
	return "prompt"
}
