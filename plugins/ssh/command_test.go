//go:build ssh

package ssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile are settings of a user that would lend things of this machine to a host, run
// programs here, or keep the command from running there.
const hostile = `Host *
  ForwardAgent yes
  ForwardX11 yes
  ForwardX11Trusted yes
  LocalForward 12345 localhost:1
  RemoteForward 12346 localhost:1
  DynamicForward 12347
  Tunnel yes
  GSSAPIAuthentication yes
  GSSAPIDelegateCredentials yes
  PermitLocalCommand yes
  LocalCommand touch it
  RemoteCommand touch it
  ControlMaster yes
  ControlPath ~/of-the-user
  ControlPersist yes
  SendEnv *
  RequestTTY force
  StdinNull yes
  ForkAfterAuthentication yes
  SessionType none
`

// TestHostileSettings asks ssh what it makes of such settings with our arguments.
func TestHostileSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &sshClient{config: Defaults(), host: "anybox", env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SECRET=x"}}
	c.config.ConfigFile = filepath.Join(dir, "config")
	if err := os.WriteFile(c.config.ConfigFile, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, person := range []bool{false, true} {
		out, err := exec.CommandContext(t.Context(), "ssh", append([]string{"-G"}, c.args(person, "true")...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(out), "\n")
		for _, want := range []string{
			"forwardagent no", "forwardx11 no", "clearallforwardings yes", "tunnel false", "gssapidelegatecredentials no",
			"permitlocalcommand no", "controlmaster false", "stdinnull no", "forkafterauthentication no", "sessiontype default",
		} {
			name, _, _ := strings.Cut(want, " ")
			is := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") })
			if is < 0 || lines[is] != want {
				t.Errorf("person %v: not %q: %v", person, want, lines[max(is, 0)])
			}
		}
		for _, line := range lines {
			for _, none := range []string{"localforward ", "remoteforward ", "dynamicforward ", "remotecommand touch", "controlpath "} {
				if strings.HasPrefix(line, none) && line != "controlpath none" {
					t.Errorf("person %v: %s", person, line)
				}
			}
		}
	}
	// SendEnv is kept from the variables: it can't be taken back.
	if slices.ContainsFunc(c.said().sshEnv, func(kv string) bool { return strings.HasPrefix(kv, "SECRET=") }) {
		t.Errorf("ssh has %v", c.said().sshEnv)
	}
}
