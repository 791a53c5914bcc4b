import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { control } from '../../controller/define/control.js';
import { warnMissingConversions } from '../../manager/missing-conversions.js';
import { defineKind } from '../../object/define-kind.js';
import type { KubeObject } from '../../object/meta.js';
import { withVersion } from '../../object/version/with-version.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { WebhookRecord } from '../webhook-route.js';
import { conversion } from './conversion.js';

const base = defineKind({
  ...{ group: 'example.com', version: 'v2', kind: 'Site' },
  spec: z.object({ name: z.string(), size: z.number(), extra: z.string().optional() }),
});
const Site = withVersion(base, 'v1', {
  spec: z.object({ title: z.string(), size: z.number() }),
  up: ({ spec: { title, size } }) => ({ spec: { name: title, size } }),
  down: ({ spec: { name, size } }) => {
    if (name === 'bad')
      throw Object.assign(new Error('no such name'), { stack: 'Error\n    at down (/app/site.ts:7:3)' });
    return { spec: { title: name, size } };
  },
});

const site = (version: string, name: string, spec: object, more: object = {}) => ({
  apiVersion: `example.com/${version}`,
  kind: 'Site',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...more },
  spec,
});

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly response: {
    readonly uid: string;
    readonly result: { readonly status: string; readonly message?: string };
    readonly convertedObjects: readonly (KubeObject & { readonly spec: Record<string, unknown> })[];
  };
}

function setUp(kind: Parameters<typeof conversion>[0] = Site) {
  const log = memoryLogger();
  const records: WebhookRecord[] = [];
  const metrics = memoryMetrics();
  const runtime = resolveRuntime({ clock: new VirtualClock(), log, metrics });
  const [route] = conversion(kind).bind({ client: undefined as never, runtime, record: (made) => records.push(made) });
  const aborter = new AbortController();
  /** The status and text of an answer, and how many pieces it came in. */
  const send = async (body: string) => {
    const answer = await route!.answer({
      ...{ path: route!.path, query: new URLSearchParams(), contentType: 'application/json', signal: aborter.signal },
      body: new TextEncoder().encode(body),
    });
    const pieces: string[] = [];
    if (typeof answer.body === 'string') pieces.push(answer.body);
    else for await (const piece of answer.body) pieces.push(piece);
    return { status: answer.status, text: pieces.join(''), pieces: pieces.length };
  };
  const review = async (to: string, objects: readonly object[], version = 'v1') => {
    const request = { uid: 'u1', desiredAPIVersion: `example.com/${to}`, objects };
    const { text } = await send(
      JSON.stringify({ kind: 'ConversionReview', apiVersion: `apiextensions.k8s.io/${version}`, request }),
    );
    return JSON.parse(text) as Review;
  };
  return { log, records, send, review, aborter, metrics };
}

describe('the definition', () => {
  test('has a path by the name of the kind, which can be chosen', () => {
    const { name, targets } = conversion(Site);
    expect(name).toBe('convert-sites.example.com');
    expect(targets).toEqual([{ type: 'conversion', path: '/convert-sites-example-com', kind: Site }]);
    expect(conversion(Site, { name: 'mine', path: '/convert' }).targets[0]).toMatchObject({ path: '/convert' });
  });
  test('refuses a kind without versions, and misspelt options', () => {
    expect(() => conversion(base)).toThrow('conversion: Site has one version; add others with withVersion(Site, …)');
    expect(() => conversion(Site, { pth: '/x' } as never)).toThrow(
      'conversion of Site: unknown option "pth"; did you mean "path"?',
    );
  });
});

