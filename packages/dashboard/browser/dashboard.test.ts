import type { Page } from 'playwright-core';
import { Deployment, Event, Secret } from 'riata/kinds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { objectPath, violations, WatchedBrowser } from './browser.fixture.js';
import { Foo, namespace, type Operators, Ship, secret, startOperators } from './operators.fixture.js';
import { until } from './until.fixture.js';

const pictures = process.env.RIATA_PICTURES;
let operators: Operators;
let chrome: WatchedBrowser;
const open = (path: string, ...on: never[]) => chrome.open(operators.url, path, ...on);
const patch = (name: string, spec: object) =>
  operators.client.patch(Foo, { namespace, name }, { type: 'merge', body: { spec } as never });

beforeAll(async () => {
  [operators, chrome] = await Promise.all([startOperators(), WatchedBrowser.start()]);
});
// Something to see.
let traffic: ReturnType<typeof setInterval> | undefined;
beforeAll(() => {
  if (pictures === undefined) return;
  let turn = 0;
  traffic = setInterval(() => {
    turn += 1;
    const course = (turn * 13) % 360;
    const key = { namespace, name: `ship-${turn % 20}` };
    operators.client.patch(Ship, key, { type: 'merge', body: { spec: { course } } as never }).catch(() => {});
    if (turn % 15 === 0) patch('pears', { replicas: 2 + (turn % 3) }).catch(() => {});
  }, 150);
});
afterAll(async () => {
  clearInterval(traffic);
  await chrome?.[Symbol.asyncDispose]();
  await operators?.[Symbol.asyncDispose]();
});

const pages = {
  overview: ['#/', 'Overview'],
  controller: ['#/controller/foo', 'foo'],
  object: [objectPath(Foo, namespace, 'apples'), 'apples'],
  caches: ['#/caches', 'Caches'],
  webhooks: ['#/webhooks', 'Webhooks'],
  clusters: ['#/clusters', 'Clusters'],
  search: ['#/search?q=web', 'web'],
} as const;

