package proxy

import (
	"cmp"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// notice returns the frame that tells the client, before the first prompt's response, what was inserted into that
// prompt; nil for none. Beside the questions of an asker it is the only frame that the relay makes itself.
func (e *env) notice(req session.Request) []byte {
	in := req.Injection
	if !e.o.Notice || in == nil || in.Kind != session.KindContext {
		return nil
	}
	if client := e.client.Load(); !client.notices || e.version2() {
		return nil
	}
	title, size := cmp.Or(memory.InWords(in.Items), "identity"), fmt.Sprintf("%d B", in.Bytes)
	if in.Bytes >= 1000 {
		size = fmt.Sprintf("%.1f KB", float64(in.Bytes)/1000)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{`+
		`"sessionUpdate":"notice","severity":"info","title":%s,"description":"Inserted by signet-acp-proxy."}}}`+"\n",
		quote(req.Session.ID()), quote(fmt.Sprintf("%s, %s", title, size)))
}