describe('a review', () => {
  test.each(['v1', 'v1beta1'])('of %s is answered in kind, with its uid, objects in order', async (version) => {
    const { review } = setUp();
    const objects = [site('v1', 'a', { title: 'A', size: 1 }), site('v1', 'b', { title: 'B', size: 2 })];
    expect(await review('v2', objects, version)).toEqual({
      apiVersion: `apiextensions.k8s.io/${version}`,
      kind: 'ConversionReview',
      response: {
        uid: 'u1',
        convertedObjects: [site('v2', 'a', { name: 'A', size: 1 }), site('v2', 'b', { name: 'B', size: 2 })],
        result: { status: 'Success' },
      },
    });
  });
  test('without objects is a success', async () => {
    expect((await setUp().review('v2', [])).response).toEqual({
      ...{ uid: 'u1', convertedObjects: [], result: { status: 'Success' } },
    });
  });
  test('keeps metadata and what the other version has no place for', async () => {
    const { review } = setUp();
    const more = { labels: { a: 'b' }, finalizers: ['x'], managedFields: [{ manager: 'm' }], unknown: { deep: [1] } };
    const stored = site('v2', 'a', { name: 'A', size: 1, extra: 'kept' }, more);
    const [old] = (await review('v1', [stored])).response.convertedObjects;
    expect(old).toMatchObject({ spec: { title: 'A', size: 1 }, metadata: more });
    const [back] = (await review('v2', [old!])).response.convertedObjects;
    expect(back).toEqual(stored);
  });
  test('converts between two versions that are not stored', async () => {
    const Three = withVersion(Site, 'v1beta1', {
      spec: z.object({ label: z.string() }),
      up: ({ spec: { label } }) => ({ spec: { name: label, size: 0 } }),
      down: ({ spec: { name } }) => ({ spec: { label: name } }),
    });
    const { review } = setUp(Three);
    const [older] = (await review('v1beta1', [site('v1', 'a', { title: 'A', size: 5 })])).response.convertedObjects;
    expect(older).toMatchObject({ apiVersion: 'example.com/v1beta1', spec: { label: 'A' } });
    const [back] = (await review('v1', [older as KubeObject])).response.convertedObjects;
    expect(back).toEqual(site('v1', 'a', { title: 'A', size: 5 }));
  });
  test('passes objects that are in the version already', async () => {
    const same = site('v2', 'a', { name: 'bad', size: 1 });
    expect((await setUp().review('v2', [same])).response.convertedObjects).toEqual([same]);
  });
  test('keeps integers past 2^53, in the annotation too', async () => {
    const { send } = setUp();
    const exact = '{"title":"A","size":9223372036854775807}';
    const text = (to: string, object: string) =>
      `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"example.com/${to}","objects":[${object}]}}`;
    const old = `{"apiVersion":"example.com/v1","kind":"Site","metadata":{"name":"a"},"spec":${exact}}`;
    const up = (await send(text('v2', old))).text;
    expect(up).toContain('"size":9223372036854775807');
    const stored = up.slice(up.indexOf('[') + 1, up.lastIndexOf(']'));
    expect((await send(text('v1', stored))).text).toContain(old);
  });
  test('is answered whatever the order of its members, and with spaces', async () => {
    const { send } = setUp();
    const object = JSON.stringify(site('v1', 'a', { title: '"}],{[', size: 1 }), undefined, 2);
    const { text } = await send(
      `\n{ "request" : { "objects" : [ ${object} , ${object} ] , "desiredAPIVersion" : "example.com/v2" , "uid" : "u\\"1" },
        "kind": "ConversionReview", "extra": {"objects": [1]}, "apiVersion": "apiextensions.k8s.io/v1" }\n`,
    );
    const { response } = JSON.parse(text) as Review;
    expect(response.uid).toBe('u"1');
    expect(response.convertedObjects.map(({ spec }) => spec.name)).toEqual(['"}],{[', '"}],{[']);
  });
});

