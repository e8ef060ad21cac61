package memory

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// instructionPatterns are phrases of prompt injections: text that would make an agent drop its instructions, deceive
// its user or misuse its tools. Rules that people keep in a memory ("always run the tests") are not among them. A
// pattern is tried on text in lower case with white space folded, and only where one of its cues occurs, which is
// cheaper to find.
var instructionPatterns = []struct {
	cues []string
	re   pattern.Pattern
}{
	// Other instructions than the agent's own.
	{[]string{"ignor", "disregard", "forget", "overrid", "bypass"},
		pattern.New(`\b(?:ignore|disregard|forget|override|bypass)\b(?: \S+){0,4}? (?:instructions?|prompts?|rules|guidelines|guardrails|directives|safety|everything above)\b`)},
	{[]string{"ignoriere", "vergiss"},
		pattern.New(`\b(?:ignoriere|vergiss)\b(?: \S+){0,4}? (?:anweisungen|regeln|anleitungen)\b`)},
	{[]string{"ignora", "ignore"},
		pattern.New(`\bignor(?:a|e|ez)\b(?: \S+){0,4}? (?:instrucciones|instructions|instruções|istruzioni|reglas|consignes)\b`)},
	{[]string{"忽略", "无视", "無視"}, pattern.New(`(?:忽略|无视|無視)[^。]{0,12}(?:指令|指示|提示|规则|規則|命令)|(?:指示|命令)[^。]{0,6}無視`)},
	{[]string{"instruction", "prompt", "directive"},
		pattern.New(`\b(?:new|updated|real|actual|hidden|secret) (?:system )?(?:instructions?|prompt|directives?) ?:`)},
	{[]string{"your "}, pattern.New(`\byour (?:new|real|true|actual|only) (?:task|goal|job|instructions?|role|purpose|objective)\b`)},
	{[]string{"system prompt", "your instructions", "your prompt"},
		pattern.New(`\b(?:reveal|print|repeat|leak|output|show)\b(?: \S+){0,3}? (?:system prompt|your (?:instructions|prompt))\b`)},
	{[]string{"you are now", "you will be now", "from now on", "as an ai"},
		pattern.New(`\byou (?:are|will be) now\b|\bfrom now on,? you\b|\bas an ai\b`)},
	{[]string{"act", "behave", "pretend", "respond"},
		pattern.New(`\b(?:act|behave|pretend|respond) as (?:if you|a|an|though)\b`)},
	{[]string{" mode"}, pattern.New(`\b(?:developer|dan|jailbreak|god) mode\b`)},
	{[]string{"system", "assistant", "developer"},
		pattern.New(`(?:^|[\s>*"'(\[])(?:system|assistant|developer) ?(?:prompt|message|note|override|instructions?)? ?(?::|\]:?|>:?) |<\|?(?:im_start|system|assistant)\b|\[system`)},
	{[]string{"<|im_start", "[inst]", "[/inst]"}, pattern.New(`<\|im_start|\[/?inst\]`)},
	// Orders to an agent as such.
	{[]string{"you "}, pattern.New(`\byou (?:must|shall|should|need to|have to|are (?:required|ordered|instructed|authori[sz]ed|expected) to)\b`)},
	{[]string{"must", "shall", "should", "required"},
		pattern.New(`\b(?:ai|llm|language model|agent|assistant)s? (?:must|shall|should always|should never|is required to|are required to)\b`)},
	{[]string{"dear", "attention", "note", "message", "instruction"},
		pattern.New(`\b(?:dear|attention|note to|message to|instructions? (?:to|for)) (?:the |any |all )?(?:ai|llm|language model|agent|assistant|claude|codex|gemini|copilot|gpt)s?\b`)},
	{[]string{"important", "critical", "urgent", "mandatory"},
		pattern.New(`\b(?:important|critical|urgent|mandatory) ?(?:instruction|directive|system)\b`)},
	// Behind the user's back.
	{[]string{"not", "n't", "never", "without"},
		pattern.New(`\b(?:do not|don't|never|without) (?:ever )?(?:tell|inform|mention|alert|notify|ask|warn|reveal)(?:ing)?\b(?: \S+){0,3}? (?:user|human|person|owner|anyone|permission|confirmation|approval)\b`)},
	{[]string{"without"}, pattern.New(`\bwithout (?:the )?(?:user'?s?|human) (?:knowledge|consent|approval|permission|confirmation)\b`)},
	{[]string{"skip", "bypass", "disable", "approve"},
		pattern.New(`\b(?:skip|bypass|disable|auto-?approve)\b(?: \S+){0,2}? (?:confirmations?|permissions?|approvals?|safety|sandbox)\b`)},
	// Use of tools that does damage or sends data away.
	{[]string{"curl", "wget", "iwr", "invoke-webrequest"},
		pattern.New(`\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]*\| ?(?:sudo )?(?:ba|z|da|)sh\b`)},
	{[]string{"rm -r"}, pattern.New(`\brm -rf? (?:~|/|\$home)(?:\s|$|/?\*)`)},
	{[]string{"send", "post", "upload", "email", "forward", "transmit", "copy"},
		pattern.New(`\b(?:send|post|upload|email|forward|transmit|copy)\b(?: \S+){0,8}? (?:to|at) (?:https?://|\S+@\S+\.\S+)`)},
	{[]string{"exfiltrat"}, pattern.New(`\bexfiltrat`)},
	{[]string{"run", "execute", "call", "invoke", "use"},
		pattern.New(`\b(?:run|execute|call|invoke|use) the (?:following|below|attached|\S+) (?:command|script|code|tool)s?\b[^.]{0,40}\b(?:now|first|immediately|before|every|always|silently)\b`)},
	{[]string{"immediately", "silently", "secretly"},
		pattern.New(`\b(?:immediately|silently|secretly) (?:run|execute|call|send|delete|install|download|push|commit)\b`)},
}

// instructs reports whether recalled text reads like instructions to an agent. Such text is marked with its origin and
// ranks last; it is never left out, because what it says may still be true.
func instructs(text string) bool {
	text = chars.OneLine(strings.ToLower(text))
	for _, o := range instructionPatterns {
		if slices.ContainsFunc(o.cues, func(c string) bool { return strings.Contains(text, c) }) &&
			o.re().MatchString(text) {
			return true
		}
	}
	return false
}
