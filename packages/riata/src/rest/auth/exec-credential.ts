import { isMapping } from '../config/fields.js';
import { bearer, type ClientCertificate } from './authorization-source.js';
import { pairProblem } from './certificate-check.js';

/** The answer of a plugin. */
export interface ExecCredential {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  /** Wall time; undefined = for as long as the process lives. */
  readonly expiresAt: number | undefined;
}

/**
 * Reads an ExecCredential from a plugin's stdout. Errors never quote the text, as it holds the token. `fail` makes the
 * error.
 */
export async function readExecCredential(
  stdout: string,
  apiVersion: string,
  fail: (problem: string) => Error,
): Promise<ExecCredential> {
  const answer = parse(stdout);
  if (!isMapping(answer)) {
    throw fail(`wrote no JSON object to stdout (${stdout.length} characters); expected an ExecCredential`);
  }
  if (answer.kind !== 'ExecCredential') throw fail(`answered with kind ${named(answer.kind)}, not ExecCredential`);
  if (answer.apiVersion !== apiVersion) {
    throw fail(
      `the configuration asks for apiVersion ${apiVersion}, the plugin answered with ${named(answer.apiVersion)}; ` +
        'change apiVersion in the kubeconfig to what the plugin speaks, or update the plugin',
    );
  }
  const status = answer.status;
  if (!isMapping(status)) throw fail('answered without a status');
  const text = (name: string): string | undefined => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw fail(`answered with a status.${name} that is not a string`);
    return value === '' ? undefined : value;
  };
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if ((cert === undefined) !== (key === undefined)) {
    throw fail('answered with only one of status.clientCertificateData and status.clientKeyData; both are needed');
  }
  if (token === undefined && cert === undefined) throw fail('answered with neither a token nor a client certificate');
  const certificate = cert !== undefined && key !== undefined ? { cert, key } : undefined;
  const problem = certificate && (await pairProblem(certificate.cert, certificate.key));
  if (problem !== undefined) throw fail(`answered with a client certificate that cannot be used: ${problem}`);
  return {
    authorization: token === undefined ? undefined : header(token, fail),
    certificate,
    expiresAt: instant(text('expirationTimestamp'), fail),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function header(token: string, fail: (problem: string) => Error): string {
  try {
    return bearer(token);
  } catch {
    throw fail('answered with a token that no HTTP header can carry');
  }
}

function instant(text: string | undefined, fail: (problem: string) => Error): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw fail('answered with a status.expirationTimestamp that is not an RFC 3339 time');
  return at;
}

/** A short plain word from the answer's head; anything else might be a secret in the wrong place. */
function named(value: unknown): string {
  return typeof value === 'string' && /^[\w./-]{1,64}$/.test(value) ? value : 'none';
}
