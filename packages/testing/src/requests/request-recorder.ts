import { isWriteVerb, matches, type RequestMatch, type RequestTarget, refuseUnknown } from './request-target.js';

/** A request that was sent to the server; one that was tried again is there again. */
export interface RecordedRequest extends RequestTarget {
  /** Which manager or connection sent it. */
  readonly client: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** As sent, names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** When, on the monotonic clock of the environment. */
  readonly atMs: number;
  /** The status of the answer; undefined before it, and if none came. */
  readonly code?: number;
}

type Recorded = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] };

/**
 * All requests of the managers and connections of an environment, in the order of sending, as they went over the wire:
 * no-op applies are not among them, retries are. Requests of the test itself by `env.client` are not recorded.
 *
 * @example
 * expect(env.requests.lines({ verb: 'write' })).toEqual(['patch ConfigMap shop/w', 'patch Widget shop/w/status']);
 */
export class RequestRecorder {
  readonly #requests: Recorded[] = [];

  get all(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** Writes, without dry runs. */
  get writes(): readonly RecordedRequest[] {
    return this.#requests.filter(({ verb, isDryRun }) => isWriteVerb(verb) && !isDryRun);
  }

  /** The matching requests. */
  select(match: RequestMatch = {}): readonly RecordedRequest[] {
    refuseUnknown(match, 'requests');
    return this.#requests.filter((request) => matches(request, match));
  }

  /** The matching requests, as text: `patch Widget shop/w/status`. */
  lines(match: RequestMatch = {}): readonly string[] {
    return this.select(match).map(({ verb, object }) => `${verb} ${object}`);
  }

  /** Forgets all so far. */
  clear(): void {
    this.#requests.length = 0;
  }

  /** @internal Gives what notes the answer's status. */
  note(request: RecordedRequest): (code: number) => void {
    const recorded: Recorded = { ...request };
    this.#requests.push(recorded);
    return (code) => {
      recorded.code = code;
    };
  }
}
