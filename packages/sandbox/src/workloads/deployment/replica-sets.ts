import { control } from 'riata';
import { Pod, ReplicaSet } from 'riata/kinds';
import { adopters } from '../adoption.js';
import { keepReplicas } from '../keep-replicas.js';

/** Keeps as many Pods as a ReplicaSet asks for. */
export const replicaSets = control(ReplicaSet, { name: 'replicaset-controller' })
  .owns(Pod)
  .watches(
    Pod,
    adopters(ReplicaSet, ({ spec }) => spec.selector),
  )
  .reconcile((context) => keepReplicas(context, context.object.spec.selector));
