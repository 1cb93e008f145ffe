//go:build linux

package server_test

import (
	"testing"
	"time"
)

// spin computes for a while.
const spin = `i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; `

// TestUsedIsRecorded checks that the use of children and of earlier starts counts.
func TestUsedIsRecorded(t *testing.T) {
	t.Parallel()
	idle := start(t, launch("exit 0"), options{}).end()
	if idle.Used == nil || idle.Used.Peak < 100<<10 || idle.Used.CPUNS <= 0 || idle.Used.Read < 0 || idle.Used.Written < 0 {
		t.Fatalf("used %+v", idle.Used)
	}
	if st := start(t, launch("sleep 600"), options{}).status(); st.Used != nil {
		t.Errorf("while it runs it has used %+v", st.Used)
	}
	child := start(t, launch("("+spin+"); x=$(dd if=/dev/zero bs=1048576 count=16 2>/dev/null | tr '\\000' x)"), options{}).end()
	if child.Used.CPUNS < int64(5*time.Millisecond) || child.Used.Peak < 16<<20 {
		t.Errorf("used %+v", child.Used)
	}
	// The second start uses next to nothing.
	again := start(t, restartLaunch("on-failure", "[ -e once ] && exit 0; touch once; "+spin+"exit 1"), options{}).end()
	if again.Restarts != 1 || again.Used.CPUNS < int64(5*time.Millisecond) {
		t.Errorf("%d restarts, used %+v", again.Restarts, again.Used)
	}
}
