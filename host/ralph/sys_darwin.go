package ralph

// adopt does nothing: here there is no way to be given orphans, and a process
// that leaves the agent's tree is not found again.
func adopt() error { return nil }
