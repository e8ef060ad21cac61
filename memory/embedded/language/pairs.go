package language

import (
	"strings"
	"unicode"
)

// pairs returns the overlapping pairs of characters of a run of a script without spaces. Pairs in Hiragana, in which
// Japanese writes its endings, and stop pairs are left out.
func pairs(run string) []string {
	runes := []rune(run)
	if len(runes) == 1 {
		if !unicode.Is(unicode.Han, runes[0]) { // a particle
			return nil
		}
		return []string{run}
	}
	list := make([]string, 0, len(runes)-1)
	for i := range len(runes) - 1 {
		if pair := string(runes[i : i+2]); !isEnding(pair) && !unspacedStop()[pair] {
			list = append(list, pair)
		}
	}
	return list
}

func isEnding(pair string) bool {
	return strings.IndexFunc(pair, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) < 0
}

// unspacedStop are the pairs of characters that only ask or say nothing, in Chinese, Japanese, Korean and Thai: the
// stop words of these languages.
var unspacedStop = WordSet(`
	我们 你们 他们 现在 什么 怎么 怎样 如何 哪个 哪些 哪里 为什 为何 还是 多久 多少 几个 几次 可以 应该 请问 时候 一个 这个 那个 没有 做了 了什 查了 是什 们的 的是
	么时 在哪 是谁 有什
何を 何が 誰が どこ です ます でし まし した ない する して いる から まで
무엇 언제 누가 어떻 떻게 우리 입니 니다 인가 가요 무슨 어떤 얼마 있나 나요 뭐야 습니 합니 했습
คือ ของ ที่ และ ใน เรา ไหน อะไ ะไร ไหม ครั คะ`)
