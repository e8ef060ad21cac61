package privacy

// keys are the tokens that are known by their prefix and that prefixes.txt does not have, or has longer ones of only.
var keys = []prefix{
	// Models
	{"anthropic", "sk-ant-", 20, 0}, {"openai", "sk-None-", 20, 0}, {"openrouter", "sk-or-", 20, 0},
	{"langfuse", "sk-lf-", 20, 0}, {"langfuse", "pk-lf-", 20, 0}, {"langsmith", "lsv2_", 20, 0},
	{"google", "AQ.Ab", 40, 0}, {"replicate", "r8_", 30, 0}, {"groq", "gsk_", 40, 0}, {"xai", "xai-", 40, 0},
	{"nvidia", "nvapi-", 40, 0}, {"cerebras", "csk-", 30, 0}, {"tavily", "tvly-", 20, 0}, {"jina", "jina_", 40, 0},
	{"exa", "exa_", 30, 0}, {"e2b", "e2b_", 32, 0}, {"firecrawl", "fc-", 32, 0}, {"pinecone", "pcsk_", 40, 0},
	{"wandb", "wandb_v1_", 40, 0}, {"together", "tgp_v1_", 40, 0}, {"helicone", "sk-helicone-", 20, 0},
	{"runpod", "rpa_", 40, 0}, {"context7", "ctx7sk-", 30, 0}, {"cursor", "crsr_", 40, 0},
	{"amp", "sgamp_user_", 30, 0}, {"apify", "apify_api_", 30, 0}, {"signet", "sig_sk_", 12, 0},
	// Code
	{"gitlab", "glrtr-", 20, 0}, {"bitbucket", "ATBB", 24, 32}, {"atlassian", "ATATT3", 30, 0},
	{"atlassian", "ATCTT3", 30, 0}, {"atlassian", "ATSTT3", 30, 0}, {"codecov", "codecov_", 30, 0},
	{"pypi", "pypi-", 50, 0}, {"crates", "cio", 32, 32}, {"docker", "dckr_pat_", 20, 0},
	{"docker", "dckr_oat_", 20, 0}, {"sonar", "sqp_", 40, 0}, {"sonar", "squ_", 40, 0}, {"sonar", "sqa_", 40, 0},
	{"buildkite", "bkua_", 40, 0}, {"circleci", "CCIPAT_", 40, 0}, {"circleci", "CCIPRJ_", 40, 0},
	// Clouds
	{"google", "ya29.", 20, 0}, {"google", "GOCSPX-", 20, 0}, {"google", "1//0", 30, 0}, {"heroku", "HRKU-", 36, 0},
	{"cloudflare", "cfut_", 40, 0}, {"cloudflare", "cfat_", 40, 0}, {"netlify", "nfp_", 36, 0},
	{"netlify", "nfc_", 36, 0}, {"vercel", "vcp_", 24, 0}, {"vercel", "vck_", 24, 0},
	{"vercel", "vercel_blob_rw_", 30, 0}, {"render", "rnd_", 28, 0}, {"supabase", "sbp_", 40, 0},
	{"supabase", "sb_secret_", 20, 0}, {"planetscale", "pscale_", 32, 0}, {"neon", "napi_", 40, 0},
	{"doppler", "dp.st.", 36, 0}, {"doppler", "dp.ct.", 40, 0}, {"doppler", "dp.sa.", 40, 0},
	{"vault", "hvr.", 24, 0}, {"tailscale", "tskey-", 20, 0}, {"ngrok", "ngrok_", 30, 0}, {"sentry", "sntrys_", 40, 0},
	{"posthog", "phx_", 40, 0}, {"honeycomb", "hcaik_", 40, 0}, {"axiom", "xaat-", 36, 0},
	// Services
	{"slack", "xoxp-", 30, 0}, {"slack", "xoxe.xox", 30, 0}, {"stripe", "whsec_", 24, 0}, {"square", "sq0csp-", 40, 0},
	{"linear", "lin_oauth_", 40, 0}, {"notion", "secret_", 43, 0}, {"figma", "figd_", 30, 0},
	{"hubspot", "pat-na1-", 36, 0}, {"hubspot", "pat-eu1-", 36, 0}, {"duffel", "duffel_", 40, 0},
	{"shippo", "shippo_", 40, 0}, {"flutterwave", "FLWSECK-", 12, 0}, {"intra42", "s-s4t2", 60, 0},
	{"zapier", "zpka_", 20, 0}, {"resend", "re_", 32, 0}, {"polar", "polar_oat_", 30, 0},
	{"paddle", "pdl_live_apikey_", 30, 0}, {"inngest", "signkey-prod-", 40, 0}, {"trigger", "tr_prod_", 20, 0},
	// The old style of OpenAI, and DeepSeek, Moonshot and others after it: the prefix alone says little.
	{"openai", "sk-", 32, 0},
}
