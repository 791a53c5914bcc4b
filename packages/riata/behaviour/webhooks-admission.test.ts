import { ConfigMap } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { ApiError, isForbidden, isInvalid } from 'riata/rest';
import { type AdmissionRules, admit, type WebhookDefinition } from 'riata/webhook';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, uniqueName } from './servers.js';
import { onLoopback, startGuarded } from './webhooks-play.js';

type Bag = Record<string, unknown>;

/** The namespace that a definition guards: tests share a server. */
const within = (namespace: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
});

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error = await rejection(promise);
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describeServers('admission', (server) => {
  const guarded = async (namespace: string, ...run: WebhookDefinition[]) =>
    startGuarded(server(), onLoopback(uniqueName('admit-'), namespace), run);

  test('mutates, validates and guards deletes; unknown fields and large integers survive', async () => {
    const { client } = server();
    const [Widget, namespace] = [await installKind(server()), await server().namespace()];
    const seen: string[] = [];
    const rules = admit(Widget, within(namespace))
      .mutates((widget, { operation, old }) => {
        seen.push(`${operation} ${old === undefined ? 'new' : 'old'}`);
        (widget.spec as Bag).zone ??= 'a';
      })
      .validates(({ object, old, deny, path, warn }) => {
        if (old && old.spec?.zone !== object.spec?.zone) deny(path.spec.key('zone'), 'is immutable');
        if (Number(object.spec?.replicas) > 10) deny(path.spec.key('replicas'), 'is too much');
        warn('think of blue');
      })
      .validates({ on: ['delete'] }, ({ old, deny, user }) => {
        if (old.spec?.keep === true) deny(`${user.name === '' ? 'nobody' : 'a user'} cannot delete it`);
      });
    await using _ = await guarded(namespace, rules);
    const spec = { keep: true, size: 9007199254740993n, more: { odd: [1, null] } } as unknown as Bag;
    const made = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec }));
    expect(made.spec).toMatchObject({ keep: true, more: { odd: [1, null] }, zone: 'a' });
    const exact = await client.patch(Widget, { namespace, name: 'a' }, {
      type: 'json',
      body: [
        { op: 'test', path: '/spec/size', value: 9007199254740993n },
        { op: 'add', path: '/spec/touched', value: true },
      ],
    } as never);
    expect(exact.spec?.touched).toBe(true);
    const patch = { type: 'merge', body: { spec: { zone: 'b', replicas: 11 } } } as const;
    const invalid = await refusal(client.patch(Widget, { namespace, name: 'a' }, patch as never));
    expect(isInvalid(invalid)).toBe(true);
    expect(invalid.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec[zone]', message: 'Invalid value: "b": is immutable' },
      { reason: 'FieldValueInvalid', field: 'spec[replicas]', message: 'Invalid value: 11: is too much' },
    ]);
    expect(invalid.status.message).toContain(
      `admission webhook "validate.widget.${Widget.group}" denied the request: Widget.${Widget.group} "a" is invalid: ` +
        '[spec[zone]: Invalid value: "b": is immutable, spec[replicas]: Invalid value: 11: is too much]',
    );
    const forbidden = await refusal(client.delete(Widget, { namespace, name: 'a' }));
    expect(isForbidden(forbidden)).toBe(true);
    expect(forbidden.message).toContain('a user cannot delete it');
    expect(seen).toEqual(['create new', 'update old', 'update old']);
  });

  test('reviews subresources on their own', async () => {
    const { client } = server();
    const [Widget, namespace] = [await installKind(server()), await server().namespace()];
    const rules = admit(Widget, within(namespace))
      .mutates({ on: ['update'], subresource: 'status' }, (widget: { status?: unknown }) => {
        widget.status = { ...(widget.status as object), reviewed: true };
      })
      .validates({ on: ['update'], subresource: 'scale' }, ({ object, deny, path }) => {
        if ((object.spec?.replicas ?? 0) > 5) deny(path.spec.replicas, 'must be at most 5');
      });
    await using _ = await guarded(namespace, rules);
    const key = { namespace, name: 'a' };
    await client.create(Widget({ metadata: key, spec: { replicas: 1 } }));
    const body = { status: { replicas: 1 } };
    const { status } = await client.status.patch(Widget, key, { type: 'merge', body } as never);
    expect(status).toEqual({ replicas: 1, reviewed: true });
    const scale = { type: 'merge', body: { spec: { replicas: 6 } } } as const;
    const { causes } = await refusal(client.subresource('scale').patch(Widget, key, scale as never));
    expect(causes).toMatchObject([{ field: 'spec.replicas', message: 'Invalid value: 6: must be at most 5' }]);
  });

  test('fails as the policy says, and shows nothing of the error', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const broken = (failurePolicy: 'fail' | 'ignore', size: string): AdmissionRules<ConfigMap> =>
      admit(ConfigMap, {
        ...within(namespace),
        ...{ name: failurePolicy, failurePolicy, objectSelector: { matchLabels: { size } } },
      }).validates(() => {
        throw new Error('the password is hunter2');
      });
    await using _ = await guarded(namespace, broken('fail', 'large'), broken('ignore', 'small'));
    const make = (size: string) => client.create(ConfigMap({ metadata: { namespace, name: size, labels: { size } } }));
    await make('small');
    const { status } = await refusal(make('large'));
    expect(status).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(status.message).toMatch(
      /^admission webhook "validate\.fail\.core" denied the request: webhook "validate\.fail\.core" failed at webhooks-admission\.test\.ts:\d+; the webhook's log has the error$/,
    );
  });

  test('is called again after later mutations, where the policy says so', async () => {
    const { client } = server();
    const [Widget, namespace] = [await installKind(server()), await server().namespace()];
    const calls: string[] = [];
    const add = (widget: { spec?: unknown }, name: string): void => {
      calls.push(name);
      const { list = [] } = widget.spec as { readonly list?: readonly string[] };
      if (!list.includes(name)) widget.spec = { list: [...list, name] };
    };
    const first = admit(Widget, { ...within(namespace), name: 'a-first', reinvocationPolicy: 'ifNeeded' });
    const second = admit(Widget, { ...within(namespace), name: 'b-second' });
    await using _ = await guarded(
      namespace,
      first.mutates((widget) => add(widget, 'first')),
      second.mutates((widget) => add(widget, 'second')),
    );
    const { spec } = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
    expect(((spec?.list ?? []) as string[]).toSorted()).toEqual(['first', 'second']);
    // Which one comes first is up to the order of the configuration.
    expect(calls.slice(0, 2).sort()).toEqual(['first', 'second']);
    expect(calls).toEqual(calls[0] === 'first' ? ['first', 'second', 'first'] : ['second', 'first']);
  });

  test('is called only if the conditions are met, and knows dry runs', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const rules = admit(ConfigMap, {
      ...within(namespace),
      matchConditions: { 'has-color': "has(object.data) && 'color' in object.data" },
    }).validates(({ dryRun, deny }) => deny(dryRun ? 'a dry run' : 'for real'));
    await using _ = await guarded(namespace, rules);
    await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { size: 'large' } }));
    const red = ConfigMap({ metadata: { namespace, name: 'b' }, data: { color: 'red' } });
    expect((await refusal(client.create(red))).message).toContain('for real');
    expect((await refusal(client.create(red, { dryRun: true }))).message).toContain('a dry run');
  });

  test('runs the schema of a kind, beyond its definition', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const Site = defineKind({
      ...{ group: `${uniqueName('s')}.riata.dev`, version: 'v1', kind: 'Site', beyondCrd: 'webhook' },
      spec: z
        .object({ min: z.int().default(1), max: z.int(), token: z.string().default(() => uniqueName('t-')) })
        .refine(({ min, max }) => min <= max, { message: 'must not be less than min', path: ['max'] }),
    });
    await server().install(Site);
    await using _ = await guarded(namespace, admit(Site, { ...within(namespace), schema: true }));
    const made = await client.create(Site({ metadata: { namespace, name: 'a' }, spec: { max: 3 } }));
    expect(made.spec).toEqual({ min: 1, max: 3, token: expect.stringMatching(/^t-/) });
    const wrong = await refusal(client.create(Site({ metadata: { namespace, name: 'b' }, spec: { max: 0 } })));
    expect(wrong.causes).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec.max', message: 'Invalid value: 0: must not be less than min' },
    ]);
  });
});
