package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// An UnknownSetting is the name of a setting that there is not.
type UnknownSetting struct{ Name, Hint string }

func (e UnknownSetting) Error() string { return fmt.Sprintf("unknown setting %q%s", e.Name, e.Hint) }

// Set returns the text of agent.yaml with a setting in its acp: section: hold, or agents.NAME.mcp. Every other byte
// stays. Errors: UnknownSetting; a value that the setting does not take; a text that cannot be edited safely, which a
// person has to change.
func Set(text []byte, name, value string) ([]byte, error) {
	keys, s, err := settingPath(name)
	if err != nil {
		return nil, err
	}
	if err := s.set(value); err != nil {
		return nil, err
	}
	literal, err := s.literal(value)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	edited, err := splice(text, &doc, keys, literal)
	if err != nil {
		return nil, err
	}
	var want any
	if is, ok := onlyDiffers(text, edited, keys); !ok || yaml.Unmarshal([]byte(literal), &want) != nil ||
		!reflect.DeepEqual(is, want) {
		return nil, errNotEditable
	}
	return edited, nil
}

// Unset returns the text of agent.yaml without a setting, which may be one that is gone. Every other byte stays. Errors
// are those of Set.
func Unset(text []byte, setting string) ([]byte, error) {
	keys, _, err := settingPath(setting)
	if _, gone := retired[setting]; gone {
		keys, err = []string{"acp", setting}, nil
	}
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return text, err
	}
	var name, value *yaml.Node
	at := doc.Content[0]
	for _, key := range keys {
		if name, value = member(at, key); name == nil {
			return text, nil
		}
		at = value
	}
	edited := slices.Concat(text[:lineStart(text, name.Line)], text[lineStart(text, lastLine(value)+1):])
	if _, ok := onlyDiffers(text, edited, keys); !ok {
		return nil, errNotEditable
	}
	return edited, nil
}

// take takes out of a document what the keys lead to, and what is empty then.
func take(document any, keys []string) (left, taken any) {
	all, ok := document.(map[string]any)
	if !ok {
		return document, nil
	}
	below := all[keys[0]]
	if taken = below; len(keys) > 1 {
		below, taken = take(below, keys[1:])
	}
	if len(keys) == 1 || below == nil {
		delete(all, keys[0])
	}
	if len(all) == 0 {
		return nil, taken
	}
	return all, taken
}

// lastLine is the line on which a value ends.
func lastLine(value *yaml.Node) int {
	last := value.Line
	for _, part := range value.Content {
		last = max(last, lastLine(part))
	}
	return last
}

var errNotEditable = errors.New("edit it yourself: its format is too unusual to change safely")

// settingPath returns the keys below which a setting stands in the file.
func settingPath(name string) ([]string, Setting, error) {
	section, prefix, keys, field := any(&Config{}), "", []string{"acp"}, name
	if rest, ok := strings.CutPrefix(name, "agents."); ok {
		agent, of, _ := strings.Cut(rest, ".")
		section, prefix, field = &AgentConfig{}, "agents."+agent+".", of
		keys = append(keys, "agents", agent)
	}
	all := SettingsOf(section)
	s, known := find(all, field)
	if instead, gone := retired[name]; gone {
		return nil, Setting{}, UnknownSetting{name, ": " + instead}
	}
	if !known {
		names := settingNames(all)
		for i := range names {
			names[i] = prefix + names[i]
		}
		return nil, Setting{}, UnknownSetting{name, DidYouMean(name, names)}
	}
	return append(keys, field), s, nil
}

// literal writes a value in YAML, on one line.
func (s Setting) literal(value string) (string, error) {
	if _, isTime := s.value.Interface().(time.Duration); isTime || s.Enum != nil || s.value.Kind() == reflect.Bool ||
		s.value.Kind() == reflect.Pointer {
		return value, nil
	}
	node := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if _, isList := s.value.Interface().([]string); isList {
		node = yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		if err := node.Encode(s.value.Interface()); err != nil {
			return "", err
		}
		node.Style = yaml.FlowStyle
	}
	text, err := yaml.Marshal(&node)
	if line := strings.TrimSpace(string(text)); !strings.Contains(line, "\n") {
		return line, err
	}
	return fmt.Sprintf("%q", value), err
}

