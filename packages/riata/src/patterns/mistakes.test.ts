import { expect, test } from 'vitest';
import { createClient } from '../client/index.js';
import { ConfigMap } from '../kinds/index.js';
import { silentLogger } from '../runtime/index.js';
import { SharedControllerFactory } from '../shared/index.js';
import { Controllers } from './controllers.js';

/** What the compiler refuses, and JavaScript does not. */
const wrong = (value: unknown) => value as never;

/** Makes no request: there is no server. */
function setUp() {
  const runtime = { log: silentLogger };
  const client = createClient({ server: 'http://127.0.0.1:9' }, { runtime });
  const factory = new SharedControllerFactory(client, { runtime });
  return { client, factory, controllers: new Controllers(factory) };
}

test('something else in place of a kind or a handler is refused where it is passed', async () => {
  const { factory, controllers, client } = setUp();
  expect(() => factory.forKind(wrong(undefined))).toThrow('SharedControllerFactory.forKind: expects a Kind');
  expect(() => controllers.for(wrong({ name: 'x' }))).toThrow('Controllers.for: expects a Kind, as riata/kinds has');
  const maps = controllers.for(ConfigMap);
  expect(() => maps.onChange('h', wrong(undefined))).toThrow('configmaps.v1: handler "h" must be a function, got');
  await client.close();
});
