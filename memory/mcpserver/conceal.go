package mcpserver

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/private"
)

// conceal removes from the texts of a call that will be stored what must not be: private passages, also those that an
// agent repeats bare, and secrets.
func (v values) conceal(hidden *private.File, project string) error {
	for _, name := range keptTexts {
		given, ok := v[name].(string)
		if !ok {
			continue
		}
		kept, _ := privacy.WithoutPrivate(given)
		kept = hidden.Conceal(project, kept)
		if kept = privacy.Redact(strings.TrimSpace(kept)); kept == "" && name == "content" {
			return errors.New("nothing is left to keep: private passages and secrets are not stored")
		}
		v[name] = kept
	}
	return nil
}

// keptTexts are the arguments of the memory tools that are stored; type also filters a search, where concealing does no
// harm.
var keptTexts = []string{"content", "type", "tags", "reason"}

// into returns a call's arguments with those texts as they may be stored. All else stays as the client sent it.
func (v values) into(raw json.RawMessage) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	edits := false
	for _, name := range keptTexts {
		kept, ok := v[name].(string)
		if !ok {
			continue
		}
		value, err := json.Marshal(kept)
		if err != nil {
			return raw
		}
		fields[name], edits = value, true
	}
	edited, err := json.Marshal(fields)
	if !edits || err != nil {
		return raw
	}
	return edited
}
