//go:build vm

package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// powerRounds is how often the power is lost.
const powerRounds = 3

// delegate is the command that 'swarm doctor' asks an administrator to run.
const delegate = `mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\nDelegate=cpu cpuset io memory pids\n' > /etc/systemd/system/user@.service.d/delegate.conf && systemctl daemon-reload`

// asRoot is the script that runs another one as root, below the system's manager.
func asRoot(script string) string {
	return "export HOME=/root PATH=/opt/swarm:$PATH LANG=C.UTF-8; cd\n" + script
}

// inContainer is the script that runs another one as root in namespaces of its own for
// mounts and control groups, as a container has them.
func inContainer(script string) string {
	return "cat >/run/container-script <<'CONTAINER'\n" + asRoot(script) + "\nCONTAINER\n" +
		"exec systemd-run --scope --quiet -p Delegate=yes unshare --cgroup --mount bash /run/container-script\n"
}

// TestVM tests what only a machine of its own can show: control groups of version 2, a loss of
// power, a reboot.
func TestVM(t *testing.T) {
	m := newMachine(t)
	for _, part := range []struct {
		name string
		run  func(*machine)
	}{
		{"limits", vmLimits},
		{"container", func(m *machine) { m.file("container.sh", inContainer) }},
		{"power", vmPower},
		{"reboot", vmReboot},
	} {
		t.Run(part.name, func(t *testing.T) {
			m.t = t
			began := time.Now()
			part.run(m)
			t.Logf("%s took %s", part.name, time.Since(began).Round(time.Second))
		})
	}
}

func vmLimits(m *machine) {
	m.t.Logf("in a login that is not below the user's manager:\n%s", m.root("runuser -u dev -- env HOME=/home/dev /opt/swarm/swarm doctor"))
	m.t.Logf("below it, as Debian delegates:\n%s", m.user("swarm doctor | grep limits"))
	m.root(delegate + " && echo bfq >/sys/block/vda/queue/scheduler && systemctl restart user@1000")
	m.file("limits.sh", asUser)
	m.file("weight.sh", asUser)
}

func vmPower(m *machine) {
	for round := range powerRounds {
		name := fmt.Sprintf("r%d", round)
		m.mu.Lock()
		m.facts = nil
		m.mu.Unlock()
		m.root("rm -f /run/facts; mkfifo -m 666 /run/facts; exec 4<>/run/facts; cat <&4 >/dev/virtio-ports/facts & ")
		m.root("( " + asUser("ROUND="+name+"\n"+m.script("power.sh")) + " ) </dev/null >/dev/null 2>&1 &")
		// In the middle of the first spawns, or a while later.
		enough := 1
		if round > 0 {
			enough = 21 + rand.N(12)
		}
		for until := time.Now().Add(commandLimit); len(m.reported()) < enough && time.Now().Before(until); {
			select {
			case <-m.ended:
				m.t.Fatal("the emulator ended")
			case <-time.After(50 * time.Millisecond):
			}
		}
		time.Sleep(time.Duration(rand.N(5000)) * time.Millisecond)
		m.cut()
		facts := m.reported()
		m.t.Logf("the power is lost after %d facts, the last one %q", len(facts), slices.Concat([]string{""}, facts)[len(facts)])
		m.on()
		checkCrash(m, facts)
	}
}

// listed is a worker of 'swarm ls --json'.
type listed struct {
	Name, Status string
	Exit         *struct {
		Code   *int
		Signal *string
		Reason string
	}
}

// checkCrash compares the workers after a loss of power with the facts from before it.
func checkCrash(m *machine, facts []string) {
	m.t.Helper()
	out, code := m.try(asUser(m.script("crashed.sh")))
	parts := make(map[string]string)
	for part := range strings.SplitSeq(out, "== ") {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	if code != 0 {
		m.t.Errorf("the script ended with exit code %d", code)
	}
	for _, name := range []string{"doctor", "logs", "resurrected", "again", "shims", "settled", "mended"} {
		m.t.Logf("%s:\n%s", name, parts[name])
	}
	byName := func(part string) map[string]listed {
		var all []listed
		if err := json.Unmarshal([]byte(parts[part]), &all); err != nil {
			m.t.Errorf("%s: %v: %s", part, err, parts[part])
		}
		workers := make(map[string]listed)
		for _, w := range all {
			workers[w.Name] = w
		}
		return workers
	}
	before, interrupted, after := byName("before"), byName("interrupted"), byName("after")
	running := make(map[string]bool)
	over := make(map[string]bool)
	for _, fact := range facts {
		verb, name, _ := strings.Cut(fact, " ")
		if verb == "began" {
			continue
		}
		running[name] = verb == "spawned"
		over[name] = over[name] || verb != "spawned"
	}
	for name, w := range before {
		if e := w.Exit; e != nil && e.Code != nil && (!strings.Contains(name, "-exit") || *e.Code != 7) {
			m.t.Errorf("%s has an invented exit: %+v", name, *e)
		}
		if w.Status == "unknown" {
			m.t.Errorf("%s is unknown", name)
		}
	}
	missing := 0
	for name := range running {
		if strings.Contains(name, "-kill") && !over[name] {
			continue // its kill may have been under way
		}
		_, fell := interrupted[name]
		if _, known := before[name]; !known {
			missing++
			m.t.Errorf("%s is not known any more", name)
			continue
		}
		if fell == over[name] {
			m.t.Errorf("%s: over %v, but resurrect says that it fell: %v; it was %+v", name, over[name], fell, before[name])
		}
		if !over[name] && after[name].Status != "running" {
			m.t.Errorf("%s does not run again: %+v", name, after[name])
		}
	}
	n := 0
	for _, w := range after {
		if w.Status == "running" {
			n++
		}
	}
	if got := strings.TrimSpace(parts["shims"]); got != fmt.Sprint(n) {
		m.t.Errorf("%d workers run, and %s shims", n, got)
	}
	// Before a changing call doctor may report what was interrupted, and nothing else.
	for line := range strings.Lines(parts["doctor"]) {
		word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "error" || word == "warning" && !strings.Contains(text, "its spawn was interrupted") && !strings.Contains(text, "worker.json: no such file") && !strings.Contains(text, "new-database-") {
			m.t.Errorf("doctor reports: %s", line)
		}
	}
	if !strings.Contains(parts["mended"], "exit code 0") {
		m.t.Errorf("doctor fails after a changing call: %s", parts["mended"])
	}
	m.t.Logf("%d workers before, %d of them fell, %d run again, %d of %d facts are lost", len(before), len(interrupted), n, missing, len(running))
}

func vmReboot(m *machine) {
	m.file("units.sh", asUser)
	for range 2 {
		m.reboot()
		m.file("rebooted.sh", asUser)
	}
}
