// The models there are, arranged to be chosen from. Pure.
import type { Model } from './wire';

export interface Provider {
  name: string;
  models: Model[];
}

/** Those in which every word that was asked for occurs, by provider, in the order they came. */
export function offered(models: Model[], asked: string): Provider[] {
  const wanted = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const providers = new Map<string, Provider>();
  for (const model of models) {
    const name = providerOf(model.id);
    const said = `${model.id} ${model.name} ${model.payer ?? ''}`.toLowerCase();
    if (!wanted.every((word) => said.includes(word))) continue;
    const provider = providers.get(name) ?? { name, models: [] };
    provider.models.push(model);
    providers.set(name, provider);
  }
  return [...providers.values()];
}

/** What stands before the slash; a model without one is our own. */
export function providerOf(id: string): string {
  const end = id.indexOf('/');
  return end < 0 ? '' : id.slice(0, end);
}

/** The name without its provider, under whose heading it stands. */
export function shortName({ id, name }: Model): string {
  const provider = providerOf(id);
  return provider && name.endsWith(` (${provider})`) ? name.slice(0, -provider.length - 3) : name;
}

/** The models to choose from, the one in use among them even if no list has it. */
export function withUsed(models: Model[], used: string): Model[] {
  return !used || models.some(({ id }) => id === used) ? models : [{ id: used, name: used, cost: 0 }, ...models];
}
