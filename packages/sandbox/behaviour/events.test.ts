import type { PodFate } from '@riata/sandbox';
import { CronJob, DaemonSet, Deployment, Event, Job, Pod, ReplicationController, StatefulSet } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { describeClusters, eventually, fateAnnotation } from './cluster.js';

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = (image = 'web:1') => ({
  metadata: { labels },
  spec: { containers: [{ name: 'web', image }], terminationGracePeriodSeconds: 1 },
});
const once = (fate: PodFate) => ({
  metadata: { annotations: { [fateAnnotation]: JSON.stringify(fate) } },
  spec: { restartPolicy: 'Never' as const, containers: [{ name: 'work', image: 'work' }] },
});

const shortened = (message: string) =>
  message
    .replace(/-\d{8}\b/g, '-*')
    .replace(/(-[bcdfghjklmnpqrstvwxz2456789]{7,10})?-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b/g, '-*');

describeClusters((cluster) => {
  /** Who said what of an object; names that are made up stand as `*`. */
  const reported = async (namespace: string, kind: string, name: string) =>
    (await cluster().client.list(Event, { namespace })).items
      .filter(({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name)
      .flatMap(({ type, reason, message, source, reportingComponent, count = 1 }) => {
        const from = source?.component || reportingComponent;
        return Array.from({ length: count }, () => `${from}: ${type} ${reason} ${shortened(message ?? '')}`);
      })
      .sort();

  describe.concurrent('events', () => {
    test('of a Deployment and its ReplicaSets', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(Deployment({ metadata: at, spec: { replicas: 1, selector, template: template() } }));
      await eventually(async () => expect((await client.get(Deployment, at)).status.availableReplicas).toBe(1));
      await client.patch(Deployment, at, { type: 'merge', body: { spec: { template: template('web:2') } } });
      await eventually(async () => {
        expect(await reported(at.namespace, 'Deployment', 'web')).toEqual([
          'deployment-controller: Normal ScalingReplicaSet Scaled down replica set web-* from 1 to 0',
          'deployment-controller: Normal ScalingReplicaSet Scaled up replica set web-* from 0 to 1',
          'deployment-controller: Normal ScalingReplicaSet Scaled up replica set web-* from 0 to 1',
        ]);
      });
      const [pod] = (await client.list(Pod, { namespace: at.namespace })).items;
      const old = pod!.metadata.ownerReferences![0]!.name;
      await eventually(async () =>
        expect(await reported(at.namespace, 'ReplicaSet', old)).toContain(
          'replicaset-controller: Normal SuccessfulCreate Created pod: web-*',
        ),
      );
    });

    test('of a ReplicationController that is scaled', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(ReplicationController({ metadata: at, spec: { replicas: 2, template: template() } }));
      await eventually(async () =>
        expect((await client.get(ReplicationController, at)).status.availableReplicas).toBe(2),
      );
      await client.patch(ReplicationController, at, { type: 'merge', body: { spec: { replicas: 1 } } });
      await eventually(async () =>
        expect(await reported(at.namespace, 'ReplicationController', 'web')).toEqual([
          'replication-controller: Normal SuccessfulCreate Created pod: web-*',
          'replication-controller: Normal SuccessfulCreate Created pod: web-*',
          'replication-controller: Normal SuccessfulDelete Deleted pod: web-*',
        ]),
      );
    });

    test('of a ReplicationController and a Job whose Pods are refused', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const gated = { nodeName: 'nowhere', schedulingGates: [{ name: 'example.com/gate' }] };
      const refused = (from: string) =>
        `${from}: Warning FailedCreate Error creating: Pod "web-*" is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared`;
      const bad = { ...template(), spec: { ...template().spec, ...gated } };
      await client.create(ReplicationController({ metadata: at, spec: { replicas: 2, template: bad } }));
      await eventually(async () =>
        expect(await reported(at.namespace, 'ReplicationController', 'web')).toContain(
          refused('replication-controller'),
        ),
      );
      const job = { spec: { ...once({}).spec, ...gated } };
      await client.create(Job({ metadata: at, spec: { template: job } }));
      await eventually(async () =>
        expect(await reported(at.namespace, 'Job', 'web')).toContain(refused('job-controller')),
      );
    });

    test('of a StatefulSet, its claims, and Pods that are refused', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const claim = {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } },
      };
      const spec = { replicas: 1, serviceName: 'db', selector, template: template(), volumeClaimTemplates: [claim] };
      await client.create(StatefulSet({ metadata: { namespace, name: 'db' }, spec }));
      await eventually(async () =>
        expect((await client.get(StatefulSet, { namespace, name: 'db' })).status.replicas).toBe(1),
      );
      await client.patch(StatefulSet, { namespace, name: 'db' }, { type: 'merge', body: { spec: { replicas: 0 } } });
      await eventually(async () =>
        expect(await reported(namespace, 'StatefulSet', 'db')).toEqual([
          'statefulset-controller: Normal SuccessfulCreate Create Claim data-db-0 Pod db-0 in StatefulSet db success',
          'statefulset-controller: Normal SuccessfulCreate Create Pod db-0 in StatefulSet db successful',
          'statefulset-controller: Normal SuccessfulDelete Delete Pod db-0 in StatefulSet db successful',
        ]),
      );
      const bad = { nodeName: 'nowhere', schedulingGates: [{ name: 'example.com/gate' }] };
      const refused = { ...template(), spec: { ...template().spec, ...bad } };
      await client.create(
        StatefulSet({
          metadata: { namespace, name: 'bad' },
          spec: { serviceName: 'bad', selector, template: refused },
        }),
      );
      await eventually(async () =>
        expect(await reported(namespace, 'StatefulSet', 'bad')).toContain(
          'statefulset-controller: Warning FailedCreate Create Pod bad-0 in StatefulSet bad failed error: Pod "bad-0" is invalid: spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
        ),
      );
    });

    test('of a DaemonSet whose Pod fails', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'agent' };
      await client.create(DaemonSet({ metadata: at, spec: { selector, template: template() } }));
      await eventually(async () => expect((await client.get(DaemonSet, at)).status.numberReady).toBe(3));
      await eventually(async () =>
        expect(await reported(at.namespace, 'DaemonSet', 'agent')).toContain(
          'daemonset-controller: Normal SuccessfulCreate Created pod: agent-*',
        ),
      );
      const [pod] = (await client.list(Pod, { namespace: at.namespace })).items;
      const { name, namespace } = pod!.metadata;
      await client.status.patch(Pod, pod!.metadata, { type: 'merge', body: { status: { phase: 'Failed' } } });
      const node = pod!.spec.nodeName;
      await eventually(async () => {
        const all = await reported(at.namespace, 'DaemonSet', 'agent');
        const found = `Found failed daemon pod ${namespace}/${name} on node ${node}, will try to kill it`;
        expect(all).toContain(`daemonset-controller: Warning FailedDaemonPod ${shortened(found)}`);
        expect(all).toContain('daemonset-controller: Normal SuccessfulDelete Deleted pod: agent-*');
      });
    });

    test('of Jobs that complete, fail, are suspended and resumed', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const job = (name: string, spec: object) =>
        client.create(Job({ metadata: { namespace, name }, spec: { template: once({ endsAfter: '0s' }), ...spec } }));
      await job('good', {});
      await job('bad', { backoffLimit: 0, template: once({ endsAfter: '0s', exitCode: 1 }) });
      await job('late', { suspend: true, template: once({ endsAfter: '100s' }) });
      await eventually(async () => {
        expect(await reported(namespace, 'Job', 'good')).toEqual([
          'job-controller: Normal Completed Job completed',
          'job-controller: Normal SuccessfulCreate Created pod: good-*',
        ]);
        expect(await reported(namespace, 'Job', 'bad')).toEqual([
          'job-controller: Normal SuccessfulCreate Created pod: bad-*',
          'job-controller: Warning BackoffLimitExceeded Job has reached the specified backoff limit',
        ]);
        expect(await reported(namespace, 'Job', 'late')).toEqual(['job-controller: Normal Suspended Job suspended']);
      });
      const late = { namespace, name: 'late' };
      expect((await client.get(Job, late)).status.conditions).toMatchObject([
        { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' },
      ]);
      await client.patch(Job, late, { type: 'merge', body: { spec: { suspend: false } } });
      await eventually(async () => expect((await client.get(Job, late)).status.ready).toBe(1));
      expect((await client.get(Job, late)).status.conditions).toMatchObject([
        { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' },
      ]);
      await client.patch(Job, late, { type: 'merge', body: { spec: { suspend: true } } });
      await eventually(async () =>
        expect(await reported(namespace, 'Job', 'late')).toEqual([
          'job-controller: Normal Resumed Job resumed',
          'job-controller: Normal SuccessfulCreate Created pod: late-*',
          'job-controller: Normal SuccessfulDelete Deleted pod: late-*',
          'job-controller: Normal Suspended Job suspended',
          'job-controller: Normal Suspended Job suspended',
        ]),
      );
      await job('slow', { activeDeadlineSeconds: 1, template: once({ endsAfter: '100s' }) });
      await eventually(async () =>
        expect(await reported(namespace, 'Job', 'slow')).toEqual([
          'job-controller: Normal SuccessfulCreate Created pod: slow-*',
          'job-controller: Normal SuccessfulDelete Deleted pod: slow-*',
          'job-controller: Warning DeadlineExceeded Job was active longer than specified deadline',
        ]),
      );
    });

    test('of CronJobs whose schedule never comes, or has come already', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const cron = (name: string, spec: object) =>
        client.create(
          CronJob({
            metadata: { namespace, name },
            spec: { schedule: '* * * * *', jobTemplate: { spec: { template: once({ endsAfter: '0s' }) } }, ...spec },
          }),
        );
      await cron('never', { schedule: '0 0 31 2 *' });
      await cron('due', {});
      await eventually(async () =>
        expect(await reported(namespace, 'CronJob', 'never')).toContain(
          'cronjob-controller: Warning InvalidSchedule invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second',
        ),
      );
      // As if the controller had been away for a while.
      const lastScheduleTime = new Date(Date.now() - 150_000).toISOString().replace(/\.\d+Z$/, 'Z');
      const body = { status: { lastScheduleTime } };
      await client.status.patch(CronJob, { namespace, name: 'due' }, { type: 'merge', body });
      await eventually(async () => {
        const all = await reported(namespace, 'CronJob', 'due');
        expect(all).toContain('cronjob-controller: Normal SuccessfulCreate Created job due-*');
        expect(all).toContain(
          'cronjob-controller: Normal SawCompletedJob Saw completed job: due-*, condition: Complete',
        );
      });
    });
  });
});
