// Changes an element's content into other HTML and leaves alone what is equal, so selections and scroll positions survive.
import { finish, isFinishedAs } from './finish';

/** An attachment that keeps an element showing this HTML, which must be safe already; what is finished is set, drawn and coloured. */
export function showing(html: string, finished = false) {
  return (element: Element) => {
    const template = document.createElement('template');
    template.innerHTML = html;
    alignChildren(element, template.content);
    if (finished) finish(element);
  };
}

function alignChildren(target: Node, wanted: Node) {
  const present = [...target.childNodes];
  const desired = [...wanted.childNodes];
  desired.forEach((node, at) => {
    const old = present[at];
    if (!old) target.appendChild(node);
    else if (old.nodeName !== node.nodeName) target.replaceChild(node, old);
    else align(old, node);
  });
  for (const extra of present.slice(desired.length)) extra.remove();
}

function align(old: ChildNode, node: ChildNode) {
  if (old instanceof Element && node instanceof Element) {
    const same = isFinishedAs(old, node);
    if (same) return;
    // What has been drawn into is no longer comparable piece by piece.
    if (same === false) return old.replaceWith(node);
    for (const { name } of [...old.attributes]) if (!node.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of [...node.attributes])
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    alignChildren(old, node);
  } else if (old instanceof CharacterData && node instanceof CharacterData && old.data !== node.data) {
    // Growing text is appended to, which keeps a selection inside it.
    if (node.data.startsWith(old.data)) old.appendData(node.data.slice(old.length));
    else old.data = node.data;
  }
}
