// A person allows and refuses what agents want to do, from wherever they are, and nothing is asked or answered twice.
import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Server } from './server.mjs';
import { deadServer, eventually, launch, signIn, visit } from './visit.mjs';

let server, browser, remembered, context, guest, files;

before(async () => {
  server = await Server.fresh();
  browser = await launch();
  remembered = await signIn(browser, server);
  files = 0;
});
after(async () => {
  await browser?.close();
  await server?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  guest = await visit(context, server.url);
  // The server may be dead for a while.
  guest.foresee(deadServer);
});
afterEach(async () => {
  const { complaints } = guest;
  // A test that failed may leave something open for the next one to stumble over.
  await guest.page.evaluate(settleAll).catch(() => {});
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

/** Runs in the page: refuses whatever is open, and takes back whatever is granted. */
async function settleAll() {
  const body = JSON.stringify({ decision: 'deny' });
  const headers = { 'Content-Type': 'application/json' };
  const { approvals } = await (await fetch('/api/approvals')).json();
  for (const { id } of approvals) await fetch(`/api/approvals/${id}`, { method: 'POST', headers, body });
  const { grants } = await (await fetch('/api/grants')).json();
  for (const { id } of grants) await fetch(`/api/grants/${id}`, { method: 'DELETE' });
}

/** A file nobody has written yet, and the words that make the demo model write it. */
function fresh() {
  const name = `file-${(files += 1)}.txt`;
  const order = `/tool write_file ${JSON.stringify({ path: name, content: 'hi' })}`;
  const exists = () =>
    access(join(server.workspace, name)).then(
      () => true,
      () => false,
    );
  return { name, order, exists };
}

/** What this visit sees of the inbox. */
const approvals = (visitor) => visitor.page.getByRole('region', { name: 'Approvals' });
const card = (visitor, title) => approvals(visitor).getByRole('article', { name: title });
const press = (where, name) => where.getByRole('button', { name, exact: true }).click();
const link = (visitor) => visitor.sessions.getByRole('link', { name: /^Approvals/ });

test('what is allowed once is done, and is asked about again the next time', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  const asked = card(guest, `Writing ${name}`);
  await asked.getByText('The agent asks for write_file, because it changes files.').waitFor();
  // What would change, as a diff.
  assert.match(await asked.innerText(), new RegExp(`${name}\\s+\\+1\\s+lines added[^]*\\+\\s+hi`));
  assert.match(await asked.getByRole('time').or(asked.locator('time')).innerText(), /h left$/);
  await guest.log.locator('summary', { hasText: 'waits for you' }).waitFor();
  assert.equal(await exists(), false);

  await press(asked, 'Allow');
  await guest.finished.first().waitFor();
  await guest.idle();
  assert.equal(await readFile(join(server.workspace, name), 'utf8'), 'hi');
  await guest.log.getByText(`Allowed once in the page: Writing ${name}`).waitFor();
  await approvals(guest).waitFor({ state: 'detached' });

  await guest.say(order);
  await press(card(guest, `Writing ${name}`), 'Allow');
  await guest.finished.nth(1).waitFor();
});

test('what is denied is not done, and the agent reads the reason', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  const asked = card(guest, `Writing ${name}`);
  await press(asked, 'Give a reason');
  const reason = asked.getByRole('textbox', { name: /Reason/ });
  await eventually(async () => assert.equal(await reason.evaluate((it) => it === document.activeElement), true));
  await reason.fill('not on a Friday');
  await reason.press('Enter');
  await guest.finished.first().waitFor();
  await guest.log.locator('summary', { hasText: 'failed' }).click();
  await guest.log.getByRole('group', { name: 'Result of write_file' }).getByText('not on a Friday').waitFor();
  await guest.log.getByText(`Denied in the page: Writing ${name}`).waitFor();
  assert.equal(await exists(), false);
});

