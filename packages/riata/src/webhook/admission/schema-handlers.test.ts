import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Pod } from '../../kinds/index.js';
import { defineKind } from '../../object/define-kind.js';
import { withVersion } from '../../object/version/with-version.js';
import { site, WebhookPlay } from './admission.fixture.js';
import { admit } from './admit.js';

const [mutate, validate] = ['/mutate-example-com-v1-site', '/validate-example-com-v1-site'];
const names = { group: 'example.com', version: 'v1', kind: 'Site' } as const;

let made = 0;
const Site = defineKind({
  ...names,
  beyondCrd: 'webhook',
  spec: z
    .object({
      min: z.int().default(1),
      max: z.int(),
      token: z.string().default(() => `made-${++made}`),
      host: z.string().trim().optional(),
      ports: z.array(z.object({ name: z.string().refine((name) => name !== 'bad', 'is bad') })).optional(),
      limits: z
        .record(
          z.string(),
          z.int().refine((limit) => limit % 2 === 0, 'must be even'),
        )
        .optional(),
    })
    .refine(({ min, max }) => min <= max, { message: 'must not be less than min', path: ['max'] }),
});

describe('defineKind with beyondCrd', () => {
  test('puts into the definition what a server can enforce', () => {
    expect(Site.schema.properties?.spec).toMatchObject({
      required: ['max'],
      properties: { min: { type: 'integer', default: 1 }, max: { type: 'integer' }, token: { type: 'string' } },
    });
    expect(Site.schema.properties?.spec?.properties?.token).not.toHaveProperty('default');
  });

  test('is needed for what a server cannot', () => {
    const spec = z.object({ zone: z.string().refine((zone) => zone !== '') });
    const remedy = /spec\.zone: \.refine\(\) is not in the JSON Schema.*or leave it to a webhook: beyondCrd: 'webhook'/;
    expect(() => defineKind({ ...names, spec })).toThrow(remedy);
    expect(() => defineKind({ ...names, spec, beyondCrd: 'webhok' as never })).toThrow(
      /beyondCrd: must be 'refuse' or 'webhook', got "webhok"/,
    );
  });

  test('does not help with transforms to another type', () => {
    const spec = z.object({ zone: z.string().transform((zone) => zone.length) });
    expect(() => defineKind({ ...names, spec, beyondCrd: 'webhook' })).toThrow(/spec\.zone: \.transform\(\)/);
  });
});

