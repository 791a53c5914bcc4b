import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { SourceMap } from 'node:module';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';

/** A place in a source file; lines from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

/** Where a program has stopped. */
export interface Stop extends SourcePlace {
  /** The value of an expression in the frame. */
  evaluate(expression: string): Promise<unknown>;
  resume(): Promise<void>;
}

interface Script {
  readonly id: string;
  readonly url: string;
  readonly map: SourceMap;
}

interface Paused {
  readonly callFrames: readonly {
    readonly callFrameId: string;
    readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber: number };
  }[];
}

/**
 * A debugger as editors have it: it speaks the Chrome DevTools Protocol over a WebSocket, and finds the lines of a source
 * file in the scripts that run by their source maps.
 */
export class Debugger implements Disposable {
  readonly #socket: Socket;
  readonly #events = new EventEmitter();
  readonly #scripts: Script[] = [];
  #input: Buffer;
  #id = 0;
  #breakpoint: { readonly breakpointId: string } | undefined;

  private constructor(socket: Socket, head: Buffer) {
    this.#socket = socket;
    this.#input = head;
    this.#events.setMaxListeners(0);
    socket.on('data', (bytes) => {
      this.#input = Buffer.concat([this.#input, bytes]);
      this.#read();
    });
    socket.on('error', () => {});
  }

  /** Connects to the address that Node prints. */
  static async connect(url: string): Promise<Debugger> {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(16).toString('base64'),
    };
    const request = get(url.replace(/^ws/, 'http'), { headers });
    const [, socket, head] = (await once(request, 'upgrade')) as [unknown, Socket, Buffer];
    const made = new Debugger(socket, head);
    made.#events.on('Debugger.scriptParsed', (script) => made.#parsed(script));
    made.#read();
    await made.#call('Debugger.enable');
    return made;
  }

  /** Sets a breakpoint in the newest script that has the line, for one stop. */
  async breakAt({ file, line }: SourcePlace): Promise<void> {
    const found = await vi.waitFor(() => {
      const lines = this.#scripts
        .toReversed()
        .map((script) => ({ script, at: generatedLine(script.map, { file, line }) }));
      const first = lines.find(({ at }) => at !== undefined);
      expect(first).toBeDefined();
      return first as { readonly script: Script; readonly at: number };
    });
    const location = { scriptId: found.script.id, lineNumber: found.at };
    this.#breakpoint = (await this.#call('Debugger.setBreakpoint', { location })) as { readonly breakpointId: string };
  }

  /** Waits until the program stops, which `act` leads to; that need not come to its end before. */
  async stopped(act: () => Promise<unknown>): Promise<Stop> {
    const paused = once(this.#events, 'Debugger.paused');
    const acted = act();
    acted.catch(() => {});
    const [{ callFrames }] = (await paused) as [Paused];
    const [frame] = callFrames;
    const script = this.#scripts.find(({ id }) => id === frame?.location.scriptId);
    if (frame === undefined || script === undefined) throw new Error('it has stopped in an unknown script');
    const { lineNumber, columnNumber } = frame.location;
    const entry = script.map.findEntry(lineNumber, columnNumber);
    if (!('originalLine' in entry)) throw new Error('it has stopped at a line without a source');
    return {
      file: entry.originalSource,
      line: entry.originalLine + 1,
      evaluate: async (expression) => {
        const given = { callFrameId: frame.callFrameId, expression, returnByValue: true };
        const { result } = (await this.#call('Debugger.evaluateOnCallFrame', given)) as {
          readonly result: { readonly value: unknown };
        };
        return result.value;
      },
      resume: async () => {
        if (this.#breakpoint !== undefined) await this.#call('Debugger.removeBreakpoint', this.#breakpoint);
        await this.#call('Debugger.resume');
        await acted;
      },
    };
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #parsed({ scriptId: id, url, sourceMapURL }: { scriptId: string; url: string; sourceMapURL?: string }): void {
    if (!url.startsWith('file:') || !sourceMapURL || sourceMapURL.startsWith('data:')) return;
    const path = fileURLToPath(new URL(sourceMapURL, url));
    this.#scripts.push({ id, url, map: absolute(JSON.parse(readFileSync(path, 'utf8')), url) });
  }

  async #call(method: string, params: object = {}): Promise<unknown> {
    this.#id += 1;
    const id = this.#id;
    const answered = once(this.#events, `answer ${id}`);
    this.#socket.write(textFrame(JSON.stringify({ id, method, params })));
    const [{ result, error }] = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Whole messages: the inspector of Node sends no fragments. */
  #read(): void {
    for (;;) {
      const [, second = 0] = this.#input;
      const short = second & 0x7f;
      const start = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (this.#input.length < start) return;
      const length =
        short === 127 ? Number(this.#input.readBigUInt64BE(2)) : short === 126 ? this.#input.readUInt16BE(2) : short;
      if (this.#input.length < start + length) return;
      const text = this.#input.toString('utf8', start, start + length);
      this.#input = this.#input.subarray(start + length);
      const message = JSON.parse(text);
      if (message.id === undefined) this.#events.emit(message.method, message.params);
      else this.#events.emit(`answer ${message.id}`, message);
    }
  }
}

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))]);
}

/** A source map whose sources are paths. */
function absolute(map: { readonly sources: readonly string[] }, url: string): SourceMap {
  const sources = map.sources.map((source) => fileURLToPath(new URL(source, url)));
  return new SourceMap({ ...map, sources } as never);
}

/** The first line of a script that stems from a line of the source; both are found by trying. */
function generatedLine(map: SourceMap, { file, line }: SourcePlace): number | undefined {
  const { sources, mappings } = map.payload;
  if (!sources.includes(file)) return undefined;
  for (let at = 0; at < mappings.split(';').length; at += 1) {
    for (let column = 0; column < 200; column += 1) {
      const entry = map.findEntry(at, column);
      if (!('originalLine' in entry) || entry.generatedLine !== at) continue;
      if (entry.originalSource === file && entry.originalLine === line - 1) return at;
    }
  }
  return undefined;
}
