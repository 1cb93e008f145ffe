//go:build web

package webserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a tab of a browser of its own.
type browser struct {
	*testing.T
	ctx context.Context //nolint:containedctx // the driver keeps the tab in it
}

// open starts a browser and opens the address of a server in it.
func (s *server) open(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("ignore-certificate-errors", true), // tests sign their own
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

// press presses keys, once the script of the page has begun.
func (b *browser) press(keys ...string) {
	b.Helper()
	b.until("document.readyState === 'complete'")
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
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
	b.until("document.title === '(1) Workers · swarm'")
	w.swarm("kill", "one")
	b.until(text("[data-section=ended]", "killed"))
	w.swarm("clean", "one", "two")
	b.until(text("#empty", "No workers yet"))
	if got := b.location(); got != s.base+"/" {
		t.Errorf("the address bar shows %s", got)
	}
}

func TestCertificateInBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cert, key, _ := w.certificate()
	s := w.web("--listen", "localhost:0", "--cert", cert, "--key", key)
	b := s.open(t)
	b.until(text("#empty", "No workers yet"))
	w.swarm("spawn", "--name", "one", "--", "sleep", "1014")
	b.until(text("[data-section=running]", "one"))
	if !b.is("location.protocol === 'https:' && performance.getEntriesByType('navigation')[0].nextHopProtocol === 'h2' && document.cookie === ''") {
		t.Errorf("it is not HTTP/2, or the script can read the cookie")
	}
}

// click clicks on the first element that a selector of CSS finds.
func (b *browser) click(selector string) {
	b.Helper()
	b.until("document.querySelector(" + quote(selector) + ")")
	// The page may put another element in the place of this one at any time, so the driver
	// can't hold it. A click may leave the page, so the answer does not wait for it.
	b.do(chromedp.Evaluate[chromedp.Void]("void setTimeout(() => document.querySelector(" + quote(selector) + ")?.click())"))
}

func TestLogIsLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--stdin", "--", "sh", "-c", `echo ready; while read -r line; do printf '\033[32m%s\033[0m\n' "$line"; done; echo done`)
	s := w.web()
	b := s.open(t)
	b.do(chromedp.Navigate(s.base + "/worker/one"))
	b.until(text("#log", "ready"))
	w.swarm("send", "one", "ERROR: it failed")
	b.until(text("#log .error .f2", "it failed"))
	w.swarm("send", "one", "something else")
	b.until(text("#log", "something else"))
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "failed"))
	b.until(text("#found", "1 of 1"))
	b.do(chromedp.SetValue(chromedp.CSS("#level"), "error"))
	b.until("document.querySelector('#log.level-error') || (document.querySelector('#level').dispatchEvent(new Event('change')), false)")
	b.until("!document.querySelector('#log').innerText.includes('something else')")
	w.swarm("eof", "one")
	b.until(text("#over", "The output has ended"))
	b.until(text(".condition", "exited 0"))
	// A worker that is started again shows its new output on the same page.
	w.swarm("respawn", "one")
	b.until(text(".condition", "running"))
	b.until("document.querySelector('#log').children.length === 1")
}

// TestSilentWorker: the log of a worker that wrote nothing says so, and is not a large box.
func TestSilentWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--stdin", "--", "cat")
	s := w.web()
	b := s.open(t)
	b.do(chromedp.Navigate(s.base + "/worker/one/log"))
	shown := "getComputedStyle(document.getElementById('log'), '::before').content"
	b.until(shown + ` === '"Nothing yet."'`)
	w.swarm("eof", "one")
	b.until(shown + ` === '"It wrote nothing."'`)
	if !b.is("document.getElementById('log').offsetHeight < 100 && document.getElementById('over').offsetHeight === 0") {
		t.Error("the empty log takes the whole page, or says twice that it has ended")
	}
}

// TestLogSaysWhatItLacks: the page says how many lines there are before those that it shows,
// and that a search did not look at them.
func TestLogSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sh", "-c", "seq 1 2499; head -c 3000 /dev/zero | tr '\\0' x; echo; sleep 0.2; echo oops >&2; exec sleep 1015")
	w.until("it has written all", func() bool { return strings.Contains(w.swarm("logs", "one"), "oops") })
	s := w.web()
	b := s.open(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.base+"/worker/one/log"))
	// The browser has one more if it got the first one before the rest.
	b.until("/50[01] earlier lines/.test(document.querySelector('#earlier').innerText)")
	b.until("document.querySelector('#log.times .stderr')?.dataset.at && " + text("#log .stderr", "oops"))
	if !b.is("log.scrollHeight - log.scrollTop - log.clientHeight < 5") {
		t.Error("the end of the log is not in view")
	}
	if !b.is("log.scrollWidth > 3000") {
		t.Error("a long line can't be scrolled")
	}
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), "2400"))
	b.until("/1 of 1 in the last 2,00[01] lines/.test(document.querySelector('#found').innerText)")
}

