// Inside the frame apart: draws one diagram after the other and gives back pictures.
import mermaid from 'mermaid';
import { words } from '../lib/words';

/** The colours of the page, so that a diagram belongs to it. */
export interface Look {
  paper: string;
  fill: string;
  line: string;
  ink: string;
  soft: string;
  wash: string;
  ember: string;
  font: string;
}

export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

export type Draw = (source: string, look: Look) => Promise<Drawing>;

let drawings = 0;

const draw: Draw = async (source, look) => {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    fontFamily: look.font,
    theme: 'base',
    themeVariables: {
      fontFamily: look.font,
      fontSize: '15px',
      background: look.paper,
      primaryColor: look.fill,
      primaryTextColor: look.ink,
      primaryBorderColor: look.line,
      secondaryColor: look.wash,
      tertiaryColor: look.paper,
      lineColor: look.soft,
      textColor: look.ink,
      edgeLabelBackground: look.paper,
      noteBkgColor: look.wash,
      noteTextColor: look.ink,
      noteBorderColor: look.ember,
    },
  });
  const { svg } = await mermaid.render(`drawing${(drawings += 1)}`, source);
  return measured(svg);
};

/** As a picture it needs a size of its own, and must be well-formed. */
function measured(svg: string): Drawing {
  const holder = document.createElement('div');
  holder.innerHTML = svg;
  const element = holder.querySelector('svg');
  if (!element) throw new Error(words.chat.nothingDrawn);
  const { width, height } = element.viewBox.baseVal;
  element.setAttribute('width', String(width));
  element.setAttribute('height', String(height));
  element.style.removeProperty('max-width');
  return { svg: new XMLSerializer().serializeToString(element), width, height };
}

Object.assign(window, { draw });
parent.postMessage('ready', location.origin);
