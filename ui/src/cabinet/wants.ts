// What an app asks for, in sentences; pure.
import { words } from '../lib/words';
import type { ListedApp } from './wire';

/** Each as a person reads it. None means that it asks for nothing out of the ordinary. */
export function wants({ permissions, domains, storage, fileAssociations }: ListedApp): string[] {
  const text = words.apps.wants;
  const all = permissions.map(permission);
  if (domains.connect.length > 0) all.push(text.connect(hosts(domains.connect)));
  if (domains.load.length > 0) all.push(text.load(hosts(domains.load)));
  if (storage !== undefined) all.push(text.storage(size(storage)));
  const extensions = [...new Set(fileAssociations.flatMap((it) => it.extensions))];
  if (extensions.length > 0) all.push(text.files(extensions.join(', ')));
  return all;
}

function permission(name: string): string {
  const text = words.apps.wants;
  const [kind = '', folder = ''] = split(name);
  if (kind === 'storage') return text.share(folder);
  if (kind === 'storage-read') return text.look(folder);
  const known: Record<string, string> = text.permissions;
  return Object.hasOwn(known, name) ? known[name]! : name;
}

function split(name: string): string[] {
  const at = name.indexOf(':');
  return at < 0 ? [name] : [name.slice(0, at), name.slice(at + 1)];
}

const hosts = (origins: string[]) => origins.map((it) => it.replace(/^https:\/\//, '')).join(', ');

function size(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 2 ** (10 * step);
  return `${amount.toLocaleString('en', { maximumFractionDigits: 1 })} ${units[step]}`;
}
