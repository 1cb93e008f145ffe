package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// row is one line of the result. A row without a budget is there to compare
// with.
type row struct {
	what     string
	measured string
	// against is what it was measured against.
	against string
	value   float64
	unit    string
	// max, or min, is the budget; 0: none.
	max, min float64
}

// ratio is a row that compares two times.
func ratio(what string, took time.Duration, name string, base time.Duration, limit float64) row {
	return row{
		what: what, measured: millis(took), against: name + " " + millis(base),
		value: float64(took) / float64(base), unit: "×", max: limit,
	}
}

func (r row) verdict() string {
	switch {
	case r.max > 0 && r.value > r.max, r.min > 0 && r.value < r.min:
		return "OVER"
	case r.max > 0 || r.min > 0:
		return "ok"
	default:
		return ""
	}
}

func (r row) budget() string {
	switch {
	case r.max > 0:
		return fmt.Sprintf("≤ %.4g %s", r.max, r.unit)
	case r.min > 0:
		return fmt.Sprintf("≥ %.2g %s", r.min, r.unit)
	default:
		return ""
	}
}

// printTable prints the rows and returns how many exceed their budget.
func printTable(out io.Writer, rows []row) (over int) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHAT\tMEASURED\tAGAINST\tRESULT\tBUDGET\t")
	for _, r := range rows {
		result := ""
		if r.value > 0 {
			result = fmt.Sprintf("%.2f %s", r.value, r.unit)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.measured, r.against, result, r.budget(), r.verdict())
		if r.verdict() == "OVER" {
			over++
		}
	}
	_ = w.Flush()
	return over
}

func millis(d time.Duration) string {
	if d >= 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
