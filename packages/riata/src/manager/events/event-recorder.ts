import type { EventSubject } from './event-notice.js';

/** What happened to an object. */
export interface EventInput {
  /** `Warning` is for what somebody may have to look at. */
  readonly type: 'Normal' | 'Warning';
  /** Short and for machines, in upper camel case: `FailedMount`. */
  readonly reason: string;
  /** For people. What varies goes in here, as in `Eventf`: `` `pulled ${image}` ``. */
  readonly message: string;
  /** What was done or tried about it, for machines. @default none; in events.k8s.io/v1, which wants one, the reason */
  readonly action?: string;
  /** Another object that matters. @default none */
  readonly related?: EventSubject;
  /** Which part of the object: `spec.containers{web}`. @default all of it */
  readonly fieldPath?: string;
  /** On the Event (`AnnotatedEventf`). @default none */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Tells people what happened to objects, as Events that `kubectl describe` shows (`record.EventRecorder` and its `Eventf`).
 * Made by `EventBroadcaster.recorder`.
 */
export interface EventRecorder {
  /**
   * Puts an event in line and returns at once. Never throws and never waits: an event is told if it can be, and nobody
   * may rely on it. The event goes into the namespace of the object; of what is cluster-scoped, into `default`.
   *
   * @example
   * recorder.event(cart, { type: 'Warning', reason: 'Overloaded', message: `${n} items are too many` });
   */
  event(object: EventSubject, event: EventInput): void;
}
