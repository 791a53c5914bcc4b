import type { Cache } from '../../cache/cache.js';
import type { InformerHealth } from '../../cache/informer/shared-informer.js';
import { isReflectorError } from '../../cache/reflector/reflector-error.js';
import { describeError } from '../../runtime/log/describe-error.js';

/** A watch that breaks now and then is normal; one that fails for this long is not. */
const longSilenceMs = 180_000;

/** Throws, with the reason, while informers of the cache are not synced, or have received nothing for long and fail. */
export function checkInformers({ health }: Pick<Cache, 'health'>): void {
  const informers = health.flatMap(({ kind, informers }) => informers.map((informer) => ({ kind, informer })));
  const late = informers.filter(({ informer }) => !informer.synced && isSelected(informer));
  if (late.length > 0) {
    const names = new Set(late.map(({ kind }) => kind.plural));
    const error = late.find(({ informer }) => informer.lastError !== undefined)?.informer.lastError;
    const why = error === undefined ? '' : `: ${describeError(error)}`;
    throw new Error(`not synced: ${[...names].join(', ')}${why}`);
  }
  for (const { informer } of informers) {
    const { name, consecutiveFailures, lastEventMs = 0, lastError } = informer;
    if (consecutiveFailures < 3 || lastEventMs < longSilenceMs || !isSelected(informer)) continue;
    const seconds = Math.round(lastEventMs / 1000);
    throw new Error(`${name}: no answer for ${seconds} s: ${describeError(lastError)}`);
  }
}

/** Not one that waits for its first use, nor for a kind that the server does not serve: that may come any day, or never. */
function isSelected({ phase, lastError }: InformerHealth): boolean {
  return phase !== 'idle' && !(isReflectorError(lastError) && lastError.problem === 'not-served');
}
