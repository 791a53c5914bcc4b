import { ApiServer } from '@riata/apiserver';
import { systemClock } from 'riata/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { get, post, remove } from './asks.js';
import { definition, version } from './custom-kinds.js';
import { uniqueName } from './pair.js';
import { policyPaths, ruleFor } from './policy-plays.js';
import { Wire } from './wire.js';

const wires: Wire[] = [];
const closing: (() => unknown)[] = [];
const group = `${uniqueName('t')}.example`;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The real one has a controller of its own for this, in kube-controller-manager. */
beforeAll(async () => {
  const plane = controlPlaneFromEnv();
  await plane.startControllerManager({ controllers: ['validatingadmissionpolicy-status-controller'] });
  const server = await ApiServer.start();
  const { url } = await server.listen({ tls: false });
  wires.push(new Wire(plane), new Wire({ url, token: server.token }));
  closing.push(
    () => Promise.all(wires.flatMap((wire) => Object.values(policyPaths).map((path) => wire.send(remove(path))))),
    () => Promise.all(wires.map((wire) => wire.send(remove(`${definitions}/widgets.${group}`)))),
    ...wires.map((wire) => () => wire.close()),
    () => server.stop(),
    () => plane.stopControllerManager(),
  );
  const schema = {
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, any: { 'x-kubernetes-int-or-string': true } } },
    },
  };
  const made = definition(group, { versions: [version('v1', schema)] });
  for (const wire of wires) {
    await wire.send(post(definitions, made));
    await until(wire, `/apis/${group}/v1/widgets`, ({ status }) => status === 200);
    await until(wire, `/openapi/v3/apis/${group}/v1`, ({ status }) => status === 200);
  }
});
afterAll(async () => {
  for (const close of closing) await close();
});

async function until(wire: Wire, path: string, isDone: (answer: Awaited<ReturnType<Wire['send']>>) => boolean) {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const answer = await wire.send(get(path));
    if (isDone(answer)) return answer;
    if (systemClock.monotonic() > deadline) throw new Error(`GET ${path}: waited in vain: ${JSON.stringify(answer)}`);
    await systemClock.sleep(50);
  }
}

/** The status of a policy, without the numbers that distinguish the types of one check from those of others. */
async function statusOf(wire: Wire, name: string, spec: object): Promise<unknown> {
  const { status, body } = await wire.send(post(policyPaths.validating, { metadata: { name }, spec }));
  expect(status, body.message).toBe(201);
  const answer = await until(wire, `${policyPaths.validating}/${name}`, (a) => a.body.status?.observedGeneration === 1);
  return JSON.parse(JSON.stringify(answer.body.status).replace(/\b([A-Z][A-Za-z]+)\d+\b/g, '$1'));
}

const pods = [{ ...ruleFor('', ['pods']), apiVersions: ['v1'] }];
const deployments = [{ ...ruleFor('apps', ['deployments']), apiVersions: ['v1'] }];
const checks = (resourceRules: readonly object[], ...expressions: readonly string[]) => ({
  matchConstraints: { resourceRules },
  validations: expressions.map((expression) => ({ expression })),
});

test.each<[string, object]>([
  ['nothing', checks(pods, 'true')],
  ['a field that is not there', checks(deployments, 'object.spec.replicas > 1', 'object.spec.nothing == 1')],
  ['types that do not fit', checks(deployments, 'object.spec.replicas == "x"', 'object.metadata.labels == 1')],
  ['several', checks(pods, 'object.spec.containers.all(c, c.foo)', 'object.bar || oldObject.baz')],
  ['quantities', checks(pods, 'object.spec.containers[0].resources.limits["cpu"] == "1"')],
  ['ports', checks([{ ...ruleFor('', ['services']), apiVersions: ['v1'] }], 'object.spec.ports[0].targetPort == "x"')],
  ['times', checks(pods, 'object.metadata.creationTimestamp == "x"', 'object.metadata.namespace == "x"')],
  [
    'bytes',
    checks([{ ...ruleFor('', ['secrets']), apiVersions: ['v1'] }], 'object.data.x == "y"', 'object.data.x == b"y"'),
  ],
  [
    'subresources and wildcards',
    checks([ruleFor('', ['pods']), ruleFor('apps', ['deployments/scale', '*'])], 'object.foo == 1'),
  ],
  [
    'several kinds',
    checks([...deployments, ...pods, { ...ruleFor('apps', ['nothing']), apiVersions: ['v1'] }], 'object.foo == 1'),
  ],
  [
    'many kinds',
    checks(
      [
        {
          ...ruleFor('', ['pods', 'services', 'secrets', 'configmaps', 'nodes', 'events', 'endpoints', 'namespaces']),
          apiGroups: ['', 'apps', 'batch'],
          apiVersions: ['v1', 'v1beta1'],
          resources: [
            'pods',
            'services',
            'secrets',
            'configmaps',
            'nodes',
            'events',
            'endpoints',
            'namespaces',
            'limitranges',
            'resourcequotas',
            'serviceaccounts',
            'deployments',
            'jobs',
          ],
        },
      ],
      'object.foo == 1',
    ),
  ],
  [
    'variables and messages',
    {
      matchConstraints: { resourceRules: deployments },
      variables: [
        { name: 'spec', expression: 'object.spec' },
        { name: 'bad', expression: 'object.nope' },
        { name: 'names', expression: 'object.spec.template.spec.containers.map(c, c.name)' },
      ],
      validations: [
        { expression: 'variables.spec.nothing == 1' },
        { expression: 'variables.bad == 1' },
        { expression: 'variables.names[0] == 1', messageExpression: 'string(object.metadata.nope)' },
      ],
    },
  ],
  [
    'the authorizer',
    checks(pods, 'authorizer.requestResource.check("x").allowed()', 'authorizer.path("/x").check("get").allowed()'),
  ],
  [
    'the request',
    checks(pods, 'request.name == object.metadata.name', 'namespaceObject.metadata.labels.x == object.spec.nodeName'),
  ],
  [
    'a custom kind',
    checks(
      [{ ...ruleFor(group, ['widgets']), apiVersions: ['v1'] }],
      'object.spec.size == "x"',
      'object.spec.any == 1',
      'object.other == 1',
      'object.metadata.labels["a"] == 1',
    ),
  ],
  [
    'params',
    {
      ...checks(pods, 'params.data.x == 1', 'params.nothing == object.spec.nodeName'),
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    },
  ],
  ['params of no kind', { ...checks(pods, 'params.data.x == 1'), paramKind: { apiVersion: 'v1', kind: 'Nothing' } }],
])('types of policies: %s', async (title, spec) => {
  const name = uniqueName('p');
  const [real, embedded] = await Promise.all(wires.map((wire) => statusOf(wire, name, spec)));
  expect(embedded, title).toEqual(real);
});
