// Package leaks makes texts with made-up secrets in them, as logs, shells, code and people have them. Tests ask how
// many are found. Nothing of it is stored: what looks like a key would stop whoever pushes it.
package leaks

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Leak is a text and the secret in it.
type Leak struct {
	Kind, Where, Glue string
	Text, Secret      string
}

const (
	digit = "0123456789"
	hex   = digit + "abcdef"
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum = upper + lower + digit
	word  = alnum + "_-"
	b64   = alnum + "+/"
)

// tokens are made of parts: a text, or so many characters of a set.
var tokens = []struct {
	kind  string
	parts []any
}{
	{"anthropic", []any{"sk-ant-", "api03-", word, 93, "", "AA"}},
	{"anthropic oauth", []any{"sk-ant-", "oat01-", word, 86}},
	{"openai", []any{"sk-", "proj-", word, 74, "", "T3BlbkFJ", word, 74}},
	{"openai service", []any{"sk-", "svcacct-", word, 58, "", "T3BlbkFJ", word, 58}},
	{"openrouter", []any{"sk-", "or-v1-", hex, 64}},
	{"deepseek", []any{"sk-", hex, 32}},
	{"google", []any{"AI", "za", "Sy", word, 33}},
	{"google oauth", []any{"GOC", "SPX-", word, 28}},
	{"huggingface", []any{"h", "f_", upper + lower, 34}},
	{"replicate", []any{"r", "8_", alnum, 37}},
	{"groq", []any{"gs", "k_", alnum, 52}},
	{"xai", []any{"xa", "i-", alnum, 80}},
	{"perplexity", []any{"pp", "lx-", alnum, 48}},
	{"github", []any{"gh", "p_", alnum, 36}},
	{"github app", []any{"gh", "s_", alnum, 36}},
	{"github fine-grained", []any{"github", "_pat_", alnum, 22, "", "_", alnum, 59}},
	{"gitlab", []any{"gl", "pat-", word, 20}},
	{"gitlab runner", []any{"gl", "rt-", word, 20}},
	{"npm", []any{"np", "m_", alnum, 36}},
	{"pypi", []any{"py", "pi-AgEIcHlwaS5vcmc", word, 120}},
	{"docker", []any{"dckr", "_pat_", word, 27}},
	{"aws", []any{"AK", "IA", upper + "234567", 16}},
	{"digitalocean", []any{"dop", "_v1_", hex, 64}},
	{"slack bot", []any{"xo", "xb-", digit, 12, "", "-", digit, 12, "", "-", alnum, 24}},
	{"slack app", []any{"xa", "pp-1-", upper + digit, 11, "", "-", digit, 13, "", "-", hex, 64}},
	{"stripe", []any{"sk", "_live_", alnum, 24}},
	{"stripe webhook", []any{"wh", "sec_", alnum, 32}},
	{"sendgrid", []any{"S", "G.", word, 22, "", ".", word, 43}},
	{"twilio", []any{"S", "K", hex, 32}},
	{"telegram", []any{digit, 10, "", ":AA", word, 33}},
	{"shopify", []any{"shp", "at_", hex, 32}},
	{"databricks", []any{"da", "pi", hex, 32}},
	{"vault", []any{"hv", "s.", word, 92}},
	{"linear", []any{"lin", "_api_", alnum, 40}},
	{"notion", []any{"nt", "n_", digit, 11, "", "", alnum, 35}},
	{"supabase", []any{"sb", "p_", hex, 40}},
	{"grafana", []any{"gl", "sa_", alnum, 32, "", "_", hex, 8}},
	{"sentry", []any{"sn", "tryu_", hex, 64}},
	{"hubspot", []any{"pat-", "na1-", hex, 8, "", "-", hex, 4, "", "-", hex, 4, "", "-", hex, 4, "", "-", hex, 12}},
	{"figma", []any{"fi", "gd_", word, 40}},
	{"doppler", []any{"dp.", "pt.", alnum, 43}},
	{"jwt", []any{"ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey", "Jz", alnum, 60, "", ".", word, 43}},
	{"tailscale", []any{"ts", "key-auth-", alnum, 17, "", "-", alnum, 32}},
	{"postman", []any{"PM", "AK-", hex, 24, "", "-", hex, 34}},
}

