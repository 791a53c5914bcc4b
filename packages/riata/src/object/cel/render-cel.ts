import { type CelNode, type ChainNode, functionNode, type NameNode } from './cel-node.js';
import { celNumber, celString, escapeFieldName } from './cel-text.js';

/**
 * How absence is asked about. Rules of CRDs use `has(…)` for each field, since the server cannot estimate the cost of what
 * is done with a CEL optional; policies have no such estimate, and use `object.?spec.?replicas.hasValue()`.
 */
export type PresenceStyle = 'has' | 'optional';

/** How strongly an expression binds, from weak to strong. */
const level = { condition: 1, or: 2, and: 3, relation: 4, sum: 5, product: 6, unary: 7, primary: 8 };

const levels: Readonly<Record<string, number>> = {
  ...{ '||': level.or, '&&': level.and },
  ...{ '+': level.sum, '-': level.sum, '*': level.product, '/': level.product, '%': level.product },
};

/** A text, and how strongly it binds. */
type Rendered = readonly [text: string, level: number];

/** The text of an expression. */
export function renderCel(node: CelNode, style: PresenceStyle = 'optional'): string {
  return new Renderer(style).at(node, level.condition);
}

class Renderer {
  readonly #style: PresenceStyle;

  constructor(style: PresenceStyle) {
    this.#style = style;
  }

  /** The text, in parentheses if it binds less than `least`. */
  at(node: CelNode, least: number): string {
    const [text, own] = this.#text(node);
    return own < least ? `(${text})` : text;
  }

  #text(node: CelNode): Rendered {
    switch (node.op) {
      case 'name':
        return [node.absent === 'optional' ? `${node.name}.value()` : node.name, level.primary];
      case 'literal':
        return literalText(node.value, node.isDouble);
      case 'select':
        return [this.#field(node.of, node.field), level.primary];
      case 'index':
        return [`${this.at(node.of, level.primary)}[${this.#all(node.key)}]`, level.primary];
      case 'call':
        return [
          `${node.of === undefined ? '' : `${this.at(node.of, level.primary)}.`}${node.name}(${node.args.map((arg) => this.#all(arg)).join(', ')})`,
          level.primary,
        ];
      case 'binary':
        return this.#binary(node.operator, node.left, node.right);
      case 'unary':
        return [`${node.operator}${this.at(node.of, level.unary)}`, level.unary];
      case 'condition':
        return [
          `${this.at(node.test, level.or)} ? ${this.at(node.yes, level.or)} : ${this.at(node.no, level.condition)}`,
          level.condition,
        ];
      case 'present':
        return this.#present(node.absences);
      case 'list':
        return [
          `[${sameTypes(node.items)
            .map((item) => this.#all(item))
            .join(', ')}]`,
          level.primary,
        ];
      case 'map': {
        const values = sameTypes(node.entries.map(([, value]) => value));
        const members = node.entries.map(([key], index) => `${celString(key)}: ${this.#all(values[index] as CelNode)}`);
        return [`{${members.join(', ')}}`, level.primary];
      }
      case 'struct':
        return [
          `${node.name}{${node.fields.map(([name, value]) => `${name}: ${this.#all(value)}`).join(', ')}}`,
          level.primary,
        ];
      case 'loop':
        return [
          `${this.at(node.of, level.primary)}.${node.macro}(${node.variable}, ${this.#all(node.body)})`,
          level.primary,
        ];
      case 'raw':
        return [
          node.parts.map((part) => (typeof part === 'string' ? part : this.at(part, level.primary))).join(''),
          level.condition,
        ];
    }
  }

  #all(node: CelNode): string {
    return this.at(node, level.condition);
  }

