import { authenticate } from '../authentication/authenticate.js';
import { Impersonation, type ImpersonationObserver } from '../authentication/impersonation.js';
import type { TokenAuthenticator } from '../authentication/token-authenticator.js';
import type { UserInfo } from '../authentication/user-info.js';
import type { RequestInfo } from '../http/request-info.js';
import type { ServerRequest } from '../http/server-request.js';
import type { Storage } from '../storage/storage.js';
import { attributesOf } from './attributes.js';
import { Authorizer, type Decision, forbidden } from './authorizer.js';
import { EscalationCheck } from './escalation-check.js';
import { RbacIndex } from './rbac-index.js';

/** Authenticates and authorizes requests, with impersonation. */
export interface RequestGate {
  /** The user that a request acts as. Throws 401, and what impersonation is refused with. */
  identify(
    request: ServerRequest,
    info: RequestInfo,
    warn: (text: string) => void,
    observer?: AccessObserver,
  ): UserInfo;
  /** Throws 403 for what a user may not do. */
  check(user: UserInfo, info: RequestInfo, observer?: AccessObserver): void;
}

/** Hears how a {@link RequestGate} decides. */
export interface AccessObserver extends ImpersonationObserver {
  /** The sender has shown valid credentials, or none; impersonation comes after. */
  authenticated(user: UserInfo, info: RequestInfo): void;
  /** Authorization has allowed the request, or not. */
  decided(decision: Decision): void;
}

/** All that decides on access: tokens, certificates, impersonation, roles. */
export class AccessControl implements RequestGate {
  readonly tokens: TokenAuthenticator;
  readonly rbac: RbacIndex;
  readonly authorizer: Authorizer;
  readonly escalation: EscalationCheck;
  readonly #impersonation: Impersonation;

  constructor(storage: Storage, tokens: TokenAuthenticator) {
    this.tokens = tokens;
    this.rbac = new RbacIndex(storage);
    this.authorizer = new Authorizer(this.rbac);
    this.escalation = new EscalationCheck(this.authorizer, this.rbac);
    this.#impersonation = new Impersonation(this.authorizer);
  }

  identify(
    request: ServerRequest,
    info: RequestInfo,
    warn: (text: string) => void,
    observer?: AccessObserver,
  ): UserInfo {
    const user = authenticate(request, this.tokens, warn);
    observer?.authenticated(user, info);
    if (request.impersonation === undefined) return user;
    return this.#impersonation.actingUser(request, attributesOf(user, info), observer);
  }

  check(user: UserInfo, info: RequestInfo, observer?: AccessObserver): void {
    const attributes = attributesOf(user, info);
    const decision = this.authorizer.decide(attributes);
    observer?.decided(decision);
    if (!decision.allowed) throw forbidden(attributes, decision.reason);
  }
}