// TestLostServer: a page that is not current any more says so in words.
func TestLostServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.web()
	b := s.open(t)
	b.until(text("#live", "live"))
	if b.is("document.getElementById('lost').offsetHeight") {
		t.Error("it says that the connection is lost")
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.until("document.getElementById('lost').offsetHeight > 0 && " + text("#lost", "is lost since") + " && /^\\d\\d:\\d\\d:\\d\\d$/.test(document.querySelector('#lost time').textContent)")
}

// TestWidths: with a long name the tags and the backend can still be read, and a phone shows
// all parts of a page in its whole width.
func TestWidths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository()
	name := strings.Repeat("long-", 11) + "name"
	w.swarm("spawn", "--name", name, "--tag", "nightly", "--worktree", "--", "sh", "-c", "echo ready; exec sleep 1016")
	s := w.web("--write")
	b := s.open(t)
	whole := func(of string) string {
		return "document.querySelector('" + of + "').scrollWidth <= document.querySelector('" + of + "').clientWidth"
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	b.until("document.querySelector('.row .use').innerText && " + whole(".row .chip") + " && " + whole(".row .place"))
	cpu := "document.querySelector('.heads a[href*=cpu]').getBoundingClientRect()"
	if !b.is("Math.abs(" + cpu + ".right - document.querySelector('.row .use').getBoundingClientRect().right) < 2") {
		t.Error("the name of a column is not above it")
	}
	b.click(".heads a[href*=cpu]")
	b.until("location.search === '?sort=cpu'")
	b.do(chromedp.EmulateViewport(390, 844), chromedp.Navigate(s.base+"/worker/"+name+"/log"))
	b.until("document.querySelector('.plot')?.offsetWidth > document.querySelector('#workerhead').offsetWidth - 2")
	if !b.is("document.querySelector('.tabs').offsetHeight > 25 && document.documentElement.scrollWidth <= 390") {
		t.Error("the tabs can't be seen, or the page is wider than the phone")
	}
}

func TestScreenHasColours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--tmux", "--", "sh", "-c", `printf '\033[2J\033[H\033[1;31mred\033[0m plain'; exec sleep 1004`)
	s := w.web()
	b := s.open(t)
	b.do(chromedp.Navigate(s.base + "/worker/one"))
	b.until(text("#screen .bold.f1", "red"))
	b.until(text("#screen", "red plain"))
}

func TestDiffInBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repository()
	w.swarm("spawn", "--name", "one", "--worktree", "--", "sleep", "1010")
	b := w.web().open(t)
	b.click(".row a")
	b.click("a[href$='/worker/one/diff']")
	b.until(text("#changes", "Nothing has changed"))
	worktree := filepath.Join(w.dir, "w-worktrees", "one")
	for name, text := range map[string]string{"a.txt": "one\nTWO <b>\n", "new.bin": "\x00\x01"} {
		if err := os.WriteFile(filepath.Join(worktree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The page follows the worktree.
	b.until(text(".lines .add", "TWO <b>"))
	b.until(text(".lines .del", "two"))
	b.until(text("#changes", "binary file"))
	b.click("details.diff summary")
	b.until("!document.querySelector('details.diff').open")
	if err := os.WriteFile(filepath.Join(worktree, "z.txt"), []byte("later\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.until(text("#changes", "later"))
	if b.is("document.querySelector('details.diff').open") {
		t.Error("what was folded is open again")
	}
}

func TestKillInBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1005")
	s := w.web("--write")
	b := s.open(t)
	b.click(".row a")
	b.click("a.danger")
	b.until(text("dialog[open] .same", "swarm kill one"))
	b.click("dialog [data-close]")
	b.until("!document.querySelector('dialog')")
	// An Enter that was meant for something else kills nothing.
	b.click("a.danger")
	b.until("document.querySelector('dialog[open]')?.contains(document.activeElement)")
	b.press("\r")
	b.until("!document.querySelector('dialog')")
	if got := w.swarm("status", "one"); !strings.Contains(got, "running") {
		t.Errorf("after Enter in the question: %s", got)
	}
	b.click("a.danger")
	b.click("dialog button.danger")
	b.until(text(".condition", "killed"))
	b.until(text(".note", "killed"))
	if got := w.swarm("events", "--worker", "one"); !strings.Contains(got, "KILLED") {
		t.Errorf("the history: %s", got)
	}
	b.click("a[href$='/do/clean']")
	b.click("dialog button")
	b.until(text("#empty", "No workers yet"))
}

func TestKeysAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1006")
	w.swarm("spawn", "--name", "two", "--", "sleep", "1006")
	b := w.web("--write").open(t)
	b.until("document.querySelector('#list').dataset.loaded") // the script has begun
	b.until(text("#list", "two"))
	for range 3 { // the heading, one, two
		b.press("j")
	}
	b.until("document.activeElement.innerText.includes('two')")
	b.press("k", "\r")
	b.until(text("h1", "one"))
	b.press("/")
	b.until("document.activeElement.id === 'search'")
	b.press("\x1b", "u")
	b.until("location.pathname.split('/').length === 3 && document.querySelector('#list')?.dataset.loaded")
	b.press("/")
	b.until("document.activeElement.name === 'q'")
	b.is("document.activeElement.value = '', true") // the driver types the key into the field as well
	b.press("two")
	b.until("location.search === '?q=two' && document.querySelectorAll('.row').length === 1")
}

// TestViewsInBrowser: the list is grouped, sorted and folded by keys, stays so while it
// changes, and its address says how.
func TestViewsInBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--tag", "x y", "--tag", "b", "--", "sleep", "1011")
	b := w.web().open(t)
	loaded := " && document.querySelector('#list')?.dataset.loaded"
	b.until("true" + loaded)
	b.press("b")
	b.until("location.search === '?group=tag' && document.querySelectorAll('.row').length === 2" + loaded)
	b.press("j")
	b.until("document.activeElement.innerText.startsWith('b')")
	b.press("j", "j", "\r")
	b.until("location.search === '?fold=x+y&group=tag' && document.activeElement.innerText.startsWith('x y')" + loaded)
	w.swarm("spawn", "--name", "two", "--tag", "x y", "--tag", "c", "--", "sleep", "1011")
	b.until("document.querySelectorAll('.row').length === 2 && " + text("[data-section='x y']", "2"))
	b.press("o")
	b.until("location.search === '?group=tag&sort=name&fold=x+y' || location.search === '?fold=x+y&group=tag&sort=name'")
	b.until("document.querySelectorAll('.row').length === 2" + loaded)
	// The way back from a worker leads here.
	b.click(".row a")
	b.until(text("h1", "one"))
	b.press("u")
	b.until("location.search.includes('group=tag')" + loaded)
}

func TestReadOnlyInBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1007")
	s := w.web()
	b := s.open(t)
	b.click(".row a")
	b.until(text("#log, #workerhead", "one"))
	if b.is("document.querySelector('.actions')") {
		t.Error("there are buttons")
	}
	if got := b.fetch(s.base+"/worker/one/do/kill", "{method: 'POST', body: new URLSearchParams({id: document.querySelector('[data-id]').dataset.id})}"); got != "403" {
		t.Errorf("a kill: %s", got)
	}
	if got := w.swarm("status", "one"); !strings.Contains(got, "running") {
		t.Errorf("the worker: %s", got)
	}
}

