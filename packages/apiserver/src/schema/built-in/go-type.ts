import { once } from '../../once.js';
import { builtInTypeTexts } from '../../resource/generated/built-in-types.js';

/** A type of the built-in kinds as Go has it. `text` is how Go's messages spell it, e.g. `[]v1.Container`. */
export type GoType =
  | { readonly is: 'string' | 'bool' | 'bytes' | 'custom'; readonly text: string }
  | { readonly is: 'int'; readonly text: string; readonly bits: 32 | 64 }
  | { readonly is: 'float'; readonly text: string }
  | { readonly is: 'list' | 'map'; readonly text: string; readonly element: GoType; readonly pointers: boolean }
  | GoStruct;

/** A field of a struct. The language of one line: `name[!] type [facts…]`. */
export interface GoField {
  /** Its place among the struct's fields. */
  readonly index: number;
  readonly name: string;
  readonly type: GoType;
  /** It can be absent: the type is a pointer. */
  readonly pointer: boolean;
  /** OpenAPI lists it as required (`!`). */
  readonly required: boolean;
  /** Written even when empty (`kept`): there is no `omitempty`. */
  readonly kept: boolean;
  /** Whether defaults distinguish an empty list from a missing one. */
  readonly keepsEmpty: boolean;
  /** Written even when it was not given: there is no `omitempty`, or it is a struct in its owner's place. */
  readonly standing: boolean;
  /** The embedded structs that it comes from, e.g. `['VolumeSource']` (`via=`). */
  readonly via: readonly string[];
  /** `atomic`, `set`, or `map` with its keys (`map=containerPort,protocol`). */
  readonly listType: 'atomic' | 'set' | 'map' | undefined;
  readonly mapKeys: readonly string[];
  /** `merge`, `merge=key`, `patch=strategy key=key`. */
  readonly patchStrategy: string | undefined;
  readonly patchMergeKey: string | undefined;
  /** Filled in for keys of lists and a few others (`default=TCP`). */
  readonly default: string | number | undefined;
  /** OpenAPI says that its default is the zero value, though Go would leave it out (`zero`). */
  readonly zero: boolean;
  /** Writers share what is in it, though its type is one value elsewhere (`granular`). */
  readonly granular: boolean;
}

/** A struct; its fields are read on first use, since types can contain themselves. */
export class GoStruct {
  readonly is = 'struct';
  readonly text: string;
  /** The name in messages, without its package. */
  readonly name: string;
  /** The package and name, e.g. `core/v1.Container`. */
  readonly id: string;
  /** Writers share it as one value. */
  readonly atomic: boolean;
  readonly #package: GoPackage;
  readonly #body: string;
  #fields: ReadonlyMap<string, GoField> | undefined;
  #list: readonly GoField[] | undefined;

  constructor(home: GoPackage, head: string, body: string) {
    const [name, fact] = head.split(' ') as [string, string?];
    this.name = name;
    this.id = `${home.path}.${name}`;
    this.text = `${home.name}.${name}`;
    this.atomic = fact === 'atomic';
    this.#package = home;
    this.#body = body;
  }

  get fields(): ReadonlyMap<string, GoField> {
    this.#fields ??= new Map(this.fieldList.map((field) => [field.name, field]));
    return this.#fields;
  }

