import type { AdmissionOperation } from '../admission/admission-context.js';
import type { AdmissionRequest, AdmissionResponse } from '../admission/admission-review.js';
import { lowercaseOperation } from '../admission/lowercase-operation.js';
import type { RawContext, RawHandler } from '../admission/raw-handler.js';

/** What a route matches; what is left out matches everything. */
interface RouteMatch {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation?: AdmissionOperation;
  readonly dryRun?: boolean;
}

/** A route in the making (`webhook.RouteMatch`): narrow it down, then give it a handler. */
export class WebhookRouteBuilder {
  readonly #match: RouteMatch;
  readonly #add: (match: RouteMatch, handler: RawHandler) => void;

  /** Use a {@link WebhookRouter}. */
  constructor(add: (match: RouteMatch, handler: RawHandler) => void, match: RouteMatch = {}) {
    this.#add = add;
    this.#match = match;
  }

  /** Of the original request: a server may have converted the object to another version. */
  group(group: string): WebhookRouteBuilder {
    return this.#with({ group });
  }

  version(version: string): WebhookRouteBuilder {
    return this.#with({ version });
  }

  kind(kind: string): WebhookRouteBuilder {
    return this.#with({ kind });
  }

  /** In the plural, as in URLs. */
  resource(resource: string): WebhookRouteBuilder {
    return this.#with({ resource });
  }

  /** `''`: requests to the object itself. */
  subresource(subresource: string): WebhookRouteBuilder {
    return this.#with({ subresource });
  }

  operation(operation: AdmissionOperation): WebhookRouteBuilder {
    return this.#with({ operation });
  }

  namespace(namespace: string): WebhookRouteBuilder {
    return this.#with({ namespace });
  }

  name(name: string): WebhookRouteBuilder {
    return this.#with({ name });
  }

  dryRun(dryRun: boolean): WebhookRouteBuilder {
    return this.#with({ dryRun });
  }

  /** Adds the route to its router (`Handle`, `HandleFunc`). */
  handle(handler: RawHandler): void {
    if (typeof handler !== 'function') throw new TypeError(`WebhookRouter: expects a function, got ${typeof handler}`);
    this.#add(this.#match, handler);
  }

  #with(more: RouteMatch): WebhookRouteBuilder {
    return new WebhookRouteBuilder(this.#add, { ...this.#match, ...more });
  }
}

/**
 * Sends each review to the first route that matches it, in the order in which they were added (wrangler's
 * `webhook.Router`). A request that no route matches fails.
 *
 * @example
 * const router = new WebhookRouter();
 * router.kind('Pod').operation('create').namespace('shop').handle(({ object }) => allowed());
 * router.group('apps').handle(() => denied('read only'));
 * await run(admit.any({ groups: ['', 'apps'] }).handles({ type: 'validating' }, router.handler));
 */
export class WebhookRouter extends WebhookRouteBuilder {
  readonly #routes: { readonly match: RouteMatch; readonly handler: RawHandler }[];

  constructor() {
    const routes: { readonly match: RouteMatch; readonly handler: RawHandler }[] = [];
    super((match, handler) => routes.push({ match, handler }));
    this.#routes = routes;
  }

  /** For `handles` of a definition. Routes that are added later count, too. */
  readonly handler = (
    request: AdmissionRequest,
    context: RawContext,
  ): AdmissionResponse | PromiseLike<AdmissionResponse> => {
    for (const { match, handler } of this.#routes) if (matches(match, request)) return handler(request, context);
    const { operation, kind, namespace = '', name = '' } = request;
    const what = [operation, kind?.kind, namespace === '' ? name : `${namespace}/${name}`].join(' ');
    throw new Error(`no route matches ${what}; add one to the WebhookRouter`);
  };
}

function matches(match: RouteMatch, request: AdmissionRequest): boolean {
  const kind = request.requestKind ?? request.kind;
  const resource = request.requestResource ?? request.resource;
  const found: Required<RouteMatch> = {
    group: resource?.group ?? kind?.group ?? '',
    version: resource?.version ?? kind?.version ?? '',
    kind: kind?.kind ?? '',
    resource: resource?.resource ?? '',
    subresource: request.subResource ?? '',
    name: request.name ?? '',
    namespace: request.namespace ?? '',
    operation: lowercaseOperation(request.operation) as AdmissionOperation,
    dryRun: request.dryRun === true,
  };
  for (const name of Object.keys(match) as (keyof RouteMatch)[]) if (match[name] !== found[name]) return false;
  return true;
}
