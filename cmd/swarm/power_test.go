//go:build power

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // so git does
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// TestPower cuts a file system at random points while swarm works on it, as a loss of power does,
// and looks afterwards whether what swarm had answered is true.
//
// Each round runs in namespaces of its own for mounts, processes and clocks. The file system is a
// loop device's, and the cut is its shutdown ioctl: from then on the kernel writes nothing more,
// so all data and names are lost that were not synced. The next namespace mounts the file as a
// machine does that was started again, with another boot id and a clock that has just begun.
//
// A round prints its seed. SWARM_TEST_POWER_SEED repeats the round of a seed: the same point in
// the work, as far as the machine is as quick as before.
func TestPower(t *testing.T) {
	if err := cutsFileSystems(); err != nil {
		// In CI, too: not every runner may mount.
		t.Skipf("SKIPPED: %v", err)
	}
	bin := t.TempDir()
	if err := buildtest.Programs(bin, "github.com/swarmhost/swarm/cmd/..."); err != nil {
		t.Fatal(err)
	}
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv("SWARM_TEST_POWER_ROUNDS")); err == nil {
		rounds = n
	}
	if text := os.Getenv("SWARM_TEST_POWER_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("SWARM_TEST_POWER_SEED: %v", err)
		}
		t.Run(text, func(t *testing.T) { powerRound(t, bin, seed) })
		return
	}
	for range rounds {
		seed := rand.Uint64()
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { powerRound(t, bin, seed) })
	}
}

// powerRound works, cuts, and compares.
func powerRound(t *testing.T, bin string, seed uint64) {
	t.Logf("repeat this round with SWARM_TEST_POWER_SEED=%d", seed)
	dir := t.TempDir()
	image := filepath.Join(dir, "image")
	if out, err := exec.Command("sh", "-c", `truncate -s 128M "$1" && mke2fs -q -F -t ext4 "$1"`, "sh", image).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := &powered{t: t, bin: bin, image: image, at: filepath.Join(dir, "at"), random: rand.New(rand.NewPCG(seed, 0))}
	if err := os.Mkdir(m.at, 0o700); err != nil {
		t.Fatal(err)
	}
	facts := m.work()
	t.Logf("the power is lost after %d facts, the last one %q", len(facts), append([]string{""}, facts...)[len(facts)])
	out := m.look()
	checkPower(t, facts, out)
	if t.Failed() {
		t.Logf("after the cut:\n%s", out)
	}
}

// powered is a file system whose power can be lost.
type powered struct {
	t          *testing.T
	bin, image string
	// at is where it is mounted, in namespaces of its own.
	at string
	// random is what the seed of the round decides.
	random *rand.Rand
}

// powerRole is the variable that has the test program play a part in a namespace: "work" or
// "look".
const powerRole = "SWARM_TEST_POWER_ROLE"

func (m *powered) start(ctx context.Context, role string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = []string{
		powerRole + "=" + role, "POWER_IMAGE=" + m.image, "POWER_AT=" + m.at,
		"POWER_COMMIT=" + strconv.Itoa(1+m.random.IntN(5)),
		"PATH=" + m.bin + ":" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC}
	cmd.Stderr = os.Stderr
	return cmd
}

// work lets swarm work and cuts the file system at a random point, and returns the facts that
// were printed until then.
func (m *powered) work() []string {
	m.t.Helper()
	cmd := m.start(m.t.Context(), "work")
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	reports := make(chan string)
	go func() {
		defer close(reports)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			reports <- lines.Text()
		}
	}()
	enough := 1 + m.random.IntN(12)
	// In the middle of what follows.
	pause := time.Duration(m.random.IntN(400)) * time.Millisecond
	var facts []string
	limit := time.After(2 * time.Minute)
	for cut := false; ; {
		select {
		case fact, ok := <-reports:
			if !ok {
				if werr := cmd.Wait(); !cut {
					m.t.Fatalf("the work ended after %q: %v", facts, werr)
				}
				return facts
			}
			// A report after the begin of the cut counts too: its work may have ended before it.
			if fact == "cut" {
				cut = true
				break
			}
			if !cut {
				facts = append(facts, fact)
			}
			if len(facts) == enough && !cut {
				time.AfterFunc(pause, func() { _, _ = io.WriteString(in, "cut\n") })
			}
		case <-limit:
			_ = cmd.Process.Kill()
			m.t.Fatalf("no cut after %q", facts)
		}
	}
}

