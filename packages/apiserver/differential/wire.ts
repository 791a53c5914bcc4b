import { Buffer } from 'node:buffer';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { decodeAnswer } from './decode-answer.js';

/** One request, as it goes over the wire. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Content type of the body. @default application/json where there is a body */
  readonly type?: string;
  /** @default none is sent */
  readonly accept?: string;
  /** A list for a header of several lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Headers of the answer that are compared, too; they must be there with the same values. @default none */
  readonly shows?: readonly string[];
  /** The text of the answer is compared as it is, spaces and all. @default false */
  readonly raw?: boolean;
  /** Later steps find the answer under this name. */
  readonly as?: string;
  /** Asked again until this is true of the answer: what the real server does later. */
  readonly until?: (answer: Answer) => boolean;
  /** The answer is not compared, e.g. because it comes before the real server has done something. */
  readonly silent?: boolean;
  /** The reason in the status of the answer is not compared: the real server finds one of several by chance. */
  readonly withoutReason?: boolean;
  /** Lists of rules in the status of the answer are compared in any order: it is left to chance on the real server. */
  readonly sorted?: boolean;
  /** Sent beside the steps that follow, which do not wait until it is answered. For what stands with watches. */
  readonly hangs?: boolean;
  /** For a watch: it has started once it has sent an event with this text. @default once it is answered */
  readonly begins?: string;
  /** Of a watch: it is over after the first event with this text. @default when the server ends it */
  readonly ends?: string;
}

/** What a server said. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  /** Those that were asked for by `shows`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parsed where it is JSON or Protobuf; a list of events for a watch; else the text. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the plays
  readonly body: any;
}

/** Where a server is. */
export interface Place {
  readonly url: string;
  readonly ca?: string;
  readonly token: string;
}

/** Plain requests to one server. */
export class Wire {
  readonly #place: Place;
  readonly #agent: HttpAgent;

  constructor(place: Place) {
    this.#place = place;
    this.#agent =
      place.ca === undefined
        ? new HttpAgent({ keepAlive: true, maxSockets: 200 })
        : new HttpsAgent({ keepAlive: true, maxSockets: 200, ca: place.ca });
  }

  get place(): Place {
    return this.#place;
  }

  /** Resolves when the answer has ended: for a watch, after its time, or after the event that it is to end with. */
  send(ask: Ask): Promise<Answer> {
    return this.open(ask).answer;
  }

  /** As `send`; `begun` resolves when a watch has begun, or is over. */
  open(ask: Ask): { readonly started: Promise<unknown>; readonly answer: Promise<Answer> } {
    let begin = () => {};
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const answer = this.#send(ask, begin);
    return { started: Promise.race([started, answer]), answer };
  }

  #send(ask: Ask, begin: () => void): Promise<Answer> {
    const { method, path, body, accept } = ask;
    const type = ask.type ?? (body === undefined ? undefined : 'application/json');
    const bytes = body === undefined ? undefined : isRaw(body) ? body : JSON.stringify(body);
    const headers = {
      ...(bytes === undefined ? {} : { 'content-length': String(Buffer.byteLength(bytes)) }),
      authorization: `Bearer ${this.#place.token}`,
      'user-agent': 'differential/1.0',
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(accept === undefined ? {} : { accept }),
      ...ask.headers,
    } as OutgoingHttpHeaders;
    const make = this.#place.ca === undefined ? httpRequest : httpsRequest;
    const { hostname, port } = new URL(this.#place.url);
    return new Promise((resolve, reject) => {
      const sent = make({ hostname, port, path, method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        const contentType = response.headers['content-type'] ?? '';
        const finish = (received: Buffer) => {
          const warnings = [...String(response.headers.warning ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)];
          const packed = response.headers['content-encoding'] === 'gzip';
          const bytes = packed ? gunzipSync(received) : received;
          resolve({
            status: response.statusCode ?? 0,
            contentType,
            ...(ask.shows && { headers: shown(response.headers, ask.shows) }),
            warnings: warnings.map((match) => JSON.parse(match[1] as string) as string),
            body: ask.raw ? bytes.toString('utf8') : parse(bytes, contentType),
          });
        };
        if (ask.begins === undefined) begin();
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (ask.begins === undefined && ask.ends === undefined) return;
          const received = Buffer.concat(chunks);
          if (endOfEvent(received, contentType, ask.begins) !== undefined) begin();
          const end = endOfEvent(received, contentType, ask.ends);
          if (end === undefined) return;
          finish(received.subarray(0, end));
          sent.destroy();
        });
        response.on('error', reject);
        response.on('end', () => finish(Buffer.concat(chunks)));
      });
      sent.on('error', (cause) => reject(new Error(`${method} ${path}`, { cause })));
      sent.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Where the first event of a watch that holds the text ends; undefined as long as it has not come as a whole. */
function endOfEvent(bytes: Buffer, contentType: string, text: string | undefined): number | undefined {
  const at = text === undefined ? -1 : bytes.indexOf(text);
  if (at < 0) return undefined;
  let end = 0;
  if (contentType.startsWith('application/json')) {
    end = bytes.indexOf('\n', at) + 1;
  } else {
    // Each event is preceded by its length.
    while (end <= at) end += 4 + bytes.readUInt32BE(end);
  }
  return end > at && end <= bytes.length ? end : undefined;
}

function shown(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, String(headers[name] ?? '')]));
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function parse(bytes: Buffer, contentType: string): unknown {
  if (contentType.startsWith('application/vnd.kubernetes.protobuf')) return decodeAnswer(bytes, contentType);
  const text = bytes.toString('utf8');
  if (!contentType.startsWith('application/json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as unknown);
  }
}
