import type { Scheduler } from 'riata/runtime';
import { readAll } from '../oci/blob.js';
import { parseChallenges } from './challenge.js';
import { type HttpAnswer, type HttpExchange, type HttpRequest, header } from './http-exchange.js';
import { isLoopback, registryUrl } from './image-reference.js';
import type { CredentialStore, RegistryCredentials } from './registry-credentials.js';
import { isRetryable, RegistryError, readErrors } from './registry-error.js';

/** What {@link RegistryClient} takes. */
export interface RegistryClientOptions {
  readonly http: HttpExchange;
  readonly credentials: CredentialStore;
  readonly clock: Scheduler;
  /** Of one request, the first included. @default 5 */
  readonly attempts?: number;
}

/** A request to the API of a registry. */
export interface RegistryRequest {
  readonly method: HttpRequest['method'];
  /** Below `/v2/`, or a URL that the registry gave as a `Location`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** What the rights are asked for, such as `repository:team/site-operator:pull`. */
  readonly scopes: readonly string[];
  /** Statuses that are answers; others are thrown. */
  readonly accept: readonly number[];
  /** What is done, for messages: `pull team/site-operator:1.2.0`. */
  readonly task: string;
  /** Whether a failure may be repeated by itself. @default true */
  readonly retry?: boolean;
}

/** Talks to one registry: answers its challenges, repeats what failed by chance, and explains refusals. */
export class RegistryClient {
  readonly registry: string;
  readonly #options: RegistryClientOptions;
  /** The `Authorization` header by scopes. */
  readonly #authorizations = new Map<string, string>();

  constructor(registry: string, options: RegistryClientOptions) {
    this.registry = registry;
    this.#options = options;
  }

  /** Where this registry's API is. */
  get url(): string {
    return registryUrl(this.registry);
  }

