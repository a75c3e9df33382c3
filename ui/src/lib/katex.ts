// Sets formulas: loaded, with its fonts, when the first formula is complete.
import DOMPurify from 'dompurify';
import katex from 'katex';
import 'katex/dist/katex.min.css';

/** Throws, with the reason in its message, if this is no formula. */
export function set(formula: string, display: boolean): HTMLElement {
  const element = document.createElement('span');
  katex.render(formula, element, {
    displayMode: display,
    throwOnError: true,
    trust: false,
    strict: 'ignore',
    maxSize: 40,
    maxExpand: 500,
  });
  // Cleaned where it is: styles that scripts set may stay, while those in markup would be refused by the page's policy.
  DOMPurify.sanitize(element, {
    IN_PLACE: true,
    USE_PROFILES: { html: true, mathMl: true, svg: true },
    ADD_TAGS: ['semantics', 'annotation'],
    ADD_ATTR: ['encoding'],
    FORBID_TAGS: ['a', 'img', 'image', 'style', 'form', 'use'],
    FORBID_ATTR: ['id', 'name', 'href', 'src'],
  });
  return element;
}
