package privacy

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// A shape is a kind of secret that is known by a pattern, and not by a prefix alone. The pattern is tried only around
// the strings of need, which are rare: over all of a text it would cost more than everything else together.
type shape struct {
	kind   string
	need   []string
	before int // bytes that the pattern may match before that string; 0: it begins there, at the start of a word
	re     pattern.Pattern
	sure   bool            // a match is a secret even if it consists of words
	open   pattern.Pattern // for shapes with white space inside: matches an unfinished one at the text's end
}

// searchRange is how many bytes behind its need a shape may reach, and then to the end of the word there.
const searchRange = 512

// argument matches an argument on a command line: one word, or several in quotes.
const argument = `(?:"([^"\n]{4,})"|'([^'\n]{4,})'|["']?([^\s"']{4,}))`

// shapes: where a pattern has groups, the secret is the last one that matched.
var shapes = []shape{
	{"jwt", []string{"eyJ"}, 0, begin(`eyJ[A-Za-z0-9_-]{15,}(?:\.[A-Za-z0-9_-]*){2,4}`), true, nil},
	{"jwt", []string{"ZXlK"}, 0, begin(`ZXlK[A-Za-z0-9+/=]{60,}`), true, nil},
	{"authorization", []string{"uthorization", "UTHORIZATION"}, 7,
		pattern.New(`(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|token|bot|api-?key|api-?token|negotiate)\s+)?([\w.~+/=:-]{6,})`), false, nil},
	{"bearer", []string{"earer ", "EARER ", "earer:"}, 1, pattern.New(`(?i)\bbearer[ :]\s*([\w.~+/-]{12,}=*)`), false,
		nil},
	{"aws", []string{"AKIA", "ASIA", "ABIA", "ACCA", "A3T"}, 0,
		begin(`(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`), true, nil},
	{"aws", []string{"bedrock-api-key-"}, 0, begin(`bedrock-api-key-[A-Za-z0-9+/=]{20,}`), true, nil},
	{"slack", []string{"hooks.slack.com/"}, 0,
		begin(`hooks\.slack\.com/(?:services|workflows|triggers)/([\w+/-]{20,})`), true, nil},
	{"discord", []string{"/webhooks/"}, 24, pattern.New(`discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d+/[\w-]{30,})`),
		true, nil},
	{"teams", []string{".webhook.office.com/"}, 1, pattern.New(`\.webhook\.office\.com/webhookb2/(\S{40,})`), true, nil},
	{"telegram", []string{":A"}, 16, pattern.New(`\d{5,16}:A[\w-]{34}`), false, nil},
	{"azure", []string{"Q~"}, 4, pattern.New(`[\w~.]{3}\dQ~[\w~.-]{31,34}`), true, nil},
	{"terraform", []string{".atlasv1."}, 14, pattern.New(`[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}`), true, nil},
	{"mailchimp", []string{"-us"}, 32, pattern.New(`[0-9a-f]{32}-us\d{1,2}\b`), false, nil},
	{"airtable", []string{"pat"}, 0, begin(`pat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`), true, nil},
	{"facebook", []string{"0|", "1|", "2|", "3|", "4|", "5|", "6|", "7|", "8|", "9|"}, 15,
		pattern.New(`\b\d{15,16}\|[\w-]{27,40}`), false, nil},
	{"maxmind", []string{"_mmk"}, 36, pattern.New(`[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`), true, nil},
	{"mapbox", []string{"sk.eyJ", "pk.eyJ"}, 0, begin(`[sp]k\.eyJ[\w-]{20,}\.[\w-]{20,}`), true, nil},
	{"1password", []string{"A3-"}, 0,
		begin(`A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b`), true, nil},
	{"authress", []string{".acc_", ".acc-"}, 48,
		pattern.New(`\b(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w+/=-]{30,120}`), true, nil},
	{"twilio", []string{"SK"}, 0, begin(`SK[0-9a-fA-F]{32}\b`), false, nil},
	{"vault", []string{"s."}, 0, begin(`s\.[A-Za-z0-9]{24}\b`), false, nil},
	{"private-key", []string{"rivate", "RIVATE"}, 1,
		pattern.New(`(?i)private[\s_-]{0,2}key\b.{0,24}?\b((?:0x)?[0-9a-f]{64})\b`), true, nil},
	{"private-key", []string{"client-key-data"}, 0, begin(`client-key-data["']?\s*:\s*["']?([A-Za-z0-9+/=]{20,})`),
		true, nil},
	{"private-key", []string{"LS0tLS1CRUdJTiB"}, 0,
		begin(`LS0tLS1CRUdJTiB(?:SU0E|QUklW|FQyB|PUEVO|FTkNS|EU0E|QR1AgUFJJ)[A-Za-z0-9+/=]{40,}`), true, nil},
	{"password-hash", []string{"$a", "$1", "$2", "$5", "$6", "$7", "$y", "$s", "$p"}, 0,
		pattern.New(`^\$(?:apr1|1|2[abxy]?|5|6|7|y|argon2(?:id?|d)|scrypt|pbkdf2-sha\d+)\$[\w./=,$+-]{30,}`), true, nil},
	{"password-hash", []string{"{SSHA", "{SHA}"}, 0, pattern.New(`^\{S?SHA(?:256|512)?\}[A-Za-z0-9+/=]{20,}`), true, nil},

	{"cookie", []string{"PHPSESSID", "JSESSIONID", "connect.sid", "laravel_session", "_gitlab_session",
		"ASP.NET_SessionId"}, 0, pattern.New(`^[\w.]+["']?\s?[=:]\s?["']?([\w%.:-]{16,})`), true, nil},

	// Passwords on command lines.
	{"password", []string{"curl"}, 0,
		begin(`(?s)curl\b.{0,400}?\s(?:-\w{0,6}u\s{0,4}|--(?:proxy-)?user[ =]\s{0,4})(?:` +
			`"[^"\n:]*:([^"\n]{4,})"|'[^'\n:]*:([^'\n]{4,})'|` +
			`["']?[^\s"'<>\[:]*["']?:(?:"([^"\n]{4,})"|'([^'\n]{4,})'|([^\s"'<>\[]{4,})))`), true, nil},
	{"password", []string{"mysql", "mariadb"}, 0, command(`(?:mysql|mariadb)[\w-]*`, `-p`+argument), true, nil},
	{"password", []string{"sshpass"}, 0, command(`sshpass`, `-p\s{0,4}`+argument), true, nil},
	{"password", []string{"redis-cli", "valkey-cli"}, 0, command(`(?:redis|valkey)-cli`,
		`(?:-a|--pass)[\s=]{1,4}`+argument), true, nil},
	{"password", []string{"docker ", "podman ", "nerdctl ", "helm ", "oras ", "skopeo "}, 0,
		command(`\w+\s(?:registry\s)?login`, `(?:-p|--password)[\s=]{1,4}`+argument), true, nil},
	{"password", []string{"mongo"}, 0, command(`mongo\w*`, `-p\s{0,4}["']?([^\s"'-][^\s"']{3,})`), true, nil},
	{"password", []string{"ldap"}, 0, command(`ldap\w+`, `-w\s{0,4}`+argument), true, nil},
	{"password", []string{"smbclient", "rpcclient"}, 0, command(`(?:smb|rpc)client`,
		`-U\s{0,4}["']?[^\s"'%]+%([^\s"']{4,})`), true, nil},
	{"password", []string{"zip ", "7z "}, 2,
		pattern.New(`\b(?:un)?zip\s(?:[^\n|;&]{0,80}?\s)?-P\s{0,4}["']?([^\s"']{4,})|\b7z\s(?:[^\n|;&]{0,80}?\s)?-p["']?([^\s"']*\d[^\s"']*)`), true, nil},
	{"password", []string{"machine ", "default "}, 0,
		begin(`(?:machine\s+\S+\s+login\s+\S+\s+password\s+(\S{4,})|default\s+login\s+\S+\s+password\s+(\S*\d\S*))`), true,
		nil},

	{"password", []string{"sqlcmd ", "bcp ", "osql "}, 0, command(`\w+`, `-P\s{0,4}`+argument), true, nil},
	{"password", []string{"storepass ", "keypass "}, 8, pattern.New(`-\w{0,4}(?:store|key)pass\s{1,4}` + argument), true, nil},
	{"password", []string{"sudo "}, 160,
		pattern.New(`(?:echo|printf)\s(?:-\w+\s)?["']?([^\s"'|]{4,})["']?\s{0,4}\|\s{0,4}sudo\s(?:[^\n|;]*\s)?-\w*S\b|` +
			`\bsudo\s(?:[^\n|;]*\s)?-\w*S\b[^\n|;<]*<<<\s{0,2}["']?([^\s"']{4,})`), true, nil},
	{"password", []string{"sqlplus "}, 0, begin(`sqlplus\s(?:-\w+\s)*[\w.]+/([^@\s"']{3,})`), true, nil},

	// Passwords in SQL, connection strings and settings files.
	{"password", []string{"PASSWORD "}, 0,
		begin(`PASSWORD(?:\sFOR\s\S+)?\s{1,4}(?:=\s{0,4})?N?'([^'\n]{4,})'`), true, nil},
	{"password", []string{"assword "}, 1, pattern.New(`(?i)password\s{1,4}'([^'\n]{4,})'`), false, nil},
	{"password", []string{"DENTIFIED ", "dentified "}, 1,
		pattern.New(`(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(?:'([^'\n]{4,})'|"([^"\n]{4,})")`), true, nil},
	{"password", []string{":5432:", ":*:"}, 64, pattern.New(`(?:[\w.-]+|\*):(?:5432|\*):[\w*$-]+:[\w*.$-]+:(\S{4,})`), false, nil},
	{"password", []string{"@tcp(", "@unix(", "@cloudsql("}, 128,
		pattern.New(`[\w.$%-]{1,40}:([^\s"'` + "`" + `]{3,80})@(?:tcp|unix|cloudsql)\(`), true, nil},
	{"password", []string{"jdbc:oracle:"}, 0, begin(`jdbc:oracle:\w+:[^/\s"']+/([^@\s"']{3,})@`), true, nil},
	{"password", []string{"ConvertTo-SecureString "}, 0, begin(`ConvertTo-SecureString\s+(?:-String\s+)?["']([^"'\n]{4,})["']`), true, nil},

	// What people say: the password for X is Y.
	{"password", []string{"assword ", "asswort ", "ennwort"}, 8,
		pattern.New(`(?i)(?:password|passwort|kennwort)` + whose + `(?:\s(?:is|ist|lautet)\s?:?|\s?:)\s` + saidValue +
			`|(?i)(?:[,/]|\band|\bund)\s?(?:my\s)?(?:password|passwort)\s` + saidValue), false, nil},
	{"password", []string{"mot de passe", "Mot de passe"}, 0,
		pattern.New(`(?i)mot de passe` + whose + `(?:\sest|\s?:)\s?:?\s` + saidValue), false, nil},
	{"password", []string{"ontraseña", "ontrasena", "clave "}, 1,
		pattern.New(`(?i)(?:contrase(?:ñ|n)a|clave)` + whose + `(?:\ses|\s?:)\s?:?\s` + saidValue), false, nil},
	{"password", []string{"ароль", "АРОЛЬ"}, 2, pattern.New(`(?i)пароль` + whose + `(?:\s?:|\s[—–-])\s` + saidValue), false, nil},

	// A password in a settings file of the form <add key="Password" value="…">.
	{"password", []string{"ssword"}, 128, pattern.New(`(?i)key="[^"]*password"\s+value="([^"]{6,})"`), false,
		pattern.New(`(?i)key="[^"]*password"\s+value="[^"]*$`)},
}

