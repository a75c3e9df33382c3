// What must hold of files that are offered as pictures.
import { expect, test } from 'vitest';
import { admit, LARGEST, MOST } from './pictures';

const file = (name: string, size = 10, type = 'image/png') => ({ name, size, type });

test('pictures are taken, several at once', () => {
  const files = [file('a.png'), file('b.jpg', 5, 'image/jpeg')];
  expect(admit(files, 0, 0)).toEqual({ accepted: files, problems: [] });
});

test('what is no picture, empty or too large is refused by name, and the rest is taken', () => {
  const good = file('good.webp', 1, 'image/webp');
  const files = [file('notes.txt', 1, 'text/plain'), file('none.png', 0), file('huge.png', 2 * LARGEST), good];
  expect(admit(files, 0, 0)).toEqual({
    accepted: [good],
    problems: [
      'notes.txt is not a picture that can be sent. PNG, JPEG, GIF and WebP can.',
      'none.png is empty.',
      'huge.png is too large: 22 MB; 11 MB is the most.',
    ],
  });
});

test('a drawing that could carry a script is not taken', () => {
  expect(admit([file('a.svg', 1, 'image/svg+xml')], 0, 0).accepted).toEqual([]);
});

test('together they must fit, whatever came before', () => {
  const [first, second] = [file('a.png', LARGEST - 5), file('b.png', 6)];
  expect(admit([first, second], 0, 0)).toEqual({
    accepted: [first],
    problems: ['With b.png the pictures would be too large together; 11 MB is the most.'],
  });
  expect(admit([second], 1, LARGEST - 5).accepted).toEqual([]);
});

test('there is a most, said once', () => {
  const files = Array.from({ length: MOST + 2 }, (_, at) => file(`${at}.png`));
  expect(admit(files, 1, 10)).toEqual({
    accepted: files.slice(0, MOST - 1),
    problems: ['A message takes at most 10 pictures.'],
  });
});