test('what is allowed for this session is not asked about again there, but elsewhere', async () => {
  const [one, two, three] = [fresh(), fresh(), fresh()];
  await guest.say(one.order);
  const asked = card(guest, `Writing ${one.name}`);
  await press(asked, 'For longer');
  await asked.getByRole('radio', { name: /^For this session/ }).check();
  await asked.getByRole('combobox', { name: 'How long' }).selectOption('for 1 hour');
  await press(asked, 'Allow for this session');
  await guest.finished.first().waitFor();
  await guest.log.getByText('Allowed for this session in the page').waitFor();
  await guest.ask(two.order);
  assert.equal(await two.exists(), true);

  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.say(three.order);
  await press(card(guest, `Writing ${three.name}`), 'Deny');
  await guest.finished.first().waitFor();
});

test('what is like a pattern is not asked about again, and a pattern that does not fit is refused', async () => {
  await guest.say('/tool create_agent_session {}');
  const asked = card(guest, 'Making an agent');
  await press(asked, 'For longer');
  await asked.getByRole('radio', { name: /^For this pattern/ }).check();
  const pattern = asked.getByRole('textbox', { name: 'Pattern' });
  const suggested = asked.getByRole('group', { name: 'Suggestions' }).getByRole('button');
  assert.equal(await pattern.inputValue(), await suggested.first().innerText());
  const folder = await pattern.inputValue();

  await pattern.fill('/nowhere/*');
  await press(asked, 'Allow what is like this');
  await asked.getByRole('alert').filter({ hasText: 'does not cover what is asked' }).waitFor();
  guest.foresee(/400/);

  await pattern.fill(`${folder}*`);
  await press(asked, 'Allow what is like this');
  await guest.finished.first().waitFor();
  await guest.idle();
  await approvals(guest).waitFor({ state: 'detached' });
  await guest.ask('/tool create_agent_session {"cwd":"notes"}');
  assert.equal(await approvals(guest).count(), 0);
});

test('in two tabs the question goes from both, and who is late is told so', async () => {
  const [one, two] = [fresh(), fresh()];
  await guest.say(one.order);
  await card(guest, `Writing ${one.name}`).waitFor();
  const second = await visit(context, guest.page.url());
  await press(card(second, `Writing ${one.name}`), 'Allow');
  await guest.finished.first().waitFor();
  await guest.log.getByText(`Allowed once in the page: Writing ${one.name}`).waitFor();
  await eventually(async () => assert.deepEqual(await second.told(), await guest.told()));

  await guest.say(two.order);
  // The second tab's answer is on its way while the first one's arrives.
  await second.page.route('**/api/approvals/*', async (route) => {
    await press(card(guest, `Writing ${two.name}`), 'Deny');
    await guest.log.getByText(`Denied in the page: Writing ${two.name}`).waitFor();
    await route.continue();
  });
  await press(card(second, `Writing ${two.name}`), 'Allow');
  await approvals(second).getByText(`Writing ${two.name}: already answered.`).waitFor();
  await second.finished.nth(1).waitFor();
  assert.equal(await two.exists(), false);
  second.foresee(/409/);
  assert.deepEqual(second.complaints, []);
});

test('a question outlives a reload', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  await card(guest, `Writing ${name}`).waitFor();
  await guest.page.reload();
  await press(card(guest, `Writing ${name}`), 'Allow');
  await guest.finished.first().waitFor();
  assert.equal(await exists(), true);
});

test('what waits in another session is counted, listed and answered from anywhere', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  await card(guest, `Writing ${name}`).waitFor();
  const address = guest.page.url();
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.sessions.getByRole('link', { name: 'Approvals 1 waiting' }).waitFor();
  // Answers of other sessions that nobody has seen are counted as well.
  const counted = (rest) =>
    eventually(async () => {
      const { unobservedCount } = await guest.page.evaluate(async () => (await fetch('/api/sessions')).json());
      assert.equal(await guest.page.title(), `(${1 + unobservedCount}) ${rest}`);
    });
  await counted('Megaron');
  assert.equal(await approvals(guest).count(), 0, 'it is not shown where it does not belong');

  await link(guest).click();
  const asked = card(guest, `Writing ${name}`);
  await asked.waitFor();
  await counted('Approvals · Megaron');
  const way = asked.getByRole('link').first();
  assert.equal(new URL(await way.evaluate((it) => it.href)).search, new URL(address).search);
  await guest.page.reload();
  await press(card(guest, `Writing ${name}`), 'Allow');
  await guest.page.getByText('Nothing waits for you').waitFor();
  await eventually(async () => assert.equal(await exists(), true));
  await eventually(async () => assert.equal(await link(guest).innerText(), 'Approvals'));
  await guest.page.goBack();
  await guest.box.waitFor();
});

