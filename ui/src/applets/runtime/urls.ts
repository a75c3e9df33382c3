// Carries requests for `/api/…` to where the frame may make them, however an applet writes them.

/** Where everything of this frame lies: `/f/<ticket>/`. */
export type Base = string;

const NAMES = ['src', 'href', 'srcset', 'poster', 'action', 'formaction', 'data'];

/** The address under which a frame finds what an applet calls `/api/…`; any other stays as it is. */
export function carried(address: string, base: Base, origin: string): string {
  const path = address.startsWith(`${origin}/`) ? address.slice(origin.length) : address.trimStart();
  return path === '/api' || path.startsWith('/api/') ? base + path.slice(1) : address;
}

/** Every address in a list like that of `srcset`, or in the `url(…)` of a style. */
function carriedSet(list: string, base: Base, origin: string): string {
  return list.replace(/(^|,\s*)(\S+)/g, (_, before: string, address: string) => before + carried(address, base, origin));
}

function carriedStyle(style: string, base: Base): string {
  return style.replace(/(url\(\s*['"]?)\/api\//g, `$1${base}api/`);
}

export function wrap(base: Base) {
  const { origin } = location;
  const carry = (address: string) => carried(address, base, origin);
  wrapRequests(carry);
  const of = (name: string, value: string) => {
    if (name === 'srcset') return carriedSet(value, base, origin);
    return name === 'style' ? carriedStyle(value, base) : carry(value);
  };
  wrapProperties(of);
  wrapAudio();
  wrapAttributes(of);
  wrapHtml((root) => mend(root, of));
  watch(of);
}

function wrapRequests(carry: (address: string) => string) {
  const { fetch } = window;
  window.fetch = (input, init) => {
    const from = input instanceof Request ? input.url : String(input);
    const to = carry(from);
    if (to === from) return fetch(input, init);
    // To whoever is of no origin every other is foreign, and its ticket is all that counts there.
    const foreign: RequestInit = { ...init, mode: 'cors', credentials: 'omit' };
    return input instanceof Request ? fetch(new Request(to, input), foreign) : fetch(to, foreign);
  };
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (this: XMLHttpRequest, method: string, url: string | URL, ...rest: unknown[]) {
    return (open as (...all: unknown[]) => void).call(this, method, carry(String(url)), ...rest);
  } as typeof open;
}

type Carry = (name: string, value: string) => string;

function wrapProperties(of: Carry) {
  const owners: [object, string[]][] = [
    [HTMLImageElement.prototype, ['src', 'srcset']],
    [HTMLMediaElement.prototype, ['src']],
    [HTMLVideoElement.prototype, ['poster']],
    [HTMLSourceElement.prototype, ['src', 'srcset']],
    [HTMLTrackElement.prototype, ['src']],
    [HTMLScriptElement.prototype, ['src']],
    [HTMLLinkElement.prototype, ['href']],
    [HTMLAnchorElement.prototype, ['href']],
    [HTMLInputElement.prototype, ['src']],
    [HTMLEmbedElement.prototype, ['src']],
    [HTMLObjectElement.prototype, ['data']],
    [HTMLFormElement.prototype, ['action']],
  ];
  for (const [owner, names] of owners) for (const name of names) intercept(owner, name, (value) => of(name, value));
}

/** The one element that is made with an address and never had it set. */
function wrapAudio() {
  window.Audio = function (src?: string) {
    const audio = document.createElement('audio');
    audio.preload = 'auto';
    if (src !== undefined) audio.src = src;
    return audio;
  } as unknown as typeof Audio;
}

function intercept(owner: object, name: string, change: (value: string) => string) {
  const property = Object.getOwnPropertyDescriptor(owner, name);
  if (!property?.set) return;
  const { set } = property;
  Object.defineProperty(owner, name, {
    ...property,
    set(this: unknown, value: unknown) {
      set.call(this, change(String(value)));
    },
  });
}

function wrapAttributes(of: Carry) {
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    const lower = String(name).toLowerCase();
    const known = NAMES.includes(lower) || lower === 'style';
    setAttribute.call(this, name, known ? of(lower, String(value)) : value);
  };
}

/** Text that becomes elements is first looked at where nothing loads. */
function wrapHtml(mend: (root: ParentNode) => void) {
  const mended = (html: string) => {
    if (!html.includes('/api/')) return html;
    const inert = document.createElement('template');
    native.call(inert, html);
    mend(inert.content);
    return inert.innerHTML;
  };
  const native = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')!.set!;
  intercept(Element.prototype, 'innerHTML', mended);
  intercept(ShadowRoot.prototype, 'innerHTML', mended);
  intercept(Element.prototype, 'outerHTML', mended);
  const { insertAdjacentHTML } = Element.prototype;
  Element.prototype.insertAdjacentHTML = function (where, html) {
    insertAdjacentHTML.call(this, where, mended(String(html)));
  };
  const { createContextualFragment } = Range.prototype;
  Range.prototype.createContextualFragment = function (html) {
    return createContextualFragment.call(this, mended(String(html)));
  };
}

function mend(root: ParentNode, of: Carry) {
  const found = root.querySelectorAll([...NAMES, 'style'].map((name) => `[${name}*="/api/"]`).join(','));
  for (const element of found) mendOne(element, of);
}

function mendOne(element: Element, of: Carry) {
  for (const name of [...NAMES, 'style']) {
    const value = element.getAttribute(name);
    if (value === null) continue;
    const to = of(name, value);
    if (to !== value) element.setAttribute(name, to);
  }
}

/** Whatever came another way is asked for twice, the second time in the right place. */
function watch(of: Carry) {
  const observer = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'attributes') mendOne(target as Element, of);
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        mendOne(node, of);
        mend(node, of);
      }
    }
  });
  const attributeFilter = [...NAMES, 'style'];
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter });
}
