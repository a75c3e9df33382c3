// Looking for words in a session.
export const find = {
  heading: 'Search this session',
  placeholder: 'Words of a message, an answer or a tool…',
  results: 'Found',
  looking: 'Looking…',
  noneYet: 'Nothing found so far.',
  count: (count: number) => (count === 0 ? 'Nothing found.' : count === 1 ? 'Found once' : `Found ${count} times`),
  more: 'Look further back',
  kinds: { message: 'Message', answer: 'Answer', tool: 'Tool' },
};
