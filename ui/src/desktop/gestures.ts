// From what hands do on this side to what a desktop is asked to do; pure.
import type { Command, Point, Rect } from './wire';

/** A key that is pressed, as the browser tells it. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  isComposing?: boolean;
  getModifierState?(name: string): boolean;
}

const NAMES: Record<string, string> = {
  Enter: 'return',
  Tab: 'tab',
  Escape: 'escape',
  Backspace: 'backspace',
  Delete: 'delete',
  Insert: 'insert',
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'home',
  End: 'end',
  PageUp: 'page_up',
  PageDown: 'page_down',
  ContextMenu: 'menu',
  PrintScreen: 'print_screen',
  Pause: 'pause',
  ' ': 'space',
  '+': 'plus',
};

const BUTTONS = ['left', 'middle', 'right', 'back', 'forward'];

/** What a key means there; nothing if it means nothing by itself. */
export function keyed(event: Pressed): Command | undefined {
  if (event.isComposing) return undefined;
  const isText = [...event.key].length === 1;
  // What makes a character on this keyboard need not make it on the other.
  const makes = event.getModifierState?.('AltGraph') ?? false;
  const held = makes ? [] : modifiers(event);
  if (isText && held.length === 0) return { type: 'keyboard_type', text: event.key };
  const name = NAMES[event.key] ?? (isText ? event.key.toLowerCase() : /^F\d{1,2}$/.test(event.key) ? event.key : undefined);
  if (!name) return undefined;
  const shift = event.shiftKey ? ['shift'] : [];
  return { type: 'key_combo', keys: [...held, ...shift, name].join('+') };
}

function modifiers({ ctrlKey, altKey, metaKey }: Pressed): string[] {
  return [ctrlKey ? 'ctrl' : '', altKey ? 'alt' : '', metaKey ? 'command' : ''].filter(Boolean);
}

export function buttonName(button: number): string {
  return BUTTONS[button] ?? 'left';
}

/** How many turns of the wheel a movement of it is; what is left over counts for the next. */
export function turned(pixels: number): { steps: number; rest: number } {
  const steps = Math.trunc(pixels / 100);
  return { steps, rest: pixels - steps * 100 };
}

/** Where on the screen a point of the page is, if the picture lies there; it keeps its shape in its box. */
export function pointOn(box: Rect, picture: { w: number; h: number }, area: Rect, at: Point): Point | undefined {
  const scale = Math.min(box.w / picture.w, box.h / picture.h);
  if (!(scale > 0)) return undefined;
  const left = box.x + (box.w - picture.w * scale) / 2;
  const top = box.y + (box.h - picture.h * scale) / 2;
  const [across, down] = [(at.x - left) / (picture.w * scale), (at.y - top) / (picture.h * scale)];
  if (across < 0 || across >= 1 || down < 0 || down >= 1) return undefined;
  return { x: area.x + Math.floor(across * area.w), y: area.y + Math.floor(down * area.h) };
}

/** Where in the picture a point of the screen is. */
export function pointIn(picture: { w: number; h: number }, area: Rect, at: Point): Point {
  return { x: ((at.x - area.x + 0.5) / area.w) * picture.w, y: ((at.y - area.y + 0.5) / area.h) * picture.h };
}

/** In the words of a device that knows only some; nothing where it cannot do it. */
export function fitted(command: Command, known: string[]): Command[] {
  if (known.includes(command.type)) return [command];
  const { x, y } = command;
  const there = { type: 'mouse_move', x, y, duration: 0 };
  switch (command.type) {
    case 'mouse_down':
      return [there];
    case 'mouse_up':
      return [there, { type: 'mouse_click', button: command.button }];
    case 'mouse_scroll_at':
      return [there, { type: 'mouse_scroll', direction: command.direction, intensity: command.intensity }];
    case 'keyboard_type':
      return [{ type: 'keyboard_input', text: command.text }];
    case 'key_combo':
      return [{ type: 'keyboard_command', command: command.keys }];
    default:
      return [];
  }
}

/** What waits to be sent: one goes at a time, and of movements only the last. */
export class Waiting<T extends { command: Command }> {
  private list: T[] = [];

  push(item: T) {
    const last = this.list.at(-1);
    if (last?.command.type === 'mouse_move' && item.command.type === 'mouse_move') this.list.pop();
    this.list.push(item);
  }

  next(): T | undefined {
    return this.list.shift();
  }

  clear() {
    this.list = [];
  }
}
