package install

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	toldLimit     = 5 * time.Second // to look for what an agent would be told
	conversations = 10              // that are looked at, the newest
	memoriesShown = 3
)

// Told shows what an agent would be told now, if somebody began again with words that began a conversation on record.
func (s Steps) Told(ctx context.Context) error {
	const none = "no conversations yet. Later, signet-acp-proxy preview --prompt TEXT shows " +
		"what an agent recalls"
	if _, err := os.Stat(s.Config.DB); errors.Is(err, fs.ErrNotExist) {
		s.skip(none)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, toldLimit)
	defer cancel()
	d, err := runtime.OpenData(ctx, s.Config, s.Std)
	if err != nil {
		return err
	}
	defer d.Close()
	asked, found, err := recalled(ctx, d)
	switch {
	case err != nil:
		s.skip("cannot show an example of recall: %v; see signet-acp-proxy doctor", err)
	case asked.Prompt == "":
		s.skip(none)
	case found.Nothing != "":
		s.skip("an agent would recall nothing: %s", found.Nothing)
	case len(found.Items) == 0:
		s.skip("no recall from the newest conversations; signet-acp-proxy preview --prompt TEXT looks " +
			"for more")
	default:
		s.done("for %q in %s, an agent would recall:", inLine(asked.Prompt, 100), memory.HomeShort(asked.Cwd))
		for _, it := range found.Items[:min(memoriesShown, len(found.Items))] {
			s.line(" ", "%s", inLine(it.Content, 200))
		}
	}
	return nil
}

// recalled returns the newest beginning of a conversation that recalls something, and what.
func recalled(ctx context.Context, d *runtime.Data) (q runtime.PreviewQuery, found runtime.Preview, err error) {
	sessions, err := d.Sessions.Book().Sessions(ctx, conversations)
	if err != nil {
		return q, found, err
	}
	var in correlation.Scope
	for _, one := range sessions {
		in.Sessions = append(in.Sessions, one.ID)
	}
	words, err := d.Sessions.Book().FirstWords(ctx, in)
	for _, one := range sessions {
		if err != nil || words[one.ID] == "" {
			continue
		}
		q = runtime.PreviewQuery{Prompt: words[one.ID], Cwd: one.Cwd}
		if found, err = d.Preview(ctx, q); len(found.Items) > 0 {
			break
		}
	}
	return q, found, err
}

// inLine is text on one line, cut to a width.
func inLine(text string, width int) string {
	return term.Cut(chars.OneLine(text), width)
}
