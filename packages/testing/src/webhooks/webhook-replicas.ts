import type { ApiServer } from '@riata/apiserver';
import { onAbort } from 'riata/runtime';
import type { ServeWebhook, WebhookAnswer, WebhookListener } from 'riata/webhook';

/** One address for all replicas, as a Service has it: none replaces the configuration of another. */
const address = 'https://webhooks.riata-testing.svc';

/**
 * The webhook servers of an environment's managers, reached within the process as behind a Service: each request goes to
 * the next of them that serves its path.
 */
export class WebhookReplicas {
  readonly #server: ApiServer;
  #serving: readonly ServeWebhook[] = [];
  #requests = 0;
  #handler: Disposable | undefined;

  constructor(server: ApiServer) {
    this.#server = server;
  }

  /** For the options of one manager. */
  readonly listener: WebhookListener = {
    listen: async (serve, { signal }) => {
      this.#serving = [...this.#serving, serve];
      this.#handler ??= this.#server.handle(address, (request) => this.#answer(request));
      onAbort(signal, () => {
        this.#serving = this.#serving.filter((other) => other !== serve);
        if (this.#serving.length > 0) return;
        this.#handler?.[Symbol.dispose]();
        this.#handler = undefined;
      });
      return { clientConfig: (path) => ({ url: `${address}${path}` }) };
    },
  };

  async #answer(request: Request): Promise<Response> {
    const { pathname: path, searchParams: query } = new URL(request.url);
    const contentType = request.headers.get('content-type') ?? undefined;
    const body = new Uint8Array(await request.arrayBuffer());
    const first = this.#requests;
    this.#requests += 1;
    let answer: WebhookAnswer | undefined;
    for (let tried = 0; tried < this.#serving.length; tried += 1) {
      const serve = this.#serving[(first + tried) % this.#serving.length] as ServeWebhook;
      answer = await serve({ path, query, contentType, body, signal: request.signal });
      // Another manager of the test may run other webhooks.
      if (answer.status !== 404) break;
    }
    if (answer === undefined) throw new Error(`dial tcp: lookup ${new URL(address).host}: no such host`);
    return new Response(await whole(answer.body), {
      status: answer.status,
      headers: { 'content-type': 'application/json' },
    });
  }
}

async function whole(body: WebhookAnswer['body']): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const part of body) text += part;
  return text;
}
