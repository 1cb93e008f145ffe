package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/shared/safefile"
)

// options completes an option of a backend: those that workers were given before, and for
// the backend ssh the hosts of the user's own settings.
func (c *completer) options(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	values, directive := c.offer(usedOptions)(cmd, args, prefix)
	if f := cmd.Flag("backend"); f == nil || f.Value.String() != "ssh" {
		return values, directive
	}
	for _, host := range sshHosts(c.Getenv("HOME")) {
		if !slices.Contains(values, "host="+host) {
			values = append(values, "host="+host)
		}
	}
	return values, directive
}

// maxSSHConfig is the largest file that is read for the names in it, in bytes.
const maxSSHConfig = 1 << 20

func sshHosts(home string) (hosts []string) {
	if !filepath.IsAbs(home) {
		return nil
	}
	data, err := safefile.ReadForeign(filepath.Join(home, ".ssh", "config"), maxSSHConfig)
	if err != nil {
		return nil // it offers nothing then
	}
	for line := range strings.Lines(string(data)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '=' || r == '\n' || r == '\r' || r == '"' })
		if len(words) < 2 || !strings.EqualFold(words[0], "host") {
			continue
		}
		for _, host := range words[1:] {
			if strings.HasPrefix(host, "#") {
				break
			}
			if !strings.ContainsAny(host, "*?!") && !strings.HasPrefix(host, "-") {
				hosts = append(hosts, host)
			}
		}
	}
	return hosts
}
