package humane

import (
	"fmt"
	"strings"
)

// A message may quote an argument of any length. Its beginning says what failed, its end why.
const (
	longestMessage = 2000
	messageHead    = 1200
	messageTail    = 600
)

// Brief returns a message without its middle if it is too long to be read.
func Brief(text string) string {
	if len(text) <= longestMessage {
		return text
	}
	head := strings.ToValidUTF8(text[:messageHead], "")
	tail := strings.ToValidUTF8(text[len(text)-messageTail:], "")
	return fmt.Sprintf("%s … (%s left out) … %s", head, Bytes(int64(len(text)-messageHead-messageTail)), tail)
}
