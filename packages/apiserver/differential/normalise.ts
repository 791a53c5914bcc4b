import { Buffer } from 'node:buffer';
import { systemClock } from 'riata/runtime';
import { unenforcedPrefix } from '../src/kinds/unenforced.js';
import { isOpenApi, plainOpenApi } from './plain-open-api.js';
import type { Answer } from './wire.js';

/**
 * Makes the answers of one server comparable with those of another: what each server makes up itself (uids, times,
 * revisions, generated names) becomes a placeholder that counts first appearances. One for each server and play.
 */
export class Normaliser {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  answer({ status, contentType, warnings, headers, body }: Answer): unknown {
    if (isOpenApi(body))
      return { status, contentType, headers: this.#value(headers, '', ''), body: plainOpenApi(body) };
    // A watch of a single event parses as that event.
    const whole = isObject(body) && 'type' in body && isObject(body.object) ? [body] : body;
    if (isObject(whole) && whole.kind === 'Status') sortComplaints(whole);
    const reported = Array.isArray(whole)
      ? whole.filter((event) => !isPassingBookmark(event)).map(withoutRevision)
      : whole;
    return {
      ...{ status, contentType, warnings: warnings.filter(isUpstreams).map((w) => this.#text(w)) },
      headers: this.#value(headers, '', ''),
      body: this.#value(reported, '', ''),
    };
  }

  #value(value: unknown, key: string, kind: string): unknown {
    if (Array.isArray(value)) {
      const list = value.map((item) => this.#value(item, '', kind));
      if (key === 'managedFields') return list.sort((a, b) => compare(idOf(a), idOf(b)));
      // What others on the same server have defined.
      if (key === 'groups' || key === 'items') return list.filter((item) => !isOthersGroup(item));
      if (key === 'cells') return list.map(withoutAge);
      if (key === 'columnDefinitions') return list.map(withoutDescription);
      return list;
    }
    if (isObject(value)) {
      this.#learn(value);
      const ownKind = typeof value.kind === 'string' ? value.kind : kind;
      return Object.fromEntries(
        Object.entries(value).map(([k, v]) => [this.#text(k), this.#value(v, k, k === 'items' ? '' : ownKind)]),
      );
    }
    if (isNodePort(key, value)) return '<node port>';
    if (typeof value !== 'string') return value;
    if (key === 'resourceVersion' && value !== '') {
      return kind.endsWith('List') || kind === 'Table'
        ? '<revision of the list>'
        : this.#placeholder('revision', `rv ${value}`);
    }
    if (key === 'continue' && value !== '') return '<continue>';
    if (key === 'expirationTimestamp') return fromNow(value);
    return this.#text(value);
  }

  /** Generated names are known by what they begin with. */
  #learn(value: Record<string, unknown>): void {
    const { generateName, name } = value;
    if (typeof generateName !== 'string' || typeof name !== 'string' || generateName === '') return;
    if (name.startsWith(generateName) && name !== generateName) this.#placeholder(`generated ${generateName}`, name);
  }

  #text(text: string): string {
    const patched = /^(.*?)Invalid value: ("\{(?:[^"\\]|\\.)*\}")(: .*)$/s.exec(text);
    if (patched !== null) return `${patched[1]}${this.#json(patched[2] as string)}${this.#text(patched[3] as string)}`;
    if (text.includes('field not declared in schema')) return undeclared(withSortedKeys(text));
    if (/^ey[\w-]+\.ey[\w-]+\.[\w-]+$/.test(text)) return this.#token(text);
    if (text.includes('errors:\n  ')) return unordered(text);
    let out = text
      .replace(/\b[0-9A-F]{128}\b/g, '<hash>')
      .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC)/g, '<date>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (uid) => this.#placeholder('uid', uid))
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time, fraction) => {
        const isNow = Math.abs(Date.parse(time) - systemClock.now()) < 3_600_000;
        return isNow ? (fraction === undefined ? '<time>' : '<time with fraction>') : time;
      })
      // The parts of a key that each server has made for itself.
      .replace(/"(kid|x|y)":"[\w-]{43}"/g, '"$1":"<key>"')
      .replace(/\bselfType\d+/g, 'selfType')
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      // Each server hands out addresses of Services as it likes, but for those that are left to be asked for.
      .replace(/\b10\.0\.0\.(\d+)\b/g, (ip, last) => (Number(last) > 16 ? '<cluster IP>' : ip))
      .replace(/\b([Gg]en[-x]*)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1<generated>')
      .replace(/\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'kube-api-access-<generated>')
      .replace(/ in record \(\d+\)/g, ' in record (<revision>)')
      .replace(/, current: \d+/g, ', current: <revision>')
      .replace(/too old resource version: (\d+) \(\d+\)/g, 'too old resource version: $1 (<revision>)');
    for (const [name, placeholder] of this.#names) {
      if (placeholder.startsWith('<generated')) out = out.replaceAll(name, placeholder);
    }
    return out;
  }

  /** What a token claims; each server signs with a key of its own. */
  #token(text: string): string {
    const claims = JSON.parse(Buffer.from(text.split('.')[1] as string, 'base64url').toString()) as Record<
      string,
      number
    >;
    const { iat = 0, exp = 0, nbf = 0, ...others } = claims;
    return `<token ${JSON.stringify(sorted(this.#value({ ...others, lasts: exp - iat, begins: nbf - iat }, '', '')))}>`;
  }

  /** An object inside a message. */
  #json(quoted: string): string {
    try {
      const object: unknown = JSON.parse(JSON.parse(quoted) as string);
      return JSON.stringify(sorted(this.#value(object, '', '')));
    } catch {
      return quoted;
    }
  }

  #placeholder(what: string, value: string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    const placeholder = `<${what} ${count}>`;
    this.#names.set(value, placeholder);
    return placeholder;
  }
}

