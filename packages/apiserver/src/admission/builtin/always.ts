import type { AdmissionPlugin } from '../admission.js';
import { forbiddenRequest, synchronousPlugin } from './synchronous-plugin.js';

/** Does nothing (`AlwaysAdmit`). */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: 'AlwaysAdmit', handles: () => false };
}

/** Refuses every write (`AlwaysDeny`). */
export function alwaysDeny(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'AlwaysDeny',
    handles: () => true,
    change(_, attributes) {
      throw forbiddenRequest(attributes, 'admission control is denying all modifications');
    },
  });
}
