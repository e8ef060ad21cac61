package backfill

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// editors are VS Code and what is made of it, by the names of the folders in which they keep what they write.
var editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"}

// editor returns a folder below an editor's "User".
func (p Place) editor(name string, under ...string) string {
	return filepath.Join(append([]string{p.config(runtime.GOOS), name, "User"}, under...)...)
}

// allEditors returns that of each editor.
func (p Place) allEditors(under ...string) (all []string) {
	for _, name := range editors {
		all = append(all, p.editor(name, under...))
	}
	return all
}

// config is where programs with windows keep their settings.
func (p Place) config(system string) string {
	switch system {
	case "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		return p.env("APPDATA", "AppData", "Roaming")
	}
	return p.env("XDG_CONFIG_HOME", ".config")
}

// data is where other programs keep what they write.
func (p Place) data(under ...string) string {
	return filepath.Join(append([]string{p.env("XDG_DATA_HOME", ".local", "share")}, under...)...)
}

// workspaceFolder returns the folder that a window had open, of whose storage this is; "" for none, or several.
func workspaceFolder(storage string) string {
	var window struct {
		Folder string `json:"folder"`
	}
	_ = readJSON(filepath.Join(storage, "workspace.json"), &window) // without it no folder is known
	return pathOf(window.Folder)
}

// pathOf returns the path of a file's URL, "" for any other.
func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' { // /C:/…
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}
