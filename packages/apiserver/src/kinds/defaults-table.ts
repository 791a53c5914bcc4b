import { isJsonObject, type Json, type JsonObject } from 'riata/object';

/**
 * The default of a field: a value, or a function of the object that holds the field and of the whole object. Undefined
 * leaves the field out.
 */
export type DefaultValue = Json | ((parent: JsonObject, root: JsonObject) => Json | undefined);

/** A value that is computed even if the field is set; the same reference means that nothing changes. */
class Computed {
  readonly of: (value: Json | undefined, parent: JsonObject, root: JsonObject) => Json | undefined;

  constructor(of: Computed['of']) {
    this.of = of;
  }
}

/**
 * Defaults by path, e.g. `spec.replicas`; `containers[]` stands for every element of a list, `limits{}` for every value
 * of a map. Parents of a path are never created: name them first, e.g. `'spec.strategy': {}`. Within one object, an
 * earlier default is set when a later one is computed.
 */
export type DefaultsTable = Readonly<Record<string, DefaultValue | Computed>>;

/** Fills in what is absent or null. Answers with the same reference if nothing was. */
export type ApplyDefaults = (object: JsonObject) => JsonObject;

/** Computes a field from what it is now. */
export function computed(of: Computed['of']): Computed {
  return new Computed(of);
}

/** The same defaults further down, e.g. those of a Pod's spec in a template. */
export function prefixed(prefix: string, table: DefaultsTable): DefaultsTable {
  return Object.fromEntries(Object.entries(table).map(([path, value]) => [`${prefix}.${path}`, value]));
}

export function compileDefaults(table: DefaultsTable): ApplyDefaults {
  const root = new Level();
  for (const [path, value] of Object.entries(table)) {
    const parts = path.split('.');
    const field = parts.pop() as string;
    let at = root;
    for (const part of parts) at = at.below(part);
    at.steps.push({ field, value });
  }
  return (object) => root.fill(object, object);
}

type Each = 'itself' | 'elements' | 'values';

type Step =
  | { readonly field: string; readonly value: DefaultValue | Computed }
  | { readonly field: string; readonly each: Each; readonly level: Level };

/** The defaults to set in one object of a path. */
class Level {
  readonly steps: Step[] = [];
  readonly #below = new Map<string, Level>();

  below(part: string): Level {
    let level = this.#below.get(part);
    if (level === undefined) {
      level = new Level();
      this.#below.set(part, level);
      const each = part.endsWith('[]') ? 'elements' : part.endsWith('{}') ? 'values' : 'itself';
      this.steps.push({ field: part.replace(/(\[\]|\{\})$/, ''), each, level });
    }
    return level;
  }

  fill(object: JsonObject, root: JsonObject): JsonObject {
    let made = object;
    for (const step of this.steps) {
      const now = made[step.field];
      const next = 'level' in step ? descend(step.level, step.each, now, root) : defaultOf(step.value, now, made, root);
      if (next === now || next === undefined) continue;
      if (made === object) made = { ...object };
      (made as Record<string, Json>)[step.field] = next;
    }
    return made;
  }
}

function descend(level: Level, each: Each, value: Json | undefined, root: JsonObject): Json | undefined {
  if (each === 'elements') {
    if (!Array.isArray(value)) return value;
    const filled = value.map((item) => (isJsonObject(item) ? level.fill(item, root) : item));
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }
  if (!isJsonObject(value)) return value;
  if (each === 'itself') return level.fill(value, root);
  const filled = Object.entries(value).map(([k, v]) => [k, isJsonObject(v) ? level.fill(v, root) : v] as const);
  return filled.some(([k, v]) => v !== value[k]) ? Object.fromEntries(filled) : value;
}

function defaultOf(
  value: DefaultValue | Computed,
  now: Json | undefined,
  parent: JsonObject,
  root: JsonObject,
): Json | undefined {
  if (value instanceof Computed) return value.of(now, parent, root);
  if (now !== undefined && now !== null) return now;
  return typeof value === 'function' ? value(parent, root) : value;
}