// In a sentence about a password: the words that say whose it is, and the password.
const (
	whose = `(?:\s(?:for|of|to|on|at|für|von|vom|zu|zum|zur|der|des|am|pour|de|du|del|para|от|для|к|на)` +
		`\s[^\n:=,;]{1,60}?)?`
	saidValue = `["'«“„` + "`" + `]?([^\s"'»”` + "`" + `]{6,})`
)

// passwordLike tells a password in a sentence or a file from the words that stand there otherwise.
func passwordLike(value string) bool {
	value = strings.TrimRight(value, ".,;:!?)")
	a := assignment{name{plain: "password", secret: "password", atEnd: true}, value, true, "is", false}
	return a.isSecret()
}

// begin makes a pattern that matches at the start of a text only.
func begin(text string) pattern.Pattern {
	if flags, rest, ok := strings.Cut(text, ")"); ok && strings.HasPrefix(flags, "(?s") {
		return pattern.New(flags + ")^" + rest)
	}
	return pattern.New("^(?:" + text + ")")
}

// command makes the pattern of a program's option, which stands before the end of the line, a pipe or another command.
func command(program, option string) pattern.Pattern {
	return pattern.New(`^` + program + `\b(?:[^\n|;&]|\\\n){0,200}?\s` + option)
}

// shape looks for s where one of its needs stands.
func (f *findings) shape(text string, at int, s shape) {
	from, to, ok := s.window(text, at)
	if !ok {
		return
	}
	window := text[from:to]
	if s.open != nil && to == len(text) {
		if at := s.open().FindStringIndex(window); at != nil {
			f.wait(from+at[0], `"`)
		}
	}
	m := s.re().FindStringSubmatchIndex(window)
	for g := len(m) - 2; g >= 0; g -= 2 { // the last group that matched, else the whole
		if m[g] < 0 {
			continue
		}
		value := window[m[g]:m[g+1]]
		if s.kind == "password-hash" || !placeholder(value) && (s.sure || s.looksSecret(value)) {
			f.add(from+m[g], from+m[g+1], s.kind)
		}
		return
	}
}

// window returns where s may stand, to the end of a word. ok is false where it cannot.
func (s shape) window(text string, at int) (from, to int, ok bool) {
	from, most := at, maxOpen // a pattern that must match here is cheap, however long the word
	switch {
	case s.before > 0:
		from, most = max(0, at-s.before-1), maxValue
	case at > 0 && wordByte(text[at-1]) && wordByte(text[at]):
		if !anywhere(s.kind) && !behindGlue(text, at) {
			return 0, 0, false
		}
		most = 0 // a long word may have many such places
	}
	to = min(len(text), at+searchRange)
	for to < len(text) && to < at+most && strings.IndexByte(space, text[to]) < 0 {
		to++
	}
	return from, to, true
}

// looksSecret judges a match that may be something else.
func (s shape) looksSecret(value string) bool {
	if s.kind == "password" {
		return passwordLike(value)
	}
	return mixed(value) && !wordy(value)
}

// anywhere reports whether a kind is known inside of a longer word, too.
func anywhere(kind string) bool { return kind == "aws" || kind == "jwt" || kind == "twilio" }
