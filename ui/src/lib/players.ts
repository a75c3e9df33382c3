// The players of other sites that may be loaded, and no others; the server's policy has the same list.
const PLAYERS = [
  'https://www.youtube-nocookie.com/embed/',
  'https://player.vimeo.com/video/',
  'https://w.soundcloud.com/player/',
  'https://open.spotify.com/embed/',
  'https://platform.twitter.com/embed/',
];

export const isPlayer = (url: string | undefined): url is string =>
  url !== undefined && PLAYERS.some((it) => url.startsWith(it));

/** Whether it is only listened to, so that it needs little room. */
export const isSound = (url: string) => url.includes('soundcloud') || url.includes('spotify');
