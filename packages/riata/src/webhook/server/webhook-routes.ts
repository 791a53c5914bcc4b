import type { Runtime } from '../../runtime/runtime.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from '../webhook-route.js';
import { type RouteMetrics, WebhookMetrics } from './webhook-metrics.js';

/** Finished calls that are kept for `explain`. */
const keptRecords = 1000;

interface BoundRoute {
  readonly route: WebhookRoute;
  readonly webhook: string;
  readonly metrics: RouteMetrics;
}

/** A webhook that is served, until it is disposed of. */
export interface ServedWebhook extends Disposable {
  /**
   * Serves another definition of the same name instead, from one request to the next. Throws, with the old one served, if
   * the new one cannot be.
   */
  replace(next: WebhookDefinition): void;
}

/** The paths of a webhook server: finds the one that is asked for, counts, and keeps records. */
export class WebhookRoutes {
  readonly #runtime: Runtime;
  readonly #metrics: WebhookMetrics;
  readonly #routes = new Map<string, BoundRoute>();
  readonly #own = new Map<string, WebhookRoute>();
  readonly #definitions = new Map<string, WebhookDefinition>();
  readonly #records: WebhookRecord[] = [];
  #inFlight = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#metrics = new WebhookMetrics(runtime.metrics);
  }

  get definitions(): readonly WebhookDefinition[] {
    return [...this.#definitions.values()];
  }

  /** Finished calls, oldest first. */
  get records(): readonly WebhookRecord[] {
    return this.#records.slice(-keptRecords);
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How large requests to a path may be, if it takes more than others. */
  bodyLimit(path: string): number | undefined {
    return this.#routes.get(path)?.route.bodyLimit;
  }

  /** Serves a webhook until the answer is disposed. Throws if its name or one of its paths is taken. */
  add(definition: WebhookDefinition, client: WebhookParts['client']): ServedWebhook {
    const { name } = definition;
    if (this.#definitions.has(name)) {
      throw new Error(`webhook "${name}" already exists; give this one another name`);
    }
    let current = definition;
    let routes = this.#bind(definition, client);
    this.#serve(definition, routes);
    return {
      replace: (next) => {
        if (next.name !== name) {
          throw new Error(`webhook "${name}": cannot be replaced by webhook "${next.name}"; give it the same name`);
        }
        if (this.#definitions.get(name) !== current) throw new Error(`webhook "${name}" was removed; add the new one`);
        const bound = this.#bind(next, client);
        const isGone = ({ path }: WebhookRoute) => !bound.some((route) => route.path === path);
        this.#close(routes.filter(isGone));
        [current, routes] = [next, bound];
        this.#serve(next, bound);
      },
      [Symbol.dispose]: () => {
        if (this.#definitions.get(name) !== current) return;
        this.#definitions.delete(name);
        this.#close(routes);
      },
    };
  }

  /** Throws if a path is malformed, or another webhook has it. */
  #bind(definition: WebhookDefinition, client: WebhookParts['client']): readonly WebhookRoute[] {
    const { name } = definition;
    const record = (made: WebhookRecord) => this.#keep(made);
    const routes = definition.bind({ client, runtime: this.#runtime, record });
    for (const { path } of routes) {
      if (!path.startsWith('/')) {
        throw new TypeError(`webhook "${name}": path must start with "/", got ${JSON.stringify(path)}`);
      }
      const taken = this.#routes.get(path)?.webhook;
      const other =
        (this.#own.has(path) && 'probe') ||
        (taken !== name && taken) ||
        (routes.filter((r) => r.path === path).length > 1 && name);
      if (other) {
        throw new Error(`webhook "${name}": path ${path} is already served by webhook "${other}"; choose another path`);
      }
    }
    return routes;
  }

  #serve(definition: WebhookDefinition, routes: readonly WebhookRoute[]): void {
    this.#definitions.set(definition.name, definition);
    for (const route of routes) {
      const metrics = this.#routes.get(route.path)?.metrics ?? this.#metrics.forPath(route.path);
      this.#routes.set(route.path, { route, webhook: definition.name, metrics });
    }
  }

  #close(routes: readonly WebhookRoute[]): void {
    for (const { path } of routes) {
      this.#routes.get(path)?.metrics.close();
      this.#routes.delete(path);
    }
  }

  /** Serves a path of the server itself: neither listed nor counted. */
  addOwn(route: WebhookRoute): void {
    this.#own.set(route.path, route);
  }

  /** Answers a request. Never rejects. */
  readonly serve = async (request: WebhookRequest): Promise<WebhookAnswer> => {
    const bound = this.#routes.get(request.path);
    // Any client may ask for any path: these are not counted.
    const own = this.#own.get(request.path);
    if (own !== undefined) return own.answer(request);
    if (bound === undefined) return { status: 404, body: problem('no webhook is served at this path') };
    const { route, webhook, metrics } = bound;
    const { clock, log } = this.#runtime;
    const startedAt = this.#metrics.enabled ? clock.monotonic() : 0;
    this.#inFlight += 1;
    metrics.inFlight.inc();
    let answer: WebhookAnswer;
    try {
      answer = await route.answer(request);
    } catch (error) {
      this.#metrics.panics.inc();
      log.error('a webhook failed', { webhook, path: route.path, error });
      answer = { status: 500, body: problem(`webhook "${webhook}" failed; see its log`) };
    }
    this.#inFlight -= 1;
    metrics.inFlight.inc(-1);
    metrics.requests(answer.status).inc();
    if (this.#metrics.enabled) metrics.latency.observe((clock.monotonic() - startedAt) / 1000);
    return answer;
  };

  #keep(record: WebhookRecord): void {
    if (record.outcome === 'failed') this.#metrics.panics.inc();
    this.#records.push(record);
    // Moving all of them for each call would cost more than keeping twice as many.
    if (this.#records.length >= 2 * keptRecords) this.#records.splice(0, keptRecords);
  }
}

/** A body for a request that no webhook has answered. */
export function problem(error: string): string {
  return `${JSON.stringify({ error })}\n`;
}
