import { describe, expect, it } from 'vitest';
import { appletIn, asContext, withApplet } from './address';

describe('the address of an applet', () => {
  it('names the applet and what is its own', () => {
    expect(appletIn('?session=s&applet=diff&path=a%20b&view=chat')).toEqual({ slug: 'diff', params: { path: 'a b' } });
    expect(appletIn('?session=s')).toBeUndefined();
    expect(appletIn('?applet=')).toBeUndefined();
  });

  it('keeps the session and forgets the applet before', () => {
    const place = { slug: 'diff', params: { path: 'a b', session: 'evil' } };
    expect(withApplet('?session=s&applet=clock&old=1', place)).toBe('/?session=s&applet=diff&path=a+b');
    expect(withApplet('?session=s&applet=clock&old=1', undefined)).toBe('/?session=s');
    expect(withApplet('', undefined)).toBe('/');
  });

  it('is told to agents with the slug first', () => {
    expect(asContext({ slug: 'diff', params: { path: 'x' } })).toEqual(['diff', 'path=x']);
  });
});
