interface Line {
  /** Where its text begins. A dash of a list is made a line of its own, and the rest stands behind it. */
  readonly indent: number;
  readonly text: string;
}

/** `key:` or `key: value`; keys are words. */
const pair = /^([A-Za-z][A-Za-z0-9_.-]*):(?: +(.*))?$/;
/** A plain value: no quotes, brackets, anchors, tags, comments, spaces. */
const plain = /^[A-Za-z0-9/][A-Za-z0-9/+=_.@:-]*$/;
const quoted = /^(?:"([ !#-[\]-~]*)"|'([ -&(-~]*)')$/;
const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
/** Words that mean something else in YAML than they say; numbers do not, as they are kept as they are written. */
const special = /^(?:true|false|null)$/i;

/**
 * Reads YAML as kubectl, kind and most programs write kubeconfigs: nested mappings and lists in block style, of words and
 * quoted texts on one line. Numbers are read as they are written. Returns undefined for anything else, malformed or not:
 * the `yaml` package reads that. In a fresh process, loading that package is nearly all of `loadConfig`: 4 ms of CPU for a
 * kubeconfig of kind by this parser, 60 ms by `yaml` (Node 20; 8 and 69 ms with Node 24).
 */
export function readSimpleYaml(text: string): unknown {
  const lines = linesOf(text);
  if (lines === undefined || lines.length === 0) return undefined;
  try {
    return new SimpleYaml(lines).read();
  } catch (error) {
    if (error === unusual) return undefined;
    throw error;
  }
}

/** Thrown where a real parser is needed. */
const unusual = new Error('not simple');

function linesOf(text: string): Line[] | undefined {
  const lines: Line[] = [];
  for (const whole of text.split('\n')) {
    const line = whole.trimEnd();
    let rest = line.trimStart();
    if (rest === '' || rest.startsWith('#')) continue;
    let indent = line.length - rest.length;
    if (line.slice(0, indent).trim() !== '' || /[^ -~]/.test(line)) return undefined;
    while (rest === '-' || rest.startsWith('- ')) {
      lines.push({ indent, text: '-' });
      const item = rest.slice(1).trimStart();
      indent += rest.length - item.length;
      rest = item;
    }
    if (rest !== '') lines.push({ indent, text: rest });
  }
  return lines;
}

class SimpleYaml {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  read(): unknown {
    const first = this.#lines[0] as Line;
    if (first.indent !== 0 || first.text === '-') throw unusual;
    const value = this.#mapping(0);
    if (this.#at < this.#lines.length) throw unusual;
    return value;
  }

  #mapping(indent: number): Record<string, unknown> {
    const mapping: Record<string, unknown> = {};
    for (let line = this.#lines[this.#at]; line?.indent === indent && line.text !== '-'; line = this.#lines[this.#at]) {
      const [, key, value] = pair.exec(line.text) ?? [];
      // Numbers in there are no texts.
      if (key === undefined || Object.hasOwn(mapping, key) || key === 'extensions' || special.test(key)) throw unusual;
      this.#at += 1;
      mapping[key] = value === undefined ? this.#below(indent) : scalar(value);
    }
    return mapping;
  }

  /** The lines under a key: deeper, or a list that is as deep. */
  #below(indent: number): unknown {
    const next = this.#lines[this.#at];
    if (next === undefined || next.indent < indent || (next.indent === indent && next.text !== '-')) return null;
    return next.text === '-' ? this.#list(next.indent) : this.#mapping(next.indent);
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent && line.text === '-'; line = this.#lines[this.#at]) {
      this.#at += 1;
      const item = this.#lines[this.#at];
      if (item === undefined || item.indent <= indent || item.text === '-') throw unusual;
      if (pair.test(item.text)) list.push(this.#mapping(item.indent));
      else {
        this.#at += 1;
        list.push(scalar(item.text));
      }
    }
    return list;
  }
}

function scalar(text: string): unknown {
  if (words.has(text)) return words.get(text);
  if (text === '{}') return {};
  if (text === '[]') return [];
  const [isQuoted, double, single] = quoted.exec(text) ?? [];
  if (isQuoted !== undefined) return double ?? single;
  // A colon at the end would make it a key.
  if (!plain.test(text) || text.endsWith(':') || special.test(text)) throw unusual;
  return text;
}
