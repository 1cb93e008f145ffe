package proc

import "time"

// Figures are what the processes below a subreaper use at one moment. A figure that this
// system does not tell, or hides for one of the processes, is nil.
type Figures struct {
	// Processes and Threads count the living ones.
	Processes int
	Threads   *int
	// CPU is the time on CPUs of the processes and of those that have ended.
	CPU *time.Duration
	// Memory is what they hold, in bytes. With PSS a page that several processes share
	// counts in equal parts, else once for each.
	Memory *int64
	PSS    bool
	// Peak is the largest memory that a living process had at any time, in bytes.
	Peak *int64
	// Read and Written are the bytes read from and written to storage by the processes and
	// by those that have ended.
	Read, Written *int64
}
