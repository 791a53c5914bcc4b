import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { TestEnvironment } from '@riata/testing';
import type { Json, JsonObject } from 'riata/object';

/** An answer, read to its end. */
export interface RawAnswer {
  readonly code: number;
  readonly body: JsonObject;
}

/**
 * Plain requests, on connections as Node itself keeps them: it is the server that is looked at here, and our own client,
 * with its retries and its views of answers and errors, would be in the way. Hence it is no part of @riata/testing.
 */
export class RawConnections implements Disposable {
  /** The ports of this side: how many connections there were. */
  readonly ports = new Set<number | undefined>();
  readonly #agent: Agent;
  readonly #url: string;
  readonly #authorization: string;

  private constructor(url: string, authorization: string, agent: Agent) {
    this.#url = url;
    this.#authorization = authorization;
    this.#agent = agent;
  }

  /** To a server behind a socket. */
  static async to({ config }: Pick<TestEnvironment, 'config'>, maxSockets: number): Promise<RawConnections> {
    const authorization = (await config.credentials?.authorization()) ?? '';
    const tls = await config.credentials?.tls();
    const agent = new Agent({ keepAlive: true, maxSockets, ca: tls?.ca as string });
    return new RawConnections(config.server, authorization, agent);
  }

  open(method: string, path: string, body?: unknown, type = 'application/json'): Promise<IncomingMessage> {
    const headers = { authorization: this.#authorization, 'content-type': type, 'user-agent': 'raw' };
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#url}${path}`, { method, agent: this.#agent, headers }, (answer) => {
        this.ports.add(answer.socket.localPort);
        resolve(answer);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** The code of the answer, which is read to its end. */
  async ask(method: string, path: string, body?: unknown): Promise<number | undefined> {
    const answer = await this.open(method, path, body);
    for await (const _ of answer);
    return answer.statusCode;
  }

  /** The code of the answer, and the JSON in it. */
  async send(method: string, path: string, body?: Json, type?: string): Promise<RawAnswer> {
    const answer = await this.open(method, path, body, type);
    answer.setEncoding('utf8');
    let text = '';
    for await (const chunk of answer) text += chunk;
    try {
      return { code: answer.statusCode ?? 0, body: JSON.parse(text) as JsonObject };
    } catch (cause) {
      throw new Error(`${method} ${path}: no JSON: ${text}`, { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
