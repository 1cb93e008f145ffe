//go:build web

package main_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a tab of a browser of its own.
type browser struct {
	*testing.T
	ctx context.Context
}

// open starts a browser and opens the address of a server in it.
func (s *server) open(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	if path := os.Getenv("SWARM_TEST_BROWSER"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	b.do(chromedp.Navigate(s.address))
	return b
}

// do does something in the browser, which must work.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// is reports whether a condition of the page, in JavaScript, holds.
func (b *browser) is(condition string) bool {
	b.Helper()
	holds, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
	return err == nil && holds // the page may be about to change
}

// until waits until a condition of the page, in JavaScript, holds.
func (b *browser) until(condition string) {
	b.Helper()
	for deadline := time.Now().Add(patience); !b.is(condition); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			page, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
			b.Fatalf("waited in vain for %s\n%s", condition, page)
		}
	}
}

// location returns what the address bar shows.
func (b *browser) location() string {
	b.Helper()
	address, err := chromedp.Run(b.ctx, chromedp.Location())
	if err != nil {
		b.Fatal(err)
	}
	return address
}

// text is a condition: the page shows a text.
func text(of, want string) string {
	return "(document.querySelector(" + quote(of) + ")?.innerText || '').includes(" + quote(want) + ")"
}

// quote makes a string of JavaScript.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestListIsLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.web()
	b := s.open(t)
	b.until(text("#empty", "No workers yet"))
	w.swarm("spawn", "--name", "one", "--", "sleep", "1003")
	b.until(text("[data-section=running]", "one"))
	w.swarm("spawn", "--name", "two", "--", "sh", "-c", "exit 3")
	b.until(text("[data-section=attention]", "exited 3"))
	w.swarm("kill", "one")
	b.until(text("[data-section=ended]", "killed"))
	w.swarm("clean", "one", "two")
	b.until(text("#empty", "No workers yet"))
	if got := b.location(); got != s.base+"/" {
		t.Errorf("the address bar shows %s", got)
	}
}
