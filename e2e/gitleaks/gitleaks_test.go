// Package gitleaks asks a rule set that others keep for a second opinion. It is a module of its own, so that nothing of
// it is linked into the program.
package gitleaks

import (
	"maps"
	"os"
	"path/filepath"
	"regexp/syntax"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/config/utils"
	"github.com/zricethezav/gitleaks/v8/cmd/generate/secrets"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/Signet-AI/signet-acp-proxy/e2e/leaks"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// reasons say why we leave what a rule finds.
var reasons = map[string]string{
	"asana-client-id":        "public: it stands in the address that a person is sent to",
	"discord-client-id":      "public: it stands in every invitation of a bot",
	"flutterwave-public-key": "public by its name",
	"sumologic-access-id":    "a user name; the key that belongs to it is found",
	"private-key": "the generator writes headers that no program reads (\"BEGINPRIVATE KEY\"); real " +
		"blocks are found",
	"jwt": "the generator writes headers that are no JSON; real ones begin with eyJ and are " +
		"found",
	"slack-app-token":              "the generator writes some of five characters; real ones are longer and are found",
	"slack-legacy-token":           "as slack-app-token",
	"slack-legacy-workspace-token": "as slack-app-token",
	"planetscale-password":         "the generator writes some in capitals; PlanetScale does not",
	"generic-api-key": "a guess by entropy, as ours is: of twelve letters without a digit each thinks " +
		"otherwise",
}

// group returns the pattern of a rule's secret: its group, or all of it.
func group(t *testing.T, rule config.Rule) string {
	t.Helper()
	re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	found := re
	var walk func(re *syntax.Regexp) bool
	walk = func(re *syntax.Regexp) bool {
		if re.Op == syntax.OpCapture && re.Cap == max(rule.SecretGroup, 1) {
			found = re.Sub[0]
			return true
		}
		for _, sub := range re.Sub {
			if walk(sub) {
				return true
			}
		}
		return false
	}
	walk(re)
	return found.String()
}

// plain reports whether s is made of the signs that secrets are made of: (?i) lets the generator write a long s for an
// s.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' })
}

// samples are secrets made from a rule's pattern, alone and in the ways that people write them.
func samples(t *testing.T, rule config.Rule) (texts []string) {
	pattern := group(t, rule)
	name, _, _ := strings.Cut(rule.RuleID, "-")
	for range 20 {
		if secret := strings.TrimSpace(secrets.NewSecret(pattern)); plain(secret) {
			texts = append(append(texts, secret), utils.GenerateSampleSecrets(name, secret)...)
		}
	}
	return texts
}

// What a rule of gitleaks finds in its samples, Redact finds, or there is a reason. The samples are random: one in
// eight may look like words.
func TestSecondOpinion(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	caught, missed, rules := 0, 0, 0
	for id, rule := range d.Config.Rules {
		if rule.Regex == nil { // of file names
			continue
		}
		rules++
		c, m, example := 0, 0, ""
		for _, text := range samples(t, rule) {
			for _, f := range d.DetectString(text) {
				if f.RuleID != id {
					continue
				}
				if strings.Contains(privacy.Redact(text), f.Secret) {
					m, example = m+1, text
				} else {
					c++
				}
			}
		}
		caught, missed = caught+c, missed+m
		if m == 0 {
			continue
		}
		t.Logf("%s: %d of %d missed, like %.200q. %s", id, m, m+c, example, reasons[id])
		if 8*m > m+c && reasons[id] == "" {
			t.Errorf("%s is not covered", id)
		}
	}
	t.Logf("%d rules: %d caught, %d missed", rules, caught, missed)
}

// How gitleaks does on our own corpora; nothing is asked of it.
func TestOurCorpora(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets.txt", "forms.txt", "more.txt", "lookalikes.txt"} {
		raw, err := os.ReadFile("../../memory/privacy/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all, found := 0, 0
		for entry := range strings.Lines(string(raw)) {
			all++
			if len(d.DetectString(strings.NewReplacer("·", "", "«", "", "»", "", "⏎", "\n").Replace(entry))) > 0 {
				found++
			}
		}
		t.Logf("%s: finds something in %d of %d", name, found, all)
	}
	size, found, began := 0, 0, time.Now()
	_ = filepath.WalkDir(filepath.Join(runtime.GOROOT(), "src"), func(path string, e os.DirEntry, err error) error {
		if err != nil || size > 20<<20 || e.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err == nil {
			size += len(raw)
			found += len(d.DetectBytes(raw))
		}
		return nil
	})
	t.Logf("Go's sources: %d places in %d bytes, %.1f MB/s", found, size, float64(size)/1e6/time.Since(began).Seconds())
}

// How both do on secrets in real surroundings; of gitleaks nothing is asked.
func TestLeaks(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	bare, glued := leaks.Corpus(33)
	glued[""] = bare
	for _, name := range slices.Sorted(maps.Keys(glued)) {
		ours, theirs := 0, 0
		for _, l := range glued[name] {
			if !strings.Contains(privacy.Redact(l.Text), l.Secret) {
				ours++
			}
			if len(d.DetectString(l.Text)) > 0 {
				theirs++
			}
		}
		t.Logf("behind %q: of %d we find %d, gitleaks %d", name, len(glued[name]), ours, theirs)
	}
}
