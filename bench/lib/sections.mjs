import { fanOut } from '../sections/apiserver/fan-out.mjs';
import { lists } from '../sections/apiserver/lists.mjs';
import { memory } from '../sections/apiserver/memory.mjs';
import { start } from '../sections/apiserver/start.mjs';
import { durableWrites, writes } from '../sections/apiserver/writes.mjs';
import { apply } from '../sections/apply.mjs';
import { controller } from '../sections/controller.mjs';
import { dashboard } from '../sections/dashboard.mjs';
import { devLoop } from '../sections/dev-loop.mjs';
import { firstList } from '../sections/first-list.mjs';
import { imports } from '../sections/imports.mjs';
import { informer } from '../sections/informer.mjs';
import { list } from '../sections/list.mjs';
import { manyControllers } from '../sections/many-controllers.mjs';
import { queue } from '../sections/queue.mjs';
import { size } from '../sections/size.mjs';
import { store } from '../sections/store.mjs';
import { streams } from '../sections/streams.mjs';
import { watch } from '../sections/watch.mjs';
import { webhooks } from '../sections/webhooks.mjs';

/**
 * What is measured, and in which order. A section has a `name`, says by `needs` what it shares with others
 * and by `rounds` how many it wants when so many are asked for, `measure`s (samples, which are kept as JSON), and `describe`s them: title, parts in Markdown, charts and goals.
 */
export const topics = {
  'The client': [size, imports, firstList, list, watch, streams],
  'The embedded API server': [start, writes, durableWrites, fanOut, lists, memory],
  'Informers and queues': [informer, queue, store],
  Controllers: [controller, manyControllers],
  'Desired sets': [apply],
  Webhooks: [webhooks],
  'The dev loop': [devLoop],
  'The dashboard': [dashboard],
};

export const sections = Object.values(topics).flat();

/** The sections that `--only` names, by name or by the first word of several names: `apiserver`. */
export function sectionsNamed(only) {
  if (only === undefined) return sections;
  const names = only.split(',');
  const matches = (section, name) => section.name === name || section.name.startsWith(`${name}-`);
  const unknown = names.filter((name) => !sections.some((section) => matches(section, name)));
  if (unknown.length > 0) {
    const known = sections.map(({ name }) => name).join(', ');
    throw new Error(`--only knows ${known}, and apiserver for all that begin with it; got ${unknown.join(', ')}`);
  }
  return sections.filter((section) => names.some((name) => matches(section, name)));
}
