import type { KindRef, ManagerOptions } from 'riata';

/** Values beyond this many are not looked at: nobody writes so many options by hand. */
const mostValues = 20_000;

/**
 * A text that differs when the options of a manager differ. Each build of the project makes them anew, so identity says
 * nothing: functions are compared by their text, kinds by what they name, instances by their class and public fields. The
 * order of keys does not count. What `riata dev` replaces is left out: `config`, `client` and `runtime`.
 */
export function optionsFingerprint({ runtime: _, config: __, client: ___, ...rest }: ManagerOptions): string {
  const seen = new Map<object, number>();
  return textOf(rest);

  function textOf(value: unknown): string {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'string') return JSON.stringify(value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return String(value);
    const at = seen.get(value);
    if (at !== undefined) return `#${at}`;
    seen.set(value, seen.size);
    if (seen.size > mostValues) return '…';
    if (isKind(value)) return `kind ${value.group}/${value.version}/${value.plural}`;
    if (typeof value === 'function') return `function ${value.toString()}${fieldsOf(value)}`;
    return objectText(value);
  }

  function objectText(value: object): string {
    if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
    if (value instanceof Map) return `Map[${[...value].map(textOf).join()}]`;
    if (value instanceof Set) return `Set[${[...value].map(textOf).join()}]`;
    if (value instanceof Date || value instanceof RegExp || value instanceof URL) return `${nameOf(value)} ${value}`;
    if (ArrayBuffer.isView(value)) return `${nameOf(value)} ${Buffer.from(value.buffer).toString('base64')}`;
    return `${nameOf(value)}${fieldsOf(value)}`;
  }

  function fieldsOf(value: object): string {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    const texts = fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => `${name}:${textOf(each)}`);
    return `{${texts.join()}}`;
  }
}

function nameOf(value: object): string {
  const { name } = (Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: string } } | null)
    ?.constructor ?? { name: '' };
  return name === 'Object' ? '' : (name ?? '');
}

function isKind(value: object): value is KindRef {
  const { plural, version, group } = value as Partial<KindRef>;
  return typeof plural === 'string' && typeof version === 'string' && typeof group === 'string';
}
