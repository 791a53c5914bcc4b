import { control } from 'riata';
import { Pod, ReplicationController } from 'riata/kinds';
import { adopters } from './adoption.js';
import { keepReplicas } from './keep-replicas.js';

const selectorOf = ({ spec }: ReplicationController) => ({ matchLabels: spec.selector ?? {} });

/** Keeps as many Pods as a ReplicationController asks for. */
export const replicationControllers = control(ReplicationController, { name: 'replication-controller' })
  .owns(Pod)
  .watches(Pod, adopters(ReplicationController, selectorOf))
  .reconcile((context) => keepReplicas(context, selectorOf(context.object)));
