package acpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// What can be chosen for a session.
const (
	Model = "model"
	Mode  = "mode"
)

// A Choice is one of the values that something can have.
type Choice struct {
	ID   string `json:"value"`
	Name string `json:"name"`
}

// An Option is something that can be chosen, as agents offer it now; older ones have lists of modes and models.
type Option struct {
	ID       string  `json:"id"`
	Category string  `json:"category"`
	Values   Choices `json:"options"`
}

// Choices are listed one by one, or in groups.
type Choices []Choice

// UnmarshalJSON accepts both; what is neither offers nothing.
func (c *Choices) UnmarshalJSON(text []byte) error {
	var all []struct {
		Choice
		Options []Choice `json:"options"`
	}
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	for _, one := range all {
		if one.ID != "" {
			*c = append(*c, one.Choice)
		}
		*c = append(*c, one.Options...)
	}
	return nil
}

// Choose sets the model or the mode of a session, by its id or its name. The error for one that the agent does not
// offer names those that it does.
func (c *Conn) Choose(ctx context.Context, s Session, what, value string) error {
	var offered []string
	find := func(all []Choice) string {
		for _, one := range all {
			if one.ID == value || strings.EqualFold(one.Name, value) {
				return one.ID
			}
			offered = append(offered, one.ID)
		}
		return ""
	}
	for _, o := range s.Options {
		if o.Category != what && o.ID != what {
			continue
		}
		if id := find(o.Values); id != "" {
			return c.Call(ctx, "session/set_config_option", map[string]string{"sessionId": s.ID, "configId": o.ID,
				"value": id}, nil)
		}
	}
	if len(offered) == 0 && what == Mode {
		var all []Choice
		for _, m := range s.Modes.Available {
			all = append(all, Choice{m.ID, m.Name})
		}
		if id := find(all); id != "" {
			return c.SetMode(ctx, s.ID, id)
		}
	}
	if len(offered) == 0 && what == Model {
		var all []Choice
		for _, m := range s.Models.Available {
			all = append(all, Choice{m.ID, m.Name})
		}
		if id := find(all); id != "" {
			return c.Call(ctx, "session/set_model", map[string]string{"sessionId": s.ID,
				"modelId": id}, nil)
		}
	}
	if len(offered) == 0 {
		return fmt.Errorf("it offers no %s to choose: leave %q out", what, value)
	}
	return fmt.Errorf("it has no %s %q: name one of %s", what, value, strings.Join(offered, ", "))
}
