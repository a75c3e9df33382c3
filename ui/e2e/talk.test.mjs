// A person sets a conversation right: copies, edits, tries again, and sees who else spoke and how long tools took.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { inspect, looks } from './inspect.mjs';
import { held, ScriptedModel } from './scripted.mjs';
import { Server } from './server.mjs';
import { eventually, launch, signIn, visit } from './visit.mjs';

let model, server, browser, remembered, context, guest;

before(async () => {
  model = await ScriptedModel.start();
  server = await Server.fresh(model.config);
  browser = await launch();
  remembered = await signIn(browser, server);
});
after(async () => {
  await browser?.close();
  await server?.end();
  await model?.end();
});
beforeEach(async () => {
  context = await browser.newContext({ storageState: remembered });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  guest = await visit(context, server.url);
});
afterEach(async () => {
  const { complaints } = guest;
  await context.close();
  assert.deepEqual(complaints, [], 'the console complained');
});

const clipboard = () => guest.page.evaluate(() => navigator.clipboard.readText());
/** What the model was shown of the person's words when it was asked last. */
const shown = () =>
  model.asked
    .at(-1)
    .messages.filter(({ role }) => role === 'user')
    .map(({ content }) => content);

/** Says something in the name of somebody else. */
const post = (body) =>
  guest.page.evaluate(async (body) => {
    const id = new URLSearchParams(location.search).get('session');
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`/api/sessions/${id}/messages`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  }, body);

test('a message and an answer are copied as they were written', async () => {
  model.will('Some **bold** words.');
  await guest.ask('Say something *bold*');
  await guest.log.getByRole('button', { name: 'Copy answer' }).click();
  await guest.log.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await clipboard(), 'Some **bold** words.');
  await guest.mine.hover();
  await guest.log.getByRole('button', { name: 'Copy message' }).click();
  await eventually(async () => assert.equal(await clipboard(), 'Say something *bold*'));
});

test('copying works where the page has no secure address', async () => {
  await context.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await guest.page.reload();
  model.will('Words to take along.');
  await guest.ask('Say something');
  await guest.log.getByRole('button', { name: 'Copy answer' }).click();
  await guest.log.getByRole('button', { name: 'Copied' }).waitFor();
  await guest.box.focus();
  await guest.page.keyboard.press('Control+V');
  await eventually(async () => assert.equal(await guest.box.inputValue(), 'Words to take along.'));
});

test('a second tab shows the same, also while it is being written', async () => {
  const { gate, open } = held();
  model.will({ pieces: ['Slowly', ', slowly.'], gate }, 'Again.');
  await guest.say('Take your time');
  await guest.answers.first().waitFor();
  const second = await visit(context, guest.page.url());
  await second.answers.getByText('Slowly').waitFor();
  await eventually(async () => assert.deepEqual(await second.told(), await guest.told()));
  open();
  await Promise.all([guest, second].map((it) => it.finished.getByText('Slowly, slowly.').waitFor()));
  await Promise.all([guest.idle(), second.idle()]);
  await eventually(async () => assert.deepEqual(await second.told(), await guest.told()));
  await second.ask('And again');
  await eventually(async () => assert.deepEqual(await guest.told(), await second.told()));
});

test('a message sent while the model works waits and is answered next', async () => {
  const { gate, open } = held();
  model.will({ pieces: ['Slowly', ', slowly.'], gate }, 'You next.');
  await guest.say('Take your time');
  await guest.answers.first().waitFor();
  await guest.say('Me next');
  await guest.log.getByText('Waiting for its turn').waitFor();
  open();
  await guest.finished.nth(1).getByText('You next.').waitFor();
  await guest.idle();
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Take your time', 'Me next']);
  assert.equal(await guest.log.getByText('Waiting for its turn').count(), 0);
});

test('an answer that came while another session was on show is marked as new until it is seen', async () => {
  const { gate, open } = held();
  model.will({ pieces: ['Slowly', ', slowly.'], gate });
  await guest.say('Take your time');
  await guest.answers.first().waitFor();
  const address = guest.page.url();
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await guest.log.getByText('What shall we do?').waitFor();
  open();
  const mark = guest.sessions.locator(`a[href="${new URL(address).pathname}${new URL(address).search}"]`);
  await mark.getByText('new answer').waitFor();
  await mark.click();
  await guest.finished.first().waitFor();
  await guest.sessions.getByRole('button', { name: 'New session' }).click();
  await mark.getByText('new answer').waitFor({ state: 'detached' });
});

