package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// codex integrates into Codex. Its own command can't name variables to pass on, so its
// file is edited.
func codex(c *Client, s Setup) ([]Change, error) {
	dir, err := s.home("CODEX_HOME", ".codex")
	if err != nil {
		return nil, err
	}
	var p plan
	p.add(s.edited(filepath.Join(dir, "config.toml"), func(d *jsonc.Document) error {
		if err := s.addTOMLServer(d); err != nil {
			return err
		}
		return s.allowInTOML(d)
	}, removeTOMLServer))
	p.add(s.edited(filepath.Join(dir, "hooks.json"),
		func(d *jsonc.Document) error { return s.addHooks(d, c, "") },
		func(d *jsonc.Document) error { return removeAllHooks(d, c) }))
	p.add(s.skill(filepath.Join(dir, "skills")))
	if s.ConfigFile != "" {
		p.add(s.edited(s.ConfigFile, s.addPass, removePass))
	}
	return p.changes, p.err
}

// variables returns the names of the variables that Codex has to pass on: it starts
// servers with hardly any.
func (s Setup) variables() []string {
	names := []string{"SWARM_DIR", "XDG_CONFIG_HOME", "TMUX", "TMUX_TMPDIR", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"}
	for _, name := range slices.Sorted(slices.Values(s.Environ)) {
		if !slices.Contains(names, name) && keyLike().MatchString(name) && slices.ContainsFunc(s.Pass, func(pattern string) bool {
			begin, all := strings.CutSuffix(pattern, "*")
			return name == pattern || all && strings.HasPrefix(name, begin)
		}) {
			names = append(names, name)
		}
	}
	return names
}

// keyLike matches the variables that a pattern is meant to pass. Other variables with the
// same beginning may describe a session of another agent.
var keyLike = lazyregexp.New(`_(?:KEY|KEY_ID|TOKEN|BASE_URL|ENDPOINT|PROXY|PROFILE|REGION|CREDENTIALS)$`)

type tomlServer struct {
	server
	EnvVars []any `toml:"env_vars"`
}

func decodeTOML(text string, into any) error {
	_, err := toml.Decode(text, into)
	if wrong, ok := errors.AsType[toml.ParseError](err); ok {
		return &jsonc.SyntaxError{Line: wrong.Position.Line, Column: max(1, wrong.Position.Col), Text: wrong.Message}
	}
	return err
}

// tomlServerIn returns the server named swarm in Codex's file; ok says that there is one.
func tomlServerIn(text string) (is tomlServer, ok bool, err error) {
	var file struct {
		Servers map[string]tomlServer `toml:"mcp_servers"`
	}
	err = decodeTOML(text, &file)
	is, ok = file.Servers["swarm"]
	return is, ok, err
}

func (s Setup) addTOMLServer(d *jsonc.Document) error {
	there, ok, err := tomlServerIn(d.Text)
	if err != nil {
		return err
	}
	if !ok {
		appendTOML(d, "[mcp_servers.swarm]\ncommand = "+tomlString(s.Swarm)+"\nargs = [\"mcp\"]\nenv_vars = "+tomlStrings(s.variables())+"\n")
		return s.checkTOML(d)
	}
	if !isSwarm(there.argv()) {
		return errForeign
	}
	if !s.runsSwarm(there.Command) {
		setTOML(d, "command", tomlString(s.Swarm))
	}
	missing := slices.DeleteFunc(s.variables(), func(name string) bool { return slices.Contains(there.EnvVars, any(name)) })
	if len(missing) > 0 {
		var all []string
		for _, name := range there.EnvVars {
			text, ok := name.(string)
			if !ok {
				return errByHand
			}
			all = append(all, text)
		}
		setTOML(d, "env_vars", tomlStrings(append(all, missing...)))
	}
	return s.checkTOML(d)
}

var errByHand = errors.New("the table mcp_servers.swarm is written in a way that can't be edited: change command and env_vars by hand, or remove it")

func (s Setup) checkTOML(d *jsonc.Document) error {
	is, _, err := tomlServerIn(d.Text)
	missing := slices.ContainsFunc(s.variables(), func(name string) bool { return !slices.Contains(is.EnvVars, any(name)) })
	if err != nil || missing || !s.runsSwarm(is.Command) {
		return errByHand
	}
	return nil
}

func appendTOML(d *jsonc.Document, table string) {
	before := ""
	if d.Text != "" {
		before = "\n"
		if !strings.HasSuffix(d.Text, "\n") {
			before = "\n\n"
		}
	}
	if strings.Contains(d.Text, "\r\n") {
		before, table = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(table, "\n", "\r\n")
	}
	d.Replace(len(d.Text), "", before+table)
}

// setTOML sets a key of the table of the server, whose value is on one line.
func setTOML(d *jsonc.Document, key, value string) {
	start, end := serverTable(d.Text)
	line := regexp.MustCompile(`(?m)^[ \t]*` + key + `[ \t]*=[ \t]*([^\r\n]*)`)
	if m := line.FindStringSubmatchIndex(d.Text[start:end]); m != nil {
		d.Replace(start+m[2], d.Text[start+m[2]:start+m[3]], value)
	} else if start < end {
		at := start + strings.IndexByte(d.Text[start:]+"\n", '\n') + 1
		if at > len(d.Text) {
			return
		}
		d.Replace(at, "", key+" = "+value+"\n")
	}
}

func removeTOMLServer(d *jsonc.Document) error {
	there, ok, err := tomlServerIn(d.Text)
	if err != nil || !ok || !isSwarm(there.argv()) {
		return err
	}
	start, end := serverTable(d.Text)
	if start == end {
		return errByHand
	}
	// The blank line before it was added with it.
	before := d.Text[:start]
	for _, nl := range []string{"\r\n", "\n"} {
		if before == nl || strings.HasSuffix(before, "\n"+nl) {
			start -= len(nl)
			break
		}
	}
	d.Replace(start, d.Text[start:end], "")
	if after, _, err := tomlServerIn(d.Text); err != nil || after.Command != "" {
		return errByHand
	}
	return nil
}

var (
	tableLine  = lazyregexp.New(`^[ \t]*\[`)
	serverLine = lazyregexp.New(`^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*"?swarm"?[ \t]*[\].]`)
)

// serverTable returns where the table of the server is, with the tables in it and without
// the blank lines and comments behind it.
func serverTable(text string) (start, end int) {
	at, inside := 0, false
	multi := ""
	for line := range strings.Lines(text) {
		if multi == "" && tableLine().MatchString(line) {
			ours := serverLine().MatchString(line)
			if ours && start == end {
				start = at
			}
			inside = ours
		}
		blank := strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#")
		at += len(line)
		if inside && (multi != "" || !blank) {
			end = at
		}
		for _, quotes := range []string{`"""`, `'''`} {
			if (multi == "" || multi == quotes) && strings.Count(line, quotes)%2 == 1 {
				if multi == "" {
					multi = quotes
				} else {
					multi = ""
				}
			}
		}
	}
	return start, end
}

func tomlString(s string) string {
	if !strings.ContainsAny(s, "'\n") && strings.ContainsAny(s, `\"`) {
		return "'" + s + "'"
	}
	return fmt.Sprintf("%q", s)
}

func tomlStrings(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// passMark is behind the line that an integration adds to swarm's own file.
const passMark = " # added by 'swarm integrate'"

// addPass adds the variables of agents to the user's config file of swarm if it names none.
func (s Setup) addPass(d *jsonc.Document) error {
	if d.Text == "" {
		d.Replace(0, "", config.Example())
	}
	var file struct {
		Env *struct{ Pass []string }
	}
	if err := decodeTOML(d.Text, &file); err != nil {
		return err
	}
	if file.Env != nil && file.Env.Pass != nil {
		return nil
	}
	line := "pass = " + tomlStrings(s.Pass) + passMark + "\n"
	header := regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*env[ \t]*\][^\n]*\n`).FindStringIndex(d.Text)
	switch {
	case header != nil:
		d.Replace(header[1], "", line)
	case file.Env == nil:
		appendTOML(d, "[env]\n"+line)
	}
	return decodeTOML(d.Text, &file)
}

func removePass(d *jsonc.Document) error {
	at := 0
	for line := range strings.Lines(d.Text) {
		if strings.HasPrefix(line, "pass = ") && strings.HasSuffix(strings.TrimRight(line, "\r\n"), passMark) {
			d.Replace(at, line, "")
			return nil
		}
		at += len(line)
	}
	return nil
}
