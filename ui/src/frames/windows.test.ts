import { describe, expect, test } from 'vitest';
import { applied, isDesktopFrame, isFramed, replaced, type Action, type Windows } from './windows';

function create(windowId: string, data: unknown, renderer = 'text', more: Partial<Action> = {}): Action {
  return { type: 'window.create', windowId, title: windowId, content: { renderer, data } as Action['content'], ...more } as Action;
}

function after(...actions: Action[]): Windows {
  return actions.reduce<Windows>((windows, action) => applied(windows, action, 'monitor-0'), new Map());
}

function shown(windows: Windows): unknown[] {
  return [...windows.values()].map(({ key, content, version }) => [key, content.data, version]);
}

describe('the windows of a session', () => {
  test('are opened, named, changed and closed', () => {
    const notes = { windowId: 'notes' };
    const windows = after(
      create('notes', 'a'),
      create('more', 'b', 'text', { monitorId: 'monitor-1' }),
      { ...notes, type: 'window.setTitle', title: 'Notes' },
      { ...notes, type: 'window.setContent', content: { renderer: 'markdown', data: '# c' } },
      { ...notes, type: 'window.focus' },
      { type: 'window.setTitle', windowId: 'nobody', title: 'x' },
    );
    expect([...windows.values()]).toEqual([
      { key: 'monitor-0/notes', title: 'Notes', content: { renderer: 'markdown', data: '# c' }, app: undefined, version: 1 },
      { key: 'monitor-1/more', title: 'more', content: { renderer: 'text', data: 'b' }, app: undefined, version: 0 },
    ]);
    expect([...applied(windows, { ...notes, type: 'window.close' }, 'monitor-0').keys()]).toEqual(['monitor-1/more']);
  });

  test.each([
    [{ op: 'append', data: 'x' }, 'ä😀bx'],
    [{ op: 'prepend', data: 'x' }, 'xä😀b'],
    [{ op: 'replace', data: 'x' }, 'x'],
    [{ op: 'insertAt', position: 1, data: 'x' }, 'äx😀b'],
    [{ op: 'insertAt', position: 2, data: 'x' }, 'äx😀b'],
    [{ op: 'insertAt', position: 3, data: 'x' }, 'ä😀xb'],
    [{ op: 'insertAt', position: 99, data: 'x' }, 'ä😀bx'],
    [{ op: 'clear' }, ''],
  ] as const)('a text is added to by %o', (operation, expected) => {
    const windows = after(create('w', 'ä😀b'), { type: 'window.updateContent', windowId: 'w', operation });
    expect(shown(windows)).toEqual([['monitor-0/w', expected, 1]]);
  });

  test.each([
    [{ op: 'append', data: [['3', 4]] }, [['1', '2'], ['3', '4']]],
    [{ op: 'prepend', data: [['3', null]] }, [['3', ''], ['1', '2']]],
    [{ op: 'insertAt', position: 0, data: [['3', '4']] }, [['3', '4'], ['1', '2']]],
    [{ op: 'replace', data: [['5', '6']] }, [['5', '6']]],
    [{ op: 'replace', data: { headers: ['c', 'd'], rows: [['7', '8']] } }, [['7', '8']]],
    [{ op: 'clear' }, []],
  ] as const)('a table is added to by %o', (operation, rows) => {
    const table = { headers: ['a', 'b'], rows: [['1', '2']] };
    const windows = after(create('w', table, 'table'), {
      type: 'window.updateContent',
      windowId: 'w',
      operation: operation as unknown as NonNullable<Action['operation']>,
    });
    expect((windows.get('monitor-0/w')!.content.data as { rows: unknown }).rows).toEqual(rows);
  });

  test('told anew, those that show the same are the same', () => {
    const before = after(create('a', '1'), create('b', '2'), create('gone', '3'));
    const monitorId = 'monitor-0';
    const windows = replaced(before, [create('a', '1', 'text', { monitorId }), create('b', 'other', 'text', { monitorId })]);
    expect(shown(windows)).toEqual([
      ['monitor-0/a', '1', 0],
      ['monitor-0/b', 'other', 1],
    ]);
  });
});

test('only documents of the house are framed', () => {
  const framed = (renderer: string, data: unknown) => isFramed({ renderer, data } as never);
  expect(framed('html', '<p>')).toBe(true);
  expect(framed('iframe', '/api/apps/sheet/index.html')).toBe(true);
  expect(framed('iframe', { url: '/api/apps/sheet/index.html' })).toBe(true);
  expect(framed('iframe', 'https://example.org/api/apps/sheet/')).toBe(false);
  expect(framed('iframe', '/api/apps/../sessions')).toBe(false);
  expect(framed('text', '/api/apps/sheet/index.html')).toBe(false);
});

test('frames about windows are known by their type', () => {
  expect(['ACTIONS', 'APP_PROTOCOL_REQUEST', 'event', 'pong'].map((type) => isDesktopFrame({ type }))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