test('a message that waits is taken back before its turn, also after a reload', async () => {
  const { gate, open } = held();
  model.will({ pieces: ['Slowly', ', slowly.'], gate }, 'Never said.');
  await guest.say('Take your time');
  await guest.answers.first().waitFor();
  await guest.say('First of the queue');
  await guest.log.getByText('Waiting for its turn').waitFor();
  await guest.say('Second of the queue');
  await eventually(async () => assert.equal(await guest.log.getByText('Waiting for its turn').count(), 2));
  const takeBack = (text) =>
    guest.log
      .getByRole('article', { name: 'You, waiting' })
      .filter({ hasText: text })
      .getByRole('button', { name: 'Take back' });
  await takeBack('First of the queue').click();
  await takeBack('First of the queue').waitFor({ state: 'detached' });
  await guest.page.reload();
  await takeBack('Second of the queue').click();
  await takeBack('Second of the queue').waitFor({ state: 'detached' });
  open();
  await guest.finished.first().waitFor();
  await guest.idle();
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Take your time']);
  assert.equal(await guest.answers.count(), 1);
});

test('a message is edited and said again, and what followed is gone, also after a reload and in another tab', async () => {
  model.will('First answer.', 'Second answer.', 'Better answer.');
  await guest.ask('One');
  await guest.ask('Two');
  const second = await visit(context, guest.page.url());
  await second.finished.nth(1).waitFor();
  await guest.mine.first().hover();
  await guest.log.getByRole('button', { name: 'Edit message' }).first().click();
  const box = guest.page.getByRole('textbox', { name: 'Edited message' });
  assert.equal(await box.inputValue(), 'One');
  await guest.page.getByText('Everything after this message will be left out').waitFor();
  await box.fill('One, but better');
  await box.press('Enter');
  await guest.finished.getByText('Better answer.').waitFor();
  await guest.idle();
  assert.deepEqual(await guest.mine.allInnerTexts(), ['One, but better']);
  assert.deepEqual(shown(), ['One, but better']);
  await eventually(async () => assert.deepEqual(await second.mine.allInnerTexts(), ['One, but better']));
  await guest.page.reload();
  await guest.finished.getByText('Better answer.').waitFor();
  await eventually(async () => assert.deepEqual(await guest.mine.allInnerTexts(), ['One, but better']));
  assert.equal(await guest.answers.count(), 1);
});

test('Escape leaves a message as it was, and gives the focus back', async () => {
  model.will('Yes.');
  await guest.ask('Leave me alone');
  await guest.mine.hover();
  const edit = guest.log.getByRole('button', { name: 'Edit message' });
  await edit.click();
  await guest.page.getByRole('textbox', { name: 'Edited message' }).fill('Something else');
  await guest.page.keyboard.press('Escape');
  await eventually(async () => assert.equal(await edit.evaluate((it) => it === document.activeElement), true));
  assert.deepEqual(await guest.mine.allInnerTexts(), ['Leave me alone']);
  await edit.click();
  assert.equal(await guest.page.getByRole('textbox', { name: 'Edited message' }).inputValue(), 'Leave me alone');
});

test('an answer is asked for again, and the first one does not count', async () => {
  model.will('A poor answer.', 'A rich answer.');
  await guest.ask('What is best?');
  await guest.log.getByRole('button', { name: 'Try again' }).click();
  await guest.finished.getByText('A rich answer.').waitFor();
  await guest.idle();
  assert.equal(await guest.answers.count(), 1);
  assert.deepEqual(await guest.mine.allInnerTexts(), ['What is best?']);
  assert.deepEqual(shown(), ['What is best?']);
  assert.equal(JSON.stringify(model.asked.at(-1)).includes('A poor answer.'), false);
});

test('a turn that failed is tried again from where it says so', async () => {
  model.will({ refusal: 'not today' }, 'But now.');
  await guest.say('Work, please');
  await guest.log.getByText('Something went wrong.').waitFor();
  await guest.log.getByText(/not today/).waitFor();
  await guest.log.getByRole('button', { name: 'Try again' }).click();
  await guest.finished.getByText('But now.').waitFor();
  assert.equal(await guest.log.getByText('Something went wrong.').count(), 0);
});

test('while the agent works, nothing can be taken back', async () => {
  const { gate, open } = held();
  model.will({ pieces: ['Slowly', ', slowly.'], gate });
  await guest.say('Take your time');
  await guest.answers.first().waitFor();
  await guest.mine.hover();
  assert.equal(await guest.log.getByRole('button', { name: 'Edit message' }).isDisabled(), true);
  assert.equal(await guest.log.getByRole('button', { name: 'Try again' }).count(), 0);
  open();
  await guest.idle();
  await guest.log.getByRole('button', { name: 'Try again' }).waitFor();
});