  /** In the order in which Go writes them. */
  get fieldList(): readonly GoField[] {
    this.#list ??= this.#body
      .split('\n')
      .filter((line) => line !== '')
      .map((line, index) => parseField(line.trim(), index, this.#package));
    return this.#list;
  }
}

/** One package's text, and where its types stand in it. */
class GoPackage {
  readonly path: string;
  readonly name: string;
  readonly #text: string;
  /** Where the line of each type begins. */
  readonly #starts = new Map<string, number>();
  readonly #types = new Map<string, GoType>();

  constructor(path: string, text: string) {
    this.path = path;
    this.name = lastPart(path);
    this.#text = text;
    for (const match of this.#text.matchAll(/\n([A-Za-z]\w*)/g)) this.#starts.set(match[1] as string, match.index + 1);
  }

  type(name: string): GoType | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const start = this.#starts.get(name);
    if (start === undefined) return undefined;
    const headEnd = this.#text.indexOf('\n', start);
    const head = this.#text.slice(start, headEnd);
    const alias = head.split(' = ')[1];
    const type: GoType =
      alias === undefined
        ? new GoStruct(this, head, this.#text.slice(headEnd, this.#bodyEnd(headEnd)))
        : ({ ...parseType(alias, this), text: `${this.name}.${name}` } as GoType); // never of a struct
    this.#types.set(name, type);
    return type;
  }

  /** Where the indented lines after this one end. */
  #bodyEnd(from: number): number {
    let end = from;
    while (this.#text.startsWith('\n  ', end)) {
      const next = this.#text.indexOf('\n', end + 1);
      if (next === -1) return this.#text.length;
      end = next;
    }
    return end;
  }
}

const packages: ReadonlyMap<string, () => GoPackage> = new Map(
  Object.entries(builtInTypeTexts).map(([path, text]) => [path, once(() => new GoPackage(path, text))]),
);

/** The struct of that name in that package, e.g. `apps/v1` and `Deployment`. */
export function goStruct(path: string, name: string): GoStruct | undefined {
  const type = packages.get(path)?.().type(name);
  return type?.is === 'struct' ? type : undefined;
}

function parseType(text: string, home: GoPackage): GoType {
  if (text.startsWith('*')) return parseType(text.slice(1), home);
  if (text === '[]uint8') return { is: 'bytes', text };
  if (text.startsWith('[]')) {
    const element = parseType(text.slice(2), home);
    return { is: 'list', text: `[]${element.text}`, element, pointers: text.startsWith('[]*') };
  }
  if (text.startsWith('map[')) {
    const close = text.indexOf(']');
    const key = parseType(text.slice(4, close), home);
    const element = parseType(text.slice(close + 1), home);
    return { is: 'map', text: `map[${key.text}]${element.text}`, element, pointers: text[close + 1] === '*' };
  }
  if (text === 'string' || text === 'bool') return { is: text, text };
  if (text === 'int32' || text === 'int64') return { is: 'int', text, bits: text === 'int32' ? 32 : 64 };
  if (text === 'float64') return { is: 'float', text };
  const dot = text.lastIndexOf('.');
  const path = dot === -1 ? home.path : text.slice(0, dot);
  const name = text.slice(dot + 1);
  // Types that are in no table read their own JSON: Quantity, Time, IntOrString…
  return packages.get(path)?.().type(name) ?? { is: 'custom', text: `${lastPart(path)}.${name}` };
}

function parseField(line: string, index: number, home: GoPackage): GoField {
  const [name, type, ...facts] = line.split(' ') as [string, string, ...string[]];
  const given = new Map<string, string>();
  for (const fact of facts) {
    const equals = fact.indexOf('=');
    if (equals === -1) given.set(fact, '');
    else given.set(fact.slice(0, equals), fact.slice(equals + 1));
  }
  const merge = given.get('merge');
  const value = given.get('default');
  const goType = parseType(type, home);
  const pointer = type.startsWith('*');
  const kept = given.has('kept');
  // Go leaves out an empty scalar, list or map, but no empty struct; the one exception has `omitzero`.
  const inPlace = !pointer && (goType.is === 'struct' || goType.is === 'custom') && name !== 'creationTimestamp';
  return {
    index,
    name: name.endsWith('!') ? name.slice(0, -1) : name,
    type: goType,
    pointer,
    required: name.endsWith('!'),
    kept,
    // Rules of an autoscaler without policies get some; those with an empty list are refused.
    keepsEmpty: type === '[]HPAScalingPolicy',
    standing: kept || inPlace,
    via: given.get('via')?.split('.') ?? [],
    listType: given.has('atomic') ? 'atomic' : given.has('set') ? 'set' : given.has('map') ? 'map' : undefined,
    mapKeys: given.get('map')?.split(',') ?? [],
    patchStrategy: merge === undefined ? given.get('patch') : 'merge',
    patchMergeKey: merge || given.get('key'),
    zero: given.has('zero'),
    granular: given.has('granular'),
    default: value === undefined ? undefined : goType.is === 'int' ? Number(value) : value,
  };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
