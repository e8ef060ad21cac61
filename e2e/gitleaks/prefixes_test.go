package gitleaks

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"
)

const prefixes = "../../memory/privacy/prefixes.txt"

var update = flag.Bool("update", false, "write "+prefixes)

// prefixes.txt is what gitleaks knows of keys by their prefixes: `go test -run TestPrefixes -update .` writes it.
func TestPrefixes(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{} // by prefix
	for _, id := range slices.Sorted(maps.Keys(d.Config.Rules)) {
		rule := d.Config.Rules[id]
		if rule.Regex == nil || strings.Contains(id, "pub") || id == "generic-api-key" { // public, or a guess
			continue
		}
		re, err := syntax.Parse(group(t, rule), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(id, "-")
		kind = cmp.Or(names[kind], kind)
		for _, a := range alternatives(re) {
			for _, h := range heads(a) {
				least, most := lengths(a)
				n := len(h.text)
				h.text = written(h.text, rule.Regex.String())
				if !keyed.MatchString(h.text) || least-n < minTail {
					continue
				}
				row := fmt.Sprintf("%s %s %d %d", kind, h.text, least-n, max(0, most-n))
				if before, ok := rows[h.text]; ok { // two rules: what either takes
					var l, m int
					if _, err := fmt.Sscanf(strings.Join(strings.Fields(before)[2:], " "), "%d %d", &l, &m); err != nil {
						t.Fatal(err)
					}
					least, most = min(l, least-n), max(m, most-n)
					if m == 0 || most < least {
						most = 0
					}
					row = fmt.Sprintf("%s %s %d %d", strings.Fields(before)[0], h.text, least, most)
				}
				rows[h.text] = row
			}
		}
	}
	want := strings.Join(slices.Sorted(maps.Values(rows)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(prefixes, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(prefixes)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what gitleaks has: go test -run TestPrefixes -update .", prefixes)
	}
	t.Logf("%d prefixes", len(rows))
}

// minTail is how many bytes behind a prefix tell anything at all.
const minTail = 7

// names are those of providers whose rules begin otherwise.
var names = map[string]string{"gcp": "google", "new": "newrelic", "flyio": "fly"}

// written returns a prefix as the rule's source has it: where case does not count, the parser forgets it.
func written(prefix, source string) string {
	if at := strings.Index(strings.ToLower(source), strings.ToLower(prefix)); at >= 0 {
		return source[at : at+len(prefix)]
	}
	return prefix
}

// keyed is a prefix that may stand for a key by itself: four characters, or three with a sign at the end.
var keyed = regexp.MustCompile(`^[A-Za-z0-9][\w.~-]{2,}[\w.~-]$|^[A-Za-z0-9]{2}[_.~-]$`)

// alternatives returns the parts of a pattern one of which has to match.
func alternatives(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpAlternate:
		var all []*syntax.Regexp
		for _, sub := range re.Sub {
			all = append(all, alternatives(sub)...)
		}
		return all
	case syntax.OpCapture:
		return alternatives(re.Sub[0])
	}
	return []*syntax.Regexp{re}
}

// A head is what a match begins with; whole says that the match is no longer.
type head struct {
	text  string
	whole bool
}

func heads(re *syntax.Regexp) []head {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpEndText:
		return []head{{"", true}}
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text) // written sets it right
		}
		return []head{{text, true}}
	case syntax.OpCharClass:
		var all []head
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 2 {
				return []head{{"", false}}
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				all = append(all, head{string(r), true})
			}
		}
		if len(all) > 4 {
			return []head{{"", false}}
		}
		return all
	case syntax.OpCapture:
		return heads(re.Sub[0])
	case syntax.OpAlternate:
		var all []head
		for _, sub := range re.Sub {
			all = append(all, heads(sub)...)
		}
		return all
	case syntax.OpConcat:
		all := []head{{"", true}}
		for _, sub := range re.Sub {
			var next []head
			for _, h := range all {
				if !h.whole {
					next = append(next, h)
					continue
				}
				for _, more := range heads(sub) {
					next = append(next, head{h.text + more.text, more.whole})
				}
			}
			all = next
		}
		return all
	}
	return []head{{"", false}}
}

// lengths returns how long a match is at least and at most; most is -1 where there is no end.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(re.Sub[0])
	case syntax.OpAlternate:
		least, most = lengths(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			l, m := lengths(sub)
			least = min(least, l)
			if most = max(most, m); m < 0 {
				most = -1
			}
		}
		return least, most
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			l, m := lengths(sub)
			least += l
			if most += m; m < 0 || most < m {
				return least + rest(re, sub), -1
			}
		}
		return least, most
	case syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		from, to := re.Min, re.Max
		switch re.Op {
		case syntax.OpQuest:
			from, to = 0, 1
		case syntax.OpStar:
			from, to = 0, -1
		case syntax.OpPlus:
			from, to = 1, -1
		}
		l, m := lengths(re.Sub[0])
		if to < 0 || m < 0 {
			return l * from, -1
		}
		return l * from, m * to
	}
	return 0, 0
}

// rest is how long what follows sub in re is at least.
func rest(re, sub *syntax.Regexp) (least int) {
	for i := len(re.Sub) - 1; re.Sub[i] != sub; i-- {
		l, _ := lengths(re.Sub[i])
		least += l
	}
	return least
}
