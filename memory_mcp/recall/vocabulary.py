"""Words of conversations that are about nothing a note could be about, in English and German, and
replies in Chinese.

All are in folded spelling once loaded, as the words of a message are.
"""

from __future__ import annotations

import re

from memory_mcp.core.fold import fold


def _folded(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


FILLERS = _folded(
    """
ok okay k yes yeah yep yup no nope sure thanks thank thx ty please pls go on ahead continue
proceed carry keep going next again great good nice fine cool perfect awesome excellent done
right correct exactly agreed well hello hi hey stop wait lgtm hm hmm oh ah right yay wow
understood alright kay lets let do it never mind leave stop undo revert redo retry shorter longer
morning evening night bye cheers haha lol funny joke sorry mistake tired
danke bitte ja jo nein klar gut super prima passt genau weiter mach machen los fertig
nochmal stimmt richtig hallo alles einverstanden vergiss lass rückgängig kürzer länger
guten morgen abend nacht tschüss witzig lustig witz entschuldigung müde vielen dank
sehr schön toll dankeschön gefällt nächste nächster nächstes nimm versuch nö
"""
)
"""Words with which people keep a conversation going."""
FAINT = _folded(
    """
tell remind know show say said mean think want need make get got give see look try use used using
thing things something anything everything really actually maybe also still please quick
remember like pass passes option variant version first second third one day long today
weißt weiß wissen solltest sollte sag sagen nenn nenne erzähl erzähle erinner erinnere zeig zeigen
meinst meine denkst brauche will
möchte kannst könntest mal eben halt doch gerne etwas sache sachen wirklich eigentlich
vielleicht erinnerst variante option erste zweite dritte tag langer lang heute geht grün war
"""
)
"""Words that say nothing about a subject, beside the stop words."""
ASKING = _folded(
    """
who whom whose what when where why how which is are was were do does did can could should
wer wem wen wessen was wann wo warum wieso weshalb wie welche welcher welches ist sind war
"""
)
REFERRING = _folded(
    """
it its they them their theirs he him his she her hers that those one ones there then same other
others another former latter else afterwards again
er ihn ihm sein seine seinen seiner ihr ihre ihrem ihren ihrer sie es deren dessen davon dafür
damit darin daran darauf darüber dazu dabei da dort dann den dem andere
anderen anderer anderes letztere derselbe dasselbe
"""
)
"""Words that stand for something said before."""
LEADING = _folded(
    """
and but or no so then also und aber oder nein also dann auch
"""
)
"""Words with which a message goes on from another one."""
INTERROGATIVE = _folded(
    "who whom whose what when where why how which wer wem wen wessen was wann wo warum wieso wie"
    " womit wofür welche welcher welches welchem welchen"
)
"""Words that ask wherever they stand."""
MEANT = _folded("mean meant meine meinte gemeint")
"""Words with which people correct what they asked."""
TELLING = _folded("tell remind sag nenn nenne erzähl erzähle erinner erinnere")
"""Verbs with which people ask to be told something."""
SPEAKING = _folded(
    "i i'm me my you your it this that ich bin mir mich mein meine du dir dich es das"
)
"""Words of a remark that words to look for do not have."""
PROGRAMS = _folded(
    """
git docker kubectl cd ls wc sed awk touch npm npx yarn pnpm pip pip3 uv cargo pytest python3
grep rg ps curl ssh scp sudo apt mkdir rm cp mv chmod df du htop systemctl journalctl tmux
docker-compose ansible-playbook
"""
)
"""With which a line for the shell begins."""
PLAIN = _folded(
    """
make go python node find cat tail head kill brew echo export source tar top vim nano terraform
"""
)
"""The same, where they are words of a sentence as well: an option or a path must follow."""

CONFIRMATIONS = re.compile(
    "(?:(?:好[的了吧啊]?|[请再]?继续|请|谢谢[你您]?|谢谢大家|多谢|感谢|辛苦了|嗯|哦|行[了吧]?|可以[了的]?"
    "|没问题|没事|没关系|明白了?|知道了|了解了?|收到|对[的了啊]?|是的?|不用了?|不是|不对|不要|不|停下?|算了"
    "|重试|再来一次|撤销|取消|再见|晚安|早上好|你好|您好|太好了|很好|不错|抱歉|对不起)[\\s，。！、,.!~～…]*){1,6}"
)
"""The same as the fillers where nothing parts the words: short replies in Chinese."""
SMALL_TALK = re.compile(
    r"how are you|how('s| is) it going|what can you do|who are you|what's up|why not"
    r"|wie geht|was kannst du|wer bist du|warum nicht|was geht",
    re.IGNORECASE,
)
"""Questions that ask nothing of a memory."""
