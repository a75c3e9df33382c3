// Notifications that come even while the page is closed.
export const push = {
  heading: 'Notifications',
  about:
    'A browser can be told of what happens while nobody looks at the page, even when it is closed. What is sent can be read by that browser alone.',
  here: 'Notifications on this device',
  standings: {
    on: 'This device is told, as chosen below.',
    off: 'Your browser asks you once whether it may.',
    blocked: 'Your browser does not let this page show notifications. Its settings for this site can change that.',
    missing:
      'They need an address with https, or on this machine. On an iPhone or iPad, first add this page to the home screen and open it from there.',
  },
  none: 'No browser is told yet.',
  mine: 'this device',
  sent: (when: string) => `last told ${when}`,
  never: 'not told anything yet',
  failed: (what: string) => `The last one did not arrive: ${what}.`,
  kinds: {
    questions: 'Questions that wait for you',
    tasks: 'Long tasks, plans and schedules that have ended',
    messages: 'Messages that nobody asked for',
    answers: 'Every other answer',
  },
  hideContent: 'Hide what they say',
  quiet: 'Quiet hours',
  from: 'From',
  to: 'to',
  exceptQuestions: 'Questions come all the same',
  test: 'Send a test',
  tested: 'It was sent.',
  remove: 'Remove',
  devices: {
    iphone: 'iPhone or iPad',
    android: 'Android',
    mac: 'Mac',
    windows: 'Windows',
    linux: 'Linux',
    other: 'Browser',
  },
};