describe('what fails', () => {
  test('an object: the whole review, with its name and the line, and the rest in the log', async () => {
    const { review, log, records, metrics } = setUp();
    const panics = () => metrics.value('controller_runtime_conversion_webhook_panics_total');
    expect(panics()).toBe(0);
    const objects = [site('v2', 'a', { name: 'A', size: 1 }), site('v2', 'b', { name: 'bad', size: 2 })];
    const message =
      'Site shop/b: cannot convert from example.com/v2 to example.com/v1: down threw Error: no such name at site.ts:7';
    const { response } = await review('v1', objects);
    expect(response).toMatchObject({ uid: 'u1', result: { status: 'Failure', message } });
    expect(log.records).toMatchObject([
      {
        level: 'error',
        message: 'cannot convert an object',
        fields: { webhook: 'convert-sites.example.com', at: 'down (/app/site.ts:7:3)' },
      },
    ]);
    expect(panics()).toBe(1);
    expect(records).toMatchObject([{ operation: 'CONVERT', outcome: 'failed', details: [message] }]);
  });
  test('versions that the kind does not have', async () => {
    const { review } = setUp();
    const unknown = await review('v7', [site('v1', 'a', { title: 'A', size: 1 })]);
    expect(unknown.response.result).toEqual({
      status: 'Failure',
      message:
        'Site shop/a: cannot convert from example.com/v1 to example.com/v7: unknown version example.com/v7; ' +
        'known versions are example.com/v2, example.com/v1',
    });
    const from = await review('v2', [site('v7', 'a', {})]);
    expect(from.response.result.message).toContain('unknown version example.com/v7');
    const other = await review('v2', [{ ...site('v1', 'a', {}), kind: 'Other' }]);
    expect(other.response.result.message).toContain('expected kind Site');
  });
  test.each([
    ['', 'the body is malformed JSON'],
    ['[]', 'expected a ConversionReview, got another JSON value'],
    ['{"request":', 'the body is malformed JSON'],
    ['{"kind":"ConversionReview"}', 'expected a ConversionReview of apiextensions.k8s.io/v1 or v1beta1, got undefined'],
    ['{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}', 'has no request'],
    ['{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{}}', 'has no uid'],
    [
      '{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"1"}}',
      'has no desiredAPIVersion',
    ],
    ['{"request":{"objects":[1]}}', 'not the JSON of a ConversionReview'],
    ['{"request":{"objects":[{"a":1}', 'not the JSON of a ConversionReview'],
  ])('a body %j', async (body, problem) => {
    const { status, text } = await setUp().send(body);
    expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(problem) });
  });
  test('an object that is malformed', async () => {
    const { text } = await setUp().send(
      '{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"1","desiredAPIVersion":"example.com/v2","objects":[{"a":}]}}',
    );
    expect(JSON.parse(text)).toMatchObject({
      response: { uid: '1', result: { status: 'Failure', message: expect.stringContaining('malformed object') } },
    });
  });
});

describe('a large review', () => {
  const many = (last = 'fine') =>
    Array.from({ length: 3000 }, (_, index) =>
      site('v2', `s${index}`, { name: index === 2999 ? last : 'x'.repeat(50), size: index, extra: 'e' }),
    );
  const body = (objects: readonly object[]) =>
    JSON.stringify({
      ...{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' },
      request: { uid: 'u1', desiredAPIVersion: 'example.com/v1', objects },
    });
  test('is answered in pieces', async () => {
    const { text, pieces } = await setUp().send(body(many()));
    expect(pieces).toBeGreaterThan(5);
    const { response } = JSON.parse(text) as Review;
    expect(response.convertedObjects.map(({ spec }) => spec.size)).toEqual(Array.from({ length: 3000 }, (_, i) => i));
    expect(response.result.status).toBe('Success');
  });
  test('fails as a whole after pieces were sent', async () => {
    const { text, pieces } = await setUp().send(body(many('bad')));
    expect(pieces).toBeGreaterThan(5);
    expect((JSON.parse(text) as Review).response.result).toMatchObject({
      status: 'Failure',
      message: expect.stringContaining('shop/s2999'),
    });
  });
  test('ends when nobody waits for it any longer', async () => {
    const { send, aborter } = setUp();
    aborter.abort();
    expect((await send(body(many()))).pieces).toBe(0);
  });
});

describe('a manager without the webhook', () => {
  const sites = control(Site).reconcile(async () => {});
  const warned = (served: readonly string[]) => {
    const log = memoryLogger();
    warnMissingConversions({ extension: () => new Set(served) as never }, [sites, sites], log);
    return log.records;
  };
  test('warns once, and not if it serves it', () => {
    expect(warned([])).toMatchObject([
      {
        level: 'warn',
        message: 'no conversion webhook for a kind with several versions',
        fields: {
          controller: 'site',
          kind: 'Site',
          versions: ['v2', 'v1'],
          hint: expect.stringContaining('add conversion(Site)'),
        },
      },
    ]);
    expect(warned(['sites.example.com'])).toEqual([]);
  });
});
