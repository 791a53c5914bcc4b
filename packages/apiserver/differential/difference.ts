import { isObject } from './normalise.js';

/** A place at which two answers are not the same. */
export interface Difference {
  /** What was asked, e.g. `3: POST /api/v1/namespaces`. */
  readonly step: string;
  /** Where in the answer, e.g. `body.metadata.labels.a`. */
  readonly at: string;
  /** Undefined where there is nothing. */
  readonly real: unknown;
  readonly embedded: unknown;
}

/** Where two answers differ; if only one server accepted the request, only that is reported. */
export function answerDifferences(real: unknown, embedded: unknown, step: string): Difference[] {
  const [theirs, ours] = [outcomeOf(real), outcomeOf(embedded)];
  if (theirs.status !== ours.status) return [{ step, at: 'status', real: theirs, embedded: ours }];
  return differencesOf(real, embedded, step);
}

function outcomeOf(answer: unknown): { readonly status: unknown; readonly message: unknown } {
  if (!isObject(answer)) return { status: 'none', message: undefined };
  const message = isObject(answer.body) ? answer.body.message : undefined;
  return { status: answer.status, message };
}

/** All places at which two values differ. The order of an object's members does not matter. */
export function differencesOf(real: unknown, embedded: unknown, step: string, at = ''): Difference[] {
  if (Object.is(real, embedded)) return [];
  if (isObject(real) && isObject(embedded)) {
    const keys = [...new Set([...Object.keys(real), ...Object.keys(embedded)])];
    return keys.flatMap((key) => {
      const [theirs, ours] = [real, embedded].map((o) => (Object.hasOwn(o, key) ? o[key] : undefined));
      return differencesOf(theirs, ours, step, at === '' ? key : `${at}.${key}`);
    });
  }
  if (Array.isArray(real) && Array.isArray(embedded) && real.length === embedded.length) {
    return real.flatMap((item, index) => differencesOf(item, embedded[index], step, `${at}[${index}]`));
  }
  return [{ step, at, real, embedded }];
}

export function describeDifference({ step, at, real, embedded }: Difference): string {
  const show = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return `${step}\n  ${at}\n    real:     ${show(real)}\n    embedded: ${show(embedded)}`;
}
