/** An integer past 2^53 in a JSON text. */
export interface UnsafeInteger {
  /** Names and indexes. */
  readonly path: readonly (string | number)[];
  /** As written. */
  readonly digits: string;
}

/**
 * Paths of the numbers in a JSON text whose value `JSON.parse` does not keep: integers past 2^53. Numbers with a
 * fraction or an exponent do not count: a Kubernetes server holds them as doubles too, so they stay the same.
 *
 * A slow, exact pass for the rare text that a scan found suspicious. The text must be valid JSON.
 */
export function unsafeNumbers(text: string): string[] {
  return [...new Set(unsafeIntegers(text).map(({ path }) => fieldText(path)))];
}

/** The same with the digits of each. */
export function unsafeIntegers(text: string): UnsafeInteger[] {
  const found: UnsafeInteger[] = [];
  const path: (string | number)[] = [];
  /** The opening brackets around the current position. */
  const open: ('{' | '[')[] = [];
  let key = false;
  for (const match of text.matchAll(tokens)) {
    const token = match[0];
    switch (token[0]) {
      case '{':
      case '[':
        open.push(token as '{' | '[');
        key = token === '{';
        path.push(key ? '' : 0);
        break;
      case '}':
      case ']':
        open.pop();
        path.pop();
        break;
      case ',':
        if (open.at(-1) === '{') key = true;
        else path.push((path.pop() as number) + 1);
        break;
      case '"':
        if (key) {
          path[path.length - 1] = JSON.parse(token) as string;
          key = false;
        }
        break;
      default:
        if (isUnsafe(token)) found.push({ path: [...path], digits: token });
    }
  }
  return found;
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]|-?\d[\d.eE+-]*/gs;

function isUnsafe(token: string): boolean {
  return !/[.eE]/.test(token) && !Number.isSafeInteger(Number(token));
}

/** The text of a path: `spec.limits[0].max`, `spec["odd.name"]`. */
export function fieldText(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
