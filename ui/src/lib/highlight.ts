// Colours code: loaded with the first block of code whose language is known.
import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/common';

/** The code in coloured pieces; nothing if nobody knows the language. */
export function highlighted(text: string, language: string): DocumentFragment | undefined {
  if (!hljs.getLanguage(language)) return undefined;
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  return DOMPurify.sanitize(value, { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: true });
}
