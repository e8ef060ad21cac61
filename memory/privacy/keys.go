package privacy

import (
	"sort"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// keys are the tokens that are known by their prefix. What follows it, the tail, must have at least least bytes and
// look random.
var keys = []struct {
	kind, prefix string
	least        int
}{
	// Models
	{"anthropic", "sk-ant-", 20}, {"openai", "sk-proj-", 20}, {"openai", "sk-svcacct-", 20},
	{"openai", "sk-admin-", 20}, {"openai", "sk-None-", 20},
	{"openrouter", "sk-or-", 20}, {"langfuse", "sk-lf-", 20}, {"langfuse", "pk-lf-", 20}, {"langsmith", "lsv2_", 20},
	{"google", "AIza", 30},
	{"huggingface", "hf_", 30}, {"huggingface", "api_org_", 30}, {"replicate", "r8_", 30}, {"groq", "gsk_", 40},
	{"xai", "xai-", 40}, {"perplexity", "pplx-", 40},
	{"nvidia", "nvapi-", 40}, {"cerebras", "csk-", 30}, {"tavily", "tvly-", 20}, {"jina", "jina_", 40},
	{"exa", "exa_", 30}, {"e2b", "e2b_", 32}, {"firecrawl", "fc-", 32}, {"pinecone", "pcsk_", 40},
	{"elevenlabs", "sk_", 40}, {"wandb", "wandb_v1_", 40},
	{"signet", "sig_sk_", 12}, {"aws", "ABSK", 100},
	// Code
	{"github", "ghp_", 30}, {"github", "gho_", 30}, {"github", "ghu_", 30}, {"github", "ghs_", 30},
	{"github", "ghr_", 30}, {"github", "github_pat_", 22},
	{"gitlab", "glpat-", 20}, {"gitlab", "gldt-", 20}, {"gitlab", "glrt-", 20}, {"gitlab", "glptt-", 20},
	{"gitlab", "glft-", 20}, {"gitlab", "glcbt-", 20},
	{"gitlab", "glimt-", 20}, {"gitlab", "glsoat-", 20}, {"gitlab", "gloas-", 20}, {"gitlab", "glffct-", 20},
	{"gitlab", "glagent-", 20}, {"gitlab", "GR1348941", 20},
	{"bitbucket", "ATBB", 24}, {"atlassian", "ATATT3", 30}, {"atlassian", "ATCTT3", 30}, {"sourcegraph", "sgp_", 40},
	{"codecov", "codecov_", 30},
	{"npm", "npm_", 36}, {"pypi", "pypi-", 50}, {"rubygems", "rubygems_", 40}, {"crates", "cio", 32},
	{"clojars", "CLOJARS_", 50},
	{"docker", "dckr_pat_", 20}, {"docker", "dckr_oat_", 20}, {"artifactory", "AKCp", 60}, {"artifactory", "cmVmd", 50},
	{"sonar", "sqp_", 40}, {"sonar", "squ_", 40},
	{"sonar", "sqa_", 40}, {"buildkite", "bkua_", 40}, {"circleci", "CCIPAT_", 40}, {"circleci", "CCIPRJ_", 40},
	{"postman", "PMAK-", 50}, {"readme", "rdme_", 50},
	// Clouds
	{"google", "ya29.", 20}, {"google", "GOCSPX-", 20}, {"google", "1//0", 30}, {"alibaba", "LTAI", 16},
	{"digitalocean", "dop_v1_", 60}, {"digitalocean", "doo_v1_", 60},
	{"digitalocean", "dor_v1_", 60}, {"heroku", "HRKU-", 36}, {"fly", "fo1_", 40}, {"fly", "fm1", 60},
	{"fly", "fm2_", 60}, {"cloudflare", "v1.0-", 100},
	{"netlify", "nfp_", 36}, {"netlify", "nfc_", 36}, {"vercel", "vcp_", 24}, {"vercel", "vck_", 24},
	{"supabase", "sbp_", 40}, {"supabase", "sb_secret_", 20},
	{"planetscale", "pscale_", 32}, {"neon", "napi_", 40}, {"databricks", "dapi", 32}, {"scalingo", "tk-us-", 40},
	{"pulumi", "pul-", 40}, {"infracost", "ico-", 32},
	{"doppler", "dp.pt.", 40}, {"doppler", "dp.st.", 36}, {"doppler", "dp.ct.", 40}, {"doppler", "dp.sa.", 40},
	{"vault", "hvs.", 24}, {"vault", "hvb.", 24}, {"vault", "hvr.", 24},
	{"1password", "ops_eyJ", 60}, {"age", "AGE-SECRET-KEY-1", 50}, {"tailscale", "tskey-", 20}, {"ngrok", "ngrok_", 30},
	{"openshift", "sha256~", 40},
	{"grafana", "glc_", 32}, {"grafana", "glsa_", 32}, {"grafana", "eyJrIjoi", 60}, {"newrelic", "NRAK-", 27},
	{"newrelic", "NRJS-", 19}, {"newrelic", "NRII-", 30},
	{"dynatrace", "dt0c01.", 60}, {"sentry", "sntrys_", 40}, {"sentry", "sntryu_", 60}, {"posthog", "phx_", 40},
	{"honeycomb", "hcaik_", 40}, {"prefect", "pnu_", 36},
	{"clickhouse", "4b1d", 38}, {"adobe", "p8e-", 32}, {"yandex", "AQVN", 35},
	// Services
	{"slack", "xoxb-", 17}, {"slack", "xoxp-", 30}, {"slack", "xoxa-", 20}, {"slack", "xoxr-", 20},
	{"slack", "xoxe-", 30}, {"slack", "xoxe.xox", 30}, {"slack", "xoxs-", 20},
	{"slack", "xoxo-", 20}, {"slack", "xapp-", 30}, {"stripe", "sk_live_", 10}, {"stripe", "sk_test_", 10},
	{"stripe", "sk_prod_", 10}, {"stripe", "rk_live_", 10},
	{"stripe", "rk_test_", 10}, {"stripe", "rk_prod_", 10}, {"stripe", "whsec_", 24}, {"square", "sq0atp-", 22},
	{"square", "sq0csp-", 40}, {"square", "EAAA", 22},
	{"facebook", "EAAM", 90}, {"facebook", "EAAC", 90}, {"shopify", "shpat_", 32}, {"shopify", "shpca_", 32},
	{"shopify", "shppa_", 32}, {"shopify", "shpss_", 32},
	{"sendgrid", "SG.", 60}, {"sendinblue", "xkeysib-", 60}, {"mailgun", "key-", 32}, {"linear", "lin_api_", 40},
	{"linear", "lin_oauth_", 40},
	{"notion", "ntn_", 40}, {"notion", "secret_", 43}, {"figma", "figd_", 30}, {"dropbox", "sl.", 100},
	{"typeform", "tfp_", 50}, {"frameio", "fio-u-", 60},
	{"duffel", "duffel_", 40}, {"easypost", "EZAK", 50}, {"easypost", "EZTK", 50}, {"shippo", "shippo_", 40},
	{"flutterwave", "FLWSECK_TEST-", 12}, {"flutterwave", "FLWSECK-", 12},
	{"lob", "live_pub_", 31}, {"plaid", "access-sandbox-", 36}, {"plaid", "access-development-", 36},
	{"plaid", "access-production-", 36}, {"intra42", "s-s4t2", 60},
	{"settlemint", "sm_aat_", 16}, {"settlemint", "sm_pat_", 16}, {"settlemint", "sm_sat_", 16}, {"zapier", "zpka_", 20},
	// The old style of OpenAI, and DeepSeek, Moonshot and others after it: the prefix alone says little.
	{"openai", "sk-", 32},
}

// ambiguous prefixes begin other things, too: behind them the tail must be one run of letters and digits.
func ambiguous(prefix string) bool {
	return len(prefix) <= 3 && prefix != "SG." && prefix != "sl." || prefix == "secret_" || prefix == "key-" ||
		prefix == "4b1d" || prefix == "dapi" || prefix == "api_org_"
}

// lettersOnly reports whether a tail is a key's although it has no digits: behind a prefix that begins nothing else, or
// where it is long and in upper and lower case.
func lettersOnly(prefix, tail string) bool {
	telling := len(prefix) >= 5 && strings.ContainsAny(prefix[len(prefix)-1:], "_-.") && !ambiguous(prefix)
	return !wordy(tail) && (telling && entropy(tail) >= 2.5 || len(tail) >= 30 && unbroken(tail) && mixed(tail) &&
		entropy(tail) >= 3.5)
}

// byFirst holds the rows of keys by their first byte, longest prefix first where it matters, as keys has them.
var byFirst = func() (rows [256][]int) {
	for i, k := range keys {
		rows[k.prefix[0]] = append(rows[k.prefix[0]], i)
	}
	return rows
}()

// words finds keys and random strings among the words of text, and what is assigned to secret-like names. It does both
// in one pass over the text, which is the costly part.
func (f *findings) words(text string) {
	named := findings{growing: f.growing, open: f.open, closes: f.closes}
	var harmless [256]letters // sets of letters that were looked at, by hash: a text repeats its words
	for i := 0; i < len(text); {
		letters := characters[text[i]]
		if letters == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && characters[text[end]] != 0 {
			letters |= characters[text[end]]
			end++
		}
		if end-i >= leastWord {
			f.word(text, i, end)
		}
		if seen := &harmless[uint32(letters)*0x9e3779b1>>24]; *seen != letters {
			if letters.mayBeSecret() {
				named.assignments(text, i, end)
			} else {
				*seen = letters
			}
		}
		i = end
	}
	f.spans = append(f.spans, named.spans...) // of two that begin together the first one's kind counts
	f.open, f.closes = named.open, named.closes
}

const leastWord = 17 // bytes of the shortest key, prefix included

// word looks for a key or a random string in text[start:end], which is one word.
func (f *findings) word(text string, start, end int) {
	for end > start && (text[end-1] == '.' || text[end-1] == '/') { // the sentence's full stop
		end--
	}
	if end-start < leastWord {
		return
	}
	for i := start; i < end; i++ {
		if i > start && text[i-1] != '=' && text[i-1] != '/' { // a key does not begin inside a longer name
			continue
		}
		for _, n := range byFirst[text[i]] {
			k := keys[n]
			tail, ok := strings.CutPrefix(text[i:end], k.prefix)
			if !ok || len(tail) < k.least || placeholder(tail) {
				continue
			}
			if ambiguous(k.prefix) && !unbroken(tail[:k.least]) || !random(tail) && !lettersOnly(k.prefix, tail) {
				continue
			}
			f.add(i, end, k.kind)
			return
		}
	}
	if end-start >= 58 && discordBot().MatchString(text[start:end]) {
		f.add(start, end, "discord")
		return
	}
	f.randomStrings(text, start, end)
}

var discordBot = pattern.New(`^[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}$`)

// unbroken reports whether s is letters and digits alone.
func unbroken(s string) bool {
	for i := range len(s) {
		if class(s[i]) == 0 {
			return false
		}
	}
	return true
}

// randomStrings finds what is too random to be anything but a secret: 32 to 200 characters, outside of URLs, hashes,
// public keys and symbol names.
func (f *findings) randomStrings(text string, start, end int) {
	if n := sort.Search(len(f.public), func(n int) bool { return f.public[n].start > start }); n > 0 &&
		start < f.public[n-1].end {
		return
	}
	before := text[max(0, start-16):start]
	if strings.Contains(text[start:end], "//") || strings.HasSuffix(before, "://") ||
		strings.HasSuffix(before, "base64,") || strings.HasSuffix(before, "h1:") ||
		strings.HasSuffix(before, "zh:") || strings.HasSuffix(before, "SHA256:") ||
		strings.HasSuffix(before, "sha256:") || strings.HasSuffix(before, "sha512:") {
		return
	}
	for i := start; i < end; {
		if c := text[i]; c == '.' || c == '~' || c == '%' || c == '=' {
			i++
			continue
		}
		stop := i
		for stop < end && strings.IndexByte(".~%=", text[stop]) < 0 {
			stop++
		}
		called := stop < len(text) && text[stop] == '(' // a function's name
		part := text[i:stop]
		if !called && len(part) >= 32 && len(part) <= 200 && !publicByPrefix(part) && veryRandom(part) &&
			!harmless(nameBefore(text, i)) {
			f.add(i, stop, "high-entropy")
		}
		i = stop
	}
}

// publicByPrefix reports whether part begins like something public: a hash that says so, a compiler's symbol, a public
// key, or an id such as "chatcmpl-…", whose prefix says what it is and names no secret.
func publicByPrefix(part string) bool {
	for _, p := range []string{"sha1-", "sha256-", "sha384-", "sha512-", "md5-", "_Z", "__Z", "_R", "AAAAB3Nza",
		"AAAAC3Nza", "AAAAE2Vj", "MII"} {
		if strings.HasPrefix(part, p) {
			return true
		}
	}
	at := strings.IndexAny(part, "_-")
	if at < 2 || at > 12 || len(part)-at > 40 {
		return false
	}
	for i := range at {
		if class(part[i]) != 'a' {
			return false
		}
	}
	for _, s := range []string{"sk", "key", "secret", "token", "pat", "pw", "api", "live", "test", "auth"} {
		if strings.Contains(part[:at], s) {
			return false
		}
	}
	return true
}
