const secretParameter = /token|secret|password|passwd|credential|authorization|api[-_]?key|^code$/i;
const authorizationValue = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
const authorizationHeader = /\b(authorization\W{1,5}(?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi;
const hidden = 'REDACTED';

/** A URL or path fit for messages and logs: no user info, and no values of query parameters that may be secret. */
export function redactUrl(url: string): string {
  const withoutUser = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, '$1');
  const mark = withoutUser.indexOf('?');
  if (mark < 0) return withoutUser;
  const query = withoutUser
    .slice(mark + 1)
    .split('&')
    .map((pair) => {
      const key = pair.split('=', 1)[0] ?? '';
      // `continue` tokens and the like are no secrets, but `token=` as some proxies take it is.
      return secretParameter.test(key) ? `${key}=${hidden}` : pair;
    });
  return `${withoutUser.slice(0, mark)}?${query.join('&')}`;
}

/** Text from elsewhere with `Authorization` values taken out, as debugging proxies like to echo request headers. */
export function redactText(text: string): string {
  return text.replace(authorizationValue, `$1 ${hidden}`);
}

/** The same for the words of an API server, which may well speak of a "basic something": only what names its header. */
export function redactHeaders(text: string): string {
  return text.replace(authorizationHeader, `$1${hidden}`);
}

/** `GET /api/v1/pods`: the request, for messages. Without host and query. */
export function describeRequest(method: string | undefined, url: string | undefined): string {
  const path = url?.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '');
  return [method?.toUpperCase(), path].filter(Boolean).join(' ');
}
