import { describe, expect, it, vi } from 'vitest';
import { storage } from './local';

describe('what stands in for a browser’s storage', () => {
  it('behaves like it', () => {
    const keep = vi.fn();
    const store = storage({ a: '1' }, keep);
    store.setItem('b', 2 as unknown as string);
    store.c = '3';
    expect([store.getItem('a'), store.b, store.getItem('c'), store.getItem('none'), store.none]).toEqual(['1', '2', '3', null, undefined]);
    expect([store.length, store.key(1), store.key(9), Object.keys(store)]).toEqual([3, 'b', null, ['a', 'b', 'c']]);
    delete store.a;
    expect('a' in store).toBe(false);
    expect(keep.mock.lastCall).toEqual([{ b: '2', c: '3' }]);
    store.clear();
    expect(keep.mock.lastCall).toEqual([{}]);
  });

  it('tells of changes only, and refuses what does not fit', () => {
    const keep = vi.fn();
    const store = storage({ a: '1' }, keep);
    store.setItem('a', '1');
    store.removeItem('none');
    expect(keep).not.toHaveBeenCalled();
    expect(() => store.setItem('a', 'x'.repeat(300_000))).toThrow('250,000');
    expect(store.getItem('a')).toBe('1');
  });
});
