import { resolve } from 'node:path';
import { ConfigError, type ConfigPlace } from './config-error.js';

/** Booleans of YAML 1.1, which kubectl reads; our parser hands the last four over as text. */
const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  ['yes', true],
  ['on', true],
  [false, false],
  ['false', false],
  ['no', false],
  ['off', false],
]);

/** Whether `value` is a mapping rather than a list or a scalar. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One mapping of a kubeconfig, read field by field: a value of the wrong sort is an error that names the field. An
 * empty string, null and an absent field are all `undefined`, as they are to kubectl.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #place: ConfigPlace;
  readonly #dir: string;

  /** Relative paths are resolved against `dir`. */
  constructor(values: Readonly<Record<string, unknown>>, place: ConfigPlace, dir: string) {
    this.#values = values;
    this.#place = place;
    this.#dir = dir;
  }

  /** The place of the field `name`, or of the mapping itself. */
  place(name?: string): ConfigPlace {
    const { field } = this.#place;
    if (name === undefined) return this.#place;
    return { ...this.#place, field: field === undefined ? name : `${field}.${name}` };
  }

  /** The same fields, with errors that also say which context was being read. */
  inContext(context: string): Fields {
    return new Fields(this.#values, { ...this.#place, context }, this.#dir);
  }

  error(name: string | undefined, problem: string): ConfigError {
    return new ConfigError(problem, this.place(name));
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  keys(): readonly string[] {
    return Object.keys(this.#values);
  }

  raw(name: string): unknown {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    return value === null || value === '' ? undefined : value;
  }

  text(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const text = scalarText(value);
    if (text === undefined) throw this.error(name, `must be a string, got ${sortOf(value)}`);
    return text;
  }

  flag(name: string): boolean {
    const value = this.raw(name);
    if (value === undefined) return false;
    const flag = booleans.get(typeof value === 'string' ? value.toLowerCase() : value);
    if (flag === undefined) throw this.error(name, `must be true or false, got ${sortOf(value)}`);
    return flag;
  }

  texts(name: string): readonly string[] {
    return this.#list(name, 'strings').map((item, i) => {
      const text = scalarText(item);
      if (text === undefined) throw this.error(`${name}[${i}]`, `must be a string, got ${sortOf(item)}`);
      return text;
    });
  }

  /** The bytes of a base64 field. */
  bytes(name: string): Uint8Array | undefined {
    const text = this.text(name)?.replace(/\s+/g, '');
    if (text === undefined || text === '') return undefined;
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) {
      throw this.error(name, 'is not base64; give the PEM file encoded with `base64 -w0`, or name the file itself');
    }
    return Buffer.from(text, 'base64');
  }

  /** An absolute path. */
  path(name: string): string | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : resolve(this.#dir, text);
  }

  section(name: string): Fields | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (!isMapping(value)) throw this.error(name, `must be a mapping, got ${sortOf(value)}`);
    return new Fields(value, this.place(name), this.#dir);
  }

  /** A list of mappings. */
  sections(name: string): readonly Fields[] {
    return this.#list(name, 'mappings').map((item, i) => {
      if (!isMapping(item)) throw this.error(`${name}[${i}]`, `must be a mapping, got ${sortOf(item)}`);
      return new Fields(item, this.place(`${name}[${i}]`), this.#dir);
    });
  }

  /** A list of `{ name, [key]: mapping }`, by name. Errors call an entry `clusters[dev].cluster`, as people do. */
  named(name: string, key: string): ReadonlyMap<string, Fields> {
    const found = new Map<string, Fields>();
    for (const entry of this.sections(name)) {
      const entryName = entry.text('name');
      if (entryName === undefined) throw entry.error('name', 'is missing');
      if (found.has(entryName)) throw this.error(`${name}[${entryName}]`, 'duplicate name; rename or remove one');
      const place = this.place(`${name}[${entryName}].${key}`);
      const body = entry.raw(key);
      if (body !== undefined && !isMapping(body))
        throw new ConfigError(`must be a mapping, got ${sortOf(body)}`, place);
      found.set(entryName, new Fields(body ?? {}, place, this.#dir));
    }
    return found;
  }

  #list(name: string, of: string): readonly unknown[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.error(name, `must be a list of ${of}, got ${sortOf(value)}`);
    return value;
  }
}

/** `password: 1234` is a number to YAML and a password to its writer. */
function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint'
    ? String(value)
    : undefined;
}

/** The type of a value, without its content: it may be a secret in the wrong place. */
function sortOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return isMapping(value) ? 'a mapping' : value === null ? 'null' : `another ${typeof value}`;
}
