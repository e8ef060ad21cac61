package config

import "os"

// Token returns the secret for the daemon from the environment, "" for none.
func Token() string {
	for _, name := range TokenVariables {
		if token := os.Getenv(name); token != "" {
			return token
		}
	}
	return ""
}

// TokenVariables are the environment variables for it, the same as for Signet's own clients.
var TokenVariables = []string{"SIGNET_API_KEY", "SIGNET_TOKEN"}
