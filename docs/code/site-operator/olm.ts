import type { ManagerOptions } from 'riata';

export const options: ManagerOptions = {
  webhooks: process.env.OPERATOR_CONDITION_NAME ? { certificates: 'cert-manager', install: false } : {},
};
