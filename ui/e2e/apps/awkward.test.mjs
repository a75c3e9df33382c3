// The awkward app does what it says, so that others can be tried on it.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { looks } from '../inspect.mjs';
import { launch } from '../visit.mjs';
import { eventually, House, Shown } from './harness.mjs';

let house, browser, context, app;

before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function come(options = {}) {
  house = await House.open();
  context = await browser.newContext({ viewport: { width: 800, height: 700 }, ...options });
  app = await Shown.open(context, house, 'awkward');
}
beforeEach(() => come());
afterEach(async () => {
  await context.close();
  await house.close();
});

const said = async (command, params) => {
  const { error, result } = await app.request({ type: 'yaar:app-command-request', command, params });
  return error ?? result;
};

test('what cannot be said is an error, and what is nothing is nothing', async () => {
  assert.equal(await said('throws'), 'TypeError: thrown on purpose');
  assert.equal(await said('rejects'), 'rejected on purpose');
  assert.equal(await said('throwsNothing'), 'undefined');
  assert.equal(await said('throwsStrange'), 'Error: something that cannot be written was thrown');
  assert.match(await said('function'), /^DataCloneError: /);
  assert.equal(await said('undefined'), undefined);
  assert.equal(await said('null'), null);
  assert.equal((await said('huge')).length, 1_000_000);
});

test('a command that never answers keeps no other from answering', async () => {
  await app.page.evaluate(() =>
    /** @type {any} */ (window).post({ type: 'yaar:app-command-request', requestId: 'never', command: 'never' }),
  );
  assert.deepEqual(await said('addAlways', { by: 2 }), { always: 2 });
  assert.deepEqual(await app.query('counters'), { always: 2, last: 0, never: 0, runs: 0 });
  assert.deepEqual(await app.query('log'), ['never ', 'addAlways {"by":2}']);
});

test('one that takes its time says how far it is', async () => {
  assert.deepEqual(await said('patient', { ms: 40 }), { runs: 1 });
  const steps = (await app.heard('yaar:app-progress')).map((it) => [it.done, it.total, it.note]);
  assert.deepEqual(steps[0], [1, 4, 'part 1 of 4']);
  // The newest is told, so often and no more.
  const possible = [1, 2, 3, 4].map((step) => [step, 4, `part ${step} of 4`]);
  const rising = possible.filter(([done]) => steps.some((it) => it[0] === done));
  assert.deepEqual(steps, rising);
});

test('it says often that it is ready, with one and the same instance', async () => {
  await said('readyStorm', { count: 50 });
  const ready = await app.heard('yaar:app-ready');
  assert.equal(ready.length, 51);
  assert.equal(new Set(ready.map((it) => it.instance)).size, 1);
  await said('registerAgain');
  assert.ok(Object.keys((await app.manifest()).commands).some((it) => it.startsWith('extra')));
});

test('it answers twice, wrongly and for others', async () => {
  assert.equal(await said('answersTwice'), 'the first answer');
  await eventually(async () =>
    assert.ok((await app.heard('yaar:app-command-response')).some((it) => it.result === 'the second answer')),
  );
  await said('forges', { requestId: 'req-of-another' });
  assert.ok((await app.heard('yaar:app-command-response')).some((it) => it.requestId === 'req-of-another'));
});

test('it reloads before it has answered', async () => {
  const [{ instance }] = await app.heard('yaar:app-ready');
  await app.page.evaluate(() =>
    /** @type {any} */ (window).post({ type: 'yaar:app-command-request', requestId: 'r', command: 'reloads' }),
  );
  await eventually(async () => assert.equal((await app.heard('yaar:app-ready')).length, 2));
  assert.notEqual((await app.heard('yaar:app-ready'))[1].instance, instance);
});

for (const { name, options } of looks)
  test(`it looks well in ${name}`, async () => {
    await context.close();
    await house.close();
    await come(options);
    await said('addAlways');
    await app.content.getByRole('button', { name: 'addNever' }).click();
    await app.content.getByText('addNever by hand').waitFor();
    await app.look(`app-awkward-${name}`);
  });
