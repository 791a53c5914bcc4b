// @ts-check
/**
 * Which values the fields of built-in kinds may have, for the OpenAPI documents of the embedded server: the documents in
 * the Kubernetes repository do not have them, a running server does.
 */

/**
 * One line for each struct: its name, then `field=value|value`, with spaces as `_`.
 * @param {string} source the generated Go code of the OpenAPI definitions
 * @param {Set<string>} types full Go names
 * @param {(name: string) => { pkg: string, short: string }} split
 */
export function emitFieldEnums(source, types, split) {
  const known = new Set([...types].map((name) => `${split(name).pkg}.${split(name).short}`));
  /** @type {Map<string, string[]>} */
  const found = new Map();
  let [struct, field] = ['', ''];
  for (const line of source.split('\n')) {
    const start = /^func schema_\w*?_?([a-z0-9]+)_(v\d\w*?)_([A-Z]\w*)\(/.exec(line);
    if (start) struct = `${start[1]}/${start[2]}.${start[3]}`;
    field = /^\t{5}"(.+)": \{$/.exec(line)?.[1] ?? field;
    const values = /^\t+Enum: +\[\]interface\{\}\{(.*)\},$/.exec(line)?.[1];
    if (values === undefined || !known.has(struct)) continue;
    const list = /** @type {string[]} */ (JSON.parse(`[${values}]`));
    const fields = found.get(struct) ?? [];
    found.set(struct, [...fields, `${field}=${list.map((value) => value.replaceAll(' ', '_')).join('|')}`]);
  }
  const lines = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, fields]) => `${name} ${fields.join(' ')}`);
  return [
    '/** The values that fields of structs may have: see ../../schema/built-in/field-enums.ts for the language. */',
    `export const fieldEnumsText = \`\n${lines.join('\n')}\n\`;`,
    '',
  ].join('\n');
}
