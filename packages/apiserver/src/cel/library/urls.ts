import { goQuote } from '../../status/go-quote.js';
import { CelError } from '../language/cel-error.js';
import { boolType, listOf, mapOf, opaque, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import { list, mapping, type OpaqueValue } from '../language/value.js';

/** The parts of a URL as Go's `url.ParseRequestURI` finds them. */
class UrlValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'kubernetes.URL';

  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string, scheme: string, host: string, path: string, query: string) {
    this.text = text;
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

const url = opaque('kubernetes.URL');

/** URLs: absolute ones, and paths that begin with a slash. */
export const urls: Functions = {
  url: [
    plain('string_to_url', [stringType], url, (text: string) => {
      const found = parse(text);
      if (typeof found === 'string') throw new CelError(`URL parse error during conversion from string: ${found}`);
      return found;
    }),
  ],
  isURL: [plain('is_url_string', [stringType], boolType, (text: string) => typeof parse(text) !== 'string')],
  getScheme: [member('url_get_scheme', [url], stringType, (of: UrlValue) => of.scheme)],
  getHost: [member('url_get_host', [url], stringType, (of: UrlValue) => of.host)],
  getHostname: [
    member('url_get_hostname', [url], stringType, (of: UrlValue) =>
      of.host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1'),
    ),
  ],
  getPort: [member('url_get_port', [url], stringType, (of: UrlValue) => /:(\d+)$/.exec(of.host)?.[1] ?? '')],
  getEscapedPath: [member('url_get_escaped_path', [url], stringType, (of: UrlValue) => of.path)],
  getQuery: [
    member('url_get_query', [url], mapOf(stringType, listOf(stringType)), (of: UrlValue) => {
      const found = new Map<string, string[]>();
      for (const [key, value] of new URLSearchParams(of.query)) found.set(key, [...(found.get(key) ?? []), value]);
      return mapping([...found].map(([key, values]) => [key, list(values)] as const));
    }),
  ],
};

/** The URL, or what is wrong with the text. */
function parse(text: string): UrlValue | string {
  const quoted = goQuote(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
  if (/[\x00-\x1f\x7f]/.test(text)) return `parse ${quoted}: net/url: invalid control character in URL`;
  if (text === '') return `parse "": empty url`;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  if (text.startsWith(':')) return `parse ${quoted}: missing protocol scheme`;
  const [rest = '', query = ''] = split(text.slice(scheme === '' ? 0 : scheme.length + 1), '?');
  if (!rest.startsWith('/')) return `parse ${quoted}: invalid URI for request`;
  const authority = scheme !== '' || !rest.startsWith('///') ? /^\/\/([^/]*)/.exec(rest) : null;
  const hasAuthority = authority !== null && scheme !== '';
  const host = hasAuthority ? (authority[1] as string).replace(/^.*@/, '') : '';
  if (/[ <>"]/.test(host))
    return `parse ${quoted}: invalid character ${goQuote(/[ <>"]/.exec(host)?.[0] ?? '')} in host name`;
  if (/:[^\]]*[^0-9\]:][^\]]*$/.test(host)) {
    return `parse ${quoted}: invalid port ${goQuote(host.slice(host.lastIndexOf(':')))} after host`;
  }
  const path = hasAuthority ? rest.slice((authority[0] as string).length) : rest;
  const broken = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(path);
  if (broken !== null) return `parse ${quoted}: invalid URL escape ${goQuote(broken[0])}`;
  return new UrlValue(text, scheme.toLowerCase(), host, escaped(path), query);
}

function split(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Characters that do not stand in a path as they are. */
function escaped(path: string): string {
  return path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@%!'()*[\]]/gu, (c) => encodeURIComponent(c));
}
