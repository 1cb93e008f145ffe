package harness

import (
	"context"
	"errors"
	"fmt"
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

// Broken reports that the rule is broken; the case goes on.
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
