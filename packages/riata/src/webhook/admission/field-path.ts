const steps: unique symbol = Symbol('riata.fieldPath') as never;

/** A place in an object, such as `spec.ports[0].name`; see {@link PathsOf}. */
export interface FieldPath {
  /** Field names, map keys and indexes. Only for the library. */
  readonly [steps]: FieldSteps;
}

/** The steps to a field: names, indexes, and keys of maps as `{ key }`. */
export type FieldSteps = readonly (string | number | { readonly key: string })[];

/**
 * The paths of all fields of `T`: `path.spec.zone`, `path.spec.ports[0].name`, `path.metadata.labels['a.b/c']`. Under
 * `noUncheckedIndexedAccess`, which takes every index for a possible miss, write `path.spec.ports.index(0).name` and
 * `path.metadata.labels.key('a.b/c')` (`field.Path`'s `Index` and `Key`).
 */
export type PathsOf<T> = FieldPath &
  (T extends readonly (infer E)[]
    ? { readonly [index: number]: PathsOf<NonNullable<E>>; index(at: number): PathsOf<NonNullable<E>> }
    : T extends object
      ? { readonly [K in keyof T]-?: PathsOf<NonNullable<T[K]>> } & (string extends keyof T
          ? { key(name: string): PathsOf<NonNullable<T[string & keyof T]>> }
          : unknown)
      : unknown);

/** The path of a whole object. Reading a property of it gives the path of that field. */
export function rootPath<T>(): PathsOf<T> {
  return pathOf([]) as PathsOf<T>;
}

/** The path with these steps. */
export function pathOf(at: FieldSteps): FieldPath {
  // A function, so that `index(0)` and `key('a')` can be called; a field may have these names as well.
  return new Proxy(() => {}, {
    get(_, name) {
      if (name === steps) return at;
      if (typeof name === 'symbol') return undefined;
      return pathOf([...at, stepOf(at, name)]);
    },
    apply(_, __, [argument]: unknown[]) {
      const [called, before] = [at.at(-1), at.slice(0, -1)];
      if (called === 'index' && typeof argument === 'number') return pathOf([...before, argument]);
      if (called === 'key' && typeof argument === 'string') return pathOf([...before, { key: argument }]);
      throw new TypeError(
        `path: ${formatFieldPath(at)} is not a function; use path.list.index(0) or path.map.key('name')`,
      );
    },
    has: (_, name) => name === steps,
    ownKeys: () => ['prototype'],
  }) as unknown as FieldPath;
}

const indexName = /^(?:0|[1-9]\d*)$/;
const fieldName = /^[A-Za-z_$][\w$-]*$/;

/** A step by the name of a property: digits are an index, and what is no field name is the key of a map. */
export function stepOf(at: FieldSteps, name: string): string | number | { readonly key: string } {
  if (indexName.test(name)) return Number(name);
  // In metadata, whatever stands in these is a key of a map.
  const isMap = at.length === 2 && at[0] === 'metadata' && (at[1] === 'labels' || at[1] === 'annotations');
  if (isMap && name !== 'key') return { key: name };
  return fieldName.test(name) ? name : { key: name };
}

/** The steps of a path; undefined for anything else. */
export function stepsOf(path: unknown): FieldSteps | undefined {
  if (typeof path !== 'function') return undefined;
  return (path as unknown as Partial<FieldPath>)[steps];
}

/** The text of a path as Kubernetes writes it (`field.Path.String`): `spec.ports[0].name`, `metadata.labels[a.b/c]`. */
export function formatFieldPath(path: FieldSteps): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'string') text += text === '' ? step : `.${step}`;
    else text += `[${typeof step === 'number' ? step : step.key}]`;
  }
  return text;
}

/** The value at a path in an object; undefined if something on the way is missing. */
export function valueAtPath(object: unknown, path: FieldSteps): unknown {
  let at = object;
  for (const step of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    const name = typeof step === 'object' ? step.key : String(step);
    at = Object.hasOwn(at, name) ? (at as Record<string, unknown>)[name] : undefined;
  }
  return at;
}
