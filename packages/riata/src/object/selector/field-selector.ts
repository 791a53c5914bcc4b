import { compareStrings } from '../compare-strings.js';

/** One term of a field selector (`fields.Requirement`). */
export interface FieldRequirement {
  /** The field's path, e.g. `metadata.name`. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** The fields of an object: a flat map, or a function that looks one up. A missing field counts as `''`. */
export type Fields = Readonly<Record<string, string | undefined>> | ((field: string) => string | undefined);

/** Chooses objects by their fields (`fields.Selector`). Immutable. Which fields there are is up to the server. */
export interface FieldSelector {
  /** All of these must hold. */
  readonly requirements: readonly FieldRequirement[];
  /** True when the fields are selected; a missing field is the same as an empty one. */
  matches(fields: Fields): boolean;
  /** True when nothing is restricted (`Selector.Empty`). */
  isEmpty(): boolean;
  /** The value that a field must have, where the selector leaves only one (`Selector.RequiresExactMatch`). */
  requiresExactMatch(field: string): string | undefined;
  /** The form that goes into a `fieldSelector` parameter; {@link parseFieldSelector} reads it back. */
  toString(): string;
}

class FieldSelectorImpl implements FieldSelector {
  readonly requirements: readonly FieldRequirement[];

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = Object.freeze(requirements.map((requirement) => Object.freeze(requirement)));
    Object.freeze(this);
  }

  matches(fields: Fields): boolean {
    const get = typeof fields === 'function' ? fields : (field: string) => ownField(fields, field);
    return this.requirements.every(
      ({ field, operator, value }) => ((get(field) ?? '') === value) === (operator === '='),
    );
  }

  isEmpty(): boolean {
    return this.requirements.length === 0;
  }

  requiresExactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
      .join(',');
  }

  toJSON(): string {
    return this.toString();
  }
}

function ownField(fields: Readonly<Record<string, string | undefined>>, field: string): string | undefined {
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}

/**
 * Reads the text form with Kubernetes' grammar (`fields.ParseSelector`): `a=b`, `a==b`, `a!=b`, joined by commas; in a
 * value `\,`, `\=` and `\\` stand for the bare character. Blanks count. The empty text selects everything. Throws a
 * `SyntaxError` for a term without operator, an unknown escape and a bare `,` or `=` in a value.
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  // Sorted as they are written, before unescaping: that is the order in which Kubernetes prints them.
  for (const term of splitTerms(text).sort(compareStrings)) {
    if (term === '') continue;
    const match = /!=|==|=/.exec(term);
    if (!match) {
      throw new SyntaxError(
        `field selector ${JSON.stringify(text)}: expected ${JSON.stringify(term)} to hold one of =, ==, !=`,
      );
    }
    const field = term.slice(0, match.index);
    const value = unescapeFieldValue(term.slice(match.index + match[0].length), text);
    // Kubernetes drops a term that says nothing at all.
    if (field !== '' || value !== '') requirements.push({ field, operator: match[0] === '!=' ? '!=' : '=', value });
  }
  return new FieldSelectorImpl(requirements);
}

/**
 * Selects what has all of these values (`fields.SelectorFromSet`): `fieldSelectorFrom({ 'metadata.name': 'cart' })`.
 * Sorted by field. Throws a `TypeError` for a value that is no string (leaving it out would select more than was
 * meant) and for a field name with an operator, comma or backslash in it, which the text form cannot express.
 */
export function fieldSelectorFrom<Field extends string>(fields: Readonly<Record<Field, string>>): FieldSelector {
  const requirements = Object.entries<string>(fields).map(([field, value]): FieldRequirement => {
    if (typeof value !== 'string') {
      throw new TypeError(`field selector: expected a string for ${JSON.stringify(field)}, got ${typeof value}`);
    }
    if (field === '' || /[,=!\\]/.test(field)) {
      throw new TypeError(
        `field selector: ${JSON.stringify(field)} is not a valid field name; expected one like "metadata.name"`,
      );
    }
    return { field, operator: '=', value };
  });
  return new FieldSelectorImpl(requirements.sort((a, b) => compareStrings(a.field, b.field)));
}

/** Writes a value so that it can stand in a field selector (`fields.EscapeValue`). */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function unescapeFieldValue(raw: string, selector: string): string {
  return raw.replace(/\\([\s\S]?)|[,=]/gu, (found, escaped?: string) => {
    if (escaped === undefined) {
      throw new SyntaxError(
        `field selector ${JSON.stringify(selector)}: "${found}" in a value must be written "\\${found}"`,
      );
    }
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw new SyntaxError(
        `field selector ${JSON.stringify(selector)}: unknown escape ${JSON.stringify(found)}: expected \\\\, \\, or \\=`,
      );
    }
    return escaped;
  });
}

/** Cuts at commas, except those after a backslash. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}