/** Each server hands out ports of the nodes as it likes, but for those that are left to be asked for. */
function isNodePort(key: string, value: unknown): boolean {
  return (key === 'nodePort' || key === 'healthCheckNodePort') && Number(value) >= 30_086 && Number(value) < 32_768;
}

/** The two servers do not get a request in the same second: durations are rounded to minutes. */
function fromNow(time: string): string {
  const minutes = Math.round((Date.parse(time) - systemClock.now()) / 60_000);
  return Number.isNaN(minutes) ? time : `<${minutes} minutes from now>`;
}

function isOthersGroup(group: unknown): boolean {
  if (!isObject(group) || !Array.isArray(group.versions)) return false;
  const name = group.name ?? (isObject(group.metadata) ? group.metadata.name : '');
  return String(name).includes('.') && !String(name).endsWith('.k8s.io');
}

/** A bookmark that just says how far the server has come; when it does so is its own affair. */
function isPassingBookmark(event: unknown): boolean {
  if (!isObject(event) || event.type !== 'BOOKMARK' || !isObject(event.object)) return false;
  const { metadata, rows } = event.object;
  if (Array.isArray(rows)) return !JSON.stringify(rows).includes('k8s.io/initial-events-end');
  return !isObject(metadata) || metadata.annotations === undefined;
}

/** The real server's revision moves on by what it writes itself. */
function withoutRevision(event: unknown): unknown {
  if (!isObject(event) || event.type !== 'BOOKMARK' || !isObject(event.object)) return event;
  const without = (key: string, value: unknown) => (key === 'resourceVersion' ? '' : value);
  return { ...event, object: JSON.parse(JSON.stringify(event.object, without)) as unknown };
}

/** Ages in Tables depend on how long a server runs, and the two servers are not asked in the same one. */
function withoutAge(cell: unknown): unknown {
  return typeof cell === 'string' ? cell.replace(/^(\d+ \()?(?:\d+[smh])+( ago\))?$/, '$1<age>$2') : cell;
}

/** What the real server says of the columns of its own kinds are sentences, which are not had here. */
function withoutDescription(column: unknown): unknown {
  if (!isObject(column) || String(column.description).includes('ustom')) return column;
  return { ...column, description: '' };
}

/** Entries of managedFields are ordered by their times, which are those of the two servers' own clocks. */
function idOf(entry: unknown): string {
  if (!isObject(entry)) return '';
  return ['manager', 'operation', 'apiVersion', 'subresource'].map((key) => String(entry[key] ?? '')).join(' ');
}

/** The real server reports several problems in the random order of Go's maps. */
function sortComplaints(status: Record<string, unknown>): void {
  const { details, message } = status;
  if (!isObject(details) || !Array.isArray(details.causes)) return;
  const causes = withoutRepeats(details.causes);
  const place = (cause: unknown) => (isObject(cause) ? `${cause.field} ${cause.reason} ${cause.message}` : '');
  details.causes = causes.sort((a, b) => compare(place(a), place(b)));
  if (causes.length > 1) status.message = String(message).replace(/: \[.*$/s, ': …');
}

/** The real server checks metadata once to three times in an update, depending on the kind, and says so as often. */
function withoutRepeats(list: readonly unknown[]): unknown[] {
  const known = new Set<string>();
  return list.filter((item) => {
    const text = JSON.stringify(item);
    const isNew = !known.has(text);
    known.add(text);
    return isNew;
  });
}

/**
 * The real server stops checking a map at the first undeclared field, in the random order of Go's maps: other problems
 * there may be reported or not.
 */
function undeclared(text: string): string {
  const head = text.slice(0, text.indexOf('): ') + 2);
  const lines = text.slice(head.length).split('\n');
  const places = lines.flatMap((line) => /(\.\S*)\.[^.]+: field not declared in schema/.exec(line)?.[1] ?? []);
  const sure = [...new Set(places)].sort().filter((at, _, all) => !all.some((o) => o !== at && at.startsWith(o)));
  return `${head} undeclared in ${sure.join(', ')}`;
}

/** Several complaints come in the random order of Go's maps. */
function unordered(text: string): string {
  return withSortedKeys(text).split('\n').sort().join('\n');
}

/** So do the members of a map that is the key of a list's element. */
function withSortedKeys(text: string): string {
  return text.replace(/\[\w+=[^\]]*\]/g, (key) => [...key].sort().join(''));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The embedded server alone warns about what it doesn't enforce. */
function isUpstreams(warning: string): boolean {
  return !warning.includes(unenforcedPrefix);
}
