import { expect, test } from 'vitest';
import { HandsLine, changedHands, type HandsOf } from './hands';

const DOCK = 'monitor-0/dock';
const touched = { type: 'APP_TOUCHED', windowId: DOCK };

function begin(hands: Partial<HandsOf> = {}) {
  const sent: unknown[] = [];
  const world = { now: 0, hands: { held: false, driven: false, noted: 0, ...hands } };
  const line = new HandsLine((frame) => void sent.push(frame), () => world.hands, () => world.now);
  return { sent, world, line };
}

test('a touch is passed on while an agent is at work or the person has the hands, and not too often', () => {
  const { sent, world, line } = begin();
  expect(line.heard(DOCK, { type: 'yaar:app-touched' })).toBe(true);
  expect(sent).toEqual([]);
  world.hands = { ...world.hands, driven: true };
  line.touched(DOCK);
  world.hands = { ...world.hands, held: true };
  line.touched(DOCK);
  world.now = 1000;
  line.touched(DOCK);
  expect(sent).toEqual([touched, touched]);
});

test('only what was taken is handed back', () => {
  const { sent, world, line } = begin();
  line.heard(DOCK, { type: 'yaar:app-hand-back' });
  expect(sent).toEqual([]);
  world.hands = { ...world.hands, held: true };
  line.heard(DOCK, { type: 'yaar:app-hand-back' });
  expect(sent).toEqual([{ type: 'APP_HANDS', windowId: DOCK, hands: 'agent' }]);
});

test('what is not about hands is left to others', () => {
  const { line } = begin();
  expect(line.heard(DOCK, { type: 'yaar:app-state-changed', stateKeys: ['cells'] })).toBe(false);
  expect(line.heard(DOCK, { type: 'yaar:app-ready' })).toBe(false);
  expect(line.heard(DOCK, null)).toBe(false);
});

test('the server says whose hands windows are in', () => {
  const none: ReadonlyMap<string, HandsOf> = new Map();
  const act = (type: string, more: object = {}) => ({ type, windowId: 'dock', ...more });
  expect(changedHands(none, [act('window.focus'), act('window.create')], 'monitor-0')).toBe(none);
  const taken = changedHands(none, [act('window.hands', { hands: 'person', driven: true })], 'monitor-0');
  expect(taken.get(DOCK)).toEqual({ held: true, driven: true, noted: 0 });
  const noted = changedHands(taken, [act('window.noted')]);
  expect(noted.get(DOCK)).toEqual({ held: true, driven: true, noted: 1 });
  const anew = changedHands(noted, [act('window.create')]);
  expect(anew.get(DOCK)).toEqual({ held: false, driven: false, noted: 2 });
});
