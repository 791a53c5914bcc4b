import type { ControllerOptions } from '../controller/loop/controller-options.js';
import { optionNames } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import type { RetryMode } from './handler-chain.js';
import type { MakeRateLimiter } from './shared-controller-rate-limiter.js';

/** Options of a `KeyedController` (`controller.Options` of lasso). */
export interface KeyedOptions extends Pick<ControllerOptions, 'timeout' | 'drain' | 'history' | 'selfWakeBackoff'> {
  /**
   * The backoff of failed keys (`RateLimiter`, `DefaultRateLimiter`, `KindRateLimiter`). A function that is called once for
   * each controller and returns a new limiter. @default sharedControllerRateLimiter
   */
  readonly rateLimiter?: MakeRateLimiter;
  /** Resyncs do not call handlers (`SyncOnlyChangedObjects`). @default false */
  readonly syncOnlyChangedObjects?: boolean;
  /**
   * Which handlers a retry runs. `'failed'`: those that failed, with the newest object of the cache, if that is still the
   * version they failed for; otherwise all. `'all'`: always all, as lasso does.
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