// splice puts a value where the keys lead to, and makes what of them is missing.
func splice(text []byte, doc *yaml.Node, keys []string, literal string) ([]byte, error) {
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	if len(doc.Content) == 0 {
		return appendLines(text, lines(keys, literal, 0, newline), newline), nil
	}
	at := doc.Content[0]
	for depth, key := range keys {
		if at.Kind != yaml.MappingNode || at.Style&yaml.FlowStyle != 0 || len(at.Content) == 0 {
			return nil, errNotEditable
		}
		name, value := member(at, key)
		switch {
		case name == nil && depth == 0:
			return appendLines(text, lines(keys, literal, 0, newline), newline), nil
		case name == nil:
			first := at.Content[0]
			return insertLines(text, first.Line, lines(keys[depth:], literal, first.Column-1, newline)), nil
		case depth == len(keys)-1:
			return replaceValue(text, value, literal)
		case isEmpty(value) && value.Value == "":
			return insertLines(text, name.Line+1, lines(keys[depth+1:], literal, name.Column+1, newline)), nil
		}
		at = value
	}
	return nil, errNotEditable
}

// lines are the keys, each below the one before, and the value.
func lines(keys []string, literal string, indent int, newline string) string {
	var b strings.Builder
	for i, key := range keys {
		b.WriteString(strings.Repeat(" ", indent+2*i) + key + ":")
		if i == len(keys)-1 {
			b.WriteString(" " + literal)
		}
		b.WriteString(newline)
	}
	return b.String()
}

func appendLines(text []byte, more, newline string) []byte {
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		more = newline + more
	}
	return append(bytes.Clone(text), more...)
}

// insertLines puts lines before a line, which is counted from 1; one behind the last begins a new line.
func insertLines(text []byte, before int, more string) []byte {
	at := lineStart(text, before)
	if at > 0 && text[at-1] != '\n' {
		more = "\n" + more
	}
	return slices.Concat(text[:at], []byte(more), text[at:])
}

func lineStart(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}

// replaceValue replaces a value that stands on one line.
func replaceValue(text []byte, value *yaml.Node, literal string) ([]byte, error) {
	if value.Kind == yaml.AliasNode || value.Anchor != "" || value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 ||
		value.Kind != yaml.ScalarNode && value.Style&yaml.FlowStyle == 0 {
		return nil, errNotEditable
	}
	start := lineStart(text, value.Line)
	line, _, _ := bytes.Cut(text[start:], []byte("\n"))
	before := []rune(string(line))
	if value.Column-1 > len(before) {
		return nil, errNotEditable
	}
	from := start + len(string(before[:value.Column-1]))
	rest := strings.TrimSuffix(string(before[value.Column-1:]), "\r")
	if comment := value.LineComment; comment != "" {
		rest = strings.TrimSuffix(strings.TrimRight(rest, " \t"), comment)
	}
	if rest = strings.TrimRight(rest, " \t"); rest == "" && value.Value == "" {
		literal = " " + literal // "key:" without a value: its place is the colon's end
	}
	return slices.Concat(text[:from], []byte(literal), text[from+len(rest):]), nil
}

// onlyDiffers reports whether an edited text is the one before, but for what the keys lead to, and returns that.
func onlyDiffers(before, after []byte, keys []string) (value any, ok bool) {
	var was, is any
	if yaml.Unmarshal(before, &was) != nil || yaml.Unmarshal(after, &is) != nil {
		return nil, false
	}
	was, _ = take(was, keys)
	is, value = take(is, keys)
	return value, reflect.DeepEqual(was, is)
}
