/** How deep YAML may be nested: reading it recurses several times for each level, and keys that are collections cost more. */
const maxDepth = 200;

/**
 * Whether a YAML text may nest deeper than its reader can handle. It counts brackets, indentation and the marks of list
 * items and keys, without parsing the text: the result is never too low.
 */
export function isTooDeepYaml(text: string): boolean {
  let brackets = 0;
  const indents: number[] = [];
  for (const line of text.split('\n')) {
    const { indent, marks } = beginningOf(line);
    if (indent < line.length) {
      while (indents.length > 0 && (indents.at(-1) as number) >= indent) indents.pop();
      indents.push(indent);
    }
    for (let at = 0; at < line.length; at += 1) {
      const code = line.charCodeAt(at);
      if (code === 0x7b || code === 0x5b) brackets += 1;
      else if ((code === 0x7d || code === 0x5d) && brackets > 0) brackets -= 1;
      if (brackets + indents.length + marks > maxDepth) return true;
    }
  }
  return false;
}

/** How far a line is indented, and how many `-`, `?` and `:` it begins with. */
function beginningOf(line: string): { readonly indent: number; readonly marks: number } {
  let indent = 0;
  while (line[indent] === ' ') indent += 1;
  let marks = 0;
  let at = indent;
  for (; at < line.length && '-?: \t'.includes(line[at] as string); at += 1) if (line[at] !== ' ') marks += 1;
  return { indent, marks };
}
