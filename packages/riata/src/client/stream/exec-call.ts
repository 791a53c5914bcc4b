import type { ExecSession } from './exec-session.js';

/**
 * A call of `client.exec` or `client.attach`. Await it for the running command, or ask for its whole output:
 *
 * ```ts
 * await using ran = await client.exec(pod, ['pg_dump', 'shop']);
 * const who = await client.exec(pod, ['id']).text();
 * ```
 */
export class ExecCall implements PromiseLike<ExecSession> {
  readonly #session: Promise<ExecSession>;

  constructor(session: Promise<ExecSession>) {
    this.#session = session;
  }

  /** Runs the command to its end. Resolves to stdout as text; throws an `ExecError` unless it succeeded. */
  async text(): Promise<string> {
    await using session = await this.#session;
    return await session.text();
  }

  /** Runs the command to its end. Resolves to stdout; throws an `ExecError` unless it succeeded. */
  async bytes(): Promise<Uint8Array> {
    await using session = await this.#session;
    return await session.bytes();
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited for the running command
  then<A = ExecSession, B = never>(
    onfulfilled?: ((session: ExecSession) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#session.then(onfulfilled, onrejected);
  }
}