  /** Sends a request. Rejects with a {@link RegistryError} if the status is not one of `accept`. */
  async send(request: RegistryRequest): Promise<HttpAnswer> {
    if (request.retry === false) return this.#sendOnce(request);
    return this.retrying(() => this.#sendOnce(request), request.signal);
  }

  /** Repeats work that failed for a reason that may pass, with growing pauses. */
  async retrying<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { attempts = 5, clock } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (signal?.aborted || attempt >= attempts || !isRetryable(error)) throw error;
        const asked = error instanceof RegistryError ? error.retryAfterMs : undefined;
        await clock.sleep(Math.min(asked ?? 250 * 2 ** attempt, 60_000), { ...(signal && { signal }) });
      }
    }
  }

  async #sendOnce(request: RegistryRequest): Promise<HttpAnswer> {
    const { method, headers, body, signal, scopes, accept } = request;
    const url = new URL(request.path.includes('://') ? request.path : `/v2/${request.path}`, this.url);
    const isOwn = url.origin === new URL(this.url).origin;
    const key = scopes.join(' ');
    const repository = /^repository:([^:]+):/.exec(scopes[0] ?? '')?.[1] ?? '';
    const send = (authorization: string | undefined) =>
      this.#options.http.send({
        ...{ method, url: url.href },
        ...(body !== undefined && { body }),
        ...(signal !== undefined && { signal }),
        // Uploads may lead to storage elsewhere, which must not see the token.
        headers: { ...headers, ...(authorization && isOwn && { authorization }) },
      });
    let answer = await send(this.#authorizations.get(key));
    if (answer.status === 401 && isOwn) {
      const challenge = header(answer.headers, 'www-authenticate');
      await readAll(answer.body);
      const authorization = await this.#answerChallenge(challenge ?? '', repository, scopes, signal);
      if (authorization !== undefined) {
        this.#authorizations.set(key, authorization);
        answer = await send(authorization);
      }
      if (answer.status === 401) throw await this.#refusal(request, answer, repository, authorization === undefined);
    }
    if (accept.includes(answer.status)) return answer;
    throw await this.#refusal(request, answer, repository, false);
  }

  async #refusal(
    request: RegistryRequest,
    answer: HttpAnswer,
    repository: string,
    wasRead: boolean,
  ): Promise<RegistryError> {
    const { status } = answer;
    const body =
      wasRead || request.method === 'HEAD' ? Buffer.of() : await readAll(answer.body).catch(() => Buffer.of());
    const { codes, text } = readErrors(body.toString('utf8'));
    const seconds = Number(header(answer.headers, 'retry-after') ?? Number.NaN);
    let remedy = '';
    if (status === 401 || status === 403) {
      const known = await this.#options.credentials(this.registry, repository).catch(() => undefined);
      remedy =
        known === undefined
          ? `; log in first: docker login ${this.registry}`
          : '; check that the account you logged in with has the right to do so';
    } else if (status === 404) remedy = '; check the name';
    return new RegistryError(
      `cannot ${request.task}: ${this.registry} answers ${status}${text && ` ${text}`}${remedy}`,
      {
        ...{ status, codes },
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
      },
    );
  }

  /** The `Authorization` header that a challenge asks for; undefined if there are no credentials for it. */
  async #answerChallenge(
    text: string,
    repository: string,
    scopes: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const credentials = await this.#options.credentials(this.registry, repository);
    if (credentials?.type === 'bearer') return `Bearer ${credentials.token}`;
    const challenges = parseChallenges(text);
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer?.parameters.realm !== undefined) {
      const token = await this.#fetchToken(bearer.parameters, credentials, scopes, signal);
      return `Bearer ${token}`;
    }
    if (challenges.some(({ scheme }) => scheme === 'basic') && credentials?.type === 'basic') return basic(credentials);
    return undefined;
  }

  async #fetchToken(
    { realm = '', service, scope }: Readonly<Record<string, string>>,
    credentials: RegistryCredentials | undefined,
    scopes: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const url = URL.canParse(realm) ? new URL(realm) : undefined;
    const subject = `${this.registry}: token service "${url?.origin ?? realm}"`;
    // Else a registry elsewhere could have our credentials sent to whatever listens on this machine.
    const isLocal = url?.protocol === 'http:' && isLoopback(url.host) && isLoopback(this.registry);
    if (url === undefined || (url.protocol !== 'https:' && !isLocal))
      throw new Error(`${subject}: must be an https URL`);
    const asked = scopes.length > 0 ? scopes : scope === undefined ? [] : [scope];
    const parameters = new URLSearchParams(service === undefined ? {} : { service });
    let request: HttpRequest;
    if (credentials?.type === 'refresh') {
      parameters.set('scope', asked.join(' '));
      parameters.set('grant_type', 'refresh_token');
      parameters.set('client_id', 'riata');
      parameters.set('refresh_token', credentials.token);
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      request = { method: 'POST', url: url.href, headers, body: parameters.toString() };
    } else {
      for (const each of asked) parameters.append('scope', each);
      for (const [name, value] of parameters) url.searchParams.append(name, value);
      request = {
        method: 'GET',
        url: url.href,
        headers: credentials === undefined ? {} : { authorization: basic(credentials) },
      };
    }
    const answer = await this.#options.http.send({ ...request, ...(signal && { signal }) });
    const body = await readAll(answer.body);
    if (answer.status !== 200) {
      const { codes, text } = readErrors(body.toString('utf8'));
      const remedy = answer.status === 401 || answer.status === 403 ? `; log in: docker login ${this.registry}` : '';
      throw new RegistryError(`${subject}: answers ${answer.status}${text && ` ${text}`}${remedy}`, {
        ...{ status: answer.status, codes, retryAfterMs: undefined },
      });
    }
    const token = tokenOf(body.toString('utf8'));
    if (token === undefined) throw new Error(`${subject}: answered without a token`);
    return token;
  }
}

function basic(credentials: RegistryCredentials): string {
  if (credentials.type !== 'basic') throw new TypeError('not a user and password');
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
}

function tokenOf(body: string): string | undefined {
  try {
    const { token, access_token } = JSON.parse(body) as { token?: unknown; access_token?: unknown };
    const found = token ?? access_token;
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined; // the text may hold a token: it goes nowhere
  }
}
