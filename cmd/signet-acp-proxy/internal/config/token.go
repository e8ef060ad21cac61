package config

import "os"

// Token is the secret for the daemon, from where its own clients take it.
func Token() string {
	for _, name := range TokenVariables {
		if token := os.Getenv(name); token != "" {
			return token
		}
	}
	return ""
}

// TokenVariables hold the secret for the daemon.
var TokenVariables = []string{"SIGNET_API_KEY", "SIGNET_TOKEN"}
