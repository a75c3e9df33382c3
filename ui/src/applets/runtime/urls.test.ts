import { describe, expect, it } from 'vitest';
import { carried } from './urls';

describe('addresses as applets write them', () => {
  const base = '/f/ticket/';
  const origin = 'http://127.0.0.1:53001';

  it('are carried to where the frame may ask', () => {
    expect(carried('/api/file?path=a', base, origin)).toBe('/f/ticket/api/file?path=a');
    expect(carried(`${origin}/api/applets`, base, origin)).toBe('/f/ticket/api/applets');
    expect(carried(' /api/applets', base, origin)).toBe('/f/ticket/api/applets');
  });

  it('stay as they are when they lead elsewhere', () => {
    for (const other of ['/apis', 'https://example.com/api/x', 'data:,x', '#', '', 'picture.png', '/f/ticket/api/x', '//api/x'])
      expect(carried(other, base, origin)).toBe(other);
  });
});
