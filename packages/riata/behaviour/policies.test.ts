import { dryRun } from 'riata';
import { Deployment, MutatingAdmissionPolicy, ValidatingAdmissionPolicy } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { defineKind } from 'riata/object';
import { isApiError } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import {
  and,
  cel,
  cidr,
  concat,
  duration,
  ip,
  jsonPatch,
  listOf,
  not,
  or,
  type PolicyDefinition,
  policy,
  policyManifests,
  quantity,
  semver,
  timestamp,
  when,
} from 'riata/webhook';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { controlPlane, describedServer, describeServers, uniqueName, until } from './servers.js';

type Made = ReturnType<typeof make>;
const make = (name: string) => policy(Deployment, { name, objectSelector: { matchLabels: { policy: name } } });

interface Fields {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly paused?: boolean;
  readonly maxSurge?: number | string;
  readonly container?: object;
  readonly containers?: readonly object[];
}

/** A Deployment that differs in some fields. */
function deployment(fields: Fields) {
  const { labels, annotations, container, containers, maxSurge, ...spec } = fields;
  const all = containers ?? [{ name: 'web', image: 'web:1', ...container }];
  return {
    metadata: { name: 'web', labels, annotations },
    spec: {
      ...spec,
      ...(maxSurge === undefined ? {} : { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge } } }),
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: all } },
    },
  };
}

const memory = (limit: string) => ({ resources: { limits: { memory: limit } } });

