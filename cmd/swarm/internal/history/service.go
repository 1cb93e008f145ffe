package history

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The managers of services that a unit can be printed for.
const (
	serviceSystemd = "systemd"
	serviceLaunchd = "launchd"
)

// serviceLabel names the service for launchd.
const serviceLabel = "com.github.swarmhost.swarm.watch"

// service is a watch that a manager of services keeps running.
type service struct {
	command []string
	// env are the variables that lead to the same workers and the same config file, NAME and
	// value.
	env [][2]string
}

func printService(a *app.App, manager string, o *watchOptions) error {
	own, err := setup.Executable()
	if err != nil {
		return err
	}
	s := service{command: []string{own, "watch"}}
	for _, flag := range []struct {
		set  bool
		name string
	}{{o.hooks, "--hooks"}, {o.notify, "--notify"}, {o.timestamps, "--timestamps"}, {o.json, "--json"}} {
		if flag.set {
			s.command = append(s.command, flag.name)
		}
	}
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
	for _, text := range append(s.command, s.values()...) {
		if strings.ContainsAny(text, "\n\r\x00") {
			return fmt.Errorf("a unit can't hold a line break, as in %q", text)
		}
	}
	text := s.systemd()
	if manager == serviceLaunchd {
		text = s.launchd()
	}
	a.Printf("%s", output.Made(text))
	return nil
}

func (s service) values() []string {
	values := make([]string, len(s.env))
	for i, v := range s.env {
		values[i] = v[1]
	}
	return values
}

// systemd returns a user unit.
func (s service) systemd() []byte {
	var b bytes.Buffer
	b.WriteString(`# To install it, write it to ~/.config/systemd/user/swarm-watch.service, then run
# "systemctl --user daemon-reload" and "systemctl --user enable --now swarm-watch".
# "loginctl enable-linger" keeps it running while nobody is logged in.
[Unit]
Description=Record what happens to the workers of swarm
Documentation=https://github.com/swarmhost/swarm

[Service]
ExecStart=`)
	for i, arg := range s.command {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(systemdQuote(arg, "$", "$$"))
	}
	b.WriteByte('\n')
	for _, v := range s.env {
		b.WriteString("Environment=" + systemdQuote(v[0]+"="+v[1]) + "\n")
	}
	b.WriteString(`Restart=always
RestartSec=5
# A worker that a hook starts outlives the watch; plugins and hooks end by themselves.
KillMode=process
# 130 and 143 say that it was interrupted.
SuccessExitStatus=130 143

[Install]
WantedBy=default.target
`)
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

// launchd returns a property list of an agent.
func (s service) launchd() []byte {
	var b bytes.Buffer
	escaped := func(text string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(text)) // a buffer takes it all
		return e.String()
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- To install it, write it to ~/Library/LaunchAgents/` + serviceLabel + `.plist,
     then run "launchctl bootstrap gui/$UID" with that path. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + serviceLabel + `</string>
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
	<key>KeepAlive</key>
	<true/>
	<key>ThrottleInterval</key>
	<integer>5</integer>
	<key>AbandonProcessGroup</key>
	<true/>
</dict>
</plist>
`)
	return b.Bytes()
}
