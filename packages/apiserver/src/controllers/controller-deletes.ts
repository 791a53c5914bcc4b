import type { JsonObject } from 'riata/object';
import type { AdmissionControl } from '../admission/admission-control.js';
import { serviceAccountGroups, serviceAccountUser } from '../authentication/service-account-name.js';
import { authenticatedGroup } from '../authentication/user-info.js';
import type { DeleteRequest } from '../resource/delete-object.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';

/** The object that a controller deletes; its name is `''` for each object of a collection. */
export interface DeletedObject {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** Deletes an object as a controller's ServiceAccount, which is the user that admission control sees. */
export type ControllerDeletes = (account: string, target: DeletedObject, request: DeleteRequest) => WriteContext;

/** Lets controllers delete as their ServiceAccounts, as kube-controller-manager does. */
export function controllerDeletes(admission: AdmissionControl, context: () => WriteContext): ControllerDeletes {
  const namespace = 'kube-system';
  return (account, target, request) => {
    const user = {
      username: serviceAccountUser(namespace, account),
      groups: [...serviceAccountGroups(namespace), authenticatedGroup],
    };
    const options: JsonObject = { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...(request as JsonObject) };
    const asked = { ...target, subresource: undefined, user, warn: () => {} };
    return { ...context(), admission: admission.forRequest(asked, () => options, false) };
  };
}
