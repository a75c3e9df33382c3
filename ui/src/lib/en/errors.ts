// What went wrong, and what to do about it.
export const errors = {
  unreachable: 'The server cannot be reached. It may have stopped, or the network is down; this page keeps trying.',
  away: 'The server cannot be reached.',
  signedOut: 'You are not signed in, or your session has ended.',
  signIn: 'Sign in',
  pictureGone: 'A picture of this message is no longer there.',
  answered: (status: number) => `The server answered ${status}.`,
  requests: {
    UNAUTHORIZED: 'Sign in again.',
    SESSION_BUSY: 'Wait until it is done, or stop it.',
    PAYLOAD_TOO_LARGE: 'Send less at once: a shorter text, or a smaller file.',
    SHUTTING_DOWN: 'The server is stopping or starting. Wait a moment and try again.',
    INTERNAL_ERROR: 'The log of the server says more; `megaron doctor` looks for the cause.',
  },
  turns: {
    authorization: 'Check the key of this provider: `megaron key list` tells where it comes from.',
    quota: 'Top up the account, or choose another model above.',
    rate_limit: 'Wait a minute and send it again, or choose another model.',
    overloaded: 'Send it again in a while, or choose another model.',
    context: 'Sum up what was said so far, then send it again.',
    network: 'Check the connection of the server, then send it again.',
    model: 'Choose another model above.',
    budget: 'Raise the budget, or choose a model that costs nothing.',
    interrupted: 'Send it again if you still want it.',
  },
};
