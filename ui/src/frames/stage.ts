// What is around a widget, in the words that hosts agree on, and how tall it may be there.
import type { Look } from '../lib/theme';
import type { DisplayMode } from '../lib/wire';

/** As tall as a widget may be within the conversation, and as small as one can be used, in pixels. */
export const TALLEST = 800;
export const LEAST = 64;

export const MODES: DisplayMode[] = ['inline', 'fullscreen', 'pip'];

export interface Box {
  width: number;
  height: number;
}

/** How much room a widget has: within the conversation it may choose its height, elsewhere it fills its place. */
export function dimensions(mode: DisplayMode, { width, height }: Box): Record<string, number> {
  const wide = Math.round(width);
  return mode === 'inline' ? { width: wide, maxHeight: TALLEST } : { width: wide, height: Math.round(height) };
}

export function surroundings(look: Look, mode: DisplayMode, box: Box): Record<string, unknown> {
  return {
    theme: look.theme,
    styles: { variables: look.styles },
    displayMode: mode,
    availableDisplayModes: MODES,
    containerDimensions: dimensions(mode, box),
    safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
  };
}

/** What is different now, of what was told before; nothing, where that is nothing. */
export function news(
  before: Record<string, unknown>,
  now: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const changed = Object.entries(now).filter(([name, it]) => JSON.stringify(it) !== JSON.stringify(before[name]));
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** A height that was asked for, as far as there is room. */
export function fitting(height: number): number {
  return Math.min(Math.max(Math.ceil(height), LEAST), TALLEST);
}
