// Finishes blocks that will not change any more: colours code, sets formulas, draws diagrams. What that takes is loaded when first needed.
import { words } from './words';

/** What each element that was finished had been made from. */
const origins = new WeakMap<Element, string>();
const LONGEST_CODE = 60_000;

/** Begins what there is to do in here; what fails stays as it was written, with the reason. */
export function finish(root: Element) {
  for (const element of root.querySelectorAll<HTMLElement>('[data-code], [data-formula]')) {
    if (origins.has(element)) continue;
    const { code, formula } = element.dataset;
    if (formula === 'display' || formula === 'inline') void setFormula(element, formula === 'display');
    else if (code === 'mermaid') void drawDiagram(element);
    else if (code) void colour(element, code);
  }
}

/** Whether an element was finished from the same source as this one has; undefined if it was not finished at all. */
export function isFinishedAs(old: Element, wanted: Element): boolean | undefined {
  const origin = origins.get(old);
  return origin === undefined ? undefined : origin === source(wanted);
}

function source(element: Element): string {
  const { code, formula } = (element as HTMLElement).dataset ?? {};
  return `${code ?? ''} ${formula ?? ''} ${element.querySelector('code')?.textContent ?? ''}`;
}

/** Takes an element over, unless it has become something else while we were loading. */
function take(element: Element, origin: string): boolean {
  if (source(element) !== origin || origins.has(element)) return false;
  origins.set(element, origin);
  return true;
}

async function colour(element: HTMLElement, language: string) {
  const origin = source(element);
  const code = element.querySelector('code');
  const text = code?.textContent ?? '';
  if (!code || text.length > LONGEST_CODE) return;
  // Without its colours code reads as well.
  const { highlighted } = await import('./highlight').catch(() => ({ highlighted: () => undefined }));
  const parts = highlighted(text, language);
  if (parts && take(element, origin)) code.replaceChildren(parts);
}

async function setFormula(element: HTMLElement, display: boolean) {
  const origin = source(element);
  const text = element.querySelector('code')?.textContent ?? '';
  try {
    const { set } = await import('./katex');
    const formula = set(text, display);
    if (!take(element, origin)) return;
    element.replaceChildren(formula);
    if (display) element.tabIndex = 0;
  } catch (error) {
    if (take(element, origin)) complain(element, words.chat.badFormula(reason(error)));
  }
}

async function drawDiagram(element: HTMLElement) {
  const origin = source(element);
  const text = element.querySelector('code')?.textContent ?? '';
  const pre = element.querySelector('pre');
  if (!pre) return;
  try {
    const { draw, onLook } = await import('./diagram');
    const picture = await draw(text);
    if (!take(element, origin)) return;
    picture.alt = words.chat.diagram;
    const details = document.createElement('details');
    const summary = document.createElement('summary');
    summary.textContent = words.chat.diagramSource;
    const holder = document.createElement('div');
    holder.dataset.diagram = '';
    holder.tabIndex = 0;
    holder.append(picture);
    pre.replaceWith(holder, details);
    details.append(summary, pre);
    onLook(picture, text);
  } catch (error) {
    if (take(element, origin)) complain(element, words.chat.badDiagram(reason(error)));
  }
}

function complain(element: HTMLElement, text: string) {
  const note = document.createElement(element.tagName === 'SPAN' ? 'small' : 'p');
  note.dataset.reason = '';
  note.textContent = text;
  element.append(note);
}

function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(/^KaTeX parse error: /, '')
    .split('\n')[0]!
    .slice(0, 160);
}
