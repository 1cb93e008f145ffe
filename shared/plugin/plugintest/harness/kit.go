package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Kit reports how a plugin breaks the rule of a case.
type Kit struct {
	T
	// Rule is the sentence of the contract.
	Rule string
	// Ctx is the context of the case.
	Ctx context.Context //nolint:containedctx // it ends with the test
}

// NewKit returns the kit of a case.
func NewKit(t T, rule string) Kit { return Kit{T: t, Rule: rule, Ctx: t.Context()} }

// Broken reports that the rule is broken; the case continues.
func (k Kit) Broken(format string, args ...any) {
	k.Helper()
	k.Errorf("broken: %s\n\t%s", k.Rule, fmt.Sprintf(format, readable(args)...))
}

// Fatal reports that the rule is broken and ends the case.
func (k Kit) Fatal(format string, args ...any) {
	k.Helper()
	k.Fatalf("broken: %s\n\t%s", k.Rule, fmt.Sprintf(format, readable(args)...))
}

// Check reports that the rule is broken if a call returned an error.
func (k Kit) Check(call string, err error) {
	k.Helper()
	if err != nil {
		k.Broken("%s: %v", call, err)
	}
}

// Must is Check and ends the case after an error.
func (k Kit) Must(call string, err error) {
	k.Helper()
	if err != nil {
		k.Fatal("%s: %v", call, err)
	}
}

// WantErr reports that the rule is broken unless a call returned an error of that kind.
func (k Kit) WantErr(call string, err, kind error) {
	k.Helper()
	if !errors.Is(err, kind) {
		k.Broken("%s: want an error that is %q, got %v", call, kind, err)
	}
}

// readable replaces unreadable parts of a message: pointers, and fields without
// information.
func readable(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case swarm.Status:
			out[i] = statusText(v)
		case []swarm.Status:
			texts := make([]string, len(v))
			for n, st := range v {
				texts[n] = statusText(st)
			}
			out[i] = texts
		case swarm.KillResult:
			out[i] = fmt.Sprintf("{status %s, signal %q, already ended %t, forced %t, survivors %v}",
				statusText(v.Status), v.Signal, v.AlreadyEnded, v.Forced, v.Survivors)
		case *swarm.Exit:
			out[i] = exitText(v)
		case *swarm.Completion:
			out[i] = completionText(v)
		default:
			out[i] = arg
		}
	}
	return out
}

func statusText(st swarm.Status) string {
	parts := []string{st.State.String()}
	add := func(ok bool, format string, arg any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, arg))
		}
	}
	add(st.PID != 0, "pid %d", st.PID)
	add(st.Exit != nil, "exit %s", exitText(st.Exit))
	add(st.Completion != nil, "completion %s", completionText(st.Completion))
	add(st.Reason != "", "reason %q", st.Reason)
	add(st.Restarts != 0, "%d restarts", st.Restarts)
	add(len(st.Survivors) > 0, "survivors %v", st.Survivors)
	return "{" + strings.Join(parts, ", ") + "}"
}

func exitText(e *swarm.Exit) string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("{code %d, signal %q, cause %q, reason %q}", e.Code, e.Signal, e.Cause, e.Reason)
}

func completionText(c *swarm.Completion) string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("{%.40q of %d bytes}", c.Summary, len(c.Summary))
}
