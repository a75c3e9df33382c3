// A picture of what a document shows: its largest canvas, else its largest drawing, else all of it.

const MOST_ELEMENTS = 4000;

export async function capture(document: Document): Promise<string | null> {
  const canvas = largest(document.querySelectorAll('canvas'));
  if (canvas) return canvas.toDataURL('image/png');
  const svg = largest(document.querySelectorAll('svg'));
  const root = document.documentElement;
  // An icon is a drawing as well, and says nothing of the document around it.
  if (svg && area(svg) > (root.clientWidth * root.clientHeight) / 4) return drawn(serialised(dressed(svg)), svg);
  if (document.querySelectorAll('*').length > MOST_ELEMENTS) return null;
  const { clientWidth: width, clientHeight: height } = root;
  const inside = `<foreignObject width="100%" height="100%">${serialised(dressed(root))}</foreignObject>`;
  return drawn(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inside}</svg>`, root);
}

function largest<T extends Element>(all: Iterable<T>): T | undefined {
  const seen = [...all].filter((it) => area(it) > 0);
  return seen.toSorted((one, other) => area(other) - area(one))[0];
}

function area(element: Element): number {
  const { width, height } = element.getBoundingClientRect();
  return width * height;
}

/** A copy that looks the same without its style sheets. */
function dressed(element: Element): Element {
  const copy = element.cloneNode(true) as Element;
  const [from, to] = [
    [element, ...element.querySelectorAll('*')],
    [copy, ...copy.querySelectorAll('*')],
  ];
  from.forEach((each, index) => {
    const other = to[index] as HTMLElement;
    const style = getComputedStyle(each);
    for (const name of style) other.style?.setProperty(name, style.getPropertyValue(name));
    if (each instanceof HTMLInputElement) other.setAttribute('value', each.value);
    if (each instanceof HTMLTextAreaElement) other.textContent = each.value;
  });
  for (const unneeded of copy.querySelectorAll('script, style, link, iframe, noscript')) unneeded.remove();
  return copy;
}

function serialised(element: Element): string {
  return new XMLSerializer().serializeToString(element);
}

async function drawn(svg: string, like: Element): Promise<string> {
  const { width, height } = like.getBoundingClientRect();
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width);
  canvas.height = Math.ceil(Math.min(height, innerHeight || height));
  canvas.getContext('2d')!.drawImage(picture, 0, 0);
  return canvas.toDataURL('image/png');
}
