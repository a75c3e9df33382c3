// The requests that desktops take.
import { ask } from '../lib/api';
import type { Action, Class, DesktopState, Rect, Replay, Trajectory } from './wire';

export interface ArmWish {
  device: string;
  seconds: number;
  classes: Class[];
  session?: string;
  region?: Rect;
}

export const state = () => ask<DesktopState>('GET', '/api/desktop');
export const arm = (wish: ArmWish) => ask('POST', '/api/desktop/arm', wish);
export const disarm = (device: string) => ask('POST', '/api/desktop/disarm', { device });
export const stop = (device: string) => ask('POST', '/api/desktop/stop', { device });
export const takeOver = (device: string) => ask('POST', '/api/desktop/take_over', { device });
export const handBack = (device: string) => ask('POST', '/api/desktop/hand_back', { device });

export function log(device: string, session: string, before?: number) {
  const said = new URLSearchParams({ device });
  if (session) said.set('session', session);
  if (before !== undefined) said.set('before', String(before));
  return ask<{ actions: Action[]; before: number | null }>('GET', `/api/desktop/log?${said}`);
}

export const record = (device: string) => ask('POST', '/api/desktop/record', { device });
/** Ends a recording; it is thrown away if it gets no name. */
export const keep = (device: string, name?: string) => ask('POST', '/api/desktop/trajectories', { device, name });
export const trajectories = () => ask<{ trajectories: Trajectory[] }>('GET', '/api/desktop/trajectories');
export const rename = (id: string, name: string) => ask('PATCH', place(id), { name });
/** Goes on its way even if the page is being left. */
export const remove = (id: string) => ask('DELETE', place(id), undefined, {}, { keepalive: true });
export const replay = (id: string, wish: { device: string; from?: number; anyway?: boolean }) =>
  ask<Replay>('POST', `${place(id)}/replay`, wish);

function place(id: string): string {
  return `/api/desktop/trajectories/${encodeURIComponent(id)}`;
}
