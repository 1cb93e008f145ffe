package pty

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxKeys is [github.com/swarmhost/swarm/shared/swarm.MaxKeys].
const maxKeys = 64

const (
	// afterKey is the pause after a key: programs treat keys that follow each other within a
	// few milliseconds as a paste.
	afterKey = 30 * time.Millisecond
	// afterEscape is the pause after Escape. Until then programs treat the next keys as the
	// rest of a sequence: half a second in Node's readline.
	afterEscape = 600 * time.Millisecond
)

// The kinds of keys, by what they send.
const (
	// oneCharacter send that character.
	oneCharacter = iota
	// cursorKey send "ESC [" and a letter, or "ESC O" and the letter if the program
	// has switched that on.
	cursorKey
	// functionKey send "ESC O" and a letter.
	functionKey
	// numberedKey send "ESC [", a number and "~".
	numberedKey
)

// keyName is a key with a name of more than one character, and its code.
type keyName struct {
	name string
	kind int
	code byte
}

// keyNames is an array, which costs a shim nothing until a key is pressed; a map would.
var keyNames = [...]keyName{
	{"escape", oneCharacter, esc},
	{"enter", oneCharacter, enterKey},
	{"tab", oneCharacter, '\t'},
	{"space", oneCharacter, ' '},
	{"bspace", oneCharacter, 0x7f},
	{"up", cursorKey, 'A'},
	{"down", cursorKey, 'B'},
	{"right", cursorKey, 'C'},
	{"left", cursorKey, 'D'},
	{"home", cursorKey, 'H'},
	{"end", cursorKey, 'F'},
	{"insert", numberedKey, 2},
	{"ic", numberedKey, 2},
	{"delete", numberedKey, 3},
	{"dc", numberedKey, 3},
	{"pageup", numberedKey, 5},
	{"pgup", numberedKey, 5},
	{"ppage", numberedKey, 5},
	{"pagedown", numberedKey, 6},
	{"pgdn", numberedKey, 6},
	{"npage", numberedKey, 6},
	{"f1", functionKey, 'P'},
	{"f2", functionKey, 'Q'},
	{"f3", functionKey, 'R'},
	{"f4", functionKey, 'S'},
	{"f5", numberedKey, 15},
	{"f6", numberedKey, 17},
	{"f7", numberedKey, 18},
	{"f8", numberedKey, 19},
	{"f9", numberedKey, 20},
	{"f10", numberedKey, 21},
	{"f11", numberedKey, 23},
	{"f12", numberedKey, 24},
}

// enterKey stands for the code of Enter, which depends on the terminal's settings.
const enterKey = '\r'

// The modifiers in xterm's sequences, where 1 is added to their sum, and their letters.
const (
	shift = 1 << iota
	alt
	ctrl
	modifierLetters = "SMC"
)

// PressKeys presses the keys with these names, which one space separates, as tmux
// names them: "C-c", "Escape", "Down", "M-x", or the character that a key types. Each
// is pressed after the program has read the one before. If one of them is unknown the
// error is a [Refused] and none is pressed. late is that of [Terminal.Give], for each
// key anew.
func (t *Terminal) PressKeys(ctx context.Context, names string, late func()) error {
	if _, err := Sequences(names); err != nil {
		return err
	}
	words := strings.Split(names, " ")
	w := newWaiter(late)
	defer w.timer.Stop()
	for i, name := range words {
		if i > 0 {
			if err := w.wait(ctx, t.hasRead); err != nil {
				return err
			}
			if err := w.pause(ctx, pauseBetween(words[i-1], name)); err != nil {
				return err
			}
		}
		if err := t.press(ctx, w, name); err != nil {
			return err
		}
	}
	if err := w.last(ctx, t.hasRead); err != nil {
		return errors.Join(ErrUnread, err)
	}
	return nil
}

