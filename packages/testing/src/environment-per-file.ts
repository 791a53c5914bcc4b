import { TestEnvironment } from './test-environment.js';
import type { TestEnvironmentOptions } from './test-environment-options.js';

type Hook = (run: () => Promise<void>) => unknown;

/** The hooks of a test framework: `beforeAll` and `afterAll` of vitest and jest, `before` and `after` of node:test. */
export type TestHooks = { readonly afterEach: Hook } & (
  | { readonly beforeAll: Hook; readonly afterAll: Hook }
  | { readonly before: Hook; readonly after: Hook }
);

/**
 * One environment for all tests of a file or suite, reset after each: for suites where starting a server per test is
 * too slow, as on a real one. The returned function gives the environment, within tests and hooks. Objects that a
 * `beforeAll` of the file creates for all tests stay if it ends with `env().keep()`. Options may come from a function,
 * called before the first test.
 *
 * @example
 * import { afterAll, afterEach, beforeAll, test } from 'vitest';   // or from '@jest/globals'
 * const env = environmentPerFile({ beforeAll, afterAll, afterEach }, { kinds: [Foo] });
 * test('…', async () => { await env().run(foos); });
 */
export function environmentPerFile(
  hooks: TestHooks,
  options: TestEnvironmentOptions | (() => TestEnvironmentOptions | Promise<TestEnvironmentOptions>) = {},
): () => TestEnvironment {
  let env: TestEnvironment | undefined;
  const start = async () => {
    env = await TestEnvironment.start(typeof options === 'function' ? await options() : options);
  };
  const stop = async () => env?.stop();
  if ('before' in hooks) {
    hooks.before(start);
    hooks.after(stop);
  } else {
    hooks.beforeAll(start);
    hooks.afterAll(stop);
  }
  hooks.afterEach(async () => env?.reset());
  return () => {
    if (env === undefined) throw new Error('environmentPerFile: there is no environment yet; ask for it within a test');
    return env;
  };
}
