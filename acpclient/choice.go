package acpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	acp "github.com/coder/acp-go-sdk"
)

// What can be chosen for a session.
const (
	Model = "model"
	Mode  = "mode"
)

// A choice is one of the values that something can have.
type choice struct{ id, name string }

// choices are listed one by one, or in groups; each is named as an option's value, a mode or a model.
type choices []choice

// UnmarshalJSON accepts them all; what is no such list offers nothing.
func (c *choices) UnmarshalJSON(text []byte) error {
	var all []struct {
		Value   string  `json:"value"`
		ID      string  `json:"id"`
		ModelID string  `json:"modelId"`
		Name    string  `json:"name"`
		Options choices `json:"options"`
	}
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	for _, one := range all {
		if id := cmp.Or(one.Value, one.ID, one.ModelID); id != "" {
			*c = append(*c, choice{id, one.Name})
		}
		*c = append(*c, one.Options...)
	}
	return nil
}

// An offer is what can be chosen, and the request that chooses it: the method, its parameters, and which of them is the
// value's.
type offer struct {
	values choices
	method string
	with   map[string]string
	value  string
}

// offers returns what the agent offers: its options or, of an older one, its lists of modes and models.
func (s Session) offers(what string) (all []offer) {
	for _, o := range s.Options {
		if (o.Category == what || o.ID == what) && len(o.Values) > 0 {
			with := map[string]string{"configId": o.ID}
			all = append(all, offer{o.Values, acp.AgentMethodSessionSetConfigOption, with, "value"})
		}
	}
	switch {
	case len(all) > 0:
		return all
	case what == Mode:
		return []offer{{s.Modes.Available, acp.AgentMethodSessionSetMode, map[string]string{}, "modeId"}}
	}
	return []offer{{s.Models.Available, "session/set_model", map[string]string{}, "modelId"}}
}

// Offered returns the id of the first that a session offers of what has one of some parts in its id or its name, in the
// order of the parts; "" for none.
func (s Session) Offered(what string, parts ...string) string {
	for _, part := range parts {
		for _, o := range s.offers(what) {
			for _, one := range o.values {
				if part != "" && strings.Contains(strings.ToLower(one.id+" "+one.name), strings.ToLower(part)) {
					return one.id
				}
			}
		}
	}
	return ""
}

// Choose sets the model or the mode of a session, by its id or its name. The error for one that the agent does not
// offer names those that it does.
func (c *Conn) Choose(ctx context.Context, s Session, what, value string) error {
	var offered []string
	for _, o := range s.offers(what) {
		for _, one := range o.values {
			if one.id == value || strings.EqualFold(one.name, value) {
				o.with["sessionId"], o.with[o.value] = s.ID, one.id
				return c.call(ctx, o.method, o.with, nil)
			}
			offered = append(offered, one.id)
		}
	}
	if len(offered) == 0 {
		return fmt.Errorf("it offers no %s to choose: leave %q out", what, value)
	}
	return fmt.Errorf("it has no %s %q: name one of %s", what, value, strings.Join(offered, ", "))
}