// look returns what swarm and git say after the machine was started again.
func (m *powered) look() string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*time.Minute)
	defer cancel()
	out, err := m.start(ctx, "look").Output()
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// checkPower compares what swarm says after the cut with the facts from before it.
func checkPower(t *testing.T, facts []string, out string) {
	t.Helper()
	parts := make(map[string]string)
	for part := range strings.SplitSeq(out, "== ") {
		name, text, _ := strings.Cut(part, "\n")
		parts[name] = text
	}
	var workers []struct {
		Name, Status string
	}
	if err := json.Unmarshal([]byte(parts["workers"]), &workers); err != nil {
		t.Fatalf("%v: %s", err, parts["workers"])
	}
	known := make(map[string]bool)
	for _, w := range workers {
		known[w.Name] = true
	}
	for _, fact := range facts {
		verb, rest, _ := strings.Cut(fact, " ")
		switch verb {
		case "spawned":
			if !known[rest] {
				t.Errorf("%s is not known any more", rest)
			}
		case "completed":
			if !strings.Contains(parts["events"], "["+rest+"] COMPLETE: all done") {
				t.Errorf("the completion of %s is lost", rest)
			}
		case "saved":
			if !strings.Contains(parts["restored "+rest], "work of "+rest) {
				t.Errorf("the work of %s can't be restored: %s", rest, parts["restored "+rest])
			}
		}
	}
	for line := range strings.Lines(parts["advice"]) {
		if strings.HasPrefix(line, "failed: ") {
			t.Errorf("what doctor advises does not work: %s", line)
		}
	}
	for line := range strings.Lines(parts["fsck"]) {
		if strings.TrimSpace(line) != "" && !excused(line, facts) {
			t.Errorf("git fsck: %s", line)
		}
	}
	for line := range strings.Lines(parts["doctor"]) {
		if strings.HasPrefix(line, "error") || strings.HasPrefix(line, "warning") {
			t.Errorf("doctor is not content after its own advice: %s", line)
		}
	}
}

// excused reports whether a line of git fsck is about an object that a worker's own "git add"
// wrote, which does not wait for the disk, and of which no work was saved.
func excused(line string, facts []string) bool {
	for n := 1; slices.Contains(facts, fmt.Sprintf("completed c%d", n)); n++ {
		text := fmt.Sprintf("staged by w%d\n", n)
		name := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text))) //nolint:gosec // so git does
		if strings.Contains(strings.ReplaceAll(line, "/", ""), name) && !slices.Contains(facts, fmt.Sprintf("saved w%d", n)) {
			return true
		}
	}
	return false
}

// cutsFileSystems returns why no loop device can be mounted here, or nil.
func cutsFileSystems() error {
	if os.Geteuid() != 0 {
		return errors.New("loop mounts need root")
	}
	dir, err := os.MkdirTemp("", "swarm-power")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	script := `cd "$1" && truncate -s 16M i && mke2fs -q -F -t ext4 i && mkdir m && mount -o loop i m && mount --bind i ` + bootID
	out, err := exec.Command("unshare", "--mount", "--time", "--boottime", "1", "--propagation", "private", "sh", "-c", script, "sh", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("no loop device can be mounted in namespaces of its own here: %s", bytes.TrimSpace(out))
	}
	return nil
}

// playPower plays a part of the test in a namespace, whose first process this is.
func playPower(role string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	at := os.Getenv("POWER_AT")
	// Without auto_da_alloc the kernel writes nothing for a rename that was not asked for.
	out, err := exec.Command("mount", "-o", "loop,noauto_da_alloc,commit="+os.Getenv("POWER_COMMIT"), os.Getenv("POWER_IMAGE"), at).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	if role == "look" {
		if err := otherBoot(at); err != nil {
			return err
		}
	}
	script := exec.Command("bash", "testdata/power/"+role+".sh")
	script.Env = append(os.Environ(), "HOME="+at, "SWARM_DIR="+at+"/state", "AT="+at)
	script.Stdout, script.Stderr = os.Stdout, os.Stderr
	if role == "look" {
		return script.Run()
	}
	script.Stderr = nil
	if err := script.Start(); err != nil {
		return err
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	root, err := os.Open(at)
	if err != nil {
		return err
	}
	// FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH.
	const shutdown, noLogFlush = 0x8004587d, 2
	if err := unix.IoctlSetPointerInt(int(root.Fd()), shutdown, noLogFlush); err != nil {
		return fmt.Errorf("shut the file system down: %w", err)
	}
	fmt.Println("cut")
	return nil // all processes of the namespace end with this one
}

// otherBoot makes the id of this boot another one, and has the clock that counts from the boot
// begin now, for the processes that this one starts.
func otherBoot(at string) error {
	file := filepath.Join(at, "boot-id")
	if err := os.WriteFile(file, []byte("11111111-2222-4333-8444-555555555555\n"), 0o600); err != nil {
		return err
	}
	if err := unix.Mount(file, bootID, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount over %s: %w", bootID, err)
	}
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWTIME); err != nil {
		return fmt.Errorf("make a namespace for clocks: %w", err)
	}
	return os.WriteFile("/proc/self/timens_offsets", fmt.Appendf(nil, "boottime %d 0", -up.Sec), 0)
}

const bootID = "/proc/sys/kernel/random/boot_id"

func init() {
	role := os.Getenv(powerRole)
	if role == "" {
		return
	}
	if err := playPower(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
