import type { WriteObject } from 'riata/client';

/** Around the name of a value inside a string; private-use characters, so that no text of a user has them by chance. */
const [open, close] = ['\u{E000}', '\u{E001}'];

/** The mark of placeholders that are no strings, of whichever copy of this package. */
const mark = Symbol.for('riata.dev/placeholder');

/** The conditions of an object that is only in some releases. */
const conditions = Symbol.for('riata.dev/conditions');

/** A value of a chart that is not known yet. `name` is what errors call it: `values.image.tag`, `release.namespace`. */
export interface Placeholder {
  readonly [mark]: string;
}

/** A text that stands for a value: alone, or anywhere in a string. */
export function tokenFor(name: string): string {
  return `${open}${name}${close}`;
}

/** Marks an object or proxy target as the placeholder of a value. */
export function placeholderMark(name: string): Placeholder {
  return { [mark]: name };
}

/** Whether a value is a placeholder, or a string with one in it: it can be passed on, and nothing else. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === 'string' ? value.includes(open) : placeholderName(value) !== undefined;
}

/** The name of the value that a placeholder stands for, unless it is part of a longer string. */
export function placeholderName(value: unknown): string | undefined {
  if (typeof value === 'string') return splitTokens(value).length === 1 ? splitTokens(value)[0]?.name : undefined;
  return typeof value === 'object' && value !== null ? (value as Partial<Placeholder>)[mark] : undefined;
}

/** Part of a string: a text, or the name of a value. */
export interface TextPart {
  readonly text?: string;
  readonly name?: string;
}

/** The parts of a string: texts, and names of values. */
export function splitTokens(text: string): readonly TextPart[] {
  if (text === '') return [];
  return text.split(/(\u{E000}[^\u{E000}\u{E001}]*\u{E001})/u).flatMap((part): TextPart[] => {
    if (part === '') return [];
    return part.startsWith(open) ? [{ name: part.slice(open.length, -close.length) }] : [{ text: part }];
  });
}

/** Whether a text has a part of a token: a placeholder that code has cut or changed. */
export function isBroken(text: string): boolean {
  return splitTokens(text).some((part) => part.text !== undefined && /[\u{E000}\u{E001}]/u.test(part.text));
}

/**
 * Objects that exist only if a value is true: in a chart, the condition of a template. A plain `if` can't work there,
 * since the value is not known when the chart is written.
 *
 * @example
 * chart(siteOperator, { values, objects: async (v) => [...(await deployment(siteOperator)), ...onlyIf(v.quota, [quota])] });
 */
export function onlyIf<T extends WriteObject>(condition: boolean, objects: readonly T[]): T[] {
  if (!isPlaceholder(condition)) return condition ? [...objects] : [];
  const name = placeholderName(condition) as string;
  return objects.map((object) => ({ ...object, [conditions]: [...conditionsOf(object), name] }));
}

/** The names of the values that must all be true for an object to exist. */
export function conditionsOf(object: object): readonly string[] {
  return (object as { readonly [conditions]?: readonly string[] })[conditions] ?? [];
}