// fetch makes a request from the page and returns the status, or the name of the error.
func (b *browser) fetch(address, options string) string {
	b.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](
		"fetch("+quote(address)+", "+options+").then(r => String(r.status), e => e.name)", chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatal(err)
	}
	return got
}

// TestHostileWorker: what a worker writes becomes text, whatever it is.
func TestHostileWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--tag", `"><img src=x onerror=document.title='owned'>`, "--tmux", "--", "sh", "-c",
		`printf '<script>document.title="owned"</script><img src=x onerror=document.title="owned">\033]0;owned\007\342\200\256evil\377\n'; head -c 1000000 /dev/zero | tr '\0' x; echo; echo end; exec sleep 1008`)
	s := w.web("--write")
	b := s.open(t)
	b.until(text("#list", "<img src=x"))
	for _, page := range []string{"/worker/one/log", "/worker/one/details", "/worker/one/history", "/worker/one/screen", "/timeline", "/worker/one/do/kill"} {
		b.do(chromedp.Navigate(s.base + page))
		if page == "/worker/one/log" {
			b.until(text("#log", "end"))
			b.until(text("#log", `\u202eevil`))
		}
		if b.is("document.title === 'owned' || document.querySelector('main script, main img, [onerror], [style]')") {
			t.Errorf("%s: the worker has reached the page", page)
		}
	}
}

// TestForeignOrigin: a page of another port of this machine, which the browser counts as
// the same site, can neither read nor change anything.
func TestForeignOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.swarm("spawn", "--name", "one", "--", "sleep", "1009")
	s := w.web("--write")
	b := s.open(t)
	b.click(".row a")
	b.until("document.querySelector('[data-id]')")
	id, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.querySelector('[data-id]').dataset.id"))
	if err != nil {
		t.Fatal(err)
	}
	kill := s.base + "/worker/one/do/kill"
	got := make(chan string, 99)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Cookie") + r.Header.Get("Referer")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form id=f method=post action="%s"><input name=id value="%s"></form><iframe src="%s/"></iframe>`, kill, id, s.base)
	}))
	defer evil.Close()
	b.do(chromedp.Evaluate[chromedp.Void]("location.href = " + quote(evil.URL)))
	b.until("document.querySelector('#f')")
	if secret := <-got; secret != "" {
		t.Errorf("the other port got %q", secret)
	}
	if got := b.fetch(s.base+"/", "{credentials: 'include'}"); got != "TypeError" {
		t.Errorf("it reads the list: %s", got)
	}
	b.fetch(kill, "{method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({id: "+quote(id)+"})}")
	if b.is("frames.length && frames[0].document") {
		t.Error("it reads the page in a frame")
	}
	b.do(chromedp.Evaluate[chromedp.Void]("document.getElementById('f').submit()"))
	b.until(text("body", "another site"))
	if got := w.swarm("status", "one"); !strings.Contains(got, "running") {
		t.Errorf("the worker: %s", got)
	}
}
