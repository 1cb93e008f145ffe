package integration

import (
	"errors"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
)

// errAsksNothing says that a client has no use for permissions.
var errAsksNothing = errors.New("opencode asks for no MCP tool unless its own configuration says so: leave out --allow-tools")

// mcpPrefix is the beginning of the names of swarm's tools in the rules of Claude Code and Qwen
// Code.
const mcpPrefix = "mcp__swarm__"

// allowInSettings adds swarm's tools to the list of what is allowed in a settings file of
// Claude Code or Qwen Code, one rule for each: a rule for the whole server would allow Bash.
func (s Setup) allowInSettings(d *jsonc.Document, c *Client) error {
	if !s.AllowTools || c.policies {
		return nil
	}
	list, err := valueAt(d.Text, "permissions", "allow")
	if err != nil {
		return err
	}
	var there []string
	if list != nil {
		for _, e := range list.Elements {
			var rule string
			if e.Decode(&rule) == nil {
				there = append(there, rule)
			}
		}
	}
	for _, name := range s.Tools {
		if slices.Contains(there, mcpPrefix+name) {
			continue
		}
		if err := d.Append(mcpPrefix+name, "permissions", "allow"); err != nil {
			return err
		}
	}
	return nil
}

func (s Setup) disallowInSettings(d *jsonc.Document, c *Client) error {
	if c.policies {
		return nil
	}
	list, err := valueAt(d.Text, "permissions", "allow")
	if err != nil || list == nil {
		return err
	}
	return d.RemoveElements(func(v *jsonc.Value) bool {
		var rule string
		name, ours := "", false
		if v.Decode(&rule) == nil {
			name, ours = strings.CutPrefix(rule, mcpPrefix)
		}
		return ours && slices.Contains(s.Tools, name)
	}, "permissions", "allow")
}

// policyMark is the first line of swarm's policy file of Gemini CLI.
const policyMark = "# Written by 'swarm integrate gemini --allow-tools'"

// geminiPolicy returns the text of the policy file that allows swarm's tools.
func (s Setup) geminiPolicy() string {
	return policyMark + ", which 'swarm integrate gemini --remove' undoes.\n" +
		"[[rule]]\nmcpName = \"swarm\"\ntoolName = " + tomlStrings(s.Tools) + "\ndecision = \"allow\"\npriority = 100\n"
}

// allowInTOML adds to Codex' file that swarm's tools need no approval.
func (s Setup) allowInTOML(d *jsonc.Document) error {
	if !s.AllowTools {
		return nil
	}
	var file struct {
		Servers map[string]struct {
			Tools map[string]any `toml:"tools"`
		} `toml:"mcp_servers"`
	}
	if err := decodeTOML(d.Text, &file); err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range s.Tools {
		if file.Servers["swarm"].Tools[name] == nil {
			b.WriteString("\n[mcp_servers.swarm.tools." + name + "]\napproval_mode = \"approve\"\n")
		}
	}
	if b.Len() == 0 {
		return nil
	}
	start, end := serverTable(d.Text)
	if start == end {
		return errByHand
	}
	text := b.String()
	if !strings.HasSuffix(d.Text[:end], "\n") {
		text = "\n" + text
	}
	if strings.Contains(d.Text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	d.Replace(end, "", text)
	return s.checkTOML(d)
}
