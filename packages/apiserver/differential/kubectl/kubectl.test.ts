import { systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { uniqueName } from '../pair.js';
import { type Command, kubectlPair } from './kubectl-pair.js';
import { configMap, definition, deployment, doohickey, event, list } from './manifests.js';

const pair = kubectlPair();

/** A command by its words; those with spaces are given one by one. */
const k = (words: string | readonly string[], more: Omit<Command, 'args'> = {}): Command => ({
  args: typeof words === 'string' ? words.split(' ') : words,
  ...more,
});

test('version, api-resources, api-versions and explain', async () => {
  await pair().play([
    k('version', { same: false, expects: ['Server Version: v1.36.3'] }),
    k('api-resources --no-headers --sort-by=name', {
      expects: [/^deployments\s+deploy\s+apps\/v1\s+true\s+Deployment$/m],
    }),
    k('api-resources --namespaced=false -o wide --api-group=rbac.authorization.k8s.io', { expects: ['ClusterRole'] }),
    k('api-resources --verbs=list --categories=all -o name', { expects: ['pods\n', 'deployments.apps\n'] }),
    k('api-versions', { expects: ['apps/v1\n'] }),
    k('explain deployment.spec.strategy', {
      same: false,
      expects: ['VERSION:    v1', 'FIELD: strategy <DeploymentStrategy>', 'enum: Recreate, RollingUpdate'],
    }),
    k('explain pod.spec.containers --recursive', {
      same: false,
      expects: [/^ {2}name\t<string> -required-$/m, 'hostPort'],
    }),
    k('explain deployment.nope', { code: 1, expects: ['field "nope" does not exist'] }),
    k('explain nopes', { code: 1, expects: ['the server doesn\'t have a resource type "nopes"'] }),
    k('get --raw /readyz', { expects: ['ok'] }),
    k('cluster-info', { same: false, expects: ['Kubernetes control plane', 'is running at'] }),
  ]);
});

test('create, apply, diff, edit, patch, replace, label, annotate and scale', async () => {
  const ns = uniqueName('k');
  const inNs = (words: string | readonly string[], more: Omit<Command, 'args'> = {}) => {
    const command = k(words, more);
    return { ...command, args: [...command.args, '-n', ns] };
  };
  const file = (input: object | string) => ({ input });
  await pair().play([
    k(`create namespace ${ns}`, { expects: [`namespace/${ns} created`] }),
    k(`create namespace ${ns}`, { code: 1, expects: ['(AlreadyExists)'] }),
    inNs('create configmap made --from-literal=a=editme --from-literal=b=2', { expects: ['configmap/made created'] }),
    inNs('create secret generic made --from-literal=a=1', { expects: ['secret/made created'] }),
    inNs('create deployment made --image=nginx --replicas=2 --port=80', { expects: ['deployment.apps/made created'] }),
    k(['create', 'job', 'made', '-n', ns, '--image=busybox', '--', 'true']),
    inNs(['create', 'cronjob', 'made', '--image=busybox', '--schedule=*/5 * * * *']),
    inNs('create -f -', { ...file(configMap('bad', { a: 1 })), code: 1, expects: ['(BadRequest)'] }),
    inNs('create -f - --validate=strict', {
      ...file({ ...configMap('bad', {}), spec: {} }),
      code: 1,
      expects: ['strict decoding error: unknown field "spec"'],
    }),
    inNs('create -f - --validate=warn --dry-run=server -o name', {
      ...file({ ...configMap('warned', {}), spec: {} }),
      expects: ['Warning: unknown field "spec"', 'configmap/warned'],
    }),
    inNs('create -f - --dry-run=server', file(configMap('none', {}))),
    inNs('get configmap none', { code: 1, expects: ['(NotFound)'] }),
    // Client-side apply.
    inNs('apply -f -', { ...file(deployment(2)), expects: ['deployment.apps/web created'] }),
    inNs('apply -f -', { ...file(deployment(2)), expects: ['deployment.apps/web unchanged'] }),
    inNs('diff -f -', { ...file(deployment(3)), code: 1, expects: [/^- +replicas: 2$/m, /^\+ +replicas: 3$/m] }),
    inNs('apply -f -', { ...file(deployment(3)), expects: ['deployment.apps/web configured'] }),
    inNs('apply view-last-applied deployment/web', { expects: ['replicas: 3'] }),
    inNs('apply -f -', { ...file(deployment(3, { nope: 1 })), code: 1, expects: ['unknown field "spec.nope"'] }),
    inNs('apply -f - --validate=false', { ...file(deployment(3, { nope: 1 })), expects: ['configured'] }),
    // Server-side apply.
    inNs('apply --server-side --field-manager=one -f -', {
      ...file(configMap('shared', { a: '1', b: '1' })),
      expects: ['configmap/shared serverside-applied'],
    }),
    inNs('apply --server-side --field-manager=two -f -', {
      ...file(configMap('shared', { a: '2' })),
      code: 1,
      expects: ['conflict with "one": .data.a'],
    }),
    inNs('apply --server-side --field-manager=two --force-conflicts -f -', file(configMap('shared', { a: '2' }))),
    inNs('apply --server-side --field-manager=one -f -', file(configMap('shared', { b: '1' }))),
    inNs('get configmap shared -o jsonpath={.data}', { expects: ['{"a":"2","b":"1"}'] }),
    inNs('diff --server-side --field-manager=two -f -', {
      ...file(configMap('shared', { a: '3' })),
      code: 1,
      expects: [/^\+ +a: "3"$/m],
    }),
    inNs('get configmap shared -o yaml --show-managed-fields', { expects: ['manager: two', 'f:data'] }),
    // Prune.
    inNs('apply -f -', file(list(configMap('p1', {}, { set: 'p' }), configMap('p2', {}, { set: 'p' })))),
    inNs('apply --prune -l set=p --prune-allowlist=core/v1/ConfigMap -f -', {
      ...file(list(configMap('p1', {}, { set: 'p' }))),
      expects: ['configmap/p1 configured', 'configmap/p2 pruned'],
    }),
    inNs('apply --server-side --prune --applyset=set -f -', {
      ...file(list(configMap('s1', {}), configMap('s2', {}))),
      env: { KUBECTL_APPLYSET: 'true' },
      expects: ['configmap/s1 serverside-applied'],
    }),
    inNs('apply --server-side --prune --applyset=set -f -', {
      ...file(list(configMap('s1', {}))),
      env: { KUBECTL_APPLYSET: 'true' },
      expects: ['configmap/s2 pruned'],
    }),
    // Changes.
    inNs('edit configmap made', {
      env: { KUBE_EDITOR: 'sed -i s/editme/edited/' },
      expects: ['configmap/made edited'],
    }),
    inNs('get configmap made -o jsonpath={.data.a}', { expects: [/^edited$/] }),
    inNs('patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"two","image":"two"}]}}}}'),
    inNs('get deployment web -o jsonpath={.spec.template.spec.containers[*].name}', { expects: ['two web'] }),
    inNs('patch configmap made --type=merge -p {"data":{"m":"1","b":null}}', { expects: ['configmap/made patched'] }),
    inNs('patch configmap made --type=merge -p {"data":{"m":"1"}}', { expects: ['patched (no change)'] }),
    inNs('patch configmap made --type=json -p [{"op":"replace","path":"/data/m","value":"2"}]'),
    inNs('patch configmap made --type=json -p [{"op":"test","path":"/data/m","value":"9"}]', { code: 1 }),
    inNs('replace -f -', { ...file(configMap('made', { r: '1' })), expects: ['configmap/made replaced'] }),
    inNs('replace -f -', { ...file(configMap('absent', {})), code: 1, expects: ['(NotFound)'] }),
    inNs('replace --force -f -', { ...file(configMap('made', { f: '1' })), expects: ['"made" deleted', 'replaced'] }),
    inNs('label configmap made a=b c=d', { expects: ['configmap/made labeled'] }),
    inNs('label configmap made a=c', { code: 1, expects: ["'a' already has a value (b), and --overwrite is false"] }),
    inNs('label configmap made a=c c- --overwrite'),
    inNs('get configmap made --show-labels', { expects: [/a=c$/m] }),
    inNs('annotate configmap made note=x', { expects: ['configmap/made annotated'] }),
    inNs('scale deployment web --replicas=5', { expects: ['deployment.apps/web scaled'] }),
    inNs('scale deployment web --replicas=1 --current-replicas=9', {
      code: 1,
      expects: ['Expected replicas to be 9, was 5'],
    }),
    inNs('set image deployment/web web=nginx:2', { expects: ['image updated'] }),
    inNs('expose deployment web --port=80 --cluster-ip=None', { expects: ['service/web exposed'] }),
    inNs('autoscale deployment web --min=1 --max=3 --cpu=50%', { expects: ['web autoscaled'] }),
    inNs('rollout restart deployment/web', { expects: ['restarted'] }),
  ]);
});

test('get with every output, and custom kinds', async () => {
  const ns = uniqueName('k');
  const inNs = (words: string, more: Omit<Command, 'args'> = {}) => k(`${words} -n ${ns}`, more);
  await pair().play([
    k(`create namespace ${ns}`),
    inNs('apply -f -', { input: list(deployment(2), configMap('a', { x: '1' }, { on: 'yes' }), configMap('b', {})) }),
    inNs('get deployments', { expects: [/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2 +0 +0 +\d+s$/m] }),
    inNs('get deployments -o wide', { expects: [/CONTAINERS +IMAGES +SELECTOR/, 'app=web'] }),
    inNs('get deployment/web -o yaml', { expects: ['kind: Deployment', 'image: nginx:1'] }),
    inNs('get deployment/web -o json', { expects: ['"kind": "Deployment"'] }),
    inNs('get configmaps -o json', { expects: ['"kind": "List"'] }),
    inNs('get configmaps -o name', { expects: ['configmap/a\nconfigmap/b\n'] }),
    inNs('get configmaps -o jsonpath={.items[*].metadata.name}', { expects: ['a b'] }),
    inNs('get configmaps -o custom-columns=N:.metadata.name,X:.data.x', { expects: [/a +1\nb +<none>/] }),
    k(['get', 'configmaps', '-n', ns, '-o', 'go-template={{range .items}}{{.metadata.name}};{{end}}'], {
      expects: ['a;b;'],
    }),
    inNs('get configmaps --no-headers -L on', { expects: [/^a +1 +\d+s +yes$/m] }),
    inNs('get configmaps -l on=yes', { expects: [/^a /m] }),
    inNs('get configmaps -l on=no', { expects: ['No resources found in'] }),
    inNs('get configmaps --field-selector metadata.name=b -o name', { expects: [/^configmap\/b\n$/] }),
    inNs('get configmaps --sort-by=.metadata.name --chunk-size=1'),
    inNs('get configmaps a nope', { code: 1, expects: ['"nope" not found'] }),
    inNs('get all', { expects: ['deployment.apps/web'] }),
    k(`get namespace ${ns}`, { expects: ['Active'] }),
    k('get services -n default kubernetes', { expects: [/ClusterIP +10\.0\.0\.1 +<none> +443\/TCP/] }),
    k('get nopes', { code: 1, expects: ['the server doesn\'t have a resource type "nopes"'] }),
    inNs('describe configmap a', { expects: ['Name:         a'] }),
    k('apply -f -', { input: definition, expects: ['created'] }),
    k('wait --for=condition=Established crd/doohickeys.kubectl.example.com', { expects: ['condition met'] }),
    k('api-resources --api-group=kubectl.example.com', {
      later: true,
      expects: [/^doohickeys +dhk +kubectl\.example\.com\/v1 +true +Doohickey$/m],
    }),
    inNs('apply -f -', {
      input: doohickey('one', { size: 3 }),
      expects: ['doohickey.kubectl.example.com/one created'],
    }),
    inNs('apply -f -', { input: doohickey('one', { size: 4 }), expects: ['configured'] }),
    inNs('apply -f -', { input: doohickey('two', { size: 'x' }), code: 1, expects: ['spec.size: Invalid value'] }),
    inNs('apply -f -', {
      input: doohickey('two', { size: 1, nope: 1 }),
      code: 1,
      expects: ['unknown field "spec.nope"'],
    }),
    inNs('get doohickeys', { expects: [/^NAME +SIZE +AGE\none +4 +\d+s$/m] }),
    inNs('get dhk one -o wide', { expects: [/COLOUR/, /red/] }),
    inNs('get all', { expects: ['doohickey.kubectl.example.com/one'] }),
    inNs('scale doohickey one --replicas=7', { expects: ['scaled'] }),
    inNs('patch doohickey one --subresource=status --type=merge -p {"status":{"size":7}}'),
    inNs('get doohickey one -o jsonpath={.spec.size}/{.status.size}', { expects: ['7/7'] }),
    inNs('delete doohickey one', { expects: ['deleted'] }),
  ]);
});

test('explain of a custom kind, at once', async () => {
  const { real, embedded } = pair().servers;
  const explain = (on: typeof real) => on.run(['explain', 'doohickeys.spec']);
  // The real server publishes it in its own time.
  const [theirs, ours] = await Promise.all([eventually(() => explain(real)), explain(embedded)]);
  expect(ours).toEqual(theirs);
  expect(ours.out).toContain('How large it is.');
  expect(ours.out).toContain('enum: red, blue');
});

test('get --watch prints each change in a line', async () => {
  const ns = uniqueName('k');
  await pair().play([k(`create namespace ${ns}`)]);
  // What a controller may have put there.
  const ours = (line: string) => !line.startsWith('kube-root-ca.crt');
  const watched = await Promise.all(
    Object.values(pair().servers).map(async (on) => {
      const watch = on.follow(['get', 'configmaps', '-n', ns, '--watch']);
      const apply = (name: string, data: object) =>
        on.run(['apply', '-n', ns, '-f', '-'], JSON.stringify(configMap(name, data)));
      await apply('first', { a: '1' });
      await watch.lines(2, ours);
      await apply('second', { a: '1', b: '2' });
      await on.run(['delete', 'configmap', 'first', '-n', ns]);
      const lines = await watch.lines(4, ours);
      await watch.stop();
      return lines.map((line) => line.replace(/ +\d+s$/, '').replace(/ +/g, ' '));
    }),
  );
  for (const lines of watched) expect(lines).toEqual(['NAME DATA AGE', 'first 1', 'second 2', 'first 1']);
});

test('wait, rollout status and events', async () => {
  const ns = uniqueName('k');
  const inNs = (words: string, more: Omit<Command, 'args'> = {}) => k(`${words} -n ${ns}`, more);
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, observedGeneration: 1 };
  const conditions = [{ type: 'Available', status: 'True', reason: 'Made', message: 'by hand' }];
  const patch = JSON.stringify({ status: { ...counts, conditions } }).replaceAll(' ', '');
  await pair().play([k(`create namespace ${ns}`), inNs('apply -f -', { input: deployment(2) })]);
  const waiting = await Promise.all(
    Object.values(pair().servers).map(async (on) => {
      const status = on.follow(['rollout', 'status', 'deployment/web', '-n', ns]);
      const lines = await status.lines(1, () => true);
      await status.stop();
      return lines;
    }),
  );
  const first = 'Waiting for deployment spec update to be observed...';
  expect(waiting).toEqual([[first], [first]]);
  await pair().play([
    k(['patch', 'deployment', 'web', '-n', ns, '--subresource=status', '--type=merge', '-p', patch]),
    inNs('rollout status deployment/web --timeout=60s', { expects: ['deployment "web" successfully rolled out'] }),
    inNs('get deployment web', { expects: [/web +2\/2 +2 +2/] }),
    inNs('wait --for=condition=Available deployment/web --timeout=60s', { expects: ['condition met'] }),
    inNs('wait --for=jsonpath={.spec.replicas}=2 deployment/web --timeout=60s', { expects: ['condition met'] }),
    inNs('wait --for=condition=Nope deployment/web --timeout=1s', { code: 1, expects: ['timed out waiting'] }),
    inNs('create -f -', { input: event(ns) }),
    inNs('events', {
      expects: [/LAST SEEN +TYPE +REASON +OBJECT +MESSAGE/, /Normal +Scaled +Deployment\/web +to three/],
    }),
    inNs('events --for deployment/web --types=Warning', { expects: ['No events found'] }),
    inNs('get events', { expects: [/Normal +Scaled +deployment\/web +to three/] }),
  ]);
});

