// What the agent is told before a conversation, to read and to write.
export const told = {
  heading: 'What the agent is told',
  about: (size: string, tools: number) =>
    `Told before the conversation, read anew for every turn: ${size} and ${tools} tools.`,
  own: 'From you, to every agent',
  ownPlaceholder: 'How you would like to be answered, what agents should know of you',
  ownHint: 'Heeded from the next turn on, in all sessions.',
  tools: 'Tools',
  reading: 'Reading…',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  tryAgain: 'Try again',
  tooLong: 'That is more than 32 KiB; agents would not be told all of it.',
  unsaved: 'What you wrote is not saved yet. Choose Save or Cancel.',
  empty: 'empty',
  characters: (count: string, isOne: boolean) => `${count} ${isOne ? 'character' : 'characters'}`,
};
