package stated

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// ScopeOf returns where a rule holds by its own words: in a folder ("in frontend/"), or for a kind of work ("when
// fixing a bug"); "" where they do not say.
func ScopeOf(text string) string {
	if m := folder().FindStringSubmatch(text); m != nil {
		return "in " + strings.Trim(m[1], "`'\"")
	}
	return strings.ToLower(strings.TrimSpace(kindOfWork().FindString(text)))
}

var (
	folder = pattern.New("(?i)(?:^|\\s)(?:in|under|below|inside|within|im|unter|dans|sous|en|bajo|in|nella|na|onder|в) " +
		"(?:the |the folder |folder |ordner |le dossier |la carpeta )?([`'\"]?[\\w.@-]*/[\\w./@-]*[`'\"]?)")
	kindOfWork = pattern.New(`(?i)\b(?:(?:when|whenever|while|before|after|for) (?:you |we )?(?:\w+ing|(?:a |the |new )?` +
		`(?:pull requests?|prs?|commits?|tests?|reviews?|releases?|migrations?|bugs?|docs|documentation))|beim \pL+|` +
		`(?:vor|nach) (?:jedem|jeder|dem|der) \pL+|avant (?:de |chaque )\pL+|antes de (?:cada )?\pL+|prima di \pL+|` +
		`(?:voor|na) elke \pL+|перед каждым \pL+)\b(?: (?:a |an |the |with |new |your |our )?[\pL-]+)?`)
)
