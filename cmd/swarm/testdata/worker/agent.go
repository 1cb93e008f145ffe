package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// terminalAgent is a coding agent as its terminal has it. It looks like Claude Code and
// is as touchy as the real ones: it draws its prompt before it reads, takes an Enter that
// comes right after a text for a part of it, runs what follows a "!" that is typed, and
// gives the first Enter after "@" to a completion.
type terminalAgent struct {
	dir     string
	options map[string]string
	draft   string
	// front says that the cursor is at the beginning of the draft.
	front bool
	said  []string
	works bool
	run   int
	// question is what it asks, with the row that is selected; rows are its choices.
	question string
	rows     []string
	selected int
	// shell says that a shell of it runs in the background.
	shell bool
	// checked are the rows whose boxes are, and field is the text in the place of fieldRow.
	checked map[int]bool
	field   string
	// pasted is when the last text came.
	pasted    time.Time
	completed bool
}

// agent runs an agent with options, as "draw=6s": for how long it draws before it
// reads; "ask=QUESTION;QUESTION": what it asks at first, one after the other; "rows=ROW;ROW": the
// choices, of which "Type something." is a field for a text; "boxes=1": they have boxes, and a row
// below them sends what is checked; "surprise=QUESTION": what it asks once a text was typed; "permission=QUESTION": what
// it asks once one was submitted; "work=2s": for how long it works on each;
// "answer=TEXT;TEXT": what it says then, the first text in its first run, which DIR/runs
// counts, and so on, the last one again and again; "exit=N" in the place of a text ends it;
// "then=QUESTION;QUESTION": what it asks after that, in the same way;
// "hooks=1": its hooks call swarm; "strange=1": it looks like nothing that is known when it
// has worked;
// "loads=40s": for how long it shows at first that it starts, and nothing that is known;
// "prompt=TEXT": its first prompt, which it was given as an argument; "idle=N": its first N runs
// take a text and do nothing; "background=FILE": after its first turn a shell of it runs on until
// FILE is there, and it says "background work has ended" then;
// "deaf=N": its first N runs never take an Enter; "start=FILE": it draws its prompt and does
// not read before FILE is there. It hangs as long as DIR/hang-text is there after a text, and
// as long as DIR/hang-enter is there after one was submitted.
func agent(dir string, options []string) {
	a := &terminalAgent{dir: dir, options: map[string]string{"work": "300ms", "rows": "Yes;Yes, and don't ask again;No"}}
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		a.options[name] = value
	}
	a.run = count(dir)
	a.asks("ask")
	if d := a.span("loads"); d > 0 {
		fmt.Print("loading…\r\n")
		time.Sleep(d)
	}
	a.draw()
	input := make(chan []byte)
	time.Sleep(a.span("draw")) // a real agent draws for seconds before it reads
	for name := a.options["start"]; name != "" && !exists(filepath.Join(dir, name)); {
		time.Sleep(10 * time.Millisecond)
	}
	raw := exec.Command("stty", "raw", "-echo")
	raw.Stdin = os.Stdin
	if err := raw.Run(); err != nil {
		fail(err.Error())
	}
	fmt.Print("\x1b[?2004h")
	a.draw()
	ready(dir, "pid")
	go func() {
		for {
			buf := make([]byte, 64<<10)
			n, err := os.Stdin.Read(buf)
			if err != nil {
				close(input)
				return
			}
			input <- buf[:n]
		}
	}()
	var done, background <-chan time.Time
	var paste []byte
	inPaste, prompt := false, a.options["prompt"]
	for {
		if prompt != "" && a.question == "" {
			if a.submit(prompt) {
				done = time.After(a.span("work"))
			}
			prompt = ""
			a.draw()
		}
		select {
		case b, ok := <-input:
			if !ok {
				return
			}
			for len(b) > 0 {
				begin, end := []byte("\x1b[200~"), []byte("\x1b[201~")
				switch {
				case inPaste:
					text, rest, ended := bytes.Cut(b, end)
					paste, b, inPaste = append(paste, text...), rest, !ended
					if ended {
						a.paste(string(paste))
						paste = nil
						a.hang("text")
					}
				case bytes.HasPrefix(b, begin):
					b, inPaste = b[len(begin):], true
				case bytes.HasPrefix(b, []byte("\x1b[")) && len(b) > 2:
					a.arrow(b[2])
					b = b[3:]
				default:
					if a.key(b[0]) {
						a.hang("enter")
						done = time.After(a.span("work"))
					}
					b = b[1:]
				}
			}
		case <-done:
			a.works = false
			a.answers()
			if file := a.options["background"]; file != "" {
				a.shell, background = true, time.Tick(10*time.Millisecond)
			}
		case <-background:
			if !exists(filepath.Join(a.dir, a.options["background"])) {
				continue
			}
			a.shell, background = false, nil
			a.said = append(a.said, "\x01background work has ended")
		}
		a.draw()
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hang neither draws nor reads as long as a file is there, and says so by another one.
func (a *terminalAgent) hang(after string) {
	file := filepath.Join(a.dir, "hang-"+after)
	if exists(file) {
		put(a.dir, "hangs-"+after, "")
	}
	for exists(file) {
		time.Sleep(10 * time.Millisecond)
	}
}

// count returns how often an agent has run with this directory.
func count(dir string) int {
	text, _ := os.ReadFile(dir + "/runs")
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	put(dir, "runs", strconv.Itoa(n+1)+"\n")
	return n + 1
}

// answers ends a turn.
func (a *terminalAgent) answers() {
	texts := strings.Split(a.options["answer"], ";")
	text := texts[min(a.run, len(texts))-1]
	if code, ok := strings.CutPrefix(text, "exit="); ok {
		n, _ := strconv.Atoi(code)
		os.Exit(n)
	}
	a.hook("Stop")
	if text != "" {
		a.said = append(a.said, "\x01"+text)
	}
	questions := strings.Split(a.options["then"], ";")
	if q := questions[min(a.run, len(questions))-1]; q != "" {
		a.question, a.rows, a.selected = q, strings.Split(a.options["rows"], ";"), 0
	}
}

func (a *terminalAgent) span(name string) time.Duration {
	d, _ := time.ParseDuration(a.options[name])
	return d
}

// asks shows the next question of an option, if there is one.
func (a *terminalAgent) asks(name string) {
	if first, rest, _ := strings.Cut(a.options[name], ";"); first != "" {
		a.question, a.rows, a.selected = first, strings.Split(a.options["rows"], ";"), 0
		a.checked, a.field = map[int]bool{}, ""
		a.options[name] = rest
	}
}

// fieldRow is the choice that is a field.
const fieldRow = "Type something."

func (a *terminalAgent) inField() bool {
	return a.question != "" && a.selected < len(a.rows) && a.rows[a.selected] == fieldRow
}

func (a *terminalAgent) paste(text string) {
	if a.inField() {
		a.field += text
		a.checked[a.selected] = true
	}
	if a.question != "" {
		return
	}
	if a.front {
		a.draft = text + a.draft
	} else {
		a.draft += text
	}
	a.pasted, a.completed = time.Now(), false
	a.asks("surprise")
}

func (a *terminalAgent) arrow(c byte) {
	switch {
	case c == 'A' && a.selected > 0:
		a.selected--
	case c == 'B' && (a.selected < len(a.rows)-1 || a.options["boxes"] != "" && a.selected < len(a.rows)):
		a.selected++
	}
}

// hook runs the hook of an event.
func (a *terminalAgent) hook(event string) {
	if a.options["hooks"] == "" {
		return
	}
	cmd := exec.Command("swarm", "hook", "claude", event)
	cmd.Stdin = strings.NewReader(`{"session_id":"session-of-the-stub"}`)
	_ = cmd.Run()
}

// submit takes a text and reports whether it works on it.
func (a *terminalAgent) submit(text string) bool {
	a.said = append(a.said, text)
	put(a.dir, "said", strings.Join(prompts(a.said), "\n--\n")+"\n")
	if n, _ := strconv.Atoi(a.options["idle"]); a.run <= n {
		return false
	}
	a.works = true
	a.hook("UserPromptSubmit")
	a.asks("permission")
	return true
}

// deaf reports whether this run takes no Enter.
func (a *terminalAgent) deaf() bool {
	n, _ := strconv.Atoi(a.options["deaf"])
	return a.run <= n
}

// key takes a key and reports whether that begins work.
func (a *terminalAgent) key(c byte) bool {
	switch {
	case a.inField() && c != '\r':
		a.field += string(rune(c))
	case a.question != "" && a.options["boxes"] != "" && c == '\r' && a.selected < len(a.rows):
		a.checked[a.selected] = !a.checked[a.selected]
	case a.question != "" && a.options["boxes"] != "" && c >= '1' && int(c-'1') < len(a.rows):
		a.selected = int(c - '1')
		a.checked[a.selected] = !a.checked[a.selected]
	case a.question != "" && c >= '1' && int(c-'1') < len(a.rows) && a.rows[c-'1'] == fieldRow:
		a.selected = int(c - '1')
	case a.question != "" && c == '\r':
		a.pick(a.selected)
	case a.question != "" && c >= '1' && int(c-'1') < len(a.rows):
		a.pick(int(c - '1'))
	case a.question != "":
	case c == '\r' && a.deaf():
	case c == '\r' && time.Since(a.pasted) < 120*time.Millisecond:
		a.draft += "\n"
	case c == '\r' && strings.Contains(a.draft, "@") && !a.completed:
		a.draft, a.completed = a.draft+".go ", true
	case c == '\r' && strings.HasPrefix(a.draft, "\x00!"):
		_ = exec.Command("sh", "-c", a.draft[2:]).Run()
		a.draft = ""
	case c == '\r' && a.draft != "":
		text := a.draft
		a.draft = ""
		return a.submit(text)
	case c == '!':
		a.draft = "\x00!" + a.draft
	case c == 0x01:
		a.front = true
	case c == 0x05:
		a.front = false
	case c == 0x15 && !a.front:
		a.draft = ""
	case c >= ' ':
		a.draft += string(rune(c))
	}
	return false
}

func (a *terminalAgent) pick(row int) {
	f, err := os.OpenFile(a.dir+"/picked", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintf(f, "%s: %s\n", a.question, strings.Join(a.picks(row), ", "))
		f.Close()
	}
	a.question, a.rows = "", nil
	a.asks("ask")
}

// picks returns what a row stands for.
func (a *terminalAgent) picks(row int) (all []string) {
	for i := range a.rows {
		if i == row || row == len(a.rows) && a.checked[i] {
			all = append(all, a.label(i))
		}
	}
	return all
}

func (a *terminalAgent) label(row int) string {
	if a.rows[row] == fieldRow && a.field != "" {
		return a.field
	}
	return a.rows[row]
}

func (a *terminalAgent) draw() {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\x1b[K\r\n") }
	b.WriteString("\x1b[H")
	line(" \x1b[1mClaude Code\x1b[0m v0.0.0")
	for _, text := range a.said[max(0, len(a.said)-3):] {
		line("")
		if answer, ok := strings.CutPrefix(text, "\x01⎿ "); ok {
			line("  ⎿\u00a0 \x1b[31m" + answer + "\x1b[0m")
			continue
		}
		if answer, ok := strings.CutPrefix(text, "\x01"); ok {
			if strings.HasPrefix(answer, "API Error") || strings.HasPrefix(answer, "You've hit your") {
				answer = "\x1b[31m" + answer + "\x1b[0m" // as no answer of a model looks
			}
			line("● " + answer)
			continue
		}
		line("❯ " + short(text))
	}
	rule := strings.Repeat("─", 40)
	line(rule)
	if a.question != "" {
		line(" " + a.question)
		mark := func(i int) string {
			if i == a.selected {
				return "❯"
			}
			return " "
		}
		for i := range a.rows {
			box := ""
			switch {
			case a.options["boxes"] == "":
			case a.checked[i]:
				box = "[✔] "
			default:
				box = "[ ] "
			}
			line(fmt.Sprintf(" %s %d. %s%s", mark(i), i+1, box, a.label(i)))
		}
		if a.options["boxes"] != "" {
			line(" " + mark(len(a.rows)) + "    Submit")
		}
		line("")
		b.WriteString(" Esc to cancel\x1b[J")
		os.Stdout.WriteString(b.String())
		return
	}
	if a.options["strange"] != "" && len(a.said) > 0 && !a.works {
		b.WriteString("(o_o)\x1b[K\x1b[J")
		os.Stdout.WriteString(b.String())
		return
	}
	line("❯ " + short(a.draft))
	line(rule)
	hint := "  ? for shortcuts"
	if a.works {
		hint = "  esc to interrupt"
	} else if a.shell {
		hint = "  ? for shortcuts · 1 shell · ↓ to manage"
	}
	b.WriteString(hint + "\x1b[K\x1b[J")
	os.Stdout.WriteString(b.String())
}

// prompts leaves out what the agent said itself.
func prompts(said []string) []string {
	return slices.DeleteFunc(slices.Clone(said), func(text string) bool { return strings.HasPrefix(text, "\x01") })
}

// short shows a long text as agents do.
func short(text string) string {
	if n := strings.Count(text, "\n"); n > 2 || len(text) > 200 {
		return fmt.Sprintf("[Pasted text #1 +%d lines]", n)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\x00", ""), "\n", " ")
}
