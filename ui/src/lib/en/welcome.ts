// What a newcomer reads.
export const welcome = {
  found: 'Found on this machine',
  paid: (what: string, payer: string) => `${what}, paid by ${payer}`,
  offers: (models: string[], payer: string) =>
    `${models.slice(0, 3).join(', ')}${models.length > 3 ? ` and ${models.length - 3} more` : ''} · paid by ${payer}`,
  use: 'Use this',
  chosen: 'In use',
  tryThis: 'Or try what is built in, without an account',
  files: { name: 'Look at the files', about: 'It lists this folder with a tool.', text: 'List the files' },
  plan: {
    name: 'Carry out a plan',
    about: 'Three steps that you can watch.',
    text: 'Make a plan and carry it out',
  },
  shows: {
    name: 'See how answers look',
    about: 'A table, a formula, a diagram and code.',
    text: 'Show a table, a formula and a diagram',
  },
};
