package embedded

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	maxTouches = 20_000 // of a project that are ranked, the newest
	maxTried   = 100    // of the best files that are looked for on the disk
	maxWhere   = 10     // files that a prompt is told
)

// recallWhere returns where work on a prompt may be, nothing where too little says so: files that earlier turns
// touched, most of all those that ranked, what was found for the prompt, bears on. They exist in the session's work
// tree, and the prompt does not name them.
func (s *Store) recallWhere(ctx context.Context, q *rank.Query, ranked []*rank.Passage, prompt string,
	session memory.Session) ([]memory.Place, error) {
	if session.Project == "" {
		return nil, nil
	}
	files, bears, err := s.rankFiles(ctx, q, ranked, memory.Project(session.Project))
	if err != nil {
		return nil, err
	}
	files = files[:min(len(files), maxTried)]
	items := make([]string, len(files))
	for i, f := range files {
		items[i] = memory.FileItem(f.Path)
	}
	records, err := correlation.Records(ctx, s.db, session.Project, items) // what became of them when they were told
	if err != nil {
		return nil, err
	}
	for i := range files {
		files[i].Score *= worth(records[items[i]])
	}
	slices.SortStableFunc(files, func(a, b rank.File) int { return cmp.Compare(b.Score, a.Score) })
	top := memory.Top(session.Cwd)
	var told []rank.File
	named := false // a file that earlier work touched: this goes on with it
	for _, f := range files {
		full := filepath.Join(top, filepath.FromSlash(f.Path))
		switch isNamed := names(prompt, f.Path); {
		case len(told) == maxWhere && !isNamed, !isFile(full), memory.Excluded(filepath.Dir(full), s.opts.Exclude):
		case isNamed:
			named = true
		default:
			told = append(told, f)
		}
	}
	if !named && !rank.FilesWorthTelling(bears, told) {
		return nil, nil
	}
	return s.placesFor(ctx, told, ranked)
}

// rankFiles ranks the files of a project for a prompt. It also returns how much the best turn bears on that.
func (s *Store) rankFiles(ctx context.Context, q *rank.Query, ranked []*rank.Passage, project string) (
	files []rank.File, bears float64, err error) {
	touches, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (t rank.Touch, err error) {
		var at int64
		err = row.Scan(&t.Session, &t.Turn, &t.Path, &t.Kind, &at)
		t.At = sqlite.Unstamp(at)
		return t, err
	}, `SELECT session, turn, path, kind, at FROM files WHERE project = ?
		ORDER BY turn DESC LIMIT ?`, project, maxTouches)
	if err != nil {
		return nil, 0, err
	}
	slices.Reverse(touches)
	files, bears = q.Files(touches, ranked)
	return files, bears, nil
}

// names reports whether a prompt names a file, by its path or the last element of it.
func names(prompt, file string) bool {
	name := path.Base(file)
	for {
		before, after, found := strings.Cut(prompt, name)
		if !found {
			return false
		}
		if strings.TrimRightFunc(before, isInName) == before && strings.IndexFunc(after, isInName) != 0 {
			return true
		}
		prompt = after
	}
}

// isInName reports whether a character may stand in the name of a file.
func isInName(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// placesFor puts the files of one session together, each session with what the user said of it.
func (s *Store) placesFor(ctx context.Context, files []rank.File, ranked []*rank.Passage) ([]memory.Place, error) {
	var places []memory.Place
	at := map[int64]int{} // by session
	sessions := map[int64]int64{}
	for _, f := range files {
		i, known := at[f.Session]
		if !known {
			i = len(places)
			at[f.Session], sessions[f.Session] = i, 0
			places = append(places, memory.Place{Date: f.At, Score: f.Score})
		}
		places[i].Paths = append(places[i].Paths, f.Path)
	}
	words, err := s.wordsOf(ctx, sessions, ranked)
	for session, i := range at {
		places[i].Words = words[session]
	}
	return places, err
}

// What a user said tells why files were touched where it
const (
	tellingWords = 24  // has so many bytes: more than "yes, go on",
	tellingShare = .15 // and that part of the prompt, for which it was found
)

// wordsOf returns what the user said in sessions that tells why files were touched: what bears most on the prompt, else
// what was said last until a turn of the session; 0: first.
func (s *Store) wordsOf(ctx context.Context, turns map[int64]int64, ranked []*rank.Passage) (map[int64]string, error) {
	best := map[int64]int64{}
	for _, p := range slices.Backward(ranked) {
		if _, wanted := turns[p.Thread]; wanted && p.ByUser && p.Size >= tellingWords && p.Own >= tellingShare {
			best[p.Thread] = p.ID
		}
	}
	words := map[int64]string{}
	for session, turn := range turns {
		text, err := sqlite.Optional[string](s.db.QueryRowContext(ctx, `SELECT content FROM passages
			WHERE id = ?1 OR ?1 = 0 AND thread = ?2 AND who = 'typed'
			ORDER BY octet_length(content) >= ?4 AND (?3 = 0 OR turn <= ?3) DESC, turn > ?3, abs(turn - ?3), position
			LIMIT 1`, best[session], session, turn, tellingWords))
		if err != nil {
			return nil, err
		}
		words[session] = text
	}
	return words, nil
}
