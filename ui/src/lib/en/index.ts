// Every sentence of the page in English, by place; what varies is an argument.
import { approvals, forms, modes } from './approvals';
import { apps } from './apps';
import { chat, log } from './chat';
import { composer, connection } from './composer';
import { desktop } from './desktop';
import { devices } from './devices';
import { docs } from './docs';
import { errors } from './errors';
import { find } from './find';
import { frames } from './frames';
import { hands } from './hands';
import { inspector } from './inspector';
import { models } from './models';
import { navigation } from './navigation';
import { news } from './news';
import { help, palette } from './palette';
import { push } from './push';
import { schedules } from './schedules';
import { sessions } from './sessions';
import { settings } from './settings';
import { told } from './told';
import { welcome } from './welcome';
import { widgets } from './widgets';
import { windows } from './windows';

export const en = {
  /** As browsers call it, for dates and numbers. */
  language: 'en',
  approvals,
  apps,
  chat,
  composer,
  connection,
  desktop,
  devices,
  docs,
  errors,
  find,
  forms,
  frames,
  hands,
  help,
  inspector,
  log,
  models,
  modes,
  navigation,
  news,
  palette,
  push,
  schedules,
  sessions,
  settings,
  told,
  welcome,
  widgets,
  windows,
};