  #binary(operator: string, left: CelNode, right: CelNode): Rendered {
    const own = levels[operator] ?? level.relation;
    // Operators of one level are read from the left; `&&` and `||` mean the same either way.
    const isFree = operator === '&&' || operator === '||';
    return [`${this.at(left, own)} ${operator} ${this.at(right, isFree ? own : own + 1)}`, own];
  }

  #present(absences: readonly ChainNode[]): Rendered {
    const asked = this.#style === 'has' ? absences.map((one) => this.#has(one)) : this.#chains(absences);
    const [first, ...more] = [...new Map(asked.map((one) => [one[0], one])).values()];
    if (first === undefined) return ['true', level.primary];
    return more.length === 0 ? first : [[first, ...more].map(([text]) => text).join(' && '), level.and];
  }

  /** One question for all fields of a path. */
  #chains(absences: readonly ChainNode[]): readonly Rendered[] {
    const all = new Set<CelNode>(absences);
    const above = new Set<CelNode>();
    for (const one of absences) for (let at = parentOf(one); at !== undefined; at = parentOf(at)) above.add(at);
    return absences.flatMap((one): readonly Rendered[] => {
      if (one.op === 'name') return [this.#has(one)];
      if (above.has(one)) return [];
      const asked = [...ancestors(one)].filter((at) => at.op !== 'name' && all.has(at));
      return [asked.length < 2 ? this.#has(one) : [`${this.#optional(one, all)}.hasValue()`, level.primary]];
    });
  }

  /** A path as an optional: `object.?spec.?replicas`. */
  #optional(node: CelNode, absent: ReadonlySet<CelNode>): string {
    if (node.op !== 'select' && node.op !== 'index') return this.at(node, level.primary);
    const of = this.#optional(node.of, absent);
    const mark = absent.has(node) ? '?' : '';
    if (node.op === 'index') return `${of}[${mark}${this.#all(node.key)}]`;
    const name = this.#name(node.field);
    return name === undefined ? `dyn(${of})[${mark}${celString(node.field)}]` : `${of}.${mark}${name}`;
  }

  #field(of: CelNode, field: string): string {
    const name = this.#name(field);
    if (name !== undefined) return `${this.at(of, level.primary)}.${name}`;
    return `dyn(${this.#all(of)})[${celString(field)}]`;
  }

  /**
   * The name of a field, if it can be written behind a dot. Rules see objects by their schema, with escaped names; policies
   * see plain JSON, with its own.
   */
  #name(field: string): string | undefined {
    if (this.#style === 'has') return escapeFieldName(field);
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(field) && !keywords.has(field) ? field : undefined;
  }

  #has(node: ChainNode): Rendered {
    if (node.op === 'name') return nameHas(node);
    if (node.op === 'select') {
      const isNamed = this.#name(node.field) !== undefined;
      return isNamed ? [`has(${this.#all(node)})`, level.primary] : this.#in(node.field, functionNode('dyn', node.of));
    }
    const { key, of } = node;
    if (key.op === 'literal' && typeof key.value === 'string') return this.#in(key.value, of);
    if (key.op === 'literal' && typeof key.value === 'number') {
      return [`${this.at(of, level.primary)}.size() > ${key.value}`, level.relation];
    }
    return [`${this.at(of, level.primary)}[?${this.#all(key)}].hasValue()`, level.primary];
  }

  #in(key: string, of: CelNode): Rendered {
    return [`${celString(key)} in ${this.at(of, level.sum)}`, level.relation];
  }
}

function nameHas({ name, absent }: NameNode): Rendered {
  return absent === 'optional' ? [`${name}.hasValue()`, level.primary] : [`${name} != null`, level.relation];
}

function parentOf(node: CelNode): CelNode | undefined {
  if (node.op === 'select' || node.op === 'index' || node.op === 'loop') return node.of;
  return node.op === 'call' ? node.of : undefined;
}

function* ancestors(node: CelNode): Iterable<CelNode> {
  for (let at: CelNode | undefined = node; at !== undefined; at = parentOf(at)) yield at;
}

/** Words of the grammar, which no name can be. */
const keywords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in']);

/** Elements of one list or map have one type: those of different or unknown types are written as any type. */
function sameTypes(items: readonly CelNode[]): readonly CelNode[] {
  const types = new Set(items.map(typeOf));
  if (items.length < 2 || (types.size === 1 && !types.has(undefined))) return items;
  return items.map((item) => functionNode('dyn', item));
}

/** The type of an expression, as far as it does not depend on types of fields. */
function typeOf(node: CelNode): string | undefined {
  switch (node.op) {
    case 'literal':
      return typeof node.value === 'number' && node.isDouble === true ? 'double' : typeof node.value;
    case 'struct':
      return node.name;
    case 'list': {
      const types = new Set(node.items.map(typeOf));
      return types.size === 1 && !types.has(undefined) ? `list(${[...types].join()})` : undefined;
    }
    default:
      return undefined;
  }
}

function literalText(value: string | number | bigint | boolean | null, isDouble = false): Rendered {
  if (typeof value === 'string') return [celString(value), level.primary];
  if (typeof value !== 'number' && typeof value !== 'bigint') return [String(value), level.primary];
  const text = celNumber(value, isDouble);
  return [text, text.startsWith('-') ? level.unary : level.primary];
}