/** Where the code lies on this machine is nobody's business. */
async function takePicture(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(name.startsWith('overview') ? 25_000 : 6_000);
  if (name.startsWith('object')) await page.getByText('wrote: patch Foo shop/apples/status').first().click();
  await page.evaluate(() => {
    for (const code of document.querySelectorAll('td code, .error code')) {
      const { textContent = '' } = code;
      if (textContent?.includes('.ts:')) code.textContent = textContent.replace(/\S*\/(examples\/)/, '/app/$1');
    }
  });
  // As high as what is there, so that a picture is no empty space.
  const content = await page.evaluate(() => document.querySelector('main')?.getBoundingClientRect().bottom ?? 900);
  const most = name.startsWith('object') ? 4_000 : 900;
  await page.setViewportSize({ width: 1280, height: Math.min(most, Math.ceil(content) + 16) });
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${pictures}/${name}.png` });
}

test.each(Object.entries(pages))(
  '%s: no error, no other host, nothing that axe-core objects to, light and dark',
  async (name, [path, title]) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open('');
      await page.emulateMedia({ colorScheme });
      await page.goto(`${operators.url}/${path}`);
      if (pictures !== undefined) await page.reload();
      await page.getByRole('heading', { level: 1 }).filter({ hasText: title }).waitFor();
      await page.getByText('live', { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);
      if (pictures !== undefined) await takePicture(page, `${name}-${colorScheme}`);
      await page.close();
    }
    expect(chrome.problems).toEqual([]);
  },
);

test('a change shows without a reload: the reconcile, its cause, and the write as a diff', async () => {
  const page = await open(objectPath(Foo, namespace, 'pears'));
  await page.getByText('wrote: patch Deployment shop/pears').first().waitFor();
  await patch('pears', { replicas: 3 });
  await page.getByText('Updated Foo shop/pears').first().waitFor();
  // In the time line of the Foo: what the reconcile changed in the Deployment.
  const wrote = 'wrote: patch Deployment shop/pears';
  const entries = page.getByRole('listitem').filter({ hasText: 'Updated Foo shop/pears' });
  const entry = entries.filter({ hasText: wrote }).first();
  await entry.getByText(wrote).click();
  const written = entry.locator('.diff').filter({ hasText: 'spec.replicas' });
  await written.locator('.after', { hasText: '+ 3' }).first().waitFor();
  await page.getByRole('link', { name: 'Deployment shop/pears', exact: true }).click();
  const diff = page.locator('.diff').filter({ hasText: 'spec.replicas' }).first();
  await diff.locator('.after', { hasText: '+ 3' }).first().waitFor();
  expect(await diff.locator('.before').first().innerText()).toBe('− 2');
  await page.close();
});

test('conditions over time: those of the Foo change while the page is open', async () => {
  const page = await open(objectPath(Foo, namespace, 'plums'));
  const changes = page.getByRole('list', { name: 'Changes of conditions' }).getByRole('listitem');
  await changes.filter({ hasText: 'Available True AllReplicasAvailable' }).first().waitFor();
  const before = await changes.count();
  await patch('plums', { replicas: 4 });
  await changes
    .filter({ hasText: '2 of 4 replicas' })
    .or(changes.filter({ hasText: 'ReplicasMissing' }))
    .first()
    .waitFor();
  await changes.filter({ hasText: 'AllReplicasAvailable' }).nth(1).waitFor();
  expect(await changes.count()).toBeGreaterThan(before);
  const row = page.getByRole('row').filter({ hasText: 'AllReplicasAvailable' });
  expect(await row.getByRole('img').getAttribute('aria-label')).toMatch(/True for .*, False for .*, True for /);
  await page.close();
});

test('an object that nobody here reconciles follows the cache: the status of a Deployment', async () => {
  const page = await open(objectPath(Deployment, namespace, 'taken'));
  await page.getByText('No controller reconciles this kind').waitFor();
  const version = async () => /"resourceVersion": "(\d+)"/.exec((await page.locator('pre').textContent()) ?? '')?.[1];
  const first = await until(version);
  const annotations = { touched: 'yes' };
  await operators.client.patch(
    Deployment,
    { namespace, name: 'taken' },
    { type: 'merge', body: { metadata: { annotations } } },
  );
  await until(async () => ((await version()) === first ? undefined : true));
  await page.close();
});

test('owners up to the top, owned objects down, field managers and Events', async () => {
  const page = await open(objectPath(Deployment, namespace, 'apples'));
  const graph = page.getByRole('region', { name: 'Owners and owned objects' });
  await graph.getByRole('link', { name: 'Foo shop/apples' }).waitFor();
  await graph.getByRole('link', { name: 'Foo shop/apples' }).click();
  await graph.getByRole('link', { name: 'Deployment shop/apples' }).waitFor();
  const owners = page.getByRole('region', { name: 'Field managers' });
  await owners.getByText('spec.replicas').first().waitFor();
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('created Deployment apples').waitFor();
  await page.close();
});

test('a failing reconcile of an example has its error, the line of its code, the attempt and the next retry', async () => {
  const page = await open('#/controller/foo');
  const row = page.getByRole('row').filter({ hasText: 'shop/unlucky' }).first();
  await row.filter({ hasText: 'Deployment taken already exists and is not controlled by this Foo' }).waitFor();
  expect(await row.innerText()).toMatch(/examples\/sample-controller\/main\.ts:\d+/);
  expect(await row.innerText()).toMatch(/in \d|now/);
  await page.close();
});

test('an object that is gone, and a kind that is not shown, say so and nothing else', async () => {
  const page = await open(objectPath(Foo, namespace, 'nobody'));
  await page.getByText('The object does not exist (any more).').waitFor();
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'Time line',
    'Writes of this operator',
  ]);
  await page.goto(`${operators.url}/${objectPath({ apiVersion: 'example.com/v1', kind: 'Foo' }, namespace, 'apples')}`);
  await page.getByText('kind example.com/v1 Foo is neither cached nor reconciled').waitFor();
  expect(await page.getByRole('heading', { level: 2 }).count()).toBe(0);
  // The browser reports each answer with 404.
  expect(chrome.problems.splice(0).filter((problem) => !problem.includes('404'))).toEqual([]);
  await page.close();
});

test('search across kinds by keyboard, a deep link, the same after a reload, and keys for pages and links', async () => {
  const page = await open('');
  await page.getByText('live', { exact: true }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('plums');
  await page.keyboard.press('Enter');
  await page.getByText(/^2 found/).waitFor();
  // The first link of the page is the first object.
  await page.keyboard.press('Escape');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  const focused = await page.evaluate(() => document.activeElement?.textContent);
  expect(focused).toContain('shop/plums');
  await page.getByRole('link', { name: 'Foo shop/plums' }).click();
  await page.getByRole('heading', { level: 1, name: 'Foo shop/plums' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Foo shop/plums' }).waitFor();
  await page.getByRole('button', { name: 'Reconcile now' }).waitFor();
  for (const [key, name] of [
    ['c', 'Caches'],
    ['w', 'Webhooks'],
    ['l', 'Clusters'],
    ['o', 'Overview'],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('previous link').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('?');
  await page.keyboard.press('c');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  // Behind the dialog the page stayed.
  expect(await page.title()).toBe('Overview · Riata');
  await page.close();
});

test('pause, resume and reconcile now, each with an Event', async () => {
  const page = await open(objectPath(Foo, namespace, 'apples'));
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  const annotations = async () => (await operators.client.get(Foo, { namespace, name: 'apples' })).metadata.annotations;
  expect(await annotations()).toMatchObject({ 'riata.dev/pause': 'true' });
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.getByRole('button', { name: 'Reconcile now' }).click();
  await until(async () => (await annotations())?.['riata.dev/reconcile-at']);
  await until(async () => {
    const { items } = await operators.client.list(Event, { namespace });
    const reasons = items.filter(({ reportingComponent }) => reportingComponent === 'riata-dashboard');
    return reasons.length >= 3 ? reasons : undefined;
  });
  await page.close();
});

test('webhooks: requests, denials, latency, certificate; each call with its reason', async () => {
  const page = await open('#/webhooks');
  await page.getByText(/certificate expires in \d+ (h|d)/).waitFor();
  const row = page.getByRole('row').filter({ hasText: 'validate' }).first();
  await row.waitFor();
  expect(await row.innerText()).toMatch(/\d/);
  await page
    .getByText(/belongs to Site shop\/web/)
    .first()
    .waitFor();
  await page.close();
});

test('clusters, the leader, and who owns which shard', async () => {
  const page = await open('#/clusters');
  await page.getByRole('row').filter({ hasText: 'north' }).filter({ hasText: 'healthy' }).waitFor();
  await page.keyboard.press('o');
  await page.getByText('leads').waitFor();
  await page.getByText(/replica-1: \d+ slots/).waitFor();
  await page.getByText(/replica-0: \d+ slots \(this replica\)/).waitFor();
  await page.getByRole('img', { name: /slots: .*replica-0 \d+/ }).waitFor();
  await page.close();
});

test('caches: objects, bytes, the age of the watch, the lag behind the server', async () => {
  const page = await open('#/caches');
  const row = page.getByRole('row').filter({ hasText: 'Ship' });
  await row.getByText('20', { exact: true }).waitFor();
  await until(async () => (/KB|\d B/.test(await row.innerText()) ? true : undefined));
  await until(async () => (/none|\d ms/.test(await row.getByRole('cell').nth(5).innerText()) ? true : undefined));
  await row.getByRole('link').click();
  await page.getByText('20 found').waitFor();
  await page.close();
});

test('a Secret has no value on its page, and in no payload of the browser', async () => {
  const page = await chrome.context.newPage();
  const bodies: Promise<string>[] = [];
  page.on('response', (response) => {
    if (!response.url().endsWith('/debug/stream')) bodies.push(response.text().catch(() => ''));
  });
  await page.goto(`${operators.url}/${objectPath(Secret, namespace, 'login')}`);
  await page.getByText('••••••').first().waitFor({ state: 'attached' });
  await page.goto(`${operators.url}/#/search?q=login`);
  await page.getByText(/found/).waitFor();
  const texts = [await page.content(), ...(await Promise.all(bodies))];
  for (const hidden of [secret, btoa(secret)]) expect(texts.join('\n')).not.toContain(hidden);
  await page.close();
});

