package oneproc_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmhost/swarm/shared/oneproc"
)

func TestBegin(t *testing.T) {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Fatalf("the program begins on %d processors", n)
	}
	defer oneproc.All()
	synctest.Test(t, func(*testing.T) {
		oneproc.Begin()
		time.Sleep(time.Second)
		synctest.Wait()
	})
	if n := runtime.GOMAXPROCS(0); runtime.NumCPU() > 1 && n == 1 {
		t.Error("a program that lives on keeps one processor")
	}
}
