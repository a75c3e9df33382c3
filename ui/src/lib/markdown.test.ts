// What must hold of Markdown while it is still being written; that it is safe is tested in a browser.
import { describe, expect, test } from 'vitest';
import { blocks, steady } from './markdown';

describe('growing text', () => {
  test('keeps its finished blocks as they are', () => {
    const before = blocks('# Title\n\nFirst paragraph.\n\nSec', true);
    const after = blocks('# Title\n\nFirst paragraph.\n\nSecond one', true);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after).toHaveLength(3);
  });

  test('does not turn a paragraph into a heading when a list begins under it', () => {
    expect(blocks('Some words\n-', true)).toEqual(['<p>Some words</p>\n']);
    expect(blocks('Some words\n- one', true).join('')).toContain('<li>one</li>');
  });

  test('shows emphasis and code before they are closed', () => {
    expect(blocks('very **bol', true)).toEqual(['<p>very <strong>bol</strong></p>\n']);
    expect(blocks('run `ls', true)).toEqual(['<p>run <code>ls</code></p>\n']);
  });

  test('leaves a fence that is still open alone', () => {
    expect(steady('```sh\necho `date')).toBe('```sh\necho `date');
    expect(blocks('```sh\necho **', true).join('')).toContain('echo **');
  });
});

describe('what a model may not do', () => {
  test('HTML is shown as it was written', () => {
    expect(blocks('<script>alert(1)</script>')).toEqual(['&lt;script&gt;alert(1)&lt;/script&gt;']);
    expect(blocks('a<br>b')).toEqual(['<p>a<br>b</p>\n']);
  });

  test('a picture from elsewhere is only a link', () => {
    expect(blocks('![cat](https://example.org/cat.png)')).toEqual([
      '<p><a href="https://example.org/cat.png">cat</a></p>\n',
    ]);
    expect(blocks('![plot](/api/outputs/1)')).toEqual(['<p><img src="/api/outputs/1" alt="plot"></p>\n']);
  });
});
