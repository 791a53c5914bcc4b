/**
 * Why a server refused, in one word, and the HTTP status that goes with it (`metav1.StatusReason`): the closed set of
 * Kubernetes. Aggregated servers may invent others, so a reason on the wire is any string.
 */
export const statusReasons = {
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Invalid: 422,
  ServerTimeout: 500,
  StorageReadError: 500,
  Timeout: 504,
  TooManyRequests: 429,
  BadRequest: 400,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  InternalError: 500,
  Expired: 410,
  ServiceUnavailable: 503,
} as const satisfies Record<string, number>;

/** One of Kubernetes' own reasons (`metav1.StatusReason`). */
export type KnownStatusReason = keyof typeof statusReasons;

/** A reason as it may come from a server: a known one, another server's own, or `''` when unknown. */
export type StatusReason = KnownStatusReason | '' | (string & {});

export function isKnownStatusReason(reason: string): reason is KnownStatusReason {
  return Object.hasOwn(statusReasons, reason);
}

interface GenericAnswer {
  readonly reason: StatusReason;
  readonly message: string;
}

const genericAnswers: Readonly<Record<number, GenericAnswer>> = {
  400: { reason: 'BadRequest', message: 'the server rejected the request and did not say why' },
  401: {
    reason: 'Unauthorized',
    message: 'the server asks for credentials: none were sent, or it does not accept them',
  },
  403: { reason: 'Forbidden', message: 'the server refuses this to the user that the credentials stand for' },
  404: { reason: 'NotFound', message: 'the server knows no such resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the resource' },
  406: { reason: 'NotAcceptable', message: 'the server has no answer in a content type that was asked for' },
  409: { reason: 'Conflict', message: 'the server reports a conflict' },
  410: { reason: '', message: 'what was asked for is no longer available' },
  413: { reason: '', message: 'the request is larger than the server takes' },
  415: { reason: 'UnsupportedMediaType', message: 'the server does not take the content type that was sent' },
  422: { reason: 'Invalid', message: 'the server found the request invalid' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has too many requests at present and asks to try again later',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server cannot handle requests at present' },
  504: {
    reason: 'Timeout',
    message: 'the server did not answer in the time allowed; the request may still be in progress',
  },
};

/**
 * Reason and message for an answer that brings none of its own, by HTTP status and method
 * (`apierrors.NewGenericServerResponse`). A 409 on a POST is `AlreadyExists`; any other status from 500 up is
 * `InternalError`. Where the status alone does not decide (410, 413, …) the reason stays `''`.
 */
export function genericAnswer(code: number, method: string): GenericAnswer {
  if (code === 409 && method.toUpperCase() === 'POST') {
    return { reason: 'AlreadyExists', message: 'the server reports a conflict: the object exists already' };
  }
  return (
    genericAnswers[code] ??
    (code >= 500
      ? { reason: 'InternalError', message: 'an error on the server kept the request from succeeding' }
      : { reason: '', message: 'the server answered in a way that was not expected' })
  );
}
