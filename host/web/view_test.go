package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
)

func TestViews(t *testing.T) {
	t.Parallel()
	one, two, three := runningWorker("one"), exited("two", 3), exited("three", 0)
	one.Tags, two.Tags = []string{"a", `"><img src=x>`}, []string{"a"}
	one.Created, two.Created, three.Created = time.Unix(1, 0), time.Unix(3, 0), time.Unix(2, 0)
	r := newRig(t, nil, one, two, three)
	for _, c := range []struct {
		path  string
		wants []string // in this order
		lacks []string
	}{
		{"/", []string{`data-section="attention"`, `href="/?fold=attention"`, "Needs attention <span>1", ">two<", `data-section="running"`, ">one<", `data-section="ended"`, ">three<"}, nil},
		{"/?fold=ended&q=t", []string{`data-live="/live?fold=ended&amp;q=t"`, `name="fold" value="ended"`, `value="t"`, ">two<", `href="/?q=t" aria-expanded="false">Ended <span>1`}, []string{">three<", ">one<"}},
		{"/?sort=age", []string{`value="age" selected`, ">two<", ">three<", ">one<"}, []string{"Needs attention"}},
		{"/?sort=name&fold=all", []string{">one<", ">three<", ">two<"}, nil},
		{"/?group=tag", []string{
			`value="tag" selected`, `href="/?fold=%22%3E%3Cimg&#43;src%3Dx%3E&amp;group=tag"`, `&lt;img src=x&gt; <span>1`, ">one<", `No tag <span>1`, ">three<",
		}, []string{"<img src=x"}},
		{"/?group=tag&fold=a&fold=", []string{">a <span>2", "No tag <span>1"}, []string{">two<", ">three<"}},
		{"/?group=none&sort=none", []string{"Needs attention"}, nil},
	} {
		page := r.page(c.path)
		rest := page
		for _, want := range c.wants {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s lacks %q, or has it too early:\n%s", c.path, want, page)
				break
			}
			rest = after
		}
		for _, bad := range c.lacks {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q:\n%s", c.path, bad, page)
			}
		}
	}
	if page := r.page("/?group=tag"); strings.Count(page, `id="w-a/id-one"`) != 1 || strings.Count(page, ">one<") != 2 {
		t.Errorf("a worker of two groups:\n%s", page)
	}
	one.State = &judgement.State{State: profile.Blocked, Question: "Proceed?"}
	asks := newRig(t, nil, one, two, three)
	if first, rest, ok := strings.Cut(asks.page("/"), `data-section="attention"`); !ok || !strings.Contains(first, `Questions <span>1`) ||
		!strings.Contains(first, ">Proceed?<") || strings.Contains(rest, ">one<") {
		t.Errorf("a question is not the first of the page:\n%s%s", first, rest)
	}
	r.events("/live?group=tag&fold=a", `"name":"a"`, `"keys":[]`)
}

func TestAddressOfView(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/?q=a+b", "/?fold=a%26b&fold=c&group=team&q=%22&sort=cpu", "/?fold=&group=tag"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := viewOf(req)
		if got := addressOf("/", v); got != path {
			t.Errorf("%s became %s", path, got)
		}
		if got := addressOf("/", turned(turned(v, "x"), "x")); got != path {
			t.Errorf("%s became %s", path, got)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/?q="+strings.Repeat("x", 9999)+strings.Repeat("&fold=x", 999)+"&group=x&sort=x", nil)
	if v := viewOf(req); len(v.Filter) > maxFilter || len(v.Folded) > maxFolds || v.Group != dash.GroupNone || v.Sort != dash.SortUrgency {
		t.Errorf("%+v", v)
	}
}
