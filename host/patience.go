package host

import (
	"fmt"
	"time"
)

// patience is how long the user waits for a plugin before being told for which.
const patience = 5 * time.Second

// tellWait tells the user what a call waits for, unless stop is called soon. A
// repository may be locked by another process, or be large.
func (h *Host) tellWait(format string, args ...any) (stop func()) {
	if h.opts.Waiting == nil {
		return func() {}
	}
	t := time.AfterFunc(patience, func() { h.opts.Waiting(fmt.Sprintf(format, args...)) })
	return func() { t.Stop() }
}
