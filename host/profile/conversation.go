package profile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/safefile"
)

// The places in patterns of a profile for the id of a conversation and for its first
// characters.
const (
	placeSession = "{session}"
	placeShort   = "{session8}"
	shortSession = 8
)

// uuid is what the ids look like that agents choose. Some take names of conversations, too,
// under which nothing is kept.
var uuid = lazyregexp.New(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Keeps reports whether the agent keeps the conversation of a session, which it can resume
// then. getenv returns the variables of its environment. known is false if that can't be
// distinguished from its files.
func (p *Profile) Keeps(session string, getenv func(name string) string) (keeps, known bool) {
	if !uuid().MatchString(session) {
		return false, false
	}
	for _, pattern := range p.file.Run.Conversation {
		unset := false
		pattern = os.Expand(pattern, func(name string) string {
			value := getenv(name)
			unset = unset || value == ""
			return literally(value)
		})
		if unset {
			continue
		}
		known = true
		found, err := filepath.Glob(withSession([]string{pattern}, session)[0])
		if err == nil && slices.ContainsFunc(found, p.begun) {
			return true, true
		}
	}
	return false, known
}

// maxBegun is how much of a conversation is read: one that is longer has begun.
const maxBegun = 1 << 20

// begun reports whether the file of a conversation holds a prompt, or can't be read.
func (p *Profile) begun(path string) bool {
	if p.file.Run.Begun == "" {
		return true
	}
	b, err := safefile.Read(path, maxBegun)
	re, badErr := regexp.Compile("(?m)" + p.file.Run.Begun)
	return err != nil || badErr != nil || re.Match(b)
}

// literally returns the pattern that matches only a text.
func literally(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}

// Lacks reports whether an agent that has ended wrote that it has no conversation of a session.
func (p *Profile) Lacks(session string, lines []string) bool {
	for _, pattern := range withSession(p.file.Run.NoConversation, regexp.QuoteMeta(session)) {
		re, err := regexp.Compile(pattern)
		if err == nil && slices.ContainsFunc(lines, re.MatchString) {
			return true
		}
	}
	return false
}

// conversation checks how a profile knows which conversations there are.
func (r *reader) conversation(f *file) {
	for _, pattern := range f.Run.Conversation {
		_, err := filepath.Match(pattern, "")
		if err != nil || !strings.HasPrefix(pattern, "$") || !strings.Contains(pattern, placeSession) && !strings.Contains(pattern, placeShort) {
			r.wrong("run.conversation", "expected patterns of paths such as \"$HOME/.agent/*/{session}.json\", got %q", pattern)
		}
	}
	r.pattern("run.conversation_begun", f.Run.Begun)
	r.patterns("run.no_conversation", withSession(f.Run.NoConversation, ""))
}
