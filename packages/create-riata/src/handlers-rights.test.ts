import { expectRightsSuffice, TestEnvironment, type UsedRights } from '@riata/testing';
import { ClusterRole, ClusterRoleBinding, Deployment } from 'riata/kinds';
import { expect, test } from 'vitest';
import config from '../templates/handlers/riata.config.js';
import { definitions } from '../templates/handlers/src/main.js';
import { Site } from '../templates/handlers/src/site.js';

// They are written by hand there, since handlers don't say what they need before they run.
test('the rights in the config of the template with handlers suffice', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const key = { namespace: 'default', name: 'example' };
  const rules = (config.rights ?? []).map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
  const apiGroup = 'rbac.authorization.k8s.io';
  const rights: UsedRights = {
    ...{ clusterRules: rules, namespaceRules: {} },
    manifests: ({ name, for: who }) => [
      ClusterRole({ metadata: { name }, rules }),
      ClusterRoleBinding({
        metadata: { name },
        roleRef: { apiGroup, kind: 'ClusterRole', name },
        subjects: [{ apiGroup, kind: 'User', name: (who as { user: string }).user }],
      }),
    ],
  };
  await expectRightsSuffice(env, rights, async (operator) => {
    await operator.run(...definitions);
    await env.client.create(Site({ metadata: key, spec: { image: 'nginx:1.29', replicas: 2 } }));
    await env.eventually(async () => expect((await env.client.get(Deployment, key)).spec.replicas).toBe(2));
    await env.client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    await env.eventually(async () => expect((await env.client.get(Deployment, key)).spec.replicas).toBe(3));
    await env.client.delete(Deployment, key);
    await env.eventually(() => env.client.get(Deployment, key));
  });
});