// Sequences returns what the keys with these names, as [Terminal.PressKeys] takes them,
// send to a program that has not asked for other sequences. If one of them is unknown the
// error is a [Refused].
func Sequences(names string) ([]string, error) {
	words := strings.Split(names, " ")
	if names == "" || len(words) > maxKeys {
		return nil, Refused("from 1 to " + strconv.Itoa(maxKeys) + " keys can be pressed at once")
	}
	sent := make([]string, len(words))
	for i, name := range words {
		keys, ok := sequence(name, false)
		if !ok {
			return nil, Refused("there is no key named " + strconv.Quote(name))
		}
		sent[i] = keys
	}
	return sent, nil
}

// pauseBetween returns how long to wait after one key and before the next.
func pauseBetween(last, next string) time.Duration {
	switch {
	case strings.EqualFold(last, "Escape"):
		return afterEscape
	case strings.EqualFold(next, "Enter"):
		return EnterAfter
	default:
		return afterKey
	}
}

func (t *Terminal) press(ctx context.Context, w *waiter, name string) error {
	m, err := t.mode()
	if err != nil {
		return err
	}
	keys, _ := sequence(name, t.modes.cursor.Load())
	if keys == string(rune(enterKey)) {
		keys = string(rune(m.enter))
	}
	w.until = time.Now().Add(Patience)
	if err := t.write(ctx, w, []byte(keys)); err != nil {
		return err
	}
	if m.line && keys[len(keys)-1] >= ' ' {
		t.held.Add(int64(len(keys)))
	} else {
		t.held.Store(0)
	}
	return nil
}

// sequence returns the code of a key, in application mode if the program has asked for
// that, and whether the key exists.
func sequence(name string, application bool) (keys string, ok bool) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) {
		return name, r != utf8.RuneError && unicode.IsPrint(r) && r != ' '
	}
	modifier := 0
	for len(name) > 2 && name[1] == '-' {
		i := strings.IndexByte(modifierLetters, name[0])
		if i < 0 || modifier&(1<<i) != 0 {
			return "", false
		}
		modifier |= 1 << i
		name = name[2:]
	}
	var key keyName // of a character, it has no name
	if i := slices.IndexFunc(keyNames[:], func(k keyName) bool { return strings.EqualFold(k.name, name) }); i >= 0 {
		key = keyNames[i]
	}
	with := ""
	if modifier != 0 {
		with = ";" + strconv.Itoa(1+modifier)
	}
	switch {
	case strings.EqualFold(name, "BTab") && modifier == 0, strings.EqualFold(name, "Tab") && modifier == shift:
		return "\x1b[Z", true
	case key.kind == oneCharacter:
		return character(name, key, modifier)
	case key.kind == numberedKey:
		return "\x1b[" + strconv.Itoa(int(key.code)) + with + "~", true
	case modifier != 0:
		return "\x1b[1" + with + string(rune(key.code)), true
	case key.kind == functionKey || application:
		return "\x1bO" + string(rune(key.code)), true
	default:
		return "\x1b[" + string(rune(key.code)), true
	}
}

// character returns the code of a key that sends one character: the named key, or the
// character itself.
func character(name string, key keyName, modifier int) (keys string, ok bool) {
	keys = name
	if key.name != "" {
		keys = string(rune(key.code))
	} else if r, size := utf8.DecodeRuneInString(name); size != len(name) || r == utf8.RuneError || !unicode.IsPrint(r) {
		return "", false
	}
	if modifier&shift != 0 {
		return "", false // the character itself says it
	}
	if modifier&ctrl != 0 {
		c, ok := controlled(keys)
		if !ok {
			return "", false
		}
		keys = string(rune(c))
	}
	if modifier&alt != 0 {
		keys = "\x1b" + keys
	}
	return keys, true
}

func controlled(key string) (c byte, ok bool) {
	if len(key) != 1 {
		return 0, false
	}
	switch c = key[0]; {
	case c >= 'a' && c <= 'z':
		return c - 'a' + 1, true
	case c >= '@' && c <= '_':
		return c - '@', true
	case c == ' ':
		return 0, true
	case c == '?':
		return 0x7f, true
	default:
		return 0, false
	}
}
