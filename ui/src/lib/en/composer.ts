// What stands where one writes, and how the connection is.
export const composer = {
  message: 'Message',
  placeholder: 'Write a message',
  placeholderPicture: 'Say what the picture is about',
  placeholderBusy: 'Write what comes next',
  hint: 'Enter sends, Shift and Enter begins a new line',
  working: 'Working',
  stop: 'Stop',
  send: 'Send',
  addPictures: 'Add pictures',
  pictures: 'Pictures to send',
  remove: (name: string) => `Remove ${name}`,
  dropHere: 'Drop files here',
  wrongType: (name: string) => `${name} is not a picture that can be sent. PNG, JPEG, GIF and WebP can.`,
  empty: (name: string) => `${name} is empty.`,
  unreadable: (name: string) => `${name} cannot be read.`,
  tooLarge: (name: string, size: string, most: string) => `${name} is too large: ${size}; ${most} is the most.`,
  tooMuch: (name: string, most: string) =>
    `With ${name} the pictures would be too large together; ${most} is the most.`,
  tooMany: (most: number) => `A message takes at most ${most} pictures.`,
};

export const connection = {
  connecting: 'Connecting',
  open: 'Connected',
  waiting: 'Reconnecting',
  inSeconds: (seconds: number) => `in ${seconds} s`,
  tryNow: 'Try now',
  offline: 'Offline',
  signedOut: 'Signed out',
  isOffline: 'this device is offline',
  isSignedOut: 'you are signed out',
  isAway: 'the server cannot be reached',
};
