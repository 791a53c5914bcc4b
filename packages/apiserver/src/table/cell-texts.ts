import { type LabelSelector, selectorFrom } from 'riata/object';

/** Texts that stand in for nothing. */
export const none = '<none>';
export const unset = '<unset>';
export const unknown = '<unknown>';

/** The text, or `<none>`. */
export function orNone(text: string | null | undefined): string {
  return text || none;
}

/** Labels as `a=1,b=2`, by name. */
export function labelsText(labels: Readonly<Record<string, string>> | null | undefined): string {
  const names = Object.keys(labels ?? {}).sort();
  return orNone(names.map((name) => `${name}=${labels?.[name] ?? ''}`).join(','));
}

/** A label selector as it stands in a query; none at all selects nothing and prints as nothing. */
export function selectorText(selector: LabelSelector | null | undefined): string {
  return orNone(bareSelectorText(selector, '<error>'));
}

/** The same, an empty text for one that selects everything. */
export function bareSelectorText(selector: LabelSelector | null | undefined, invalid: string): string {
  if (selector === undefined || selector === null) return '';
  try {
    return selectorFrom(selector).toString();
  } catch {
    return invalid;
  }
}

interface Named {
  readonly name?: string;
  readonly image?: string;
}

/** Names and images of containers, a cell each. */
export function containerCells(containers: readonly Named[] | null | undefined): readonly [string, string] {
  const all = containers ?? [];
  return [all.map(({ name = '' }) => name).join(','), all.map(({ image = '' }) => image).join(',')];
}

/** The first few of many, and how many more there are. */
export function someOf(all: readonly string[], most: number, separator = ','): string {
  const shown = all.slice(0, most).join(separator);
  return all.length > most ? `${shown} + ${all.length - most} more...` : shown;
}

/** Truth as Go's printers write it for people. */
export function truthText(value: boolean | null | undefined): string {
  return value === undefined || value === null ? unset : value ? 'True' : 'False';
}

interface Addressed {
  readonly ip?: string;
  readonly hostname?: string;
}

/** Where a load balancer is reached: addresses once each, in order. */
export function addressesText(ingress: readonly Addressed[] | null | undefined): string {
  const found = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((text) => text !== '');
  return [...new Set(found)].sort().join(',');
}
