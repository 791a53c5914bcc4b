/** Words that expressions reserve: a field of such a name is written `__name__`. */
const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const spelled: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The name of a field in an expression; undefined if it cannot have one (`cel.Escape`). */
export function escapeFieldName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => spelled[part] as string);
}

/** Whether a name can stand in an expression as it is. */
export function isCelIdentifier(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name);
}

const escapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
  '"': '\\"',
};

/** A string literal. */
export function celString(text: string): string {
  if (/[\ud800-\udfff]/u.test(text))
    throw new TypeError(`CEL strings cannot hold a lone surrogate, got ${JSON.stringify(text)}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these have to be escaped
  const escaped = text.replace(/[\x00-\x1f\x7f\\"]/g, (char) => {
    return escapes[char] ?? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}

/** A literal of an integer, or of a double if the value has a fraction or must be one. */
export function celNumber(value: number | bigint, isDouble = false): string {
  if (typeof value === 'bigint') {
    if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) {
      throw new TypeError(`CEL integers have 64 bits, got ${value}`);
    }
    return isDouble ? `double(${value})` : String(value);
  }
  if (!Number.isFinite(value)) throw new TypeError(`CEL has no literal for ${value}`);
  if (Number.isInteger(value) && !isDouble) {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a safe integer; write it as a bigint`);
    return String(value);
  }
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text.replace(/^(-?\d+)e/, '$1.0e') : `${text}.0`;
}