test('in the inbox, what was answered elsewhere goes by itself and says so', async () => {
  const { name, order } = fresh();
  await guest.say(order);
  await card(guest, `Writing ${name}`).waitFor();
  const second = await visit(context, `${server.url}/?view=approvals`);
  await card(second, `Writing ${name}`).waitFor();
  await press(card(guest, `Writing ${name}`), 'Deny');
  await approvals(second).getByText(`Writing ${name}: answered elsewhere.`).waitFor();
  await card(second, `Writing ${name}`).waitFor({ state: 'detached' });
  assert.deepEqual(second.complaints, []);
});

test('what was answered in the terminal goes at once, and the page says where', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  await card(guest, `Writing ${name}`).waitFor();
  const { approvals: open } = await guest.page.evaluate(async () => (await fetch('/api/approvals')).json());
  await server.command('approvals', 'allow', open[0].id);
  await guest.finished.first().waitFor();
  await guest.log.getByText(`Allowed once in the terminal: Writing ${name}`).waitFor();
  await approvals(guest).waitFor({ state: 'detached' });
  assert.equal(await exists(), true);
});

test('a new question is spoken of, and does not take the focus from whoever writes', async () => {
  await guest.ask('Hello there');
  await guest.box.fill('half a thou');
  const { name, order } = fresh();
  const id = new URL(guest.page.url()).searchParams.get('session');
  await guest.page.evaluate(
    async ([id, prompt]) => {
      const headers = { 'Content-Type': 'application/json' };
      await fetch(`/api/sessions/${id}/messages`, { method: 'POST', headers, body: JSON.stringify({ prompt }) });
    },
    [id, order],
  );
  await guest.page
    .getByRole('status')
    .filter({ hasText: `An approval is needed: Writing ${name}` })
    .waitFor({ state: 'attached' });
  await card(guest, `Writing ${name}`).waitFor();
  await guest.page.keyboard.type('ght');
  assert.equal(await guest.box.inputValue(), 'half a thought');

  // By keyboard alone: back from the box to the card.
  await card(guest, `Writing ${name}`).getByRole('button', { name: 'Allow', exact: true }).focus();
  await guest.page.keyboard.press('Tab');
  await guest.page.keyboard.press('Tab');
  await guest.page.keyboard.press('Enter');
  await guest.log.getByText(`Denied in the page: Writing ${name}`).waitFor();
});

test('a question with choices is answered by a button, or in own words', async () => {
  const question = { question: 'Which wine?', choices: ['Red', 'White'], free: true };
  await guest.say(`/tool ask_person ${JSON.stringify(question)}`);
  await press(card(guest, 'Asking: Which wine?'), 'White');
  await guest.finished.first().waitFor();
  await guest.answers.first().getByText('White').waitFor();
  await guest.log.getByText('Answered in the page').waitFor();
  await guest.idle();
  await card(guest, 'Asking: Which wine?').waitFor({ state: 'detached' });

  await guest.say(`/tool ask_person ${JSON.stringify(question)}`);
  const asked = card(guest, 'Asking: Which wine?');
  await asked.getByRole('textbox', { name: 'Or in your own words' }).fill('Rosé, if there is any');
  await press(asked, 'Answer');
  await guest.finished.nth(1).waitFor();
  await guest.answers.nth(1).getByText('Rosé, if there is any').waitFor();
});

