package delegation

// An Agent is an agent that can be asked, as tools and commands list it.
type Agent struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Capabilities []string `json:"capabilities"`
	Status       string   `json:"status"`             // set by Service.Agents
	Session      string   `json:"session,omitempty"`  // a live one, which keeps it busy
	Fix          string   `json:"fix,omitempty"`      // "": it can be started
	ByNpx        bool     `json:"-"`                  // but nobody has installed it
	Bounds       string   `json:"bounds"`             // what keeps it to its folder: BySystem and so on
	Commands     []string `json:"commands,omitempty"` // the slash commands that it advertised, set by Service.Agents
}
