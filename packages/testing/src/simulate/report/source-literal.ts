/** How long a line of a printed test may be. */
const width = 120;

/**
 * A JSON value as a formatter of TypeScript prints it. `column` is where the value starts, `after` what follows it on its
 * last line, and `indent` how far the line is indented.
 */
export function sourceLiteral(
  value: unknown,
  { indent = 0, column = indent, after = 0 }: { indent?: number; column?: number; after?: number } = {},
): string {
  const line = onOneLine(value);
  if (typeof value !== 'object' || value === null || column + line.length + after <= width) return line;
  const inner = ' '.repeat(indent + 2);
  const items = Array.isArray(value)
    ? value.map((each) => inner + nested(each, '', indent))
    : entriesOf(value).map(([name, each]) => inner + nested(each, `${nameOf(name)}: `, indent));
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${items.map((item) => `${item},\n`).join('')}${' '.repeat(indent)}${close}`;
}

function nested(value: unknown, label: string, indent: number): string {
  const at = indent + 2;
  return label + sourceLiteral(value, { indent: at, column: at + label.length, after: 1 });
}

function onOneLine(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  const entries = entriesOf(value);
  if (entries.length === 0) return '{}';
  return `{ ${entries.map(([name, each]) => `${nameOf(name)}: ${onOneLine(each)}`).join(', ')} }`;
}

function entriesOf(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, each]) => each !== undefined);
}

function nameOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** In single quotes, unless double ones need fewer escapes. */
export function quoted(text: string): string {
  const double = JSON.stringify(text);
  if (text.includes("'") && !text.includes('"')) return double;
  return `'${double.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
