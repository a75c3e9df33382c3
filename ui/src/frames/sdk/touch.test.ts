import { expect, test } from 'vitest';
import { Touch } from './touch';

function frame() {
  const told: unknown[] = [];
  const clock = { now: 0 };
  const touch = new Touch((message) => void told.push(message), () => clock.now);
  const press = (more: object) =>
    touch.heard({
      type: 'keydown',
      isTrusted: true,
      preventDefault() {},
      stopImmediatePropagation() {},
      ...more,
    } as unknown as Event);
  return { told, clock, touch, press };
}

const touched = { type: 'yaar:app-touched' };

test('what a person does often is told of once in a while, and what a script does never', () => {
  const { told, clock, touch, press } = frame();
  touch.heard({ type: 'pointerdown', isTrusted: false } as Event);
  expect(told).toEqual([]);
  press({ key: 'a', code: 'KeyA' });
  touch.heard({ type: 'input', isTrusted: true } as Event);
  clock.now = 999;
  press({ key: 'b', code: 'KeyB' });
  expect(told).toEqual([touched]);
  clock.now = 1000;
  press({ key: 'c', code: 'KeyC' });
  expect(told).toEqual([touched, touched]);
  expect(touch.lately()).toBe(true);
  clock.now = 2000;
  expect(touch.lately()).toBe(false);
});

test('a key alone that goes with others is no touch, and those that hand back are told as that', () => {
  const { told, press } = frame();
  press({ key: 'Alt', code: 'AltLeft', altKey: true });
  press({ key: 'Shift', code: 'ShiftLeft', altKey: true, shiftKey: true });
  press({ key: 'Ó', code: 'KeyH', altKey: true, shiftKey: true });
  press({ key: 'Ó', code: 'KeyH', altKey: true, shiftKey: true, repeat: true });
  expect(told).toEqual([{ type: 'yaar:app-hand-back' }]);
});
