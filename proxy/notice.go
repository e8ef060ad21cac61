package proxy

import (
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// takesNotices reports whether a client asks for notices in its initialize request.
func takesNotices(line []byte) bool {
	at, ok := frame.Find(line, "params", "clientCapabilities", "session", "notices")
	return ok && line[at.Start] == '{'
}

// notice is the frame that tells the client what the first prompt got, before the prompt's response; nil: nothing is to
// be told. It is the only frame of our own.
func (e *env) notice(req session.Request) []byte {
	in := req.Injection
	if !e.o.Notice || in == nil || req.Method != methodPrompt || in.Kind != session.KindContext {
		return nil
	}
	takes := false
	e.table.Update(func(c *session.Connection) { takes = c.TakesNotices && !e.second.Load() })
	if !takes {
		return nil
	}
	title := "identity"
	switch n := len(in.Items); n {
	case 0:
	case 1:
		title = "1 memory"
	default:
		title = fmt.Sprintf("%d memories", n)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{`+
		`"sessionUpdate":"notice","severity":"info","title":%s,"description":"Inserted by signet-acp-proxy."}}}`+"\n",
		quote(req.Session.ID), quote(fmt.Sprintf("%s, %s", title, size(in.Bytes))))
}

func size(bytes int) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f KB", float64(bytes)/1000)
}
