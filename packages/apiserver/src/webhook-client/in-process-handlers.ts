/** Answers what the server sends to others, in this process and without a socket. */
export type InProcessHandler = (request: Request) => Response | Promise<Response>;

/**
 * Who answers in this process, by the URL that a request is addressed to. A Service is addressed as
 * `https://NAME.NAMESPACE.svc:PORT`, where 443 need not be written.
 */
export class InProcessHandlers {
  /** By the beginning of the URL, the longest first. */
  #handlers: readonly (readonly [prefix: string, handler: InProcessHandler])[] = [];

  /** Lets `handler` answer all requests to this URL and below it. Throws a `TypeError` for a malformed URL. */
  add(url: string, handler: InProcessHandler): Disposable {
    const entry = [prefixOf(url), handler] as const;
    if (this.#handlers.some(([prefix]) => prefix === entry[0])) {
      throw new TypeError(`ApiServer.handle: ${JSON.stringify(url)} already has a handler; dispose it first`);
    }
    this.#handlers = [...this.#handlers, entry].sort(([a], [b]) => b.length - a.length);
    return {
      [Symbol.dispose]: () => {
        this.#handlers = this.#handlers.filter((other) => other !== entry);
      },
    };
  }

  find(url: URL): InProcessHandler | undefined {
    const expected = prefixOf(url.href);
    const isBelow = (prefix: string) => expected === prefix || expected.startsWith(`${prefix}/`);
    return this.#handlers.find(([prefix]) => isBelow(prefix))?.[1];
  }
}

/** Without a query and a slash at the end: `https://a.b.svc/convert`. The port of https is left out. */
function prefixOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:') {
    throw new TypeError(`ApiServer.handle: the URL must start with https://, got ${JSON.stringify(text)}`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
