package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/chromedp/chromedp"
)

// site is a `swarm web` that runs.
type site struct {
	cmd  *exec.Cmd
	http *http.Client
	// address has the token, base has not.
	address, base string
}

func (w *world) site(ctx context.Context) (*site, error) {
	s := &site{cmd: w.command(ctx, filepath.Join(w.bin, "swarm"), "web")}
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.address = strings.TrimSpace(line)
	s.base, _, _ = strings.Cut(s.address, "/?")
	return s, nil
}

// enter uses the token of the address, which counts once.
func (s *site) enter(ctx context.Context) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	s.http = &http.Client{Jar: jar}
	_, _, err = s.get(ctx, s.address)
	return err
}

func (s *site) close() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	return s.cmd.Wait()
}

// get loads a page and returns its size.
func (s *site) get(ctx context.Context, address string) (size int64, took time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	answer, err := s.http.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	size, err = io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s: %s", address, answer.Status))
	}
	return size, time.Since(began), err
}

// pages is the page of many workers, next to ls of them, and a log in a browser.
func pages(ctx context.Context, w *world, o options) ([]row, error) {
	if err := w.spawnMany(ctx, "w", 1, o.workers, nil, []string{"sleep", "10000"}); err != nil {
		return nil, err
	}
	s, err := w.site(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	var size int64
	m, err := race(ctx, max(5, o.runs/4),
		contender{name: "ls", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "ls") }},
		contender{name: "page", run: func(ctx context.Context) (took time.Duration, err error) {
			size, took, err = s.get(ctx, s.base+"/")
			return took, err
		}},
	)
	if err = errors.Join(err, s.close()); err != nil {
		return nil, err
	}
	rows := []row{
		ratio(fmt.Sprintf("swarm web: the page of %d workers", o.workers), m["page"], "swarm ls", m["ls"], 1),
		{
			what: "the size of that page", measured: fmt.Sprintf("%d KiB", size>>10), against: "a worker",
			value: float64(size) / float64(o.workers), unit: "B", max: 1000,
		},
	}
	if err := w.clear(ctx); err != nil {
		return nil, err
	}
	more, err := loudLog(ctx, w)
	return append(rows, more...), err
}

const (
	// loudRate is how many lines a second a worker writes whose log a tab follows, for
	// loudTime.
	loudRate = 10000
	loudTime = 20 * time.Second
)

// loudLog is a tab that follows a worker which writes 10,000 lines a second.
func loudLog(ctx context.Context, w *world) (_ []row, err error) {
	if _, err := exec.LookPath("chromium"); err != nil {
		fmt.Fprintln(os.Stderr, "note: without chromium no log in a browser is measured")
		return nil, nil
	}
	const command = `i=0; while :; do seq $i $((i + 999)); i=$((i + 1000)); sleep 0.08; done`
	if _, err := w.swarm(ctx, "spawn", "--name", "loud", "--", "sh", "-c", command); err != nil {
		return nil, err
	}
	s, err := w.site(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close(), w.clear(ctx)) }()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(w.path("browser")))
	tab, cancel := chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	tab, cancel = chromedp.NewContext(tab)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.Navigate(s.address)); err != nil {
		return nil, err
	}
	// The address leads to the page without the token, by a step of the browser's own.
	if err := shows(tab, "document.querySelector('main') !== null && location.search === ''"); err != nil {
		return nil, err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(s.base+"/worker/loud/log")); err != nil {
		return nil, err
	}
	if err := shows(tab, "!!document.querySelector('#log')?.lastElementChild"); err != nil {
		return nil, err
	}
	before, err := cpuTime(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var look struct{ Last, Lines, Gaps, Heap int }
	var behind []time.Duration
	var first, last int
	for time.Since(began) < loudTime {
		text, err := chromedp.Run(tab, chromedp.Evaluate[string](`JSON.stringify({
			last: parseInt(document.querySelector('#log').lastElementChild.innerText), lines: document.querySelector('#log').children.length,
			gaps: document.querySelectorAll('#log .gap').length, heap: performance.memory.usedJSHeapSize})`))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &look); err != nil {
			return nil, err
		}
		written, err := w.lastLine(ctx, "loud")
		if err != nil {
			return nil, err
		}
		if first == 0 {
			first = written
		}
		last = written
		behind = append(behind, time.Duration(max(0, written-look.Last))*time.Second/loudRate)
		time.Sleep(500 * time.Millisecond)
	}
	after, err := cpuTime(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	if look.Gaps == 0 {
		fmt.Fprintln(os.Stderr, "note: the tab was notified of every line")
	}
	what := fmt.Sprintf("a tab that follows %d lines a second: ", loudRate)
	wrote := fmt.Sprintf("%.0f lines/s", float64(last-first)/time.Since(began).Seconds())
	late := median(behind)
	return []row{
		{what: what + "how far it is behind", measured: millis(late), against: wrote, value: late.Seconds(), unit: "s", max: 1},
		{what: what + "the lines it keeps", measured: fmt.Sprint(look.Lines), value: float64(look.Lines), unit: "lines", max: 5001},
		{what: what + "the memory of its script", measured: fmt.Sprintf("%d MiB", look.Heap>>20), value: float64(look.Heap) / (1 << 20), unit: "MiB", max: 64},
		{
			what: what + "the server", measured: millis(after - before), against: "the time", value: 100 * (after - before).Seconds() / time.Since(began).Seconds(),
			unit: "% of a core", max: 25,
		},
	}, nil
}

// shows waits until an expression is true in a tab, also across a step to another page. A query of
// chromedp would have the browser report each line from then on.
func shows(tab context.Context, expression string) (err error) {
	for range 50 {
		if _, err = chromedp.Run(tab, chromedp.Poll[bool](expression)); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// lastLine returns the number that a worker wrote last.
func (w *world) lastLine(ctx context.Context, name string) (int, error) {
	out, err := w.command(ctx, filepath.Join(w.bin, "swarm"), "logs", name, "--lines", "2").Output()
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return 0, nil
	}
	return strconv.Atoi(fields[0]) // the last one may not be complete
}

// cpuTime returns the time that a process has used of a CPU.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, io.ErrUnexpectedEOF
	}
	user, err := strconv.Atoi(fields[11])
	system, serr := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / 100, errors.Join(err, serr)
}
