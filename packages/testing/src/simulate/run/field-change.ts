import { formatPointer, isJsonObject, type Json, parsePointer } from 'riata/object';

/** A field that gets another value, or is removed. */
export interface FieldChange {
  /** As a JSON pointer: `/spec/size`. */
  readonly path: string;
  /** Undefined: the field is removed. */
  readonly value?: Json;
}

/** A change of one object, which is undone afterwards. */
export interface PlannedChange {
  /** The step of the story that wrote the object first, counted from 1. */
  readonly step: number;
  readonly fields: readonly FieldChange[];
}

interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

/** A change of fields as JSON patches, there and back. */
export interface ChangePatches {
  readonly there: readonly PatchOperation[];
  readonly back: readonly PatchOperation[];
  /** `spec.size: 1 → 0`. */
  readonly text: string;
}

/** What changes these fields of an object, and what undoes it. */
export function changePatches(object: Json, fields: readonly FieldChange[]): ChangePatches {
  const there: PatchOperation[] = [];
  const back: PatchOperation[] = [];
  const texts: string[] = [];
  for (const { path, value } of fields) {
    const tokens = parsePointer(path);
    const name = tokens.at(-1) ?? '';
    const parent = valueAt(object, tokens.slice(0, -1));
    const before = memberOf(parent, name);
    texts.push(`${readablePath(path)}: ${shown(before)} → ${shown(value)}`);
    if (before === undefined && value === undefined) continue;
    const put = Array.isArray(parent) ? 'replace' : 'add';
    there.push(value === undefined ? { op: 'remove', path } : { op: put, path, value });
    back.unshift(before === undefined ? { op: 'remove', path } : { op: put, path, value: before });
  }
  return { there, back, text: texts.join(', ') };
}

/** `/spec/ports/0/name` as people write it: `spec.ports[0].name`. */
export function readablePath(path: string): string {
  return parsePointer(path)
    .map((token, at) => {
      if (/^\d+$/.test(token)) return `[${token}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(token)) return `[${JSON.stringify(token)}]`;
      return at === 0 ? token : `.${token}`;
    })
    .join('');
}

/** `spec.size = 0`, `spec.target removed`. */
export function describeChange({ path, value }: FieldChange): string {
  return value === undefined ? `${readablePath(path)} removed` : `${readablePath(path)} = ${JSON.stringify(value)}`;
}

/** The word of a replay: `change@1:/spec/size=0`, and without a value if the field is removed. */
export function formatChange({ step, fields }: PlannedChange): readonly string[] {
  return fields.map(({ path, value }) => {
    const where = `change@${step}:${escaped(path).replaceAll('=', '%3D')}`;
    return value === undefined ? where : `${where}=${escaped(JSON.stringify(value))}`;
  });
}

/** Reads one word of {@link formatChange}; undefined if it is malformed. */
export function parseChange(word: string): { readonly step: number; readonly field: FieldChange } | undefined {
  const [, step, path, value] = /^change@(\d+):(\/[^=]*)(?:=(.+))?$/.exec(word) ?? [];
  if (step === undefined || path === undefined) return undefined;
  try {
    const field = {
      path: formatPointer(parsePointer(decodeURIComponent(path))),
      ...(value !== undefined && { value: JSON.parse(decodeURIComponent(value)) as Json }),
    };
    return { step: Number(step), field };
  } catch {
    return undefined;
  }
}

/** Whether two changes can't be made at once, as one is inside the other. */
export function overlaps(one: FieldChange, other: FieldChange): boolean {
  const [a, b] = [`${one.path}/`, `${other.path}/`];
  return a.startsWith(b) || b.startsWith(a);
}

/** Fit for one word inside of single quotes. */
function escaped(text: string): string {
  return text.replaceAll(/[^!-~]|[%'\\]/gu, (sign) => (sign === "'" ? '%27' : encodeURIComponent(sign)));
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function valueAt(value: Json | undefined, tokens: readonly string[]): Json | undefined {
  return tokens.reduce<Json | undefined>(memberOf, value);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? (value as Record<string, Json>)[name] : undefined;
}