describe('admit with schema', () => {
  const rules = admit(Site, { schema: true });

  test('adds computed defaults and rewrites, and keeps unknown fields', async () => {
    const object = site({ max: 3, min: 1, host: ' a ', more: { kept: 1 }, ports: [{ name: 'a', x: 1 }] });
    const { patch } = await new WebhookPlay(rules).review(mutate, { object });
    expect(patch).toEqual([
      { op: 'replace', path: '/spec/host', value: 'a' },
      { op: 'add', path: '/spec/token', value: expect.stringMatching(/^made-\d+$/) },
    ]);
  });

  test('leaves what is invalid to the validation', async () => {
    const { allowed, patch } = await new WebhookPlay(rules).review(mutate, { object: site({ max: 'three' }) });
    expect([allowed, patch]).toEqual([true, undefined]);
  });

  test('denies with the path of each issue', async () => {
    const spec = { max: 0, min: 1, token: 't', ports: [{ name: 'a' }, { name: 'bad' }], limits: { 'a.b/c': 3 } };
    const { status } = await new WebhookPlay(rules).review(validate, { object: site(spec) });
    expect(status?.details?.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.ports[1].name', message: 'Invalid value: "bad": is bad' },
      { reason: 'FieldValueInvalid', field: 'spec.limits[a.b/c]', message: 'Invalid value: 3: must be even' },
      { reason: 'FieldValueInvalid', field: 'spec.max', message: 'Invalid value: 0: must not be less than min' },
    ]);
  });

  test('checks an update only if it changes the spec', async () => {
    const play = new WebhookPlay(rules);
    const oldObject = site({ max: 0, min: 1 });
    const object = { ...oldObject, metadata: { name: 'one', finalizers: [] } };
    expect((await play.review(validate, { operation: 'UPDATE', object, oldObject })).allowed).toBe(true);
    const changed = site({ max: 0, min: 2 });
    expect((await play.review(validate, { operation: 'UPDATE', object: changed, oldObject })).allowed).toBe(false);
  });

  test('goes along with other handlers in one call', async () => {
    const both = rules
      .mutates((draft) => {
        draft.spec.host = draft.spec.token;
      })
      .validates(({ deny, path }) => deny(path.spec.host, 'no'));
    expect(both.targets.map(({ path }) => path)).toEqual([mutate, validate]);
    const { patch } = await new WebhookPlay(both).review(mutate, { object: site({ max: 3, min: 1, token: 't' }) });
    expect(patch).toEqual([{ op: 'add', path: '/spec/host', value: 't' }]);
    const { status } = await new WebhookPlay(both).review(validate, { object: site({ max: 0, min: 1, token: 't' }) });
    expect(status?.details?.causes?.map(({ field }) => field)).toEqual(['spec.max', 'spec.host']);
  });

  test('works for each version of a kind', async () => {
    const Versions = withVersion(Site, 'v1beta1', {
      beyondCrd: 'webhook',
      spec: z.object({ most: z.int().refine((most) => most > 0, 'must be positive') }),
      up: ({ spec }) => ({ spec: { max: spec.most, min: 0 } }),
      down: ({ spec }) => ({ spec: { most: spec.max } }),
    });
    const version = { group: 'example.com', version: 'v1beta1' };
    const request = { kind: { ...version, kind: 'Site' }, resource: { ...version, resource: 'sites' } };
    const play = new WebhookPlay(admit(Versions.versions.v1beta1, { schema: true }));
    const object = { ...site({ most: 0 }), apiVersion: 'example.com/v1beta1' };
    const { status } = await play.review('/validate-example-com-v1beta1-site', { ...request, object });
    expect(status?.message).toMatch(/spec\.most: Invalid value: 0: must be positive/);
    const own = new WebhookPlay(admit(Versions, { schema: true }));
    expect((await own.review(validate, { object: site({ max: 0, min: 1 }) })).allowed).toBe(false);
  });

  test('works with valibot and arktype', async () => {
    const max = v.pipe(
      v.number(),
      v.integer(),
      v.check((given) => given > 0, 'must be positive'),
    );
    const specs = [
      toStandardJsonSchema(v.object({ max })),
      type({ max: type('number.integer').narrow((given, context) => given > 0 || context.mustBe('positive')) }),
    ];
    for (const spec of specs) {
      const Kind = defineKind({ ...names, beyondCrd: 'webhook', spec });
      const { status } = await new WebhookPlay(admit(Kind, { schema: true })).review(validate, {
        object: site({ max: 0 }),
      });
      expect(status?.message).toMatch(/spec\.max: Invalid value: 0: .*must be positive/);
    }
  });

  test('runs schemas with async refinements', async () => {
    const spec = z.object({ zone: z.string().refine(async (zone) => zone === 'a', 'is not a zone') });
    const play = new WebhookPlay(admit(defineKind({ ...names, beyondCrd: 'webhook', spec }), { schema: true }));
    expect((await play.review(validate, { object: site({ zone: 'b' }) })).status?.message).toMatch(/is not a zone/);
    expect((await play.review(validate, { object: site({ zone: 'a' }) })).allowed).toBe(true);
  });

  test('requires a schema', () => {
    expect(() => admit(Pod, { schema: true })).toThrow('schema requires a kind from defineKind, got Pod');
    const Plain = defineKind({ ...names, spec: { type: 'object', properties: { a: { type: 'string' } } } });
    expect(() => admit(Plain, { schema: true })).toThrow(/requires a spec of zod, arktype, valibot/);
  });
});
