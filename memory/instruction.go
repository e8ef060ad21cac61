package memory

import (
	"regexp"
	"strings"
)

// orders are the phrases by which text that was recalled would steer an agent: what it does to its instructions, to its user, with its tools. Rules that
// people keep in a memory ("always run the tests") are not among them. Each is tried on lower-case text with its white space folded.
var orders = regexp.MustCompile(strings.Join([]string{
	// its instructions
	`\b(?:ignore|disregard|forget|override|bypass)\b(?: \S+){0,4}? (?:instructions?|prompts?|rules|guidelines|guardrails|directives|safety|everything above)\b`,
	`\b(?:ignoriere|vergiss)\b(?: \S+){0,4}? (?:anweisungen|regeln|anleitungen)\b`,
	`\bignor(?:a|e|ez)\b(?: \S+){0,4}? (?:instrucciones|instructions|instruções|istruzioni|reglas|consignes)\b`,
	`(?:忽略|无视|無視)[^。]{0,12}(?:指令|指示|提示|规则|規則|命令)`,
	`(?:以前|上記|これまで)の(?:指示|命令)[^。]{0,6}(?:無視|忘れ)`,
	`\b(?:new|updated|real|actual|hidden|secret) (?:system )?(?:instructions?|prompt|directives?) ?:`,
	`\byour (?:new|real|true|actual|only) (?:task|goal|job|instructions?|role|purpose|objective)\b`,
	`\b(?:reveal|print|repeat|leak|output|show)\b(?: \S+){0,3}? (?:system prompt|your (?:instructions|prompt))\b`,
	`\byou (?:are|will be) now\b`, `\bfrom now on,? you\b`, `\b(?:act|behave|pretend|respond) as (?:if you|a|an|though)\b`,
	`\b(?:developer|dan|jailbreak|god) mode\b`, `\bas an ai\b`,
	`(?:^|[\s>*"'(\[])(?:system|assistant|developer) ?(?:prompt|message|note|override|instructions?)? ?(?::|\]:?|>:?) `, `<\|?(?:im_start|system|assistant)\b`, `\[/?inst\]`, `\[system`,
	// itself
	`\byou (?:must|shall|should|need to|have to|are (?:required|ordered|instructed|authori[sz]ed|expected) to)\b`, `\b(?:ai|llm|language model|agent|assistant)s? (?:must|shall|should always|should never|is required to|are required to)\b`,
	`\b(?:dear|attention|note to|message to|instructions? (?:to|for)) (?:the |any |all )?(?:ai|llm|language model|agent|assistant|claude|codex|gemini|copilot|gpt)s?\b`,
	`\b(?:important|critical|urgent|mandatory) ?(?:instruction|directive|system)\b`,
	// its user
	`\b(?:do not|don't|never|without) (?:ever )?(?:tell|telling|inform|informing|mention(?:ing)?|alert(?:ing)?|notify(?:ing)?|ask|asking|warn(?:ing)?|reveal(?:ing)?)\b(?: \S+){0,3}? (?:user|human|person|owner|anyone|permission|confirmation|approval)\b`,
	`\bwithout (?:the )?(?:user'?s?|human) (?:knowledge|consent|approval|permission|confirmation)\b`, `\b(?:skip|bypass|disable|auto-?approve)\b(?: \S+){0,2}? (?:confirmations?|permissions?|approvals?|safety|sandbox)\b`,
	// its tools
	`\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]*\| ?(?:sudo )?(?:ba|z|da|)sh\b`, `\brm -rf? (?:~|/|\$home)(?:\s|$|/?\*)`,
	`\b(?:send|post|upload|email|forward|exfiltrate|transmit|copy)\b(?: \S+){0,8}? (?:to|at) (?:https?://|\S+@\S+\.\S+)`, `\bexfiltrat`,
	`\b(?:please )?(?:run|execute|call|invoke|use) the (?:following|below|attached|\S+) (?:command|script|code|tool)s?\b[^.]{0,40}\b(?:now|first|immediately|before|every|always|silently)\b`,
	`\b(?:immediately|silently|secretly) (?:run|execute|call|send|delete|install|download|push|commit)\b`,
}, "|"))

// Instructs reports whether recalled text reads like instructions to an agent. Such text is marked with its origin and ranks last; it is never left
// out, because what it says may still be true.
func Instructs(text string) bool {
	return orders.MatchString(strings.Join(strings.Fields(strings.ToLower(text)), " "))
}
