package acpclient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A model or a mode is chosen in the way that the agent offers; what it does not have is refused with what there is.
func TestChoose(t *testing.T) {
	options := `{"sessionId":"s","modes":{"availableModes":[{"id":"old"}]},"configOptions":[7,` +
		`{"id":"m","category":"model","options":[{"value":"big","name":"Big One"},{"group":"g","options":[{"value":"small"}]}]},` +
		`{"id":"mode","options":[{"value":"plan"}]},{"id":"x","options":"none"}]}`
	lists := `{"sessionId":"s","modes":{"availableModes":[{"id":"plan","name":"Plan"}]},` +
		`"models":{"availableModels":[{"modelId":"big","name":"Big One"}]}}`
	for _, tt := range []struct{ session, what, value, sent, refused string }{
		{strings.Replace(options, "7,", "", 1), Model, "big one",
			`"session/set_config_option","params":{"configId":"m","sessionId":"s","value":"big"}`, ""},
		{strings.Replace(options, "7,", "", 1), Model, "small", `"value":"small"`, ""},
		{strings.Replace(options, "7,", "", 1), Mode, "plan", `"configId":"mode"`, ""},
		{strings.Replace(options, "7,", "", 1), Mode, "old", "", `it has no mode "old": name one of plan`},
		{strings.Replace(options, "7,", "", 1), Model, "huge", "", `it has no model "huge": name one of big, small`},
		{lists, Model, "Big One", `"session/set_model","params":{"modelId":"big","sessionId":"s"}`, ""},
		{lists, Mode, "plan", `"session/set_mode"`, ""},
		{`{"sessionId":"s"}`, Model, "big", "", "it offers no model to choose"},
	} {
		var s Session
		if err := json.Unmarshal([]byte(tt.session), &s); err != nil {
			t.Fatal(err)
		}
		p := newPeer(t, &heard{})
		chosen := make(chan error, 1)
		go func() { chosen <- p.Choose(t.Context(), s, tt.what, tt.value) }()
		if tt.sent != "" {
			line, err := p.in.ReadString('\n')
			if err != nil || !strings.Contains(line, tt.sent) {
				t.Errorf("%s %s: %s, %v", tt.what, tt.value, line, err)
			}
			p.say(`{"id":1,"result":{}}`)
		}
		if err := <-chosen; (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(fmt.Sprint(err), tt.refused) {
			t.Errorf("%s %s: %v", tt.what, tt.value, err)
		}
	}
}
