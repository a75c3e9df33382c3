// The windows beside the conversation, as a person and as whatever is in them sees them.
import assert from 'node:assert/strict';
import { reachable } from './inspect.mjs';

export class Windows {
  constructor(guest) {
    this.guest = guest;
    this.page = guest.page;
    this.area = this.page.getByRole('complementary', { name: 'Windows' });
    this.apps = this.page.getByRole('button', { name: 'Apps' });
  }

  /** Opens the notice board from the menu, and waits until it is there. */
  async open(title = 'Notice board') {
    await this.apps.click();
    await this.page.getByRole('menuitem', { name: /Notice board/ }).click();
    return this.ready(title);
  }

  region(title = 'Notice board') {
    return this.page.getByRole('region', { name: title, exact: true });
  }

  /** The content of a window, once it shows something. */
  async ready(title = 'Notice board') {
    const content = this.region(title).frameLocator('iframe');
    await content.locator('#notes li, #empty:not([hidden])').first().waitFor();
    return content;
  }

  /** The document within, where a script can be run as if it were the app's own. */
  async inside(title = 'Notice board') {
    await this.ready(title);
    const element = await this.region(title).locator('iframe').elementHandle();
    const frame = await element?.contentFrame();
    assert.ok(frame);
    return frame;
  }

  async pin(text, title) {
    const content = await this.ready(title);
    await content.getByRole('textbox', { name: 'New note' }).fill(text);
    await content.getByRole('button', { name: 'Pin' }).click();
    await content.getByRole('listitem').filter({ hasText: text }).waitFor();
  }
}

/** Nothing in the frame may shut anybody out either. */
export function inspectInside(frame) {
  return reachable(frame);
}
