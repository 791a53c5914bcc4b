/** A demand for credentials: `Bearer realm="…",service="…",scope="…"`. */
export interface Challenge {
  /** In lower case: `basic`, `bearer`. */
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const token = /[!#$%&'*+\-.^_`|~\w]+/y;

/** Reads a `WWW-Authenticate` header, which may hold several challenges. What is malformed ends the list. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  let at = 0;
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    const found = form.exec(header)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const skip = () => take(/[\s,]*/y);
  for (skip(); at < header.length; skip()) {
    const name = take(token);
    if (name === undefined) break;
    const last = challenges.at(-1);
    const equals = take(/\s*=\s*/y);
    if (equals === undefined) {
      challenges.push({ scheme: name.toLowerCase(), parameters: {} });
      continue;
    }
    const quoted = take(/"(?:[^"\\]|\\.)*"/y);
    const value = quoted === undefined ? take(token) : quoted.slice(1, -1).replace(/\\(.)/g, '$1');
    if (value === undefined || last === undefined) break;
    last.parameters[name.toLowerCase()] = value;
  }
  return challenges;
}
