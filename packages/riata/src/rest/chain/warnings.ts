import type { Logger } from '../../runtime/log/logger.js';
import { headerValues } from '../request/header-values.js';
import type { ResponseHeaders } from '../transport/transport.js';

/** One `Warning` header of a response (`net.WarningHeader`). Kubernetes sends code 299, e.g. for deprecated APIs. */
export interface Warning {
  readonly code: number;
  /** Who warns; `-` if that is not said. */
  readonly agent: string;
  readonly text: string;
}

/** Is called for each warning of each response (`rest.WarningHandler`). What it throws is logged, no more. */
export type WarningHandler = (warning: Warning) => void;

/** Says nothing (`rest.NoWarnings`). */
export const noWarnings: WarningHandler = () => {};

/** Writes warnings of code 299 to the log (`rest.WarningLogger`). A client's default. */
export function warningLogger(log: Logger): WarningHandler {
  return ({ code, text }) => {
    if (code === 299 && text !== '') log.warn('warning from the server', { warning: text });
  };
}

/**
 * Lets each text through once (`WarningWriterOptions.Deduplicate`). Remembers the last `remember` texts, so a text may
 * be repeated after that many others. @default remember = 1_000
 */
export function dedupedWarnings(handler: WarningHandler, { remember = 1_000 } = {}): WarningHandler {
  const seen = new Set<string>();
  return (warning) => {
    const known = seen.delete(warning.text);
    seen.add(warning.text);
    if (known) return;
    for (const oldest of seen) {
      if (seen.size <= remember) break;
      seen.delete(oldest);
    }
    handler(warning);
  };
}

/** Keeps what comes, for tests and for commands that show it at their end. */
export function collectedWarnings(): WarningHandler & { readonly warnings: readonly Warning[] } {
  const warnings: Warning[] = [];
  return Object.assign((warning: Warning) => void warnings.push(warning), { warnings });
}

const none: readonly Warning[] = [];

/** All warnings of a response that follow the grammar; from the first that does not, the rest of its header is left. */
export function parseWarnings(headers: ResponseHeaders): readonly Warning[] {
  if (headers.warning === undefined) return none;
  // `code agent "text"`, a date in quotes if there is one, and a comma or the end.
  const pattern = /\s*(\d{3}) ([^\s\p{Cc}]+) "((?:[^"\\\p{Cc}]|\\\P{Cc})*)"\s*(?:"[^"]*"\s*)?(?:,\s*|$)/uy;
  return headerValues(headers, 'warning').flatMap((header) => {
    const found: Warning[] = [];
    for (let at = 0; at < header.length; ) {
      pattern.lastIndex = at;
      const match = pattern.exec(header);
      if (!match) break;
      const [whole, code = '', agent = '', quoted = ''] = match;
      found.push({ code: Number(code), agent, text: quoted.replace(/\\(.)/gs, '$1') });
      at += whole.length;
    }
    return found;
  });
}