/** Policies, with objects that they admit and objects that they deny. */
const table: readonly (readonly [string, (made: Made) => PolicyDefinition, readonly Fields[], readonly Fields[]])[] = [
  [
    'all, startsWith',
    (p) =>
      p.require(({ object }) => object.spec.template.spec.containers.all((c) => c.image.startsWith('web:')), {
        message: 'images',
      }),
    [{}],
    [{ container: { image: 'other:1' } }],
  ],
  [
    'a number, and a message with values',
    (p) =>
      p.require(({ object }) => object.spec.replicas.lte(3), {
        messageExpression: ({ object }) =>
          concat(object.metadata.name, ' has ', object.spec.replicas.orElse(0).toText()),
      }),
    [{}, { replicas: 3 }],
    [{ replicas: 4 }],
  ],
  [
    'an absent boolean, list and map',
    (p) =>
      p.require(({ object }) =>
        and(
          not(object.spec.paused),
          object.spec.template.spec.volumes.all((v) => v.emptyDir.has()),
          object.metadata.annotations.all((key, value) => key.startsWith('a').and(value.notEquals(''))),
        ),
      ),
    [{}, { annotations: { a: 'b' } }],
    [{ paused: true }, { annotations: { b: 'b' } }, { annotations: { a: '' } }],
  ],
  [
    'labels',
    (p) =>
      p.require(({ object }) => object.metadata.labels.get('example.com/team').in(['red', 'blue']), {
        reason: 'Forbidden',
      }),
    [{ labels: { 'example.com/team': 'red' } }],
    [{}, { labels: { 'example.com/team': 'green' } }],
  ],
  [
    'exists, existsOne, filter, map',
    (p) =>
      p.require(({ object }) => {
        const { containers } = object.spec.template.spec;
        return and(
          containers.exists((c) => c.name.equals('web')),
          containers.existsOne((c) => c.image.equals('web:1')),
          containers
            .filter((c) => c.name.notEquals('web'))
            .map((c) => c.name)
            .size()
            .lt(2),
        );
      }),
    [{}],
    [
      { container: { name: 'x' } },
      {
        containers: [
          { name: 'web', image: 'web:1' },
          { name: 'b', image: 'web:1' },
        ],
      },
    ],
  ],
  [
    'quantities',
    (p) =>
      p.require(({ object }) =>
        object.spec.template.spec.containers.all((c) =>
          c.resources.limits
            .get('memory')
            .asQuantity()
            .lte(quantity('1Gi').plus(quantity('1Mi'))),
        ),
      ),
    [{ container: memory('1024Mi') }],
    [{}, { container: memory('2G') }],
  ],
  [
    'integers or strings',
    (p) =>
      p.require(({ object }) => {
        const { maxSurge } = object.spec.strategy.rollingUpdate;
        return or(
          maxSurge.isInt().and(maxSurge.toInt().lte(2)),
          maxSurge.isString().and(maxSurge.toText().endsWith('5%')),
        );
      }),
    [{ maxSurge: 2 }, { maxSurge: '15%' }, {}],
    [{ maxSurge: 3 }, { maxSurge: '10%' }],
  ],
  [
    'strings',
    (p) =>
      p.require(({ object }) => {
        const image = object.spec.template.spec.containers.at(0).image.orElse('');
        return and(
          image.matches(/^[a-z]+:\d+$/),
          image.split(':').at(1).toInt().lt(10),
          image.upperAscii().lowerAscii().equals(image),
          image.substring(0, 3).equals('web'),
          image.replace('web', 'x').size().lt(image.size()),
          image.indexOf(':').equals(3),
          image.concat('!').endsWith('!'),
          image.find('[0-9]+').notEquals('0'),
          image.trim().charAt(0).equals('w'),
          object.metadata.name.hasFormat('dns1123Label'),
        );
      }),
    [{}],
    [{ container: { image: 'web:10' } }, { container: { image: 'web:0' } }, { container: { image: 'app:1' } }],
  ],
  [
    'lists',
    (p) =>
      p.require(({ object }) => {
        const ports = object.spec.template.spec.containers
          .at(0)
          .ports.map((port) => port.containerPort)
          .orElse([]);
        return and(
          ports.sum().lt(200),
          ports.isEmpty().or(ports.max().lt(100)),
          ports.isSorted(),
          ports.distinct().size().equals(ports.size()),
          listOf([80, 90, 100]).containsAll(ports),
          ports.includes(100).not(),
          ports
            .map((port) => port.toText())
            .join(',')
            .matches('^[0-9,]*$'),
        );
      }),
    [{}, { container: { ports: [{ containerPort: 80 }, { containerPort: 90 }] } }],
    [
      { container: { ports: [{ containerPort: 100 }] } },
      { container: { ports: [{ containerPort: 90 }, { containerPort: 80 }] } },
      { container: { ports: [{ containerPort: 81 }] } },
    ],
  ],
  [
    'addresses, versions, times, URLs',
    (p) =>
      p.require(({ object }) => {
        const of = (name: string) => object.metadata.annotations.get(name);
        return and(
          of('ip').isIp(),
          cidr('10.0.0.0/8').containsIP(ip('10.1.2.3')),
          of('ip').asIp().isLoopback().not(),
          of('version').asSemver().gte(semver('1.2.0')),
          of('version').asSemver().major().lt(2),
          of('since').asTimestamp().lt(timestamp('2030-01-01T00:00:00Z')),
          of('since').asTimestamp().getFullYear().gt(2000),
          of('every')
            .asDuration()
            .gte(duration('1m').plus(duration('30s'))),
          of('url').asUrl().getHostname().equals('example.com'),
          of('url').isUrl(),
        );
      }),
    [
      {
        annotations: {
          ip: '10.0.0.1',
          version: '1.10.0',
          since: '2020-01-01T00:00:00Z',
          every: '90s',
          url: 'https://example.com:8080/a',
        },
      },
    ],
    [
      {},
      {
        annotations: {
          ip: '127.0.0.1',
          version: '1.10.0',
          since: '2020-01-01T00:00:00Z',
          every: '90s',
          url: 'https://example.com/',
        },
      },
      {
        annotations: {
          ip: '10.0.0.1',
          version: '1.1.9',
          since: '2020-01-01T00:00:00Z',
          every: '90s',
          url: 'https://example.com/',
        },
      },
      {
        annotations: {
          ip: '10.0.0.1',
          version: '1.10.0',
          since: '2020-01-01T00:00:00Z',
          every: '89s',
          url: 'https://example.com/',
        },
      },
    ],
  ],
  [
    'variables, when, arithmetic and text of your own',
    (p) =>
      p
        .variable('replicas', ({ object }) => object.spec.replicas.orElse(1))
        .variable('names', ({ object }) => object.spec.template.spec.containers.map((c) => c.name).orElse([]))
        .require(({ variables, object }) =>
          and(
            variables.replicas.times(2).minus(1).mod(3).equals(1),
            when(object.spec.paused, 1, variables.replicas).lt(5),
            variables.names.all((name) => name.size().lt(9)),
            cel<boolean>`${variables.names}.size() == 1`,
          ),
        ),
    [{}, { replicas: 4 }],
    [{ replicas: 2 }, { replicas: 7 }, { container: { name: 'much-too-long' } }],
  ],
  [
    'the request, its namespace and the authorizer',
    (p) =>
      p.require(({ request, namespaceObject, authorizer, object }) =>
        and(
          request.operation.equals('CREATE'),
          request.name.equals(object.metadata.name).or(request.name.has().not()),
          request.namespace.equals(namespaceObject.metadata.name),
          request.userInfo.groups.includes('system:masters'),
          authorizer.group('').resource('secrets').namespace('x').check('get').allowed(),
          authorizer.requestResource.check('create').allowed(),
          request.resource.resource.equals('deployments'),
          object.metadata.labels.has('fine'),
        ),
      ),
    [{ labels: { fine: '' } }],
    [{}],
  ],
  [
    'conditions',
    (p) =>
      p
        .matchCondition('large', ({ object }) => object.spec.replicas.gt(5))
        .require(({ object }) => object.metadata.labels.has('large'), { message: 'large' }),
    [{}, { replicas: 6, labels: { large: 'yes' } }],
    [{ replicas: 6 }],
  ],
  [
    'the old object, which a creation has not',
    (p) =>
      p.require(({ object, old }) =>
        or(not(old.has()), object.spec.replicas.equals(old.spec.replicas)).and(
          object.metadata.name.notEquals(old.metadata.name),
          object.metadata.labels.has('new'),
        ),
      ),
    [{ labels: { new: '' } }],
    [{}],
  ],
];

