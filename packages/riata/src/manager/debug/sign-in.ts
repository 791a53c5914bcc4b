import type { IncomingHttpHeaders } from 'node:http';
import type { Runtime } from '../../runtime/runtime.js';
import type { EndpointAnswer, EndpointGuard, EndpointRoute } from '../probes/http-endpoint.js';

const cookieName = 'riata-dashboard';
/** How long somebody stays signed in. */
const sessionMs = 8 * 3_600_000;
const mostSessions = 256;

/** The pages of the dashboard that {@link SignIn} needs. */
export interface SignInPages {
  signInPage(problem?: string): EndpointAnswer;
}

/**
 * Signs viewers in with a token of the cluster: browsers cannot send the header Authorization for a page. The token stays in
 * the memory of the operator; the browser gets a random name for it, in a cookie that no script and no other site can use.
 */
export class SignIn {
  readonly #sessions = new Map<string, { readonly token: string; readonly untilMs: number }>();
  readonly #runtime: Pick<Runtime, 'clock' | 'random'>;
  readonly #reviews: EndpointGuard;
  readonly #pages: SignInPages;
  readonly #isSecure: boolean;

  constructor(
    runtime: Pick<Runtime, 'clock' | 'random'>,
    parts: { readonly reviews: EndpointGuard; readonly pages: SignInPages; readonly isSecure: boolean },
  ) {
    this.#runtime = runtime;
    this.#reviews = parts.reviews;
    this.#pages = parts.pages;
    this.#isSecure = parts.isSecure;
  }

  /** The header Authorization, or the one that the cookie stands for. */
  readonly authorizationOf = ({ cookie = '' }: IncomingHttpHeaders): string | undefined => {
    const id = new RegExp(`(?:^|;\\s*)${cookieName}=([\\w-]+)`).exec(cookie)?.[1];
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined || session.untilMs < this.#runtime.clock.monotonic()) return undefined;
    return `Bearer ${session.token}`;
  };

  /** Those who are not signed in get a page to do so instead of any other page. */
  readonly guard: EndpointGuard = async (request) => {
    if (request.path === '/sign-in') return undefined;
    const isPage = !request.path.startsWith('/debug/');
    const refusal = await this.#reviews({ ...request, path: isPage ? '/debug/stream' : request.path });
    if (refusal === undefined || !isPage) return refusal;
    const problem = request.authorization === undefined ? undefined : text(refusal);
    return { ...this.#pages.signInPage(problem), status: refusal.status ?? 401, failure: refusal.failure };
  };

  /** `POST /sign-in` with the field `token`. */
  readonly route: EndpointRoute = async ({ body = '', headers = {}, signal }) => {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin') return { status: 403, body: 'sign in on the page itself\n' };
    const token = new URLSearchParams(body).get('token')?.trim() ?? '';
    const authorization = `Bearer ${token}`;
    const refusal = await this.#reviews({ path: '/debug/stream', authorization, headers, signal });
    if (refusal !== undefined) {
      return { ...this.#pages.signInPage(text(refusal)), status: refusal.status ?? 401, failure: refusal.failure };
    }
    const { clock, random } = this.#runtime;
    const id = `${random.uuid()}${random.uuid()}`;
    for (const [known, { untilMs }] of this.#sessions) {
      if (untilMs < clock.monotonic() || this.#sessions.size >= mostSessions) this.#sessions.delete(known);
    }
    this.#sessions.set(id, { token, untilMs: clock.monotonic() + sessionMs });
    const cookie = `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Strict${this.#isSecure ? '; Secure' : ''}`;
    return { status: 303, headers: { location: '/', 'set-cookie': cookie }, body: '' };
  };
}

function text({ body }: EndpointAnswer): string {
  return typeof body === 'string' ? body.trim() : '';
}
