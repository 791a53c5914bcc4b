/** What keeps an operator from running, in words. */
export interface RolloutProblem {
  readonly type:
    | 'image-pull'
    | 'crash'
    | 'rights'
    | 'quota'
    | 'pod-security'
    | 'unschedulable'
    | 'configuration'
    | 'not-ready'
    | 'webhook'
    | 'creation';
  /** `Pod site-operator/site-operator-5d8f-x`. */
  readonly object: string;
  /** What is wrong, as the cluster says it. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
  /** The last lines of the operator's log. @default none */
  readonly log?: readonly string[];
  /** Whether waiting longer makes sense: a node may still come, an image not. */
  readonly mayPass: boolean;
}

/** The lines that people read. */
export function problemLines({ object, message, remedy, log = [] }: RolloutProblem): string[] {
  return [
    `${object}: ${message}`,
    `  ${remedy}`,
    ...(log.length > 0 ? ['  last lines of its log:'] : []),
    ...log.map((line) => `    ${line}`),
  ];
}
