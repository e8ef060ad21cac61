package mcpserver

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// conceal removes from the texts of a call that will be stored what must not be: private passages, also those that an
// agent repeats bare, and secrets.
func (v values) conceal(hidden *privacy.File, project string) error {
	for _, name := range keptTexts {
		given, ok := v[name].(string)
		if !ok {
			continue
		}
		kept, _ := privacy.WithoutPrivate(given)
		kept = hidden.Conceal(project, kept)
		if kept = privacy.Redact(strings.TrimSpace(kept)); kept == "" && name == "content" {
			return errors.New("nothing left to save: private passages and secrets are never saved")
		}
		v[name] = kept
	}
	return nil
}

// keptTexts are the arguments of the memory tools that are stored; type also filters a search, where concealing does no
// harm.
var keptTexts = []string{"content", "type", "tags", "reason"}

// into returns a call's arguments with those texts as they may be stored.
func (v values) into(raw json.RawMessage) (json.RawMessage, error) {
	with := map[string]any{}
	for _, name := range keptTexts {
		if kept, ok := v[name].(string); ok {
			with[name] = kept
		}
	}
	return edit(raw, with)
}

// edit replaces fields of a call's arguments; nil takes one out. All else stays as the client sent it.
func edit(raw json.RawMessage, with map[string]any) (json.RawMessage, error) {
	if len(with) == 0 {
		return raw, nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); len(raw) > 0 && err != nil {
		return nil, err
	}
	edited := map[string]any{}
	for name, value := range fields {
		edited[name] = value
	}
	maps.Copy(edited, with)
	maps.DeleteFunc(edited, func(_ string, value any) bool { return value == nil })
	return json.Marshal(edited)
}
