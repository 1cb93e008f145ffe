package ralph

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have none
)

func TestLimitEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 14, 20, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"⎿ 5-hour limit reached ∙ resets 3pm (UTC)":                                           "2026-11-22T15:00:00Z",
		"You've hit your limit · resets 3:30pm (UTC)":                                         "2026-11-22T15:30:00Z",
		"You've hit your session limit · resets at 3 p.m. (Europe/Berlin)":                    "2026-11-23T14:00:00Z",
		"Weekly limit reached ∙ resets Nov 25 at 3pm (UTC)":                                   "2026-11-25T15:00:00Z",
		"usage limit reached, resets Jan 2, 5am (UTC)":                                        "2027-01-02T05:00:00Z",
		"You’ve hit your usage limit. Upgrade to Pro or try again at 11:05 PM UTC.":           "2026-11-22T23:05:00Z",
		"You've hit your usage limit. Or try again at Nov 25th, 2026 3:05 PM (UTC).":          "2026-11-25T15:05:00Z",
		"You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.":                 "2026-11-24T17:25:00Z",
		"Usage limit reached, resets in 2h":                                                   "2026-11-22T16:20:00Z",
		"rate limit: resets in 1h 30m":                                                        "2026-11-22T15:50:00Z",
		"Rate limit exceeded. Please try again in about 45 seconds.":                          "2026-11-22T14:20:45Z",
		"quota exceeded; retry in 5 min":                                                      "2026-11-22T14:25:00Z",
		"Claude AI usage limit reached|1795361400":                                            "2026-11-22T15:30:00Z",
		"limit reached, resets at 15:45 (UTC)":                                                "2026-11-22T15:45:00Z",
		"limit reached, resets 12am (UTC)":                                                    "2026-11-23T00:00:00Z",
		"limit reached, resets 12pm (UTC)":                                                    "2026-11-23T12:00:00Z",
		"limit reached, resets 2:15pm (UTC)":                                                  "2026-11-22T14:15:00Z", // just now
		"You've hit your usage\n  limit. Try again at\n  4:05 PM (UTC)":                       "2026-11-22T16:05:00Z",
		"API Error: 429 · This request would exceed your rate limit. Please try again later.": "",
		"limit reached":                                        "",
		"limit reached, resets soon":                           "",
		"limit reached, resets at 3":                           "",
		"limit reached, resets at 25:00":                       "",
		"limit reached, resets at 3:75pm":                      "",
		"limit reached, resets at 13pm":                        "",
		"limit reached, resets Feb 31 at 3pm (UTC)":            "",
		"limit reached, resets in 99999999 hours":              "",
		"limit reached, resets in a while":                     "",
		"API Error: overloaded, try again at 3pm":              "", // no limit
		"the counter resets at 3pm":                            "",
		"":                                                     "",
		"exceeded retry limit, last status: 429 Too Many Requ": "",
	} {
		got := ""
		if at, ok := limitEnd(text, now); ok {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLimitWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 14, 20, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"limit reached, resets in 2h":        2*time.Hour + limitMargin,
		"limit reached, resets in 2 days":    maxLimitWait,
		"limit reached, resets 2:15pm (UTC)": limitMargin,
		"limit reached|1000000000":           limitMargin,
		"nothing of the kind":                0,
	} {
		until, ok := limitWait(text, now)
		if got := until.Sub(now); ok != (want != 0) || ok && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}
