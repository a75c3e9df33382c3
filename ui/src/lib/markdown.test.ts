// What must hold of Markdown while it is still being written; that it is safe is tested in a browser.
import { describe, expect, test } from 'vitest';
import { blocks, Growing, steady } from './markdown';

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

  test('shows a table once its first row begins, and its rows as they grow', () => {
    for (const begun of ['| a |', '| a | b |\n', '| a | b |\n|--', '| a | b |\n|:--|--:|', '| a | b |\n|---|---|\n'])
      expect(blocks(`Look:\n\n${begun}`, true)).toEqual(['<p>Look:</p>\n']);
    expect(blocks('| a | b |\n|---|---|\n| 1', true).join('')).toContain('<td>1</td>');
    expect(blocks('| a | b |\n|---|---|\n| 1 | 2 |\n| 3', true).join('')).toContain('<td>3</td>');
    expect(blocks('| a | b |').join('')).toContain('| a | b |');
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

describe('text that is told piece by piece', () => {
  const text = [
    '# Title\n\nFirst *paragraph*.\n\n- one\n- two\n\n  still two\n\n```rust\nfn main() {}\n\nlet x;\n```\n\n',
    '| a | b |\n|---|--:|\n| 1 | 2 |\n\nSo $x^2$ and\n\n$$\n\\frac{a}{b}\n$$\n\nEnd with \\(y_1\\).',
  ].join('');

  test('ends as if it had been told at once', () => {
    const growing = new Growing();
    for (let end = 1; end < text.length; end += 1) growing.read(text.slice(0, end), true);
    expect(growing.read(text, false).map((block) => block.html)).toEqual(blocks(text));
  });

  test('never changes a block that was called finished', () => {
    const growing = new Growing();
    let before: string[] = [];
    for (let end = 1; end <= text.length; end += 1) {
      const read = growing.read(text.slice(0, end), true);
      const finished = read.filter((block) => block.finished).map((block) => block.html);
      expect(finished.slice(0, before.length)).toEqual(before);
      before = finished;
    }
    expect(before.length).toBeGreaterThan(5);
  });

  test('is read anew when it is replaced', () => {
    const growing = new Growing();
    growing.read('One.\n\nTwo.\n\nThr', true);
    expect(growing.read('Other.', false).map((block) => block.html)).toEqual(['<p>Other.</p>\n']);
  });
});

describe('formulas', () => {
  const formula = (kind: string, text: string, tag = 'span') =>
    `<${tag} data-formula="${kind}"><code>${text}</code></${tag}>`;

  test('are found by any of their four marks', () => {
    expect(blocks('a $x_1$ b \\(y\\) c')).toEqual([
      `<p>a ${formula('inline', 'x_1')} b ${formula('inline', 'y')} c</p>\n`,
    ]);
    expect(blocks('$$\nx\n$$')).toEqual([`${formula('display', 'x', 'div')}\n`]);
    expect(blocks('\\[ x \\]')).toEqual([`${formula('display', 'x', 'div')}\n`]);
    expect(blocks('text:\n$$x$$\nmore')).toHaveLength(3);
  });

  test('are not made of money, code or escaped signs', () => {
    for (const text of ['from $5 to $10', '$5-$10', 'costs \\$5 or \\$6', '`$x$`', '$ x $'])
      expect(blocks(text).join('')).not.toContain('data-formula');
  });

  test('show their source while they are unfinished', () => {
    expect(blocks('$$\n\\frac{a', true)).toEqual([`${formula('open', '$$\n\\frac{a', 'div')}\n`]);
    expect(blocks('see \\(a_1 * b', true)).toEqual([`<p>see ${formula('open', '\\(a_1 * b')}</p>\n`]);
    expect(blocks('$$\n\\frac{a').join('')).not.toContain('data-formula');
  });
});

describe('code', () => {
  test('bears its language and a button from its first line on', () => {
    const [begun] = blocks('```rust title\nfn', true);
    expect(begun).toContain('<figure data-code="rust"><figcaption><span>rust</span><button');
    expect(blocks('```\nplain\n```').join('')).toContain('<figure data-code=""><figcaption><span>text</span>');
  });

  test('does not let its language out of its label', () => {
    expect(blocks('```"><img/onerror=x>\nx\n```').join('')).not.toContain('<img');
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
