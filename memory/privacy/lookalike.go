package privacy

import (
	"sync"
	"unicode"
)

// lookalikes maps letters of other scripts to the small Latin letter that a reader takes them for.
var lookalikes = sync.OnceValue(func() map[rune]rune {
	set := map[rune]rune{}
	for latin, others := range map[rune]string{
		'a': "аαɑᴀ", 'b': "вьβʙƄ", 'c': "сϲᴄ", 'd': "ԁɗᴅ", 'e': "еεєҽᴇℯ", 'f': "ƒꜰϝ", 'g': "ɡցɢℊ", 'h': "һнհʜℎ",
		'i': "іιıɪ", 'j': "јϳᴊ", 'k': "кκᴋ",
		'l': "ӏⅼɩʟℓ", 'm': "мᴍⅿμ", 'n': "ոηɴпи", 'o': "оοօᴏσℴ", 'p': "рρᴘ", 'q': "ԛգ", 'r': "гʀᴦя", 's': "ѕꜱʂ",
		't': "тτᴛ", 'u': "υսᴜц", 'v': "ѵνᴠ", 'w': "ԝѡωᴡш",
		'x': "хχ", 'y': "уγʏү", 'z': "ʐᴢ",
	} {
		for _, r := range others {
			set[r] = latin
		}
	}
	return set
})

// lookalike returns the small Latin letter that r looks like or is a form of, r itself where there is none.
func lookalike(r rune) rune {
	switch {
	case 0x24b6 <= r && r <= 0x24e9: // in a circle
		return 'a' + (r-0x24b6)%26
	case 0x1d400 <= r && r <= 0x1d6a3: // mathematical letters: 13 alphabets in both cases
		return 'a' + (r-0x1d400)%26
	case 0x1f130 <= r && r <= 0x1f149: // in a square
		return 'a' + r - 0x1f130
	}
	if to, ok := lookalikes()[unicode.ToLower(r)]; ok {
		return to
	}
	return r
}
