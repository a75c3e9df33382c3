import { describe, expect, it, vi } from 'vitest';
import { Params } from './params';

function begin(search: string) {
  const changed = vi.fn();
  const params = new Params(search, changed);
  const heard = vi.fn();
  params.listen(heard);
  return { params, changed, heard };
}

describe('the parameters of an applet', () => {
  it('are told at once, with the session and without the applet', () => {
    const { heard } = begin('?applet=x&session=s&a=1');
    expect(heard.mock.calls).toEqual([[{ session: 's', a: '1' }]]);
  });

  it('are told once for each change, whoever makes it', () => {
    const { params, changed, heard } = begin('?applet=x&a=1');
    params.set('a', '2', 'replace');
    params.set('a', '2', 'replace');
    params.came({ a: '2' });
    params.came({ a: '3' });
    expect(heard.mock.calls.slice(1)).toEqual([[{ a: '2' }], [{ a: '3' }]]);
    expect(changed.mock.calls.map((call) => call[1] as string)).toEqual(['replace', 'replace']);
  });

  it('stay when emptied in place, and go when gone to', () => {
    const { params, changed } = begin('?applet=x&session=s&a=1&b=2');
    params.set('a', '', 'replace');
    params.set('b', '', 'push');
    params.set('session', 'other', 'push');
    expect(changed.mock.calls).toEqual([
      [{ a: '', b: '2' }, 'replace'],
      [{ a: '' }, 'push'],
    ]);
    expect(params.all()).toEqual({ session: 's', a: '' });
  });

  it('are heard by the last who asked', () => {
    const { params, heard } = begin('?applet=x');
    const later = vi.fn();
    params.listen(later);
    params.set('a', '1', 'push');
    expect(heard).toHaveBeenCalledTimes(1);
    expect(later.mock.calls).toEqual([[{}], [{ a: '1' }]]);
  });
});
