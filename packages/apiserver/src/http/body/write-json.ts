/**
 * The JSON of a value in which whole numbers past 2^53 may stand as bigints, however deep it is nested. There are hardly
 * ever any: they are looked for only after writing in the usual way has failed.
 */
export function writeJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent) as string;
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
    return writeExactly(value, indent);
  }
}

/** Beyond this a value is taken to refer to itself. */
const depthLimit = 20_000;

/** An object or a list that is being written. */
interface Frame {
  readonly members: Iterator<readonly [key: string | number, value: unknown]>;
  readonly close: string;
  readonly line: string;
  empty: boolean;
}

function writeExactly(root: unknown, indent: number): string {
  const parts: string[] = [];
  const frames: Frame[] = [];
  const put = (value: unknown) => {
    if (typeof value === 'bigint') parts.push(String(value));
    else if (typeof value !== 'object' || value === null) parts.push(JSON.stringify(value) ?? 'null');
    else {
      if (frames.length > depthLimit) throw new TypeError('the value is nested too deep or refers to itself');
      const isList = Array.isArray(value);
      const members = (isList ? value.entries() : Object.entries(value).values()) as Frame['members'];
      const line = indent === 0 ? '' : `\n${' '.repeat(indent * (frames.length + 1))}`;
      frames.push({ members, close: isList ? ']' : '}', line, empty: true });
      parts.push(isList ? '[' : '{');
    }
  };
  put(root);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { done, value: member } = frame.members.next();
    if (done) {
      frames.pop();
      parts.push(frame.empty || indent === 0 ? '' : frame.line.slice(0, -indent), frame.close);
      continue;
    }
    const [key, value] = member;
    if (value === undefined && typeof key === 'string') continue;
    parts.push(frame.empty ? '' : ',', frame.line);
    frame.empty = false;
    if (typeof key === 'string') parts.push(JSON.stringify(key), indent === 0 ? ':' : ': ');
    put(value);
  }
  return parts.join('');
}