test('the mode of a session says what needs leave, and Full asks first', async () => {
  const [one, two] = [fresh(), fresh()];
  await guest.ask('Hello there');
  const mode = guest.page.getByRole('button', { name: /^Mode: / });
  const reads = (visitor, name) => visitor.page.getByRole('button', { name: `Mode: ${name}` }).waitFor();
  const dialog = guest.page.getByRole('dialog');
  const closed = () => dialog.waitFor({ state: 'detached' });
  await reads(guest, 'Ask');
  await mode.click();
  await dialog.getByRole('radio', { name: /^Auto-safe/ }).check();
  await press(dialog, 'Use this mode');
  await closed();
  await reads(guest, 'Auto-safe');
  await guest.ask(one.order);
  assert.equal(await one.exists(), true);

  const second = await visit(context, guest.page.url());
  await reads(second, 'Auto-safe');
  await mode.click();
  await dialog.getByRole('radio', { name: /^Full/ }).check();
  await press(dialog, 'Use this mode');
  await dialog.getByText('Let it do everything?').waitFor();
  await reads(second, 'Auto-safe');
  await press(dialog, 'Use Full');
  await closed();
  await reads(second, 'Full');
  await mode.click();
  await dialog.getByRole('radio', { name: /^Ask/ }).check();
  await press(dialog, 'Use this mode');
  await closed();
  await reads(second, 'Ask');
  await guest.say(two.order);
  await press(card(guest, `Writing ${two.name}`), 'Deny');
  await guest.finished.nth(2).waitFor();
});

test('a grant is listed in the settings, and revoking can be undone for a moment', async () => {
  const [one, two] = [fresh(), fresh()];
  await guest.say(one.order);
  const asked = card(guest, `Writing ${one.name}`);
  await press(asked, 'For longer');
  await asked.getByRole('radio', { name: /^Always/ }).check();
  await press(asked, 'Always allow');
  await guest.finished.first().waitFor();

  await guest.sessions.getByRole('link', { name: 'Settings' }).click();
  const grants = guest.page.getByRole('region', { name: 'Allowed without asking' });
  await grants.getByText('for the agent, in every session, without end').waitFor();
  await grants.getByRole('button', { name: 'Revoke write_file' }).click();
  await grants.getByRole('button', { name: 'Undo revoking write_file' }).click();
  await grants.getByRole('button', { name: 'Revoke write_file' }).click();
  // Leaving is as good as waiting.
  await guest.page.goBack();
  await guest.box.waitFor();
  await eventually(async () => {
    const { grants } = await guest.page.evaluate(async () => (await fetch('/api/grants')).json());
    assert.deepEqual(grants, []);
  });
  await guest.say(two.order);
  await press(card(guest, `Writing ${two.name}`), 'Deny');
  await guest.finished.nth(1).waitFor();
  // A server that has no servers of tools says so, and the browser complains of that.
  guest.foresee(/404/);
});

test('a plan is shown while it is under way, and stays in the conversation when it is done', async () => {
  const plan = (...statuses) => {
    const steps = statuses.map((status, at) => ({ text: `Step ${at + 1}`, status }));
    return `/tool plan ${JSON.stringify({ title: 'Prepare the feast', steps })}`;
  };
  const { name, order } = fresh();
  await guest.say(`${plan('done', 'active', 'pending')}\n${order}`);
  await card(guest, `Writing ${name}`).waitFor();
  const shown = guest.page.getByRole('region', { name: 'Plan' });
  await shown.getByText('1 of 3').waitFor();
  await shown.locator('summary').click();
  assert.equal(await shown.locator('[aria-current=step]').innerText(), 'Step 2\n(under way)');
  await guest.page.reload();
  await shown.getByText('1 of 3').waitFor();
  const kept = guest.log.getByRole('region', { name: 'Plan' });
  assert.equal(await kept.count(), 0);
  await press(card(guest, `Writing ${name}`), 'Deny');
  await kept.getByText('ended early, 1 of 3').waitFor();
  await guest.ask(plan('done', 'done', 'done'));
  await kept.getByText('done, 3 of 3').waitFor();
  await eventually(async () => assert.equal(await shown.count(), 2));
});

test('a question outlives a killed server, and its answer is taken after', async () => {
  const { name, order, exists } = fresh();
  await guest.say(order);
  await card(guest, `Writing ${name}`).waitFor();
  await server.kill();
  await guest.page.getByText('Reconnecting').waitFor();
  await press(card(guest, `Writing ${name}`), 'Allow');
  await card(guest, `Writing ${name}`).getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
  await server.restart();
  await guest.connected();
  await press(card(guest, `Writing ${name}`), 'Allow');
  await guest.finished.first().waitFor();
  await guest.idle();
  assert.equal(await exists(), true);
});
