// What keys, points and wheels become on a desktop.
import { expect, test } from 'vitest';
import { fitted, keyed, pointIn, pointOn, turned, Waiting, type Pressed } from './gestures';

const pressed = (key: string, more: Partial<Pressed> = {}): Pressed => ({
  key,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  ...more,
});

test('letters are typed, names are pressed, and modifiers alone are nothing', () => {
  expect(keyed(pressed('a'))).toEqual({ type: 'keyboard_type', text: 'a' });
  expect(keyed(pressed('A', { shiftKey: true }))).toEqual({ type: 'keyboard_type', text: 'A' });
  expect(keyed(pressed('😀'))).toEqual({ type: 'keyboard_type', text: '😀' });
  expect(keyed(pressed('Enter'))).toEqual({ type: 'key_combo', keys: 'return' });
  expect(keyed(pressed('Tab', { shiftKey: true }))).toEqual({ type: 'key_combo', keys: 'shift+tab' });
  expect(keyed(pressed('T', { ctrlKey: true, shiftKey: true }))).toEqual({ type: 'key_combo', keys: 'ctrl+shift+t' });
  expect(keyed(pressed('+', { ctrlKey: true }))).toEqual({ type: 'key_combo', keys: 'ctrl+plus' });
  expect(keyed(pressed('F5', { altKey: true }))).toEqual({ type: 'key_combo', keys: 'alt+F5' });
  expect(keyed(pressed('Shift', { shiftKey: true }))).toBeUndefined();
  expect(keyed(pressed('Dead'))).toBeUndefined();
  expect(keyed(pressed('a', { isComposing: true }))).toBeUndefined();
});

test('a character that takes the other Alt key is the character', () => {
  const other = { ctrlKey: true, altKey: true, getModifierState: (name: string) => name === 'AltGraph' };
  expect(keyed(pressed('€', other))).toEqual({ type: 'keyboard_type', text: '€' });
});

test('a point of the page is found on the screen, and beside the picture there is none', () => {
  // A picture of 2:1 in a box of 1:1 has a band above and below it.
  const box = { x: 10, y: 20, w: 100, h: 100 };
  const picture = { w: 400, h: 200 };
  const area = { x: 0, y: 0, w: 800, h: 400 };
  expect(pointOn(box, picture, area, { x: 10, y: 45 })).toEqual({ x: 0, y: 0 });
  expect(pointOn(box, picture, area, { x: 60, y: 70 })).toEqual({ x: 400, y: 200 });
  expect(pointOn(box, picture, area, { x: 109.9, y: 94.9 })).toEqual({ x: 799, y: 399 });
  expect(pointOn(box, picture, area, { x: 60, y: 30 })).toBeUndefined();
  expect(pointOn({ ...box, w: 0 }, picture, area, { x: 10, y: 45 })).toBeUndefined();
  expect(pointIn(picture, area, { x: 400, y: 200 })).toEqual({ x: 200.25, y: 100.25 });
});

test('a device that knows little is spoken to in its words', () => {
  const seed = ['mouse_move', 'mouse_click', 'mouse_scroll', 'keyboard_input', 'keyboard_command'];
  const there = { type: 'mouse_move', x: 1, y: 2, duration: 0 };
  expect(fitted({ type: 'mouse_down', button: 'left', x: 1, y: 2 }, seed)).toEqual([there]);
  expect(fitted({ type: 'mouse_up', button: 'left', x: 1, y: 2 }, seed)).toEqual([
    there,
    { type: 'mouse_click', button: 'left' },
  ]);
  expect(fitted({ type: 'keyboard_type', text: 'a' }, seed)).toEqual([{ type: 'keyboard_input', text: 'a' }]);
  expect(fitted({ type: 'clipboard_get' }, seed)).toEqual([]);
  expect(fitted({ type: 'clipboard_get' }, ['clipboard_get'])).toEqual([{ type: 'clipboard_get' }]);
});

test('a wheel turns by whole steps and keeps the rest', () => {
  expect(turned(250)).toEqual({ steps: 2, rest: 50 });
  expect(turned(-130)).toEqual({ steps: -1, rest: -30 });
});

test('of movements that wait only the last is made', () => {
  const waiting = new Waiting<{ command: { type: string; x?: number } }>();
  for (const x of [1, 2, 3]) waiting.push({ command: { type: 'mouse_move', x } });
  waiting.push({ command: { type: 'mouse_up' } });
  waiting.push({ command: { type: 'mouse_move', x: 4 } });
  const all = [waiting.next(), waiting.next(), waiting.next(), waiting.next()].map((it) => it?.command);
  expect(all).toEqual([{ type: 'mouse_move', x: 3 }, { type: 'mouse_up' }, { type: 'mouse_move', x: 4 }, undefined]);
});
