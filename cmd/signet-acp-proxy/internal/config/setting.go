package config

import (
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
func Named(name string) (Setting, bool) { return settingNamed(&Config{}, name) }

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
		s := Setting{Name: name, Env: "SIGNET_ACP_" + strings.ToUpper(name), Default: field.Tag.Get("default"),
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

func settingNamed(c *Config, name string) (Setting, bool) {
	for _, s := range SettingsOf(c) {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// set sets a value from text, as environment and flags have it; a list is separated by commas.
func (s Setting) set(text string) error {
	if on, err := parseBool(text); err == nil && slices.Contains(s.Enum, "on") { // it was true or false once
		text = map[bool]string{true: "on", false: "off"}[on]
	}
	if s.Enum != nil && !slices.Contains(s.Enum, text) {
		return fmt.Errorf("%s must be one of %s, not %q", s.Name, strings.Join(s.Enum, ", "), text)
	}
	switch s.value.Interface().(type) {
	case string:
		s.value.SetString(text)
	case []string:
		s.value.Set(reflect.ValueOf(strings.Split(text, ",")))
	case bool, *bool:
		b, err := parseBool(text)
		if err != nil {
			return fmt.Errorf("%s must be true or false, not %q", s.Name, text)
		}
		if s.value.Kind() == reflect.Pointer { // nil is neither
			s.value.Set(reflect.ValueOf(&b))
		} else {
			s.value.SetBool(b)
		}
	case time.Duration:
		d, err := parseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%s must be a duration such as 1.5s, 15m or 30d, not %q", s.Name, text)
		}
		s.value.SetInt(int64(d))
	case Size:
		size, err := parseSize(text)
		if err != nil {
			return fmt.Errorf("%s must be a size such as 500MB or 2GB, or 0 for no limit, not %q", s.Name, text)
		}
		s.value.SetInt(int64(size))
	case CommandLine:
		words, err := SplitCommand(text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		s.value.Set(reflect.ValueOf(words))
	}
	return nil
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

// parseDuration is time.ParseDuration with days (d) and weeks (w).
func parseDuration(text string) (time.Duration, error) {
	for unit, hours := range map[string]uint64{"d": 24, "w": 7 * 24} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseUint(number, 10, 12)
			return time.Duration(n*hours) * time.Hour, err
		}
	}
	return time.ParseDuration(text)
}
