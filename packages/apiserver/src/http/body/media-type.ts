export const protobufType = 'application/vnd.kubernetes.protobuf';

/** The accepted types of bodies, in the words of a refusal. */
export const bodyTypes = ['application/json', 'application/yaml', protobufType] as const;

/** One clause of an Accept header. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly params: ReadonlyMap<string, string>;
  readonly q: number;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The media type of a Content-Type in lower case, without parameters; undefined if it is malformed
 * (`mime.ParseMediaType`).
 */
export function mediaTypeOf(header: string): string | undefined {
  const [first = ''] = header.split(';', 1);
  const [type = '', subtype = '', ...more] = first.trim().toLowerCase().split('/');
  return token.test(type) && token.test(subtype) && more.length === 0 ? `${type}/${subtype}` : undefined;
}

/** Go's error for a malformed Content-Type; undefined if its media type is well formed. */
export function mediaTypeProblem(header: string): string | undefined {
  const [first = ''] = header.split(';', 1);
  const [, type = '', rest = ''] = /^([!#$%&'*+.^_`|~0-9a-z-]*)(.*)$/s.exec(first.trim().toLowerCase()) ?? [];
  if (type === '') return 'mime: no media type';
  if (rest === '') return undefined;
  if (!rest.startsWith('/')) return 'mime: expected slash after first token';
  const [, subtype = '', more = ''] = /^([!#$%&'*+.^_`|~0-9a-z-]*)(.*)$/s.exec(rest.slice(1)) ?? [];
  if (subtype === '') return 'mime: expected token after slash';
  return more === '' ? undefined : 'mime: unexpected content after media subtype';
}

/** The clauses of an Accept header, most preferred first: by weight, then the more specific ones, then as given. */
export function parseAccept(header: string): readonly AcceptClause[] {
  const clauses = header.split(',').map(parseClause);
  return clauses.filter((clause) => clause !== undefined).sort((a, b) => b.q - a.q || openness(a) - openness(b));
}

function parseClause(text: string): AcceptClause | undefined {
  const [media = '', ...rest] = text.split(';').map((part) => part.trim());
  const [type = '', subtype = '', ...more] = media.split('/');
  if (type === '' || more.length > 0) return undefined;
  const params = new Map<string, string>();
  let q = 1;
  for (const part of rest) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    if (name === 'q') q = weightOf(value);
    else params.set(name, value);
  }
  // A lone `*` stands for everything.
  return { type, subtype: type === '*' && subtype === '' ? '*' : subtype, params, q };
}

function weightOf(value: string): number {
  const weight = Number(value);
  return value === '' || Number.isNaN(weight) ? 1 : weight;
}

function openness(clause: AcceptClause): number {
  return (clause.type === '*' ? 2 : 0) + (clause.subtype === '*' ? 1 : 0);
}
