// How a call of a tool is named in one line.

/** `list_directory` reads as "List directory"; names with dots, slashes or capitals of their own are left as they are. */
export function readable(full: string): string {
  // A tool that a widget lends has the widget in its name, which tells a reader nothing.
  const name = full.replace(/^widget__[0-9a-f]+__/, '');
  if (!/^[a-z0-9]+(?:[_-][a-z0-9]+)*$/.test(name)) return name;
  const spaced = name.replace(/[_-]/g, ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** The values without their names: enough to recognise a call by. */
export function gist(given: unknown): string {
  if (typeof given !== 'object' || given === null) return given === undefined ? '' : String(given).slice(0, 200);
  return Object.values(given)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(', ')
    .replace(/\s+/g, ' ')
    .slice(0, 200);
}
