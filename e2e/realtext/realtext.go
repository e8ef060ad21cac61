// Package realtext gives fuzz targets real text to begin with: source code, logs, conversations of a folder that CODING
// names. Nothing of it is in this repository, whose own corpora are small.
package realtext

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

const (
	most    = 200       // texts
	longest = 8 << 10   // bytes of one
	least   = 200       // bytes of a string in JSON that is a text
	perFile = 32 << 20  // bytes that are read of a file
	inAll   = 128 << 20 // bytes that are kept to choose from
)

// Seeds returns texts of the folder that CODING names, none without it: whole files, and of JSON the long strings in
// it.
func Seeds(f *testing.F) []string {
	f.Helper()
	folder := os.Getenv("CODING")
	if folder == "" {
		return nil
	}
	var all []string
	size := 0
	add := func(text string) {
		if text = chars.Cut(text, longest); size < inAll && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			all, size = append(all, text), size+len(text)
		}
	}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != folder && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		if ext := filepath.Ext(name); ext == ".json" || ext == ".jsonl" {
			strs(json.NewDecoder(io.LimitReader(in, perFile)), add)
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(in, longest))
		add(string(text))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	if len(all) == 0 {
		f.Fatalf("there is no text in %s", folder)
	}
	var chosen []string
	for i := range min(most, len(all)) {
		chosen = append(chosen, all[i*len(all)/min(most, len(all))])
	}
	return chosen
}

// strs returns the long strings of JSON, one value behind the other, up to what is none.
func strs(d *json.Decoder, add func(string)) {
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok && len(text) >= least {
			add(text)
		}
	}
}
