import type { ControllerOptions } from '../controller/loop/controller-options.js';
import { optionNames } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import type { RetryMode } from './handler-chain.js';
import type { MakeRateLimiter } from './shared-controller-rate-limiter.js';

/** How the queue of one kind is worked on (`controller.Options` of lasso). */
export interface KeyedOptions extends Pick<ControllerOptions, 'timeout' | 'drain' | 'history' | 'selfWakeBackoff'> {
  /**
   * How long failures wait (`RateLimiter`, `DefaultRateLimiter`, `KindRateLimiter`). A function, called once for each
   * controller: no two share a limiter. @default sharedControllerRateLimiter
   */
  readonly rateLimiter?: MakeRateLimiter;
  /** Resyncs, which bring nothing new, don't reach handlers (`SyncOnlyChangedObjects`). @default false */
  readonly syncOnlyChangedObjects?: boolean;
  /**
   * What runs again after a failure. `'failed'`: only the handlers that failed, each with the newest object of the cache,
   * as long as that is the version they failed on; else all. `'all'`: all of them, always, as lasso does.
   * @default 'failed'
   */
  readonly retry?: RetryMode;
  /** The label `ctx` of the metrics. @default '' */
  readonly metricsContext?: string;
  readonly runtime?: Partial<Runtime>;
}

export const keyedOptionNames = optionNames<KeyedOptions>({
  selfWakeBackoff: true,
  rateLimiter: true,
  syncOnlyChangedObjects: true,
  retry: true,
  metricsContext: true,
  runtime: true,
  timeout: true,
  drain: true,
  history: true,
});
