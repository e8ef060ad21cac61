package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Setting is one field of Config.
type Setting struct {
	Name    string
	Env     string // the variable that it is read from
	Default string // as it is written
	Help    string
	Enum    []string // the values that it may have; nil: any

	value reflect.Value
}

// Named finds a setting by its name.
func Named(name string) (Setting, bool) { return find(SettingsOf(&Config{}), name) }

// SettingsOf lists the settings of a section of the file, *Config or *AgentConfig, with their values.
func SettingsOf(section any) []Setting {
	var all []Setting
	v := reflect.ValueOf(section).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, ok := field.Tag.Lookup("yaml")
		if !ok || name == "-" {
			continue
		}
		s := Setting{Name: name, Env: variable(name), Default: field.Tag.Get("default"),
			Help: field.Tag.Get("help"), value: v.Field(i)}
		if enum := field.Tag.Get("enum"); enum != "" {
			s.Enum = strings.Split(enum, ",")
		}
		all = append(all, s)
	}
	return all
}

func settingNames(all []Setting) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

func find(all []Setting, name string) (Setting, bool) {
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return all[i], true
}

// set sets a value from text, as environment and flags have it; a list is separated by commas.
func (s Setting) set(text string) error {
	if on, err := parseBool(text); err == nil && slices.Contains(s.Enum, "on") { // it was true or false once
		text = "off"
		if on {
			text = "on"
		}
	}
	if s.Enum != nil && !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%s must be one of %s, not %q", s.Name, strings.Join(s.Enum, ", "), text)
	}
	kind := kinds[s.value.Type()]
	value, err := kind.read(text)
	switch {
	case err != nil && kind.must == "":
		return fmt.Errorf("%s: %w", s.Name, err)
	case err != nil:
		return fmt.Errorf("%s must be %s, not %q", s.Name, kind.must, text)
	}
	s.value.Set(reflect.ValueOf(value))
	return nil
}

// kinds are how a text is read for a setting of each type, and what it must be, "" where the error says it.
var kinds = map[reflect.Type]struct {
	must string
	read func(text string) (any, error)
}{
	reflect.TypeFor[string](): {"", func(text string) (any, error) { return text, nil }},
	reflect.TypeFor[[]string](): {"", func(text string) (any, error) {
		if text == "" {
			return []string(nil), nil // not a list of one empty text
		}
		return strings.Split(text, ","), nil
	}},
	reflect.TypeFor[bool](): {"true or false", func(text string) (any, error) { return parseBool(text) }},
	reflect.TypeFor[*bool](): {"true or false", func(text string) (any, error) { // nil is neither
		b, err := parseBool(text)
		return &b, err
	}},
	reflect.TypeFor[time.Duration](): {"a duration such as 1.5s, 15m or 30d", func(text string) (any, error) {
		return parseDuration(text)
	}},
	reflect.TypeFor[int](): {"a whole number", func(text string) (any, error) {
		n, err := strconv.ParseUint(text, 10, 31)
		return int(n), err
	}},
	reflect.TypeFor[byteSize](): {"a size such as 500MB or 2GB, or 0 for no limit", func(text string) (any, error) {
		return parseSize(text)
	}},
	reflect.TypeFor[commandLine](): {"", func(text string) (any, error) { return SplitCommand(text) }},
}

// parseBool also accepts on, off, yes and no, as YAML does.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "yes":
		return true, nil
	case "off", "no":
		return false, nil
	}
	return strconv.ParseBool(text)
}

// decode sets a value from the file.
func (s Setting) decode(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode && s.value.Kind() == reflect.Slice {
		if err := node.Decode(s.value.Addr().Interface()); err != nil {
			return fmt.Errorf("%s must be a list of texts", s.Name)
		}
		return nil
	}
	if node.Kind != yaml.ScalarNode {
		return fmt.Errorf("%s must be a single value", s.Name)
	}
	return s.set(node.Value)
}

// parseDuration is time.ParseDuration with days (d) and weeks (w), and without a sign.
func parseDuration(text string) (time.Duration, error) {
	for unit, hours := range map[string]uint64{"d": 24, "w": 7 * 24} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 12)
			return time.Duration(n*hours) * time.Hour, err
		}
	}
	d, err := time.ParseDuration(text)
	if d < 0 {
		return 0, errors.New("negative")
	}
	return d, err
}
