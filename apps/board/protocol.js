// What an agent may read of the board and do to it.

const text = (description) => ({ type: 'string', minLength: 1, maxLength: 10_000, description });
const card = text('Id of a card, or its title');
const column = text('Id of a column, or its title');
const position = {
  type: 'integer',
  minimum: 1,
  description: 'Place in the column, counted from 1; the end without it',
};
const change = { type: 'integer', description: 'Number of the change; pass it to undo to take back exactly this' };
const note = { type: 'string', maxLength: 10_000, description: 'More about it' };

/** @param {import('./board.js').Board} board */
export function registration(board) {
  /** Does something and says which change it was. */
  const doing = (act) => (params) => {
    const before = board.change;
    const result = act(params ?? {});
    // Without a change there is nothing to undo, which is said so that nothing else is.
    return { ok: true, ...result, change: board.change === before ? null : board.change };
  };
  const inverse = 'undo';
  return {
    appId: 'board',
    name: 'Board',
    state: {
      board: {
        description: 'Everything: the columns in order, each with its cards in order (id, title, note, done).',
        schema: { type: 'array', items: { type: 'object' } },
        handler: () => board.state.columns,
      },
      cards: {
        description: 'All cards in one list, each with the title of its column.',
        schema: { type: 'array', items: { type: 'object' } },
        handler: () => board.cards(),
      },
      summary: {
        description: 'How many cards each column has and how many of them are done. Read this first.',
        schema: { type: 'object' },
        handler: () => ({
          columns: board.state.columns.map(({ id, title, cards }) => ({
            id,
            title,
            cards: cards.length,
            done: cards.filter((it) => it.done).length,
          })),
        }),
      },
    },
    // The person moves cards as well, and adding twice would be wrong: the whole board is kept instead, and commands are
    // repeated only where nothing can be kept.
    commands: {
      addCard: {
        description: 'Add a card, at the end of the first column unless said otherwise.',
        params: object({ title: text('What is to be done'), column, note, position }, 'title'),
        inverse,
        handler: doing(({ title, ...where }) => ({ card: board.addCard(title, where) })),
      },
      updateCard: {
        description: 'Change the title or note of a card, or tick it off.',
        params: object({ card, title: text('New title'), note, done: { type: 'boolean' } }, 'card'),
        inverse,
        handler: doing(({ card, ...more }) => ({ card: board.updateCard(card, more) })),
      },
      moveCard: {
        description: 'Move a card to another column or another place in its own.',
        params: object({ card, column, position }, 'card'),
        inverse,
        handler: doing(({ card, ...where }) => board.moveCard(card, where)),
      },
      removeCard: {
        description: 'Remove a card. It can be undone.',
        params: object({ card }, 'card'),
        inverse,
        handler: doing(({ card }) => ({ removed: board.removeCard(card) })),
      },
      addColumn: {
        description: 'Add a column, at the end unless a position is given.',
        params: object({ title: text('Its title'), position }, 'title'),
        inverse,
        handler: doing(({ title, position }) => ({ column: board.addColumn(title, position) })),
      },
      renameColumn: {
        description: 'Give a column another title.',
        params: object({ column, title: text('New title') }, 'column', 'title'),
        inverse,
        handler: doing(({ column, title }) => void board.renameColumn(column, title)),
      },
      removeColumn: {
        description: 'Remove a column with all its cards. It can be undone.',
        params: object({ column }, 'column'),
        inverse,
        handler: doing(({ column }) => ({ removed: board.removeColumn(column) })),
      },
      setBoard: {
        description:
          'Replace everything: {"columns": [{"title": "To do", "cards": ["Buy bread", {"title": "Call Nestor", "note": "about the horses"}]}]}.',
        params: object(
          {
            columns: {
              type: 'array',
              items: object(
                {
                  title: text('Its title'),
                  cards: {
                    type: 'array',
                    items: {
                      anyOf: [
                        text('Title of a card'),
                        object({ title: text('Title'), note, done: { type: 'boolean' } }, 'title'),
                      ],
                    },
                  },
                },
                'title',
              ),
            },
          },
          'columns',
        ),
        inverse,
        handler: doing(({ columns }) => void board.replace(columns)),
      },
      undo: {
        description: 'Take back the last change, whoever made it. With `change`, only if that was the last one.',
        params: object({ change }),
        inverse: 'redo',
        handler: ({ change } = {}) => {
          const { id, words } = board.undo(change);
          return { ok: true, undone: words, change: id };
        },
      },
      redo: {
        description: 'Do again what was undone last. With `change`, only if that was undone last.',
        params: object({ change }),
        inverse,
        handler: ({ change } = {}) => {
          const { id, words } = board.redo(change);
          return { ok: true, redone: words, change: id };
        },
      },
    },
  };
}

/** @param {Record<string, object>} properties @param {string[]} required */
function object(properties, ...required) {
  return { type: 'object', properties, required, additionalProperties: false };
}
