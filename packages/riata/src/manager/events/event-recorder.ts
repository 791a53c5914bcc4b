import type { EventSubject } from './event-notice.js';

/** What happened to an object. */
export interface EventInput {
  /** `Warning`: a person may have to look at it. */
  readonly type: 'Normal' | 'Warning';
  /** Short and for machines, in upper camel case: `FailedMount`. */
  readonly reason: string;
  /** For people. Variable parts go in here, as in `Eventf`: `` `pulled ${image}` ``. */
  readonly message: string;
  /**
   * The action that was taken or tried, for machines. @default none; in events.k8s.io/v1, which requires one, the
   * reason
   */
  readonly action?: string;
  /** Another object that matters. @default none */
  readonly related?: EventSubject;
  /** Which part of the object: `spec.containers{web}`. @default all of it */
  readonly fieldPath?: string;
  /** On the Event (`AnnotatedEventf`). @default none */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Emits Events about objects, which `kubectl describe` shows (`record.EventRecorder` and its `Eventf`).
 * Made by `EventBroadcaster.recorder`.
 */
export interface EventRecorder {
  /**
   * Queues an event and returns at once. Never throws and never waits: events are best effort. The event is created in the
   * namespace of the object, or in `default` for cluster-scoped objects.
   *
   * @example
   * recorder.event(cart, { type: 'Warning', reason: 'Overloaded', message: `${n} items are too many` });
   */
  event(object: EventSubject, event: EventInput): void;
}