/** The elements that make the page scroll sideways. */
function tooWide(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.querySelectorAll('body *')].filter((each) => {
    const { right, width } = each.getBoundingClientRect();
    return width > 0 && right > clientWidth && each.closest('.scroll, .virtual, pre') === null;
  });
  return wide.map(({ tagName, className, textContent }) => `${tagName}.${className}: ${textContent?.slice(0, 80)}`);
}

/** Cells with a text that has few letters a line. */
function tooNarrow(): string[] {
  const cells = [...document.querySelectorAll('td')].filter(({ offsetWidth, offsetHeight, textContent }) => {
    return (textContent ?? '').length > 30 && offsetWidth < 120 && offsetHeight > 120;
  });
  return cells.map(({ offsetWidth, textContent }) => `${offsetWidth} px: ${textContent}`);
}

test('on a narrow screen nothing is wider than the screen, and no text a few letters wide', async () => {
  const narrow = await chrome.browser.newContext({ viewport: { width: 360, height: 700 } });
  const page = await chrome.open(operators.url, '', narrow);
  for (const [path, title] of Object.values(pages)) {
    await page.goto(`${operators.url}/${path}`);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: title }).waitFor();
    expect(await page.evaluate(tooWide), title).toEqual([]);
    expect(await page.evaluate(tooNarrow), title).toEqual([]);
    await page.getByRole('navigation').waitFor();
    expect(await page.evaluate(() => scrollY), title).toBe(0);
  }
  await narrow.close();
  expect(chrome.problems).toEqual([]);
});
