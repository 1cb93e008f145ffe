package host

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	// SeverityOK: it was looked at, and it is well.
	SeverityOK Severity = "ok"
	// SeverityNote: it does not work, and nothing here needs it.
	SeverityNote Severity = "note"
	// SeverityWarning: something is left over or odd; swarm works.
	SeverityWarning Severity = "warning"
	// SeverityError: something does not work until it is mended.
	SeverityError Severity = "error"
)

// Finding is one thing that a doctor looked at.
type Finding struct {
	Severity Severity
	// Subject is what was looked at, such as "database" or "plugin tmux".
	Subject string
	// What is one line about it.
	What string
	// Mend says how to mend it; empty if there is nothing to mend.
	Mend string
}
