import { durationMs } from '../../object/duration.js';
import type { KubeObject } from '../../object/meta.js';
import type { ReflectorOptions } from './reflector-options.js';

/** The numbers among the options of a Reflector. */
export interface ReflectorSettings {
  readonly pageSize: number | undefined;
  /** `Infinity`: never. */
  readonly silenceMs: number;
  /** 0: never. */
  readonly resyncMs: number;
}

/** Throws, by the Reflector's name, for what makes no sense. */
export function reflectorSettings(
  name: string,
  {
    pageSize,
    silence = '75s',
    resyncPeriod = 0,
  }: Pick<ReflectorOptions<KubeObject>, 'pageSize' | 'silence' | 'resyncPeriod'>,
): ReflectorSettings {
  if (pageSize !== undefined && !(Number.isSafeInteger(pageSize) && pageSize > 0)) {
    throw new TypeError(`reflector "${name}": pageSize must be an integer ≥ 1, got ${pageSize}`);
  }
  const silenceMs = durationMs(silence, `reflector "${name}": silence`);
  const resyncMs = resyncPeriod === 0 ? 0 : durationMs(resyncPeriod, `reflector "${name}": resyncPeriod`);
  if (silenceMs <= 0) throw new TypeError(`reflector "${name}": silence must be more than 0 or "never"`);
  return { pageSize, silenceMs, resyncMs };
}