test('a refusal of the server is shown, and what was written is kept', async () => {
  model.will('Yes.');
  await guest.ask('Hello');
  await context.route('**/messages', (route) =>
    route.fulfill({ status: 409, json: { error: 'The session is busy.', code: 'SESSION_BUSY' } }),
  );
  guest.foresee(/409/);
  await guest.mine.hover();
  await guest.log.getByRole('button', { name: 'Edit message' }).click();
  const box = guest.page.getByRole('textbox', { name: 'Edited message' });
  await box.fill('Kept');
  await box.press('Enter');
  await guest.page.getByRole('alert').getByText('The session is busy.').waitFor();
  assert.equal(await box.inputValue(), 'Kept');
});

test('a tool card says what it did, how long it took, and in words why it failed', async () => {
  const calls = [
    { name: 'list_directory', args: { path: '.' } },
    { name: 'read_file', args: { path: 'no/such/file.txt' } },
  ];
  model.will({ calls }, 'Done.');
  await guest.ask('Look around');
  const [good, bad] = await guest.log.locator('summary').all();
  assert.match(await good.innerText(), /^List directory\n\.\n<?\d+\.\d s\ndone$/);
  assert.match(await bad.innerText(), /^Read file\n.*no\/such\/file\.txt.*\n<?\d+\.\d s\nfailed$/);
  const told = await guest.told();
  await guest.page.reload();
  await eventually(async () => assert.deepEqual(await guest.told(), told));
});

test('who spoke in place of the person is named', async () => {
  model.will('Yes.', 'Yes.', 'Yes.', 'Yes.');
  await guest.ask('Hello');
  await post({ prompt: 'Time to water the plants', source: 'scheduler', scheduleSlug: 'daily' });
  await guest.log.getByRole('article', { name: 'From the schedule daily' }).waitFor();
  await guest.finished.nth(1).waitFor();
  await guest.idle();
  await post({ prompt: 'Somebody pressed a button', source: 'applet', appletSlug: 'board' });
  await guest.log.getByRole('article', { name: 'From the applet board' }).waitFor();
  await guest.finished.nth(2).waitFor();
  await guest.idle();
  await post({ prompt: 'I have news', source: 'agent', fromSession: 'another', correlationId: 'flow' });
  await guest.log.getByRole('article', { name: 'From another agent' }).waitFor();
  await guest.finished.nth(3).waitFor();
  await guest.idle();
  const again = guest.log.getByRole('button', { name: 'Try again' });
  await eventually(async () => assert.equal(await again.count(), 0, 'it is not ours to say again'));
  assert.equal(await guest.log.getByRole('button', { name: 'Edit message' }).count(), 1);
});

for (const { name: look, wide, options } of looks) {
  test(`a lively conversation in ${look}`, async () => {
    await context.close();
    context = await browser.newContext({ storageState: remembered, ...options });
    guest = await visit(context, server.url);
    model.will(
      {
        text: 'I will look.',
        calls: [
          { name: 'list_directory', args: { path: '.' } },
          { name: 'read_file', args: { path: 'no/such.txt' } },
        ],
      },
      'There is a list of **guests**.',
      'Watered.',
      'Noted.',
      'Thanks.',
      { refusal: 'the house is asleep' },
    );
    await guest.ask('What is in this folder?');
    await post({ prompt: 'Time to water the plants', source: 'scheduler', scheduleSlug: 'daily' });
    await guest.finished.getByText('Watered.').waitFor();
    await guest.idle();
    await post({ prompt: 'Somebody pressed a button', source: 'applet', appletSlug: 'board' });
    await guest.finished.getByText('Noted.').waitFor();
    await guest.idle();
    await post({ prompt: 'I have news', source: 'agent', fromSession: 'another', correlationId: look });
    await guest.finished.getByText('Thanks.').waitFor();
    await guest.idle();
    await guest.say('And now?');
    await guest.log.getByText('Something went wrong.').waitFor();
    await guest.idle();
    await inspect(guest, `talk-${look}`);
    await guest.mine.last().hover();
    await guest.log.getByRole('button', { name: 'Edit message' }).last().click();
    await guest.page.getByRole('textbox', { name: 'Edited message' }).waitFor();
    await inspect(guest, `editing-${look}`);
    await guest.page.getByRole('button', { name: 'Model:' }).click();
    await guest.page.getByRole('listbox', { name: 'Models' }).waitFor();
    await inspect(guest, `models-${look}`);
    await guest.page.keyboard.press('Escape');
    if (!wide) return;
    await guest.page.getByRole('button', { name: 'of context' }).click();
    await guest.page.getByRole('dialog', { name: 'What was used' }).waitFor();
    await inspect(guest, `spending-${look}`);
  });
}
