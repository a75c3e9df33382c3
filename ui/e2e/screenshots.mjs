// Draws the pictures of the README: a server with the built-in model, a lively example in it, and a browser that looks.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

const pictures = join(import.meta.dirname, '../../docs/pictures');
const views = [
  { name: 'page', options: { viewport: { width: 1280, height: 752 }, colorScheme: /** @type {const} */ ('light') } },
  {
    name: 'page-dark',
    options: { viewport: { width: 1280, height: 752 }, colorScheme: /** @type {const} */ ('dark') },
  },
  { name: 'phone', options: { viewport: { width: 390, height: 744 }, colorScheme: /** @type {const} */ ('light') } },
];

const server = await Server.fresh();
const browser = await launch();
try {
  await furnish();
  const remembered = await signIn(browser, server);
  const address = await live(remembered);
  await mkdir(pictures, { recursive: true });
  for (const { name, options } of views) {
    const context = await browser.newContext({ storageState: remembered, reducedMotion: 'reduce', ...options });
    await context.route('**/api/sessions', async (route) => {
      const response = await route.fetch();
      // The folder of a test has a name that says nothing to a reader.
      await route.fulfill({ response, body: (await response.text()).replaceAll(server.home, '/home/nestor') });
    });
    const guest = await visit(context, address);
    await guest.page
      .getByRole('region', { name: 'Approvals' })
      .getByRole('button', { name: 'Allow', exact: true })
      .waitFor();
    await guest.connected();
    await eventually(async () => {
      const atEnd = await guest.log.evaluate((it) => it.scrollTop + it.clientHeight >= it.scrollHeight - 2);
      if (!atEnd) throw new Error('it has not reached the end');
    });
    await guest.page.screenshot({ path: join(pictures, `${name}.png`) });
    await context.unrouteAll({ behavior: 'wait' });
    await context.close();
    console.log(`docs/pictures/${name}.png`);
  }
} finally {
  await browser.close();
  await server.end();
}

/** A folder that looks like somebody's. */
async function furnish() {
  await writeFile(join(server.workspace, 'notes', 'feast.md'), '# The feast\n\n- bread\n- olives\n');
  await writeFile(join(server.workspace, 'AGENTS.md'), '# Manners\n\nGreet every guest by name.\n');
}

/** A few sessions, the last of which is in the middle of something. */
async function live(remembered) {
  const context = await browser.newContext({ storageState: remembered });
  const guest = await visit(context, server.url);
  const begin = () => guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.ask('Show a table, a formula and a diagram');
  await rename(guest, 'How answers look');
  await begin();
  await guest.ask('Make a plan and carry it out');
  await rename(guest, 'A look around');
  await begin();
  await guest.ask('Read guests.txt');
  const steps = ['Read who is invited', 'Write the list', 'Tell the kitchen'];
  const plan = (done) =>
    `/tool plan ${JSON.stringify({
      title: 'Prepare the feast',
      steps: steps.map((text, at) => ({ text, status: at < done ? 'done' : at === done ? 'active' : 'pending' })),
    })}`;
  const file = { path: 'notes/feast.md', content: '# The feast\n\n- bread\n- olives\n- figs for Nestor\n' };
  await guest.say(`${plan(1)}\n/tool write_file ${JSON.stringify(file)}`);
  await guest.page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
  await rename(guest, 'The feast');
  const address = guest.page.url();
  await context.close();
  return address;
}

async function rename(guest, name) {
  await guest.page.getByRole('button', { name: 'Rename session' }).click();
  await guest.page.getByRole('textbox', { name: 'Name' }).fill(name);
  const kept = guest.page.waitForResponse((it) => it.request().method() === 'PATCH');
  await guest.page.getByRole('textbox', { name: 'Name' }).press('Enter');
  await kept;
}