/** What the server's check of types warns about, though it is fine. */
const knownWarnings: Readonly<Record<string, string>> = {
  // Its types lack quantities, and so the fields that hold them.
  quantities: "undefined field 'limits'",
  // It does not know authorizer.requestResource.
  'the request, its namespace and the authorizer':
    "unexpected failed resolution of 'kubernetes.authorization.Authorizer'",
};

describeServers('policies', (server) => {
  /** What the server says to a creation: undefined if it admits it. */
  const answer = async (object: object): Promise<string | undefined> => {
    try {
      await dryRun(server().client).create(object as never);
      return undefined;
    } catch (error) {
      if (isApiError(error)) return error.message;
      throw error;
    }
  };
  const apply = async (made: PolicyDefinition) => {
    for (const object of made.objects) {
      await server().client.apply(object as never, { fieldManager: 'test', force: true });
    }
  };
  const remove = async (made: PolicyDefinition) => {
    for (const { kind, metadata } of made.objects) {
      if (kind === 'ValidatingAdmissionPolicy') await server().client.delete(ValidatingAdmissionPolicy, metadata);
      if (kind === 'MutatingAdmissionPolicy') await server().client.delete(MutatingAdmissionPolicy, metadata);
    }
  };

  test.each(table)('%s: the server decides as check does', async (_, build, allowed, denied) => {
    const name = uniqueName('p-');
    const made = build(make(name));
    const namespace = await server().namespace();
    const objectOf = (fields: Fields) => {
      const { metadata, spec } = deployment(fields);
      const labels = { ...fields.labels, policy: name };
      return Deployment({ metadata: { ...metadata, labels, namespace }, spec } as never);
    };
    await policyManifests(made);
    await apply(made);
    await until('the policy is enforced', async () => (await answer(objectOf(denied[0] as Fields))) !== undefined);
    for (const fields of allowed) {
      expect(await made.check(objectOf(fields))).toEqual([]);
      expect(await answer(objectOf(fields))).toBeUndefined();
    }
    for (const fields of denied) {
      const [violation] = await made.check(objectOf(fields));
      expect(violation).toMatchObject({ policy: name, binding: name, actions: ['deny'] });
      expect(await answer(objectOf(fields))).toContain(
        `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: ${violation?.message}`,
      );
    }
    await remove(made);
  });

  test('mutations change objects as preview does', async () => {
    const name = uniqueName('p-');
    const made = make(name)
      .matchCondition('wanted', ({ object }) => not(object.metadata.labels.has('skip')))
      .mutate(({ object }) => ({
        metadata: { labels: { 'example.com/name': object.metadata.name, plain: 'yes' } },
        spec: {
          replicas: object.spec.replicas.orElse(1).plus(1),
          template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } },
        },
      }))
      .patch(({ object }) => [
        jsonPatch.add('/metadata/annotations', { 'example.com/from': object.metadata.name }),
        jsonPatch.add(['metadata', 'annotations', 'example.com/more'], 'x'),
      ])
      .patch(({ object }) => [
        jsonPatch.test('/spec/replicas', 100),
        jsonPatch.replace('/spec/replicas', object.spec.replicas.orElse(0)),
      ]);
    const namespace = await server().namespace();
    const objectOf = (labels: object) => {
      const { metadata, spec } = deployment({ replicas: 2 });
      return Deployment({ metadata: { ...metadata, labels: { ...labels, policy: name }, namespace }, spec } as never);
    };
    await policyManifests(made);
    await apply(made);
    const create = async (labels: object) =>
      dryRun(server().client).create(objectOf(labels) as never) as Promise<Deployment>;
    const seen = await until('the policy is enforced', async () => {
      const created = await create({});
      return created.spec.replicas === 3 && created;
    });
    const expected = (await made.preview(objectOf({}))).object as Deployment;
    expect(expected.spec).toEqual(seen.spec);
    expect(expected.metadata.labels).toEqual(seen.metadata.labels);
    expect(expected.metadata.annotations).toEqual(seen.metadata.annotations);
    expect(seen.spec.template.spec?.containers[0]?.image).toBe('web:2');
    expect(seen.metadata.annotations).toEqual({ 'example.com/from': 'web', 'example.com/more': 'x' });
    expect((await create({ skip: '' })).spec.replicas).toBe(2);
    await remove(made);
  });

  test('params: found, and not found', async () => {
    const name = uniqueName('p-');
    // A kind of its own: a server stops watching params of a kind when the last policy for them goes.
    const group = `${uniqueName('g')}.riata.dev`;
    const Limits = defineKind({
      group,
      version: 'v1',
      kind: 'Limits',
      plural: 'limits',
      spec: z.object({ max: z.int() }),
    });
    await server().install(Limits);
    const made = policy(Deployment, {
      name,
      objectSelector: { matchLabels: { policy: name } },
      params: Limits,
      paramRef: { name: 'limits' },
    }).require(({ object, params }) => object.spec.replicas.lte(params.spec.max), {
      message: 'too many',
    });
    const namespace = await server().namespace();
    const params = Limits({ metadata: { namespace, name: 'limits' }, spec: { max: 3 } });
    const objectOf = (replicas: number) => {
      const { metadata, spec } = deployment({ replicas });
      return Deployment({ metadata: { ...metadata, labels: { policy: name }, namespace }, spec } as never);
    };
    await apply(made);
    const missing = await until('the policy is enforced', () => answer(objectOf(1)));
    const [violation] = await made.check(objectOf(1));
    expect(missing).toContain(violation?.message);
    await server().client.create(params);
    await until('the params are seen', async () => (await answer(objectOf(3))) === undefined);
    expect(await made.check(objectOf(3), { params })).toEqual([]);
    expect(await made.check(objectOf(4), { params })).toMatchObject([{ message: 'too many' }]);
    expect(await answer(objectOf(4))).toContain('too many');
    await remove(made);
  });

  test('a manager applies them, again and again with the same result', async () => {
    const name = uniqueName('p-');
    const made = make(name).require(({ object }) => object.spec.replicas.lt(5), { message: 'too many' });
    const { config, client } = server();
    const namespace = await server().namespace();
    const revisions: string[] = [];
    for (const _ of ['once', 'again']) {
      const stop = new AbortController();
      await using manager = await Manager.create({ config, runtime: { log: silentLogger } });
      manager.add(made);
      const running = manager.run({ signal: stop.signal });
      const { metadata, spec } = deployment({ replicas: 9 });
      const object = Deployment({ metadata: { ...metadata, labels: { policy: name }, namespace }, spec } as never);
      await until('the policy is enforced', async () => (await answer(object)) !== undefined);
      stop.abort();
      expect((await running).reason).toBe('stopped');
      const stored = await client.get(ValidatingAdmissionPolicy, { name });
      revisions.push(`${stored.metadata.generation} ${JSON.stringify(stored.spec)}`);
    }
    expect(revisions[0]).toBe(revisions[1]);
    await remove(made);
  });

  test('the server has no warnings about types', async () => {
    if (describedServer() === 'kube-apiserver') {
      await controlPlane().startControllerManager({ controllers: ['validatingadmissionpolicy-status-controller'] });
    } else return;
    try {
      for (const [title, build] of table) {
        const made = build(make(uniqueName('p-')));
        await apply(made);
        const status = await until('types are checked', async () => {
          const found = await server().client.get(ValidatingAdmissionPolicy, { name: made.name });
          return found.status?.observedGeneration === undefined ? undefined : found.status;
        });
        const known = knownWarnings[title];
        const warning = known && expect.objectContaining({ warning: expect.stringContaining(known) });
        expect([title, status.typeChecking?.expressionWarnings ?? []]).toEqual([
          title,
          known === undefined ? [] : [warning],
        ]);
        await remove(made);
      }
    } finally {
      await controlPlane().stopControllerManager();
    }
  });
});
