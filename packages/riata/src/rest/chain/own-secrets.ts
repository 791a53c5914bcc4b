import type { CachedCredentials, Credentials, Pem, TlsMaterial } from '../config/rest-config.js';

const hidden = 'REDACTED';
/** Shorter secrets occur in any text: redacting them would reveal more than it hides. */
const shortest = 4;
/** Of a text that is cut off, so much of a secret is taken for it. */
const shortestBeginning = 8;
/** Tokens are rotated while requests with older ones are in flight. */
const mostRemembered = 8;
/** A private key in PEM, also one that is cut off. */
export const privateKey = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;

/**
 * The credentials that a client has used recently, to be redacted from the text of servers: API servers, admission webhooks
 * and proxies echo request headers in messages that end up in logs and Events.
 */
export class OwnSecrets {
  /** By what they were noted as: the forms in which they may come back. */
  readonly #forms = new Map<string, readonly string[]>();
  #lastHand: CachedCredentials | undefined;

  /** Notes the value of an `Authorization` header. */
  note(authorization: string | undefined): void {
    if (authorization === undefined || this.#forms.has(authorization)) return;
    const [, scheme = '', value = ''] = /^(\S+)\s+(.*)$/s.exec(authorization) ?? ['', '', authorization];
    this.#remember(authorization, scheme.toLowerCase() === 'basic' ? formsOfBasic(value) : formsOf(value));
  }

  noteTls({ key }: TlsMaterial): void {
    const pem = textOf(key);
    if (pem === undefined || this.#forms.has(pem)) return;
    const lines = pem.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
    this.#remember(pem, [...lines, lines.join(''), ...base64Of(pem)]);
  }

  noteHand(hand: CachedCredentials): void {
    if (hand === this.#lastHand) return;
    this.#lastHand = hand;
    this.note(hand.authorization);
    this.noteTls(hand.tls);
  }

  /** The text without any of them. */
  readonly redact = (text: string): string => {
    let redacted = text.includes('PRIVATE KEY-----') ? text.replace(privateKey, hidden) : text;
    for (const forms of this.#forms.values()) {
      for (const form of forms) redacted = without(redacted, form);
    }
    return redacted;
  };

  #remember(name: string, forms: readonly string[]): void {
    const long = new Set(forms.filter((form) => form.length >= shortest));
    // What contains another one is taken out before it.
    this.#forms.set(
      name,
      [...long].sort((a, b) => b.length - a.length),
    );
    for (const oldest of this.#forms.keys()) {
      if (this.#forms.size <= mostRemembered) break;
      this.#forms.delete(oldest);
    }
  }
}

/** A text may have been cut off within the secret, too. */
export function without(text: string, form: string, instead = hidden): string {
  const redacted = text.includes(form) ? text.replaceAll(form, instead) : text;
  const beginning = form.slice(0, shortestBeginning);
  const at = beginning.length < shortestBeginning ? -1 : redacted.lastIndexOf(beginning);
  return at >= 0 && form.startsWith(redacted.slice(at)) ? redacted.slice(0, at) + instead : redacted;
}

/** JSON with `redact` applied to every text in it, names too; the value itself where that changes nothing. */
export function redactAll<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === 'string') return redact(value) as T & string;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redactAll(item, redact));
    return items.some((item, i) => item !== value[i]) ? (items as T) : value;
  }
  const entries = Object.entries(value).map(([name, member]) => [redact(name), redactAll(member, redact)] as const);
  const isSame = Object.entries(value).every(
    ([name, member], i) => entries[i]?.[0] === name && entries[i]?.[1] === member,
  );
  return isSame ? value : (Object.fromEntries(entries) as T);
}

/** The same credentials; what they give is noted. */
export function notingCredentials(credentials: Credentials, secrets: OwnSecrets): Credentials {
  return {
    async authorization(options) {
      const authorization = await credentials.authorization(options);
      secrets.note(authorization);
      return authorization;
    },
    async tls(options) {
      const material = await credentials.tls(options);
      secrets.noteTls(material);
      return material;
    },
    refresh: (options) => credentials.refresh(options),
    tryCached() {
      const hand = credentials.tryCached?.();
      if (hand !== undefined) secrets.noteHand(hand);
      return hand;
    },
    problem: async () => credentials.problem?.(),
  };
}

/** The forms in which a secret may come back: as it is, in a URL, in base64. */
export function formsOf(secret: string): readonly string[] {
  return [secret, encodeURIComponent(secret), ...base64Of(secret)];
}

function formsOfBasic(encoded: string): readonly string[] {
  const decoded = Buffer.from(encoded, 'base64').toString();
  const password = decoded.slice(decoded.indexOf(':') + 1);
  return [encoded, ...base64Of(decoded), decoded, ...formsOf(password)];
}

/** With and without padding, for headers and for URLs. */
function base64Of(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  return [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}

function textOf(pem: Pem | undefined): string | undefined {
  return pem === undefined || typeof pem === 'string' ? pem : Buffer.from(pem).toString('latin1');
}
