package signet

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// ownership is how the reply to a hook says that another integration owns the session.
type ownership struct {
	Bypassed, Skipped, DuplicateRuntimePath bool
	ClaimedBy                               string
}

func (o ownership) err() error {
	switch {
	case o.Bypassed:
		return memory.ErrBypassed
	case o.DuplicateRuntimePath:
		return fmt.Errorf("%w: claimed by the %s path", memory.ErrOwned, chars.Cut(o.ClaimedBy, 32))
	case o.Skipped:
		return fmt.Errorf("%w: skipped", memory.ErrOwned)
	}
	return nil
}

// notifications are the messages that other agents have sent to this one. A newer daemon adds them to the replies of
// its hooks, each time until they are acknowledged; an older one has them in its inbox alone (inbox).
type notifications struct {
	Notifications json.RawMessage // decoded apart, so that an odd message does not spoil the reply
}

const (
	messagePrefix = "message:"  // before a message's id, which stands among the ids of memories
	guidance      = "guidance:" // before the time of a compaction, as the id of what the daemon says about it
	maxMessages   = 8           // that a session is told at once
	maxMessage    = 2 << 10     // bytes of one; the daemon cuts at 1,800 characters
)

// messages returns them as recalled notes, because they are somebody else's words.
func (n notifications) messages() (all []memory.Item) {
	var sent struct {
		Items []struct{ ID, FromAgentID, Type, Content, CreatedAt string }
	}
	if json.Unmarshal(n.Notifications, &sent) != nil {
		return nil
	}
	for _, m := range sent.Items {
		text := chars.Cut(newlines(m.Content), maxMessage)
		if m.ID == "" || strings.TrimSpace(text) == "" || len(all) == maxMessages {
			continue
		}
		from := "agent " + chars.Cut(chars.OneLine(m.FromAgentID), 64)
		what := "Message from " + from
		if kind := chars.Cut(chars.OneLine(m.Type), 32); kind != "" {
			what += " (" + strings.ReplaceAll(kind, "_", " ") + ")"
		}
		all = append(all, memory.Item{ID: messagePrefix + chars.Cut(m.ID, 128), Text: what + ": " + text, Origin: from,
			Date: parseDate(m.CreatedAt)})
	}
	return all
}

// messagesHeading begins the messages in a daemon's text.
const messagesHeading = "## Cross-agent notifications"

// cutMessages removes the messages from a daemon's text, because they are items already: all from the last such heading
// on, if an id of them stands there. A file can forge the heading, but not the id.
func cutMessages(s string, messages []memory.Item) string {
	at := strings.LastIndex("\n"+s, "\n"+messagesHeading)
	if at < 0 || len(messages) == 0 || !strings.Contains(s[at:], strings.TrimPrefix(messages[0].ID, messagePrefix)) {
		return s
	}
	return s[:at]
}

// IsMessage reports whether an item of a context came as one of Client.Messages, by the item's id.
func IsMessage(id string) bool {
	return strings.HasPrefix(id, messagePrefix) || strings.HasPrefix(id, guidance)
}
