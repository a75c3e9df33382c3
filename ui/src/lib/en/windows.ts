// Windows that agents and people open in a session.
export const windows = {
  contentOf: (title: string) => `Content of ${title}`,
  empty: 'There is nothing in this window yet.',
  noRows: 'No rows yet.',
  open: (host: string) => `Open ${host}`,
  elsewhere: 'This is a page of another site. It is not shown here, but opens in a tab of its own.',
  elsewherePicture: 'This picture is on another site, which would learn that you looked at it.',
  broken: 'This picture cannot be shown.',
};