// Make returns a token of one of Kinds.
func Make(r *rand.Rand, kind int) string {
	var b strings.Builder
	parts := tokens[kind].parts
	for i := 0; i < len(parts); i++ {
		text := parts[i].(string)
		if i+1 < len(parts) {
			if n, ok := parts[i+1].(int); ok {
				for range n {
					b.WriteByte(text[r.IntN(len(text))])
				}
				i++
				continue
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// around are the places where tokens stand.
var around = []struct{ where, form string }{
	{"log", "2026-11-04T10:15:30.123Z WARN [worker-3] upstream refused %s (status 401, attempt 2)"},
	{"log of key and value", `time=10:15:30 level=error msg="login failed" credential=%s remote=10.0.0.7:443`},
	{"environment", "HOME=/home/ines\nDEPLOY_WITH=%s\nPATH=/usr/local/bin:/usr/bin\nLANG=de_DE.UTF-8"},
	{"curl", "curl -sS https://api.example.com/v1/things -H 'X-Thing: %s' -d '{\"a\":1}'"},
	{"json", `{"user":{"id":17,"name":"ines"},"value":"%s","ok":true}`},
	{"yaml", "services:\n  web:\n    image: example/web:1.2\n    settings:\n      remote: %s\n      retries: 3"},
	{"go", "\tclient := thing.New(ctx, \"%s\")\n\tdefer client.Close()"},
	{"javascript", "const client = new Thing({ region: 'eu', with: '%s' }); // TODO"},
	{"python", "client = Thing(\"%s\", timeout=30)\nprint(client.whoami())"},
	{"tool output", "$ env | sort | tail -3\nSHLVL=2\nTERM=xterm\n_=%s\n"},
	{"markdown", "Use `%s` for the staging system; it is rotated on Mondays."},
	{"diff", "@@ -3,2 +3,2 @@\n-old: nothing\n+new: %s\n context"},
	{"query", "GET /v1/things?page=2&with=%s&sort=asc HTTP/1.1"},
	{"ini", "[remote \"x\"]\n\turl = https://example.com\n\textra = %s\n"},
	{"sentence", "I gave you %s, please put it where it belongs."},
	{"shell history", " 1042  thing login %s && thing sync --all"},
}

// glues are what a token may stand behind without a space.
var glues = []struct{ name, before string }{
	{"colour", "\x1b[32m"}, {"colour, written out", `\u001b[32m`}, {"line end, written out", `\n`},
	{"tab, written out", `\t`}, {"%22", "%22"}, {"%3D", "%3D"}, {"+", "+"}, {"-", "-"}, {".", "."}, {"_", "_"},
	{"letter", "x"},
}

const cut = "zero-width"

// passwords look as people make them.
func password(r *rand.Rand) string {
	name := []string{"Kestrel", "walnut", "Harbor", "tin", "Marble", "falcon", "Oslo", "lantern"}[r.IntN(8)]
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("%s%d!", name, 10+r.IntN(9000))
	case 1:
		return fmt.Sprintf("%s-%d_%c", name, 100+r.IntN(900), lower[r.IntN(26)])
	case 2:
		return strings.NewReplacer("a", "4", "e", "3", "o", "0", "i", "1").Replace(name) +
			"#" + fmt.Sprint(r.IntN(90)+10)
	}
	b := make([]byte, 14)
	for i := range b {
		b[i] = (alnum + "!#%*+")[r.IntN(len(alnum)+5)]
	}
	b[r.IntN(14)] = digit[r.IntN(10)]
	return string(b)
}

// forms are where passwords stand.
var forms = []struct{ kind, form string }{
	{"curl -u", "curl -u 'ines:%s' https://api.example.com/v1"},
	{"curl -u", `curl -fsSL -u "ines:%s" -o out.tgz https://example.com/x.tgz`},
	{"curl --user", "curl https://api.example.com --user ines:%s --retry 3"},
	{"export", "export PASS=%s"}, {"export", "export DB_PASS='%s'"},
	{"environment", "POSTGRES_PASSWORD=%s"}, {"environment", "PGPASSWORD=%s psql -h db shop"},
	{"docker", "docker run -e MYSQL_ROOT_PASSWORD=%s -d mysql:8"},
	{"compose", "    environment:\n      - REDIS_PASSWORD=%s\n      - TZ=UTC"},
	{"english", "the password for the staging database is %s"},
	{"english", "My password is %s, please do not store it."}, {"english", "username ines, password %s"},
	{"german", "Das Passwort für den Testserver ist %s"}, {"german", "Das Kennwort lautet %s."},
	{"french", "le mot de passe de la base est %s"}, {"french", "mot de passe : %s"},
	{"spanish", "la contraseña del servidor es %s"}, {"spanish", "contraseña: %s"},
	{"russian", "пароль от базы: %s"}, {"russian", "пароль для сервера — %s"},
	{"sql", "ALTER USER ines WITH PASSWORD '%s';"}, {"sql", "CREATE ROLE app LOGIN PASSWORD '%s' VALID UNTIL '2030-01-01';"},
	{"identified by", "CREATE USER 'app'@'%%' IDENTIFIED BY '%s';"},
	{"identified by", "GRANT ALL ON shop.* TO app@localhost IDENTIFIED BY \"%s\";"},
	{"identified by", "CREATE USER app IDENTIFIED WITH mysql_native_password BY '%s';"},
	{"sqlcmd", "sqlcmd -S db.example.com -U sa -P '%s' -Q 'SELECT 1'"}, {"sqlcmd", "bcp shop.dbo.items out x.csv -U sa -P %s -c"},
	{"keytool", "keytool -genkeypair -alias web -keystore k.jks -storepass %s -dname CN=web"},
	{"keytool", "jarsigner -keystore k.jks -keypass '%s' app.jar web"},
	{"sudo", "echo '%s' | sudo -S apt-get update"}, {"sudo", "echo %s | sudo -S -k systemctl restart web"},
	{"pgpass", "db.example.com:5432:shop:ines:%s"}, {"pgpass", "*:*:*:postgres:%s"},
	{"go dsn", "ines:%s@tcp(127.0.0.1:3306)/shop?parseTime=true"}, {"go dsn", "host=db user=ines password=%s dbname=shop sslmode=disable"},
	{"jdbc", "jdbc:mysql://db:3306/shop?user=ines&password=%s"}, {"jdbc", "jdbc:oracle:thin:ines/%s@db:1521/shop"},
	{"jdbc", "jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=%s;encrypt=true"},
	{"kubernetes", "        - name: DB_PASSWORD\n          value: %s\n        - name: TZ\n          value: UTC"},
	{"kubernetes", `{"name": "ADMIN_PASSWORD", "value": "%s"}`},
	{"table", "| user | ines |\n| password | %s |\n| host | db |"}, {"table", "| DB_PASSWORD | `%s` | staging |"},
	{"url", "postgres://ines:%s@db.example.com:5432/shop"}, {"url", "git clone https://ines:%s@git.example.com/a/b.git"},
	{"url with signs", "mysql://ines:9/#?%s@db.example.com/shop"},
	{"json", `{"login": "ines", "password": "%s"}`}, {"yaml", "spring:\n  datasource:\n    password: %s"},
	{"properties", "spring.datasource.password=%s"}, {"xml", "<password>%s</password>"},
	{"netrc", "machine api.example.com login ines password %s"}, {"mysql", "mysql -u root -p'%s' shop"},
	{"sshpass", "sshpass -p '%s' ssh ines@example.com"}, {"redis-cli", "redis-cli -h cache -a '%s' ping"},
	{"python", `connect(host="db", user="ines", password="%s")`}, {"option", "thing serve --admin-password %s --port 8080"},
	{"powershell", `$password = ConvertTo-SecureString "%s" -AsPlainText -Force`},
	{"ansible", "ansible_become_password: %s"}, {"net use", `net use Z: \\server\share %s /user:ines`},
}

// Kinds is how many kinds of tokens there are.
func Kinds() int { return len(tokens) }

// Corpus returns all kinds bare, a token of each in three places and each form, and the tokens of the first 20 kinds,
// ten of each, behind every glue.
func Corpus(seed uint64) (bare []Leak, glued map[string][]Leak) {
	r := rand.New(rand.NewPCG(seed, 7))
	for i, t := range tokens {
		for n := range 3 {
			a, secret := around[(3*i+n)%len(around)], Make(r, i)
			bare = append(bare, Leak{t.kind, a.where, "", fmt.Sprintf(a.form, secret), secret})
		}
		secret := Make(r, i)
		encoded := base64.StdEncoding.EncodeToString([]byte("ines:" + secret))
		bare = append(bare, Leak{t.kind, "base64", "", "  auth: " + encoded, encoded})
	}
	for _, f := range forms {
		secret := password(r)
		bare = append(bare, Leak{f.kind, "password", "", fmt.Sprintf(f.form, secret), secret})
	}
	glued = map[string][]Leak{}
	for n := range 200 {
		kind := n % 20
		secret := Make(r, kind)
		for _, g := range glues {
			glued[g.name] = append(glued[g.name], Leak{tokens[kind].kind, "log", g.name,
				"it said " + g.before + secret + " and went on", secret})
		}
		at := 1 + r.IntN(len(secret)-1)
		broken := secret[:at] + "\u200b" + secret[at:]
		glued[cut] = append(glued[cut], Leak{tokens[kind].kind, "log", cut,
			"it said " + broken + " and went on", broken})
	}
	return bare, glued
}
