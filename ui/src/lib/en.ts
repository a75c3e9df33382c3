// Every sentence of the page in English, by place; what varies is an argument.
export const en = {
  chat: {},
  composer: {},
  log: {},
  connection: {},
  sessions: {},
  navigation: {},
  palette: {},
  help: {},
  welcome: {},
  settings: {},
  frames: {},
  approvals: {},
  models: {},
  schedules: {},
  errors: {},
};
