package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	// The example of semver.org, item 11, among others.
	sorted := []string{
		"0.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.0.0+1", "1.0.0+2", "1.0.1", "1.2.0", "1.10.0", "2", "10.0.0", "99999999999999999999.0", "dev",
	}
	for i, a := range sorted {
		for j, b := range sorted {
			got := CompareVersions(a, b)
			if got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("CompareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
	if CompareVersions("1.2", "1.02") == 0 {
		t.Error("different folders of the same version")
	}
}

func TestIsPrerelease(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{
		"1.0.0": false, "1.0.0-rc.1": true, "0.3.0-alpha": true, "1.0.0-0": true, "1.0.0-rc.1+build": true, "1.0.0+build-7": false,
		"1.2-beta": true, "1-rc1": true, "2024-01-31": false, "dev": false, "dev-1": false, "0.0.0-dev": true, "1.0.0-": false,
	} {
		if got := IsPrerelease(v); got != want {
			t.Errorf("IsPrerelease(%q) = %v", v, got)
		}
	}
	for want, versions := range map[string][]string{
		"0.2.0":   {"0.3.0-rc.1", "0.2.0", "0.1.0"},
		"1.0.0":   {"1.0.0", "1.0.0-rc.1"},
		"":        {"0.3.0-rc.2", "0.3.0-rc.1"},
		"0.3.0+7": {"0.3.1-rc.1", "0.3.0+7", "0.3.0"},
	} {
		if got := defaultVersion(versions); got != want {
			t.Errorf("of %q the default is %s, want %s", versions, got, want)
		}
	}
}

func TestValidVersion(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"1.2.0", "1", "2024-01-01", "1.0.0-rc.1+build_5", "dev", strings.Repeat("9", 64)} {
		if !ValidVersion(v) {
			t.Errorf("%q is refused", v)
		}
	}
	for _, v := range []string{"", ".", "..", "../1", "1/2", "-1", "+1", "_", "1 2", "1\x00", "1\n", `1\2`, "ü", strings.Repeat("9", 65)} {
		if ValidVersion(v) {
			t.Errorf("%q is taken", v)
		}
	}
	got := []string{CleanVersion("v1.2"), CleanVersion("1.2"), CleanVersion("v"), CleanVersion("vx")}
	if want := []string{"1.2", "1.2", "v", "vx"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