test('delete with every cascade', async () => {
  const ns = uniqueName('k');
  const inNs = (words: string, more: Omit<Command, 'args'> = {}) => k(`${words} -n ${ns}`, more);
  const finalizers = '-o jsonpath={.metadata.finalizers}';
  await pair().play([
    k(`create namespace ${ns}`),
    ...['background', 'foreground', 'orphan'].flatMap((cascade) => [
      inNs(`create deployment ${cascade} --image=nginx`),
      inNs(`delete deployment ${cascade} --cascade=${cascade} --wait=false`, {
        expects: [`deployment.apps "${cascade}" deleted`],
      }),
      inNs(`get deployment ${cascade} --ignore-not-found ${finalizers}`, {
        expects: [{ background: /^$/, foreground: '["foregroundDeletion"]', orphan: '["orphan"]' }[cascade] ?? /^$/],
      }),
    ]),
    inNs('create configmap a'),
    inNs('create configmap b'),
    inNs('delete configmap a --dry-run=server', { expects: ['(server dry run)'] }),
    inNs('delete configmap a --now', { expects: ['deleted'] }),
    inNs('delete configmap a', { code: 1, expects: ['(NotFound)'] }),
    inNs('delete configmaps --all', { expects: ['configmap "b" deleted'] }),
    inNs('run p --image=nginx', { expects: ['pod/p created'] }),
    inNs('delete pod p --grace-period=0 --force', { expects: ['force deleted'] }),
    k('delete crd doohickeys.kubectl.example.com', { expects: ['deleted'] }),
    k('get doohickeys', { code: 1, same: false, later: true }),
  ]);
});

/** What the real server does later. */
async function eventually<T extends { readonly code: number }>(ask: () => Promise<T>): Promise<T> {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer.code === 0 || systemClock.monotonic() > deadline) return answer;
  }
}
