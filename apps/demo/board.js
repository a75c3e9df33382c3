// A notice board: what is pinned is kept by the server, and a note can be told to the agent.
const { megaron } = window;
const list = document.getElementById('notes');
const template = document.getElementById('note');
const text = document.getElementById('text');

document.getElementById('writing').addEventListener('submit', (event) => {
  event.preventDefault();
  if (!text.value.trim()) return;
  megaron.send({ type: 'note', text: text.value });
  text.value = '';
  remark('');
});

megaron.onMessage((message) => {
  if (message.type === 'notes') show(message.notes);
  if (message.type === 'said') remark(message.queued ? 'The agent will hear of it in a moment.' : 'The agent was told.');
});
megaron.onError((error) => remark(`That did not work: ${error}.`));

function show(notes) {
  list.replaceChildren(...notes.toReversed().map(pinned));
  list.hidden = notes.length === 0;
  document.getElementById('empty').hidden = notes.length > 0;
}

function pinned(note) {
  const item = template.content.cloneNode(true).firstElementChild;
  item.querySelector('p').textContent = note.text;
  item.querySelector('.tell').addEventListener('click', () => megaron.send({ type: 'say', text: note.text }));
  item.querySelector('.remove').addEventListener('click', () => megaron.send({ type: 'remove', id: note.id }));
  return item;
}

function remark(words) {
  document.getElementById('remark').textContent = words;
}
