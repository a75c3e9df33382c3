// What happened while the person was away.
export const news = {
  heading: 'What is new',
  open: (count: number, isKnown: boolean) => {
    if (count > 0) return `What is new: ${count}`;
    return isKnown ? 'What is new: nothing' : 'What is new';
  },
  looking: 'Asking what is new…',
  none: 'Nothing has happened that you have not seen.',
  noneAbout: 'Answers, questions, plans that came to an end and schedules that failed are listed here.',
  groups: {
    questions: 'Waiting for you',
    answers: 'New answers',
    plans: 'Plans that came to an end',
    schedules: 'Schedules that failed',
  },
  inSession: (name: string) => `in ${name}`,
  failed: (reason: string) => reason || 'No reason was given.',
  seen: 'Mark all as seen',
  close: 'Close',
};
