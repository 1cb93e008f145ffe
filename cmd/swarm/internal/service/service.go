// Package service prints units with which systemd and launchd run commands of swarm.
package service

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The managers of services that a unit can be printed for.
const (
	systemd = "systemd"
	launchd = "launchd"
)

// Unit is a command of swarm that a manager of services runs.
type Unit struct {
	// Name is the verb.
	Name, Description string
	// Args are the flags and arguments behind the verb.
	Args []string
	// Once says that the command has ended when it has done its work, once after each boot,
	// and that what it has started belongs to the unit. Another one runs on and is started
	// again when it ends.
	Once bool
}

// Flag adds the flag --print-service.
func Flag(cmd *cobra.Command, usage string) *command.ChoiceFlag {
	return command.Choice(cmd, "print-service", usage, "", systemd, launchd)
}

// Print prints the unit for a manager.
func Print(a *app.App, manager string, u Unit) error {
	own, err := setup.Executable()
	if err != nil {
		return err
	}
	s := service{Unit: u, command: append([]string{own, u.Name}, u.Args...)}
	dir, err := a.StateDir()
	if err != nil {
		return err
	}
	for _, name := range []string{"PATH", "XDG_CONFIG_HOME", "TMUX_TMPDIR"} {
		if value := a.Getenv(name); value != "" {
			s.env = append(s.env, [2]string{name, value})
		}
	}
	if dir != filepath.Join(a.Getenv("HOME"), ".swarm") {
		s.env = append(s.env, [2]string{swarm.EnvDir, dir})
	}
	texts := slices.Clone(s.command)
	for _, v := range s.env {
		texts = append(texts, v[1])
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fmt.Errorf("a unit can't hold a line break, as in %q", text)
		}
	}
	text := s.systemd()
	if manager == launchd {
		text = s.launchd()
	}
	a.Printf("%s", output.Made(text))
	return nil
}

type service struct {
	Unit
	command []string
	// env are the variables that lead to the same workers and the same config file, NAME and
	// value.
	env [][2]string
}

// file is the name of the unit for systemd, label that for launchd.
func (s service) file() string  { return "swarm-" + s.Name }
func (s service) label() string { return "com.github.swarmhost.swarm." + s.Name }

func (s service) systemd() []byte {
	var b bytes.Buffer
	linger := "keeps it running while you are not logged in"
	if s.Once {
		linger = "has it run at boot, before anybody logs in"
	}
	fmt.Fprintf(&b, `# To install it, write it to ~/.config/systemd/user/%[1]s.service, then run
# "systemctl --user daemon-reload" and "systemctl --user enable --now %[1]s".
# "loginctl enable-linger" %[2]s.
[Unit]
Description=%[3]s
Documentation=https://github.com/swarmhost/swarm

[Service]
`, s.file(), linger, s.Description)
	if s.Once {
		b.WriteString("Type=oneshot\nRemainAfterExit=yes\n")
	}
	words := make([]string, len(s.command))
	for i, arg := range s.command {
		words[i] = systemdQuote(arg, "$", "$$")
	}
	b.WriteString("ExecStart=" + strings.Join(words, " ") + "\n")
	for _, v := range s.env {
		b.WriteString("Environment=" + systemdQuote(v[0]+"="+v[1]) + "\n")
	}
	if s.Once {
		b.WriteString("# To stop this unit, as a shutdown does, ends the workers that it has started.\n")
	} else {
		b.WriteString(`Restart=always
RestartSec=5
# A worker that a hook starts outlives the watch; plugins and hooks end by themselves.
KillMode=process
# 130 and 143 say that it was interrupted.
SuccessExitStatus=130 143
`)
	}
	b.WriteString("\n[Install]\nWantedBy=default.target\n")
	return b.Bytes()
}

// systemdQuote returns a word of a unit. Of some lines, more than a percent sign and the
// usual escapes is expanded; pairs are those characters and what stands for them.
func systemdQuote(word string, pairs ...string) string {
	word = strings.NewReplacer(append([]string{"%", "%%", `\`, `\\`, `"`, `\"`, "\t", `\t`}, pairs...)...).Replace(word)
	if word != "" && !strings.ContainsAny(word, " \t\"'\\;#") {
		return word
	}
	return `"` + word + `"`
}

func (s service) launchd() []byte {
	var b bytes.Buffer
	escaped := func(text string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(text)) // a buffer takes it all
		return e.String()
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- To install it, write it to ~/Library/LaunchAgents/` + s.label() + `.plist,
     then run "launchctl bootstrap gui/$UID" with that path. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + s.label() + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, arg := range s.command {
		b.WriteString("\t\t<string>" + escaped(arg) + "</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>EnvironmentVariables</key>\n\t<dict>\n")
	for _, v := range s.env {
		b.WriteString("\t\t<key>" + v[0] + "</key>\n\t\t<string>" + escaped(v[1]) + "</string>\n")
	}
	b.WriteString(`	</dict>
	<key>RunAtLoad</key>
	<true/>
`)
	if !s.Once {
		b.WriteString(`	<key>KeepAlive</key>
	<true/>
	<key>ThrottleInterval</key>
	<integer>5</integer>
`)
	}
	b.WriteString(`	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
`)
	return b.Bytes()
}
