// One text, kept for this app, that a person and an agent both write.
const PLACE = 'apps/self/text.txt';
const PAUSE = 400;
const text = document.querySelector('#text');
const remark = document.querySelector('#remark');
let waiting;

const say = (words) => (remark.textContent = words);

async function keep() {
  try {
    await yaar.storage.save(PLACE, text.value);
    say('Kept');
  } catch (error) {
    say(`Not kept: ${error.message}`);
  }
}

async function recall() {
  try {
    text.value = await yaar.storage.read(PLACE, { as: 'text' });
  } catch {
    // Nothing was kept yet.
  }
}

text.addEventListener('input', () => {
  say('');
  clearTimeout(waiting);
  waiting = setTimeout(keep, PAUSE);
});

const ready = recall();

yaar.app.register({
  appId: 'scratchpad',
  name: 'Scratchpad',
  state: {
    text: {
      description: 'All that is written',
      schema: { type: 'string' },
      handler: async () => {
        await ready;
        return text.value;
      },
    },
  },
  commands: {
    setText: {
      description: 'Replaces all that is written',
      params: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      },
      // What is kept comes back by itself, with what was typed since.
      replay: 'never',
      handler: async ({ text: wanted }) => {
        await ready;
        text.value = wanted;
        await keep();
        return { characters: wanted.length };
      },
    },
  },
});
