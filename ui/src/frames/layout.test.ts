import { describe, expect, test } from 'vitest';
import * as layouts from './layout';
import { closed, empty, load, moved, opened, placed, save, shared, titled, weighed, type Layout } from './layout';

function three(): Layout {
  return ['a', 'b', 'c'].reduce((layout, id) => opened(layout, 'app', id), empty());
}

function ids(layout: Layout): string[] {
  return layouts.beside(layout).map((it) => it.id);
}

/** A shelf as a browser has it. */
function shelf(text: string | null = null) {
  const kept = { text };
  return {
    kept,
    getItem: () => kept.text,
    setItem: (_: string, value: string) => void (kept.text = value),
  };
}

describe('windows', () => {
  test('a new window is in front, and its key is greater than all others', () => {
    const layout = three();
    expect(layout.panes.map((it) => it.key)).toEqual([1, 2, 3]);
    expect(layout.front).toBe(3);
    const again = opened(closed(layout, 2), 'app', 'd');
    expect(again.panes.map((it) => it.key)).toEqual([1, 3, 4]);
  });

  test('there is an end to how many there may be', () => {
    let layout = empty();
    for (let count = 0; count < 40; count += 1) layout = opened(layout, 'app', 'a');
    expect(layout.panes.length).toBe(16);
  });

  test('windows of the session are seated beside the others, and those that are gone give up their place', () => {
    const layout = layouts.seated(three(), ['m/x', 'm/y']);
    expect(ids(layout)).toEqual(['a', 'b', 'c', 'm/x', 'm/y']);
    expect(layout.front).toBe(5);
    expect(layouts.seated(layout, ['m/x', 'm/y'])).toEqual(layout);
    const next = layouts.seated(layout, ['m/z', 'm/x']);
    expect(ids(next)).toEqual(['a', 'b', 'c', 'm/x', 'm/z']);
    expect(layouts.seated(next, [])).toMatchObject({ panes: three().panes });
  });

  test('however many windows the session has, each has a place, and the page may open as many as before', () => {
    const many = Array.from({ length: 40 }, (_, at) => `m/${at}`);
    const layout = layouts.seated(three(), many);
    expect(layout.panes.length).toBe(43);
    expect(opened(layout, 'app', 'd').panes.length).toBe(44);
    const kept = shelf();
    save('s', layout, kept);
    expect(load('s', kept)).toEqual(layout);
  });

  test('closing the one in front brings its neighbour there, and ends being maximised', () => {
    const layout = { ...three(), front: 2, maximised: true };
    expect(closed(layout, 2)).toMatchObject({ front: 3, maximised: false });
    expect(closed({ ...layout, front: 3 }, 3)).toMatchObject({ front: 2, maximised: false });
    expect(closed(layout, 1)).toMatchObject({ front: 2, maximised: true });
    expect(closed(closed(closed(layout, 1), 2), 3)).toMatchObject({ panes: [], front: 0, maximised: false });
  });

  test('a window is moved within the row and not beyond it', () => {
    expect(ids(moved(three(), 3, 0))).toEqual(['c', 'a', 'b']);
    expect(ids(moved(three(), 1, 99))).toEqual(['b', 'c', 'a']);
    expect(ids(moved(three(), 1, -5))).toEqual(['a', 'b', 'c']);
    expect(ids(moved(three(), 7, 0))).toEqual(['a', 'b', 'c']);
  });

  test('a window that goes into the conversation leaves the row to the others', () => {
    const layout = placed(three(), 3, 'chat');
    expect(ids(layout)).toEqual(['a', 'b']);
    expect(layout.front).toBe(2);
    expect(placed(layout, 3, 'beside').front).toBe(3);
  });

  test('what one tile gains its neighbour loses, and neither vanishes', () => {
    const weights = (layout: Layout) => layout.panes.map((it) => it.weight);
    expect(weights(weighed(three(), 1, 0.5))).toEqual([1.5, 0.5, 1]);
    expect(weights(weighed(three(), 1, 9))).toEqual([1.75, 0.25, 1]);
    expect(weights(weighed(three(), 1, -9))).toEqual([0.25, 1.75, 1]);
    expect(weights(weighed(three(), 3, 1))).toEqual([1, 1, 1]);
  });

  test('the share stays within bounds', () => {
    expect([10, 49.6, 90].map((it) => shared(empty(), it).share)).toEqual([25, 50, 75]);
  });

  test('the second window of an app bears its number', () => {
    const layout = opened(opened(empty(), 'app', 'a'), 'app', 'a');
    expect(layout.panes.map((it) => titled(layout, it, 'Board'))).toEqual(['Board', 'Board 2']);
  });
});

describe('what is kept', () => {
  test('each session finds its own windows again', () => {
    const storage = shelf();
    const layout = shared({ ...three(), arrangement: 'tiles', front: 2, maximised: true }, 40);
    save('one', layout, storage);
    save('two', opened(empty(), 'app', 'x'), storage);
    expect(load('one', storage)).toEqual(layout);
    expect(ids(load('two', storage))).toEqual(['x']);
    expect(load('three', storage)).toEqual(empty());
    save('one', empty(), storage);
    expect(load('one', storage)).toEqual(empty());
  });

  test('only so many sessions are remembered', () => {
    const storage = shelf();
    for (let count = 0; count < 80; count += 1) save(`${count}`, three(), storage);
    expect(JSON.parse(storage.kept.text!).length).toBe(50);
    expect(ids(load('79', storage))).toEqual(['a', 'b', 'c']);
    expect(ids(load('3', storage))).toEqual([]);
  });

  test('whatever is found there, a sound layout comes of it', () => {
    for (const text of ['', '{', 'null', '5', '[5]', '[["one"]]', '[["one",5]]', '[["one",{"panes":5}]]']) {
      expect(load('one', shelf(text))).toEqual(empty());
    }
    const odd = {
      panes: [null, { key: 1 }, { key: 2, kind: 'ship', id: 'a' }, { key: 3, kind: 'app', id: 'b', weight: 'x' }],
      front: 9,
      share: 'wide',
      arrangement: 'pile',
      maximised: 'yes',
    };
    expect(load('one', shelf(JSON.stringify([['one', odd]])))).toEqual({
      ...empty(),
      panes: [{ key: 3, kind: 'app', id: 'b', place: 'beside', weight: 1 }],
      front: 3,
    });
  });

  test('a browser that keeps nothing is no reason to fail', () => {
    const storage = {
      getItem: () => {
        throw new Error('no');
      },
      setItem: () => {
        throw new Error('no');
      },
    };
    save('one', three(), storage);
    expect(load('one', storage)).toEqual(empty());
  });
});
